#include "daemon/status_frame.h"

#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <string.h>

#define REFRESH_MAX_S 3600

static const char offered_refresh[] = "10";

static const char *const kept_arguments[] = { "key",  "plugin", "state", "cause",  "q",
                                              "sort", "limit",  "page",  "refresh" };

const char *status_get(const struct admin_status_request *request, const char *name)
{
    const char *value = request->get(request->arg, name);

    return value == NULL ? "" : value;
}

static void link_add_argument(struct ccm_buf *url, const char *name, const char *value)
{
    if (value[0] != '\0') {
        ccm_buf_addf(url, "%c%s=", strchr(ccm_buf_str(url), '?') == NULL ? '?' : '&', name);
        admin_page_encode(url, value);
    }
}

void status_link(const struct admin_status_request *request, const char *path, const char *name,
                 const char *value, struct ccm_buf *url)
{
    const bool stays = ccm_text_equal(name, "refresh") || ccm_text_equal(name, "format");

    ccm_buf_addf(url, "/statusz%s", path);
    for (size_t i = 0; i < CCM_ARRAY_LEN(kept_arguments); i++) {
        const char *kept = kept_arguments[i];

        if (!ccm_text_equal(kept, name) && (stays || !ccm_text_equal(kept, "page"))) {
            link_add_argument(url, kept, status_get(request, kept));
        }
    }
    link_add_argument(url, name, value);
}

void status_link_object(const char *plugin, const char *key, struct ccm_buf *url)
{
    ccm_buf_adds(url, "/statusz/object");
    link_add_argument(url, "key", key);
    link_add_argument(url, "plugin", plugin);
}

static void frame_add_link(struct ccm_buf *html, const char *url, const char *words, bool on)
{
    ccm_buf_adds(html, on ? "<a class=\"on\" href=\"" : "<a href=\"");
    admin_page_escape(html, url);
    ccm_buf_adds(html, "\">");
    admin_page_escape(html, words);
    ccm_buf_adds(html, "</a>");
}

static void frame_add_self(const struct admin_status_request *request, const char *name,
                           const char *value, const char *words, struct ccm_buf *html)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf url = { .max = 8192 };

    status_link(request, request->path, name, value, &url);
    frame_add_link(html, ccm_buf_str(&url), words, false);
}

void status_frame_begin(struct admin_page *page, const struct admin_status_request *request,
                        const char *title, struct ccm_buf *text)
{
    static const struct {
        const char *path;
        const char *words;
    } pages[] = { { "", "Overview" }, { "/objects", "Objects" }, { "/quotas", "Quotas" } };
    int64_t refresh_s = 0;

    if (ccm_parse_i64(status_get(request, "refresh"), 1, REFRESH_MAX_S, &refresh_s) < 0) {
        refresh_s = 0;
    }
    admin_page_begin(page, text, request->format, title, refresh_s);

    struct ccm_buf *html = admin_page_html(page);

    if (html == NULL) {
        return;
    }
    ccm_buf_adds(html, "<h1>");
    admin_page_escape(html, title);
    ccm_buf_adds(html, "</h1>\n<nav>");
    for (size_t i = 0; i < CCM_ARRAY_LEN(pages); i++) {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf url = { .max = 256 };

        ccm_buf_addf(&url, "/statusz%s", pages[i].path);
        frame_add_link(html, ccm_buf_str(&url), pages[i].words,
                       strcmp(request->path, pages[i].path) == 0);
    }
    frame_add_self(request, "refresh", refresh_s > 0 ? "" : offered_refresh,
                   refresh_s > 0 ? "Refresh off" : "Refresh every 10 s", html);
    frame_add_self(request, "format", "json", "JSON", html);
    ccm_buf_adds(html, "</nav>\n");
}
