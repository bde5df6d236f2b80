#include "lbc/model/owner.h"
#include "lbc/names.h"

#include "lbc/model/settings.h"
#include "util/parse.h"
#include "util/text.h"

#include <string.h>

#define PARTS 5

struct part {
    const char *start;
    size_t len;
};

char *lbc_owner_format(const char *port, const struct ccm_object *service, const char *cluster_id)
{
    return ccm_text_format("k8s/%s/%s/%s/%s", port, service->name, service->namespace_, cluster_id);
}

static bool owner_split_key(const char *text, struct part parts[PARTS])
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

enum lbc_owner lbc_owner_parse(const char *text, bool port_is_number,
                               const struct ccm_object *service, const char *cluster_id)
{
    struct part parts[PARTS];

    if (!owner_split_key(text, parts) || !part_is(&parts[0], "k8s")) {
        return LBC_OWNER_NONE;
    }
    if (port_is_number && !part_is_number(&parts[1])) {
        return LBC_OWNER_NONE;
    }
    if (part_is(&parts[2], service->name) && part_is(&parts[3], service->namespace_) &&
        part_is(&parts[4], cluster_id)) {
        return LBC_OWNER_OURS;
    }
    return LBC_OWNER_OTHER;
}

bool lbc_owner_is_key(const char *text)
{
    struct part parts[PARTS];

    return text != NULL && owner_split_key(text, parts) && part_is(&parts[0], "k8s");
}

void lbc_owner_lb_name(const struct ccm_object *service, char ret[LBC_OWNER_LB_NAME])
{
    size_t len = 0;

    ret[len++] = 'a';
    for (const char *p = service->uid; *p != '\0' && len < LBC_OWNER_LB_NAME - 1; p++) {
        if (*p != '-') {
            ret[len++] = *p;
        }
    }
    ret[len] = '\0';
}

int lbc_owner_copy_tags(const struct lbc_tags *tags, const struct ccm_object *service,
                        const char *cluster_id, struct lbc_tags *ret)
{
    char name[LBC_OWNER_LB_NAME];
    int r = 0;

    lbc_owner_lb_name(service, name);
    r = lbc_tags_copy_equal(tags, lbc_names.tag_owner, name, ret);
    return r < 0 ? r : lbc_tags_copy_equal(tags, lbc_names.tag_cluster, cluster_id, ret);
}

enum lbc_owner lbc_owner_of_tags(const struct lbc_tags *tags, const struct ccm_object *service,
                                 const char *cluster_id)
{
    const char *owner = lbc_tags_get(tags, lbc_names.tag_owner);
    const char *cluster = lbc_tags_get(tags, lbc_names.tag_cluster);
    char name[LBC_OWNER_LB_NAME];

    if (cluster != NULL && strcmp(cluster, cluster_id) != 0) {
        return LBC_OWNER_OTHER;
    }
    lbc_owner_lb_name(service, name);
    if (owner == NULL) {
        return LBC_OWNER_NONE;
    }
    return strcmp(owner, name) == 0 ? LBC_OWNER_OURS : LBC_OWNER_OTHER;
}

bool lbc_owner_has_lb(const struct lbc_tags *tags, const char *name,
                      const struct ccm_object *service, const char *cluster_id)
{
    char own[LBC_OWNER_LB_NAME];

    lbc_owner_lb_name(service, own);
    switch (lbc_owner_of_tags(tags, service, cluster_id)) {
    case LBC_OWNER_OURS:
        return true;
    case LBC_OWNER_NONE:
        return ccm_text_equal(name, own);
    case LBC_OWNER_OTHER:
    default:
        return false;
    }
}

bool lbc_owner_is_lb_name(const char *name, char kind)
{
    const size_t head = kind == '\0' ? 1 : 2;

    return name[0] == 'a' && (kind == '\0' || name[1] == kind) &&
           strlen(name) == LBC_OWNER_LB_NAME - 1 &&
           strspn(name + head, "0123456789abcdef") == LBC_OWNER_LB_NAME - 1 - head;
}
