/*
 * Requests to the API server: base URL, credentials and TLS from a kubeconfig or from the pod's
 * service account, JSON in and out, Status objects turned into errors. Thread-safe; calls block as
 * net_http_do() does.
 */
#ifndef CCM_KUBE_CLIENT_H
#define CCM_KUBE_CLIENT_H

#include "kube/client/place.h"
#include "net/http.h"
#include "util/metrics.h"

struct kube_client;

/*
 * Read the configuration and build a client; no request is made.
 * kubeconfig: path of a file; NULL or "" = in-cluster (KUBERNETES_SERVICE_HOST/PORT and the files
 * of the service account). Understood in a kubeconfig: current-context, cluster server,
 * certificate-authority(-data), insecure-skip-tls-verify (logged as a warning at every start),
 * tls-server-name; user token, tokenFile, client-certificate(-data), client-key(-data), exec (see
 * exec.h and exec_token.h; nothing is run yet). auth-provider users, basic auth and proxies are
 * refused with a message that says so. A token file is read again when it changes (checked at most
 * once in 10 s) and at once after a 401. On failure err names file and line or field. http is
 * borrowed and must live longer than the client.
 */
CCM_NODISCARD int kube_client_new(struct net_http *http, const char *kubeconfig,
                                  struct kube_client **ret, struct ccm_error *err);
CCM_NODISCARD int kube_client_new_at(struct net_http *http, const struct kube_place *place,
                                     struct kube_client **ret, struct ccm_error *err);
void kube_client_free(struct kube_client *client);

/* Whether credentials go to another machine without TLS: -EINVAL and err, for whoever has not been
 * told explicitly that they may. */
CCM_NODISCARD int kube_client_check_plain(const struct kube_client *client, struct ccm_error *err);

/* "https://host:port", borrowed: for messages. */
const char *kube_client_server(const struct kube_client *client);

/* The engine it was made with, borrowed: for ccm_http_cancel(). */
struct net_http *kube_client_http(const struct kube_client *client);

/* Let changes (all methods but GET) pass this gate only: borrowed, NULL = none. Before anybody else
 * uses the client. */
void kube_client_set_gate(struct kube_client *client, const struct ccm_gate *gate);

/* Whether changes wait, though this instance leads: they are refused with CCM_ERROR_CANCELLED. */
bool kube_client_is_held(const struct kube_client *client);

/* Count the requests: borrowed, NULL = nothing is counted. Before anybody else uses the client. */
void kube_client_set_metrics(struct kube_client *client, struct ccm_metrics *metrics);

struct kube_call {
    const char *method;
    const char *path;         /* "/api/v1/services?limit=500", already escaped */
    const char *content_type; /* with a body */
    const char *body;         /* NUL-terminated or NULL */
    int64_t deadline_ms;      /* as in net_exchange */
    size_t max_body;          /* 0 = 4 MiB */
    const struct ccm_cancel *cancel;
    bool ungated; /* a change that does not ask the gate, see kube_client_set_gate() */

    /* Stream (list and watch): as in net_exchange, but on_head sees 2xx only: any other status is
     * the error of the call. */
    net_http_chunk_fn on_chunk;
    net_http_head_fn on_head;
    void (*on_end)(void *arg); /* as in net_exchange: kube_end() will not wait */
    void *arg;
    int64_t idle_ms;
};

/*
 * 0: status 2xx; *ret (may be NULL when not wanted) holds the answer. Negative: err is set, from
 * the Status object where there is one; err->http_status and err->code (Status reason) are filled:
 *
 *   404  NOT_FOUND -ENOENT                  409  CONFLICT -EEXIST (AlreadyExists), else -EBUSY
 *   401, 403  AUTH -EACCES                  410  CONFLICT -ESTALE, code "Expired" or "Gone"
 *   400, 422 and the other 4xx  TERMINAL -EINVAL         408  TRANSIENT -ETIMEDOUT
 *   429  THROTTLED -EAGAIN (Retry-After)    5xx  TRANSIENT -EIO      else  TRANSIENT -EPROTO
 *   422 about metadata.uid (a patch whose uid is no longer that of the object)  CONFLICT -EBUSY
 *   any of TERMINAL or NOT_FOUND that an admission webhook or policy chose  AUTH -EACCES
 *
 * Without an answer: what net_http_do() returns. A 401 is repeated once when the token file holds
 * another token by now, or a credential plugin can be asked again. A GET may go out twice when a
 * kept connection was dead; nothing else does.
 */
CCM_NODISCARD int kube_do(struct kube_client *client, const struct kube_call *call,
                          struct ccm_http_response **ret, struct ccm_error *err);

/* The two halves of it: begin() returns at once, unless a credential plugin has to be waited for,
 * and what the call points to is borrowed until end(). end() waits. KUBE_REPEATED: that 401; the
 * exchange goes on, its end is to be waited for again. */
#define KUBE_REPEATED 1
struct kube_exchange;
CCM_NODISCARD int kube_begin(struct kube_client *client, const struct kube_call *call,
                             struct kube_exchange **ret, struct ccm_error *err);
CCM_NODISCARD int kube_end(struct kube_exchange *exchange, struct ccm_http_response **ret,
                           struct ccm_error *err);

/*
 * The error that a Status object (text) stands for, also for ERROR events of a watch. Returns the
 * negative errno of the table above. A body that is no Status keeps http_status and the first 200
 * bytes of the body as message.
 */
int kube_status_error(uint32_t http_status, const char *body, size_t len, struct ccm_error *err);

#endif
