#include "service/owner.h"

#include "service/settings.h"
#include "util/parse.h"
#include "util/text.h"

#include <string.h>

#define PARTS 5

struct part {
    const char *start;
    size_t len;
};

char *ccm_owner_format(const char *port, const struct ccm_object *service, const char *cluster_id)
{
    return ccm_text_format("k8s/%s/%s/%s/%s", port, service->name, service->namespace_, cluster_id);
}

static bool split(const char *text, struct part parts[PARTS])
{
    size_t count = 0;
    const char *start = text;

    for (;;) {
        const size_t len = strcspn(start, "/");

        if (count == PARTS) {
            return false;
        }
        parts[count++] = (struct part){ start, len };
        if (start[len] == '\0') {
            return count == PARTS;
        }
        start += len + 1;
    }
}

static bool part_is(const struct part *part, const char *text)
{
    return strlen(text) == part->len && memcmp(part->start, text, part->len) == 0;
}

static bool part_is_number(const struct part *part)
{
    char digits[24];
    int64_t value = 0;

    if (part->len == 0 || part->len >= sizeof(digits)) {
        return false;
    }
    memcpy(digits, part->start, part->len);
    digits[part->len] = '\0';
    return ccm_parse_i64(digits, INT64_MIN, INT64_MAX, &value) == 0;
}

enum ccm_owner ccm_owner_parse(const char *text, bool port_is_number,
                               const struct ccm_object *service, const char *cluster_id)
{
    struct part parts[PARTS];

    if (!split(text, parts) || !part_is(&parts[0], "k8s")) {
        return CCM_OWNER_NONE;
    }
    if (port_is_number && !part_is_number(&parts[1])) {
        return CCM_OWNER_NONE;
    }
    if (part_is(&parts[2], service->name) && part_is(&parts[3], service->namespace_) &&
        part_is(&parts[4], cluster_id)) {
        return CCM_OWNER_OURS;
    }
    return CCM_OWNER_OTHER;
}

bool ccm_owner_is_key(const char *text)
{
    struct part parts[PARTS];

    return text != NULL && split(text, parts) && part_is(&parts[0], "k8s");
}

void ccm_owner_lb_name(const struct ccm_object *service, char ret[CCM_OWNER_LB_NAME])
{
    size_t len = 0;

    ret[len++] = 'a';
    for (const char *p = service->uid; *p != '\0' && len < CCM_OWNER_LB_NAME - 1; p++) {
        if (*p != '-') {
            ret[len++] = *p;
        }
    }
    ret[len] = '\0';
}

enum ccm_owner ccm_owner_of_tags(const struct ccm_tags *tags, const struct ccm_object *service,
                                 const char *cluster_id)
{
    const char *owner = ccm_tags_get(tags, CCM_TAG_OWNER);
    const char *cluster = ccm_tags_get(tags, CCM_TAG_CLUSTER);
    char name[CCM_OWNER_LB_NAME];

    if (cluster != NULL && strcmp(cluster, cluster_id) != 0) {
        return CCM_OWNER_OTHER;
    }
    ccm_owner_lb_name(service, name);
    if (owner == NULL) {
        return CCM_OWNER_NONE;
    }
    return strcmp(owner, name) == 0 ? CCM_OWNER_OURS : CCM_OWNER_OTHER;
}

bool ccm_owner_has_lb(const struct ccm_tags *tags, const char *name,
                      const struct ccm_object *service, const char *cluster_id)
{
    char own[CCM_OWNER_LB_NAME];

    ccm_owner_lb_name(service, own);
    switch (ccm_owner_of_tags(tags, service, cluster_id)) {
    case CCM_OWNER_OURS:
        return true;
    case CCM_OWNER_NONE:
        return ccm_text_equal(name, own);
    case CCM_OWNER_OTHER:
    default:
        return false;
    }
}

bool ccm_owner_is_lb_name(const char *name)
{
    return name[0] == 'a' && strlen(name) == CCM_OWNER_LB_NAME - 1 &&
           strspn(name + 1, "0123456789abcdef") == CCM_OWNER_LB_NAME - 2;
}
