/* The actions on access lists. */
#include "api.h"

#include "util/buf.h"
#include "util/cleanup.h"
#include "util/jsonw.h"

const struct alilb_action clb_api_acls = {
    .name = "DescribeAccessControlLists",
    .texts = { "AclName" },
    .list = "Acls",
    .item = "Acl",
    .paging = ALILB_PAGES_NUMBER,
    .page = 50,
};
const struct alilb_action clb_api_entries = {
    .name = "DescribeAccessControlListAttribute",
    .texts = { "AclId" },
    .list = "AclEntrys",
    .item = "AclEntry",
    .may_lack = true,
    .paging = ALILB_PAGES_NUMBER,
    .page = 50,
    .page_number = "Page",
};
const struct alilb_action clb_api_create_acl = {
    .name = "CreateAccessControlList",
    .repeat = ALI_ONCE,
    .texts = { "AclName", "AddressIPVersion", "ResourceGroupId" },
    .aside = true,
    .made = "AclId",
};
const struct alilb_action clb_api_delete_acl = {
    .name = "DeleteAccessControlList",
    .repeat = ALI_IDEMPOTENT,
    .texts = { "AclId" },
    .aside = true,
};

int clb_api_change_acl(struct alilb_call *call, const char *id, const struct lbc_texts *entries,
                       bool remove, struct ccm_error *err)
{
    const struct alilb_action change = {
        .name = remove ? "RemoveAccessControlListEntry" : "AddAccessControlListEntry",
        .repeat = remove ? ALI_IDEMPOTENT : ALI_ONCE,
        .texts = { "AclId", "AclEntrys" },
        .aside = true,
    };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = (size_t)64 * 1024 };
    struct ccm_jsonw w = { .buf = &text };

    ccm_jsonw_open(&w, NULL, '[');
    for (size_t i = 0; i < entries->len; i++) {
        ccm_jsonw_open(&w, NULL, '{');
        ccm_jsonw_str(&w, "entry", entries->items[i]);
        ccm_jsonw_close(&w, '}');
    }
    ccm_jsonw_close(&w, ']');
    return ccm_buf_error(&text) < 0
               ? ccm_error_nomem(err)
               : alilb_write(call, &change, ALILB_TEXTS(id, ccm_buf_str(&text)), NULL, err);
}
