#include "service/reuse.h"

#include "service/object.h"
#include "service/settings.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>

int ccm_reuse_refuse(const char *lb_id, const char *reason, struct ccm_error *err)
{
    return ccm_error_set(err, -EPERM, CCM_ERROR_TERMINAL,
                         "alicloud: the loadbalancer %s can not be reused, %s", lb_id, reason);
}

int ccm_reuse_check_tags(const char *lb_id, const struct ccm_tags *tags, struct ccm_error *err)
{
    return ccm_tags_get(tags, CCM_TAG_OWNER) != NULL || ccm_tags_get(tags, CCM_TAG_CLUSTER) != NULL
               ? ccm_reuse_refuse(lb_id, "can not reuse loadbalancer created by kubernetes.", err)
               : 0;
}

int ccm_reuse_check_label(struct ccm_pass *pass, const char *lb_id, ccm_reuse_read_fn read,
                          struct ccm_error *err)
{
    const char *label = ccm_object_label(&pass->service->meta, CCM_LIFE_LB_LABEL);
    CCM_CLEANUP(ccm_freep) char *own = NULL;
    CCM_CLEANUP(ccm_freep) char *reason = NULL;

    if (ccm_text_empty(label) || ccm_text_equal(label, lb_id)) {
        return 0;
    }
    if (pass->service->ingress_count == 0) {
        const int r = read(pass, &own, err);

        if (r < 0 || own == NULL) {
            return r;
        }
    }
    reason = ccm_text_format("service has been associated with loadbalancer [%s], cannot be bound "
                             "to another one: delete and recreate the service",
                             own == NULL ? label : own);
    return reason == NULL ? ccm_error_nomem(err) : ccm_reuse_refuse(lb_id, reason, err);
}
