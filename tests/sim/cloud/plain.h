/* Resources that are nothing but attributes and tags: access lists, certificates, routes, ...
 * With the cloud's lock held. */
#ifndef CCM_CLOUD_PLAIN_H
#define CCM_CLOUD_PLAIN_H

#include "cloud.h"

/* A new one, owned by the cloud. 0, -EEXIST, -ENOMEM. */
CCM_NODISCARD int ccm_cloud_plain_new(struct ccm_cloud *cloud, enum ccm_cloud_kind kind,
                                      const char *id, struct ccm_cloud_obj **ret);

/* NULL when there is none. */
struct ccm_cloud_obj *ccm_cloud_plain_get(const struct ccm_cloud *cloud, enum ccm_cloud_kind kind,
                                          const char *id);

/* Nothing happens when there is none. `id` may be that of the object itself. */
void ccm_cloud_plain_del(struct ccm_cloud *cloud, enum ccm_cloud_kind kind, const char *id);

/* Next in order of creation; start with *cursor = NULL. NULL at the end. The one just returned may
 * be deleted during the walk. */
struct ccm_cloud_obj *ccm_cloud_plain_next(const struct ccm_cloud *cloud, enum ccm_cloud_kind kind,
                                           void **cursor);

/* Those whose attribute has the value, counted. */
size_t ccm_cloud_plain_count(const struct ccm_cloud *cloud, enum ccm_cloud_kind kind,
                             const char *attr, const char *value);

/* Parameters that are given -> attributes of the same name. The list ends with NULL. 0, -ENOMEM. */
CCM_NODISCARD int ccm_cloud_copy_params(const struct ccm_cloud_call *call,
                                        struct ccm_cloud_obj *obj, const char *const *names);

/* Whether every named parameter that is given equals the attribute of that name. */
bool ccm_cloud_params_fit(const struct ccm_cloud_call *call, const struct ccm_cloud_obj *obj,
                          const char *const *names);

/* Whether a comma list has the text. */
bool ccm_cloud_list_has(const char *list, const char *text);

/* Each piece of the comma list in a list; empty pieces are left out. */
void ccm_cloud_write_pieces(struct ccm_jsonw *w, const char *key, const char *list);

/* {"outer":{"inner":[each piece of the comma list]}}; empty pieces are left out. */
void ccm_cloud_write_list(struct ccm_jsonw *w, const char *outer, const char *inner,
                          const char *list);

/* "acl", "route", "securitygroup", ... -> kind. False: no such kind. */
bool ccm_cloud_plain_kind(const char *type, enum ccm_cloud_kind *ret);

/* Every kind as a member of an object of JSON, for the state of the cloud. */
void ccm_cloud_plain_write(struct ccm_jsonw *w, const struct ccm_cloud *cloud);

/* For the maps. */
void ccm_cloud_plain_free(void *value);

#endif
