/* What a plugin tells by describe(), on a page. The facts of the page are open when it begins, and
 * closed when it ends; tables come behind them. */
#ifndef CCM_DAEMON_STATUS_VIEW_H
#define CCM_DAEMON_STATUS_VIEW_H

#include "admin/page.h"
#include "daemon/runner.h"
#include "util/strmap.h"

struct status_view {
    struct ccm_view_sink sink;
    struct admin_page *page;
    struct ccm_strmap *told; /* rows that were told already; NULL = each is new */
    char prefix[48];         /* id of the table */
    struct admin_column columns[ADMIN_PAGE_COLUMNS];
    char titles[ADMIN_PAGE_COLUMNS][64];
    char ids[ADMIN_PAGE_COLUMNS][64];
    size_t column_count;
    size_t tables;
    size_t rows; /* of the table that is open */
    bool in_table;
};

/* told: rows of other plugins, borrowed until the end; may be NULL. */
void status_view_begin(struct status_view *view, struct admin_page *page, struct ccm_strmap *told);
/* Ask the plugin. As describe(); -ENOTSUP: it offers none, or does not work here. */
int status_view_ask(struct status_view *view, const struct daemon_runner_view *plugin,
                    const char *key);
void status_view_end(struct status_view *view);
/* Whether the plugin would tell anything about the key: 0, or as status_view_ask(). */
int status_view_probe(const struct daemon_runner_view *plugin, const char *key);

#endif
