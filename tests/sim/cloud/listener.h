/* What the actions of listeners share, whatever their protocol. With the cloud's lock held. */
#ifndef CCM_CLOUD_LISTENER_H
#define CCM_CLOUD_LISTENER_H

#include "cloud.h"

/* protocol: "tcp", "udp", "http", "https", static text. 0, -EPROTO, -ENOMEM. */
CCM_NODISCARD int ccm_cloud_listener_create(struct ccm_cloud_call *call, const char *protocol);
CCM_NODISCARD int ccm_cloud_listener_set(struct ccm_cloud_call *call, const char *protocol);

/* An attribute of a listener and the parameters that feed it; names differ between create and set.
 */
struct ccm_cloud_feed {
    const char *attr;
    const char *create;   /* NULL: not offered at creation */
    const char *set;      /* NULL: cannot be changed */
    const char *fallback; /* value of a new listener, NULL: none */
};

/* Lists of feeds of HTTP and HTTPS; each ends with a NULL attr, the list of lists with NULL. */
extern const struct ccm_cloud_feed *const ccm_cloud_http_feeds[];
extern const struct ccm_cloud_feed *const ccm_cloud_https_feeds[];

/* Rules of HTTP and HTTPS. listener is NULL at creation. 0, -EPROTO. */
CCM_NODISCARD int ccm_cloud_http_check(struct ccm_cloud_call *call, const struct ccm_cloud_lb *lb,
                                       const char *protocol,
                                       const struct ccm_cloud_listener *listener);

/* The listener is in the state `through` for limits.listener_ms, then in `to` (which may be its own
 * attribute). 0 or -ENOMEM. */
CCM_NODISCARD int ccm_cloud_listener_move(struct ccm_cloud *cloud, const struct ccm_cloud_lb *lb,
                                          struct ccm_cloud_listener *listener, const char *through,
                                          const char *to);

/* Those whose time has come get there. */
void ccm_cloud_listeners_advance(struct ccm_cloud *cloud);

/* Listeners on their way. NULL when memory ran out. */
struct ccm_cloud_moves *ccm_cloud_moves_new(void);
void ccm_cloud_moves_free(struct ccm_cloud_moves *moves);

/* No such listener. -EPROTO. */
int ccm_cloud_listener_fail_absent(struct ccm_cloud_call *call);

/* AclId and AclIds of an answer; bare: AclIds is a list, else a list in an object. */
void ccm_cloud_listener_acls_write(struct ccm_jsonw *w, const struct ccm_cloud_listener *listener,
                                   bool bare);

/* Whether the text is a comma list of http_2xx, http_3xx, http_4xx and http_5xx. */
bool ccm_cloud_http_codes_fit(const char *text);

/* Rows that create and set of all protocols have. */
#define CCM_CLOUD_LISTENER_ID_ROWS                                                                 \
    { .name = "LoadBalancerId", .required = true },                                                \
    {                                                                                              \
        .name = "ListenerPort", .type = CCM_CLOUD_INT, .required = true, .min = 1, .max = 65535,   \
        .invalid = "InvalidParam.ListenerPort"                                                     \
    }

#define CCM_CLOUD_LISTENER_ROWS                                                                    \
    { .name = "AclId" }, { .name = "AclStatus", .type = CCM_CLOUD_ENUM, .values = "on|off" },      \
        { .name = "AclType", .type = CCM_CLOUD_ENUM, .values = "white|black" },                    \
        { .name = "Description", .min = 1, .max = 256 },                                           \
        { .name = "HealthyThreshold", .type = CCM_CLOUD_INT, .min = 2, .max = 10 },                \
        { .name = "UnhealthyThreshold", .type = CCM_CLOUD_INT, .min = 2, .max = 10 },              \
    {                                                                                              \
        .name = "VServerGroupId"                                                                   \
    }

#endif
