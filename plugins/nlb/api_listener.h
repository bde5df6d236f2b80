/* Listeners and their additional certificates: see api.h. */
#ifndef CCM_NLB_API_LISTENER_H
#define CCM_NLB_API_LISTENER_H

#include "api.h"

/* lb_id NULL: of all load balancers of the region. */
CCM_NODISCARD int nlb_api_list_listeners(struct nlb_call *call, const char *lb_id, nlb_item_fn fn,
                                         void *arg, struct ccm_error *err);
CCM_NODISCARD int nlb_api_list_certs(struct nlb_call *call, const char *listener_id, nlb_item_fn fn,
                                     void *arg, struct ccm_error *err);

CCM_NODISCARD int nlb_api_create_listener(struct nlb_call *call, const char *lb_id,
                                          const struct nlb_listener *listener, const char *group_id,
                                          struct nlb_sent *ret, struct ccm_error *err);
CCM_NODISCARD int nlb_api_update_listener(struct nlb_call *call, const char *listener_id,
                                          const struct nlb_listener *listener, const char *group_id,
                                          struct nlb_sent *ret, struct ccm_error *err);
CCM_NODISCARD int nlb_api_delete_listener(struct nlb_call *call, const char *listener_id,
                                          struct nlb_sent *ret, struct ccm_error *err);

/* At most NLB_CERTS_MAX. */
CCM_NODISCARD int nlb_api_add_certs(struct nlb_call *call, const char *listener_id,
                                    const struct lbc_texts *certs, struct nlb_sent *ret,
                                    struct ccm_error *err);
CCM_NODISCARD int nlb_api_remove_certs(struct nlb_call *call, const char *listener_id,
                                       const struct lbc_texts *certs, struct nlb_sent *ret,
                                       struct ccm_error *err);

#endif
