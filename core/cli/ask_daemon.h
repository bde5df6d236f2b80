/* One request to the daemon of a configuration, on this machine: to its admin server. Blocks. */
#ifndef CCM_CLI_ASK_DAEMON_H
#define CCM_CLI_ASK_DAEMON_H

#include "ccm/error.h"
#include "config/load.h"
#include "util/attr.h"
#include "util/secret.h"

struct cli_question {
    const char *method; /* "GET", "POST" */
    const char *path;   /* behind the "/" of the URL */
    const struct ccm_secret *bearer;
    size_t max_body; /* 0 = as net/http.h */
};

/* Where the daemon listens, and what it answers: the body, heap, and its status. 0, or negative
 * with err: it is not reached, or the configuration names no place. */
CCM_NODISCARD int cli_ask_daemon(const struct config_tree *config,
                                 const struct cli_question *question, char **ret_body,
                                 unsigned *ret_status, struct ccm_error *err);

/* Escape for a query: "a b" -> "a%20b"; heap, NULL = out of memory. */
char *cli_escape_query(const char *text);

#endif
