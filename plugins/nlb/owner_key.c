#include "owner_key.h"

#include "lbc/service/hash.h"
#include "nlb.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PARTS    6
#define HASH_LEN 32 /* hex digits; enough to tell Services apart */

struct part {
    const char *start;
    size_t len;
};

/* --- making --- */

/* Groups in the cloud have such names: the text that is hashed cannot change. */
static int name_hash_key(const char *key, char ret[LBC_HASH_DIGEST])
{
    CCM_CLEANUP(ccm_freep) char *text = ccm_text_format("- %s\n", key);

    return text == NULL ? -ENOMEM : lbc_hash_text(text, ret);
}

static char *name_shorten_key(const char *whole, const char *head, const struct ccm_object *service,
                              size_t max)
{
    const size_t fixed = strlen(head) + HASH_LEN + 2; /* and two dots */
    const size_t room = fixed < max ? max - fixed : 0;
    const size_t space = strlen(service->namespace_);
    const size_t half = space < room / 2 ? room - space : room - room / 2;
    const size_t name = strlen(service->name) < half ? strlen(service->name) : half;
    char hash[LBC_HASH_DIGEST];

    if (name_hash_key(whole, hash) < 0) {
        return NULL;
    }
    return ccm_text_format("%s%.*s.%.*s.%.*s", head, (int)name, service->name, (int)(room - name),
                           service->namespace_, HASH_LEN, hash);
}

/* protocol as text: that of a key which is looked at may be anything. */
static char *name_format_any(const char *key, const char *protocol,
                             const struct ccm_object *service, const char *cluster_id, size_t max)
{
    CCM_CLEANUP(ccm_freep) char *head = ccm_text_format("k8s.%s.%s.", key, protocol);
    CCM_CLEANUP(ccm_freep) char *whole = NULL;

    if (head != NULL) {
        whole = ccm_text_format("%s%s.%s.%s", head, service->name, service->namespace_, cluster_id);
    }
    if (whole == NULL || strlen(whole) <= max) {
        return CCM_STEAL(whole);
    }
    return name_shorten_key(whole, head, service, max);
}

char *nlb_name_format(const char *key, enum lbc_protocol protocol, const struct ccm_object *service,
                      const char *cluster_id, size_t max)
{
    return name_format_any(key, lbc_protocol_name(protocol), service, cluster_id, max);
}

char *nlb_security_group_description(const struct ccm_object *service, const char *cluster_id)
{
    return ccm_text_format("k8s.%s.%s.%s", service->namespace_, service->name, cluster_id);
}

char *nlb_security_group_name(const struct ccm_object *service)
{
    char name[LBC_OWNER_LB_NAME];

    lbc_owner_lb_name(service, name);
    return ccm_text_format("k8s-nlb-%s", name);
}

/* --- reading --- */

static bool name_split_key(const char *text, struct part parts[PARTS])
{
    const char *start = text;
    size_t count = 0;

    while (start != NULL) {
        const size_t len = strcspn(start, ".");

        if (count == PARTS) {
            return false;
        }
        parts[count++] = (struct part){ start, len };
        start = start[len] == '\0' ? NULL : start + len + 1;
    }
    return count == PARTS && parts[0].len == 3 && memcmp(parts[0].start, "k8s", 3) == 0;
}

static bool part_is(const struct part *part, const char *text)
{
    return strlen(text) == part->len && memcmp(part->start, text, part->len) == 0;
}

/* "N" or "N_M". */
static bool is_listener_key(const struct part *part)
{
    const char *middle = memchr(part->start, '_', part->len);
    const size_t left = middle == NULL ? part->len : (size_t)(middle - part->start);
    const size_t right = middle == NULL ? 0 : part->len - left - 1;

    return left > 0 && strspn(part->start, "0123456789") == left &&
           (middle == NULL || (right > 0 && strspn(middle + 1, "0123456789") == right));
}

/* Ours in its short form: there is one way to write it. */
static int check_short(const char *text, const struct part parts[PARTS],
                       const struct ccm_object *service, const char *cluster_id, bool *ret)
{
    CCM_CLEANUP(ccm_freep) char *key = NULL;
    CCM_CLEANUP(ccm_freep) char *protocol = NULL;
    CCM_CLEANUP(ccm_freep) char *expected = NULL;

    *ret = false;
    if (parts[PARTS - 1].len != HASH_LEN) {
        return 0;
    }
    key = strndup(parts[1].start, parts[1].len);
    protocol = strndup(parts[2].start, parts[2].len);
    if (key != NULL && protocol != NULL) {
        expected = name_format_any(key, protocol, service, cluster_id, strlen(text));
    }
    *ret = ccm_text_equal(text, expected);
    return expected == NULL ? -ENOMEM : 0;
}

int nlb_name_parse(const char *text, bool as_listener, const struct ccm_object *service,
                   const char *cluster_id, enum lbc_owner *ret)
{
    struct part parts[PARTS];
    bool ours = false;
    int r = 0;

    *ret = LBC_OWNER_NONE;
    if (text == NULL || !name_split_key(text, parts) ||
        (as_listener && !is_listener_key(&parts[1]))) {
        return 0;
    }
    ours = part_is(&parts[3], service->name) && part_is(&parts[4], service->namespace_) &&
           part_is(&parts[5], cluster_id);
    if (!ours) {
        r = check_short(text, parts, service, cluster_id, &ours);
    }
    *ret = ours ? LBC_OWNER_OURS : LBC_OWNER_OTHER;
    return r;
}

bool nlb_name_is_key(const char *text)
{
    struct part parts[PARTS];

    return text != NULL && name_split_key(text, parts);
}
