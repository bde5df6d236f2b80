#include "mini_cloud.h"
#include "mini_parts.h"

#include "util/cleanup.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>

#define ACLS 4

static struct {
    struct {
        char *id;
        char *name;
        char *cluster;
        struct lbc_texts entries;
    } acls[ACLS];
    bool off_keeps;
} mini;

static size_t find(const char *id)
{
    for (size_t i = 0; i < ACLS; i++) {
        if (ccm_text_equal(mini.acls[i].id, id)) {
            return i;
        }
    }
    return ACLS;
}

static void acl_fini(size_t i)
{
    free(mini.acls[i].id);
    free(mini.acls[i].name);
    free(mini.acls[i].cluster);
    lbc_texts_fini(&mini.acls[i].entries);
    memset(&mini.acls[i], 0, sizeof(mini.acls[i]));
}

void mini_acl_off_keeps(void)
{
    mini.off_keeps = true;
}

bool mini_acl_exists(const char *id)
{
    return id[0] == '\0' || find(id) < ACLS;
}

void mini_acl_end(void)
{
    mini.off_keeps = false;
    for (size_t i = 0; i < ACLS; i++) {
        acl_fini(i);
    }
}

void mini_acl_dump(struct ccm_buf *text)
{
    for (size_t i = 0; i < ACLS; i++) {
        if (mini.acls[i].id == NULL) {
            continue;
        }
        ccm_buf_addf(text, "acl %s", mini.acls[i].name);
        for (size_t e = 0; e < mini.acls[i].entries.len; e++) {
            ccm_buf_addf(text, " %s", mini.acls[i].entries.items[e]);
        }
        ccm_buf_addc(text, '\n');
    }
}

static void create(const struct ali_call *call, struct ccm_jsonw *w)
{
    CCM_CLEANUP(ccm_freep) char *id = ccm_text_format("acl-%zu", mini_next_id());
    const size_t i = find(NULL);

    mini_must(i == ACLS ? -1 : 0);
    mini_must(lbc_text_set(&mini.acls[i].id, id));
    mini_must(lbc_text_set(&mini.acls[i].name, mini_param(call, "AclName")));
    mini_must(lbc_text_set(&mini.acls[i].cluster, mini_param(call, "Tag.2.Value")));
    ccm_jsonw_str(w, "AclId", id);
}

static void write_tag(struct ccm_jsonw *w, const char *key, const char *value)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "TagKey", key);
    ccm_jsonw_str(w, "TagValue", value);
    ccm_jsonw_close(w, '}');
}

static void describe_all(const struct ali_call *call, struct ccm_jsonw *w)
{
    ccm_jsonw_open(w, "Acls", '{');
    ccm_jsonw_open(w, "Acl", '[');
    for (size_t i = 0; i < ACLS; i++) {
        if (mini.acls[i].id == NULL ||
            strstr(mini.acls[i].name, mini_param(call, "AclName")) == NULL) {
            continue;
        }
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "AclId", mini.acls[i].id);
        ccm_jsonw_str(w, "AclName", mini.acls[i].name);
        ccm_jsonw_open(w, "Tags", '{');
        ccm_jsonw_open(w, "Tag", '[');
        write_tag(w, CLB_TAG_OWNER, mini.acls[i].name);
        write_tag(w, CLB_TAG_CLUSTER, mini.acls[i].cluster);
        ccm_jsonw_close(w, ']');
        ccm_jsonw_close(w, '}');
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
    ccm_jsonw_i64(w, "TotalCount", 1);
}

static void describe(const struct ali_call *call, struct ccm_jsonw *w)
{
    const size_t i = find(mini_param(call, "AclId"));

    ccm_jsonw_open(w, "AclEntrys", '{');
    ccm_jsonw_open(w, "AclEntry", '[');
    for (size_t e = 0; i < ACLS && e < mini.acls[i].entries.len; e++) {
        ccm_jsonw_open(w, NULL, '{');
        ccm_jsonw_str(w, "AclEntryIP", mini.acls[i].entries.items[e]);
        ccm_jsonw_close(w, '}');
    }
    ccm_jsonw_close(w, ']');
    ccm_jsonw_close(w, '}');
}

static void change(const struct ali_call *call, bool remove)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;
    const char *text = mini_param(call, "AclEntrys");
    const size_t i = find(mini_param(call, "AclId"));

    if (i == ACLS) {
        mini_refuse("AclNotExist", 400);
        return;
    }
    mini_must(ccm_json_parse(text, strlen(text), &json));
    for (const cJSON *one = json->child; one != NULL; one = one->next) {
        const char *entry = ccm_json_text(one, "entry");

        if (remove) {
            lbc_texts_remove(&mini.acls[i].entries, entry);
        } else {
            mini_must(lbc_texts_put(&mini.acls[i].entries, entry));
        }
    }
}

static bool is_bound(const char *id)
{
    for (size_t i = 0; i < MINI_LBS; i++) {
        const struct mini_lb *lb = mini_lb_at(i);

        for (size_t l = 0; lb != NULL && lb->used && l < lb->state.lbc.listener_count; l++) {
            const struct lbc_attrs *attrs = &clb_listener_at(&lb->state, l)->lbc.attrs;

            if (ccm_text_equal(lbc_attrs_get(attrs, clb_field_find("AclId")), id) &&
                (mini.off_keeps ||
                 ccm_text_equal(lbc_attrs_get(attrs, clb_field_find("AclStatus")), "on"))) {
                return true;
            }
        }
    }
    return false;
}

static void drop(const struct ali_call *call)
{
    const char *id = mini_param(call, "AclId");

    if (find(id) == ACLS) {
        mini_refuse("AclNotExist", 400);
    } else if (is_bound(id)) {
        mini_refuse("OperationFailed.AclBindedWithVip", 400);
    } else {
        acl_fini(find(id));
    }
}

void mini_acl_run(const struct ali_call *call, struct ccm_jsonw *w)
{
    if (strcmp(call->action, "CreateAccessControlList") == 0) {
        create(call, w);
    } else if (strcmp(call->action, "DescribeAccessControlLists") == 0) {
        describe_all(call, w);
    } else if (strcmp(call->action, "DescribeAccessControlListAttribute") == 0) {
        describe(call, w);
    } else if (strcmp(call->action, "AddAccessControlListEntry") == 0) {
        change(call, false);
    } else if (strcmp(call->action, "RemoveAccessControlListEntry") == 0) {
        change(call, true);
    } else if (strcmp(call->action, "DeleteAccessControlList") == 0) {
        drop(call);
    }
}
