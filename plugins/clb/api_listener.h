/* Part of api.h: the actions on listeners. */
#ifndef CCM_CLB_API_LISTENER_H
#define CCM_CLB_API_LISTENER_H

#include "api.h"

/* --- reads; the caller frees *ret with cJSON_Delete --- */

/* One page; next_token "" for the first. */
CCM_NODISCARD int clb_api_listeners(struct clb_call *call, const char *lb_id,
                                    const char *next_token, cJSON **ret, struct ccm_error *err);

/* --- writes --- */

CCM_NODISCARD int clb_api_create_listener(struct clb_call *call, const char *lb_id,
                                          const struct clb_listener *listener, const char *group_id,
                                          struct ccm_error *err);
CCM_NODISCARD int clb_api_update_listener(struct clb_call *call, const char *lb_id,
                                          const struct clb_listener *listener, const char *group_id,
                                          struct ccm_error *err);
CCM_NODISCARD int clb_api_start_listener(struct clb_call *call, const char *lb_id, uint16_t port,
                                         enum lbc_protocol protocol, struct ccm_error *err);
CCM_NODISCARD int clb_api_delete_listener(struct clb_call *call, const char *lb_id, uint16_t port,
                                          enum lbc_protocol protocol, struct ccm_error *err);

/* --- domain extensions, certificates --- */

CCM_NODISCARD int clb_api_domains(struct clb_call *call, const char *lb_id, uint16_t port,
                                  cJSON **ret, struct ccm_error *err);
/* *ret_id: heap, NULL when the answer does not tell it. */
CCM_NODISCARD int clb_api_create_domain(struct clb_call *call, const char *lb_id, uint16_t port,
                                        const struct clb_domain *domain, char **ret_id,
                                        struct ccm_error *err);
CCM_NODISCARD int clb_api_set_domain(struct clb_call *call, const struct clb_domain *domain,
                                     struct ccm_error *err);
CCM_NODISCARD int clb_api_delete_domain(struct clb_call *call, const struct clb_domain *domain,
                                        struct ccm_error *err);
CCM_NODISCARD int clb_api_certificate(struct clb_call *call, const char *id, cJSON **ret,
                                      struct ccm_error *err);

/* --- access lists --- */

#define CLB_ACL_PAGE 50

/* One page of the lists whose name holds `name`; pages count from 1. */
CCM_NODISCARD int clb_api_acls(struct clb_call *call, const char *name, int64_t page, cJSON **ret,
                               struct ccm_error *err);
/* One page of the entries of a list. */
CCM_NODISCARD int clb_api_acl(struct clb_call *call, const char *id, int64_t page, cJSON **ret,
                              struct ccm_error *err);
/* Tagged as ours, `name` being the owner. *ret_id: heap. */
CCM_NODISCARD int clb_api_create_acl(struct clb_call *call, const char *name, bool ipv6,
                                     char **ret_id, struct ccm_error *err);
/* At most 50 entries. */
CCM_NODISCARD int clb_api_change_acl(struct clb_call *call, const char *id,
                                     const struct lbc_texts *entries, bool remove,
                                     struct ccm_error *err);
CCM_NODISCARD int clb_api_delete_acl(struct clb_call *call, const char *id, struct ccm_error *err);

#endif
