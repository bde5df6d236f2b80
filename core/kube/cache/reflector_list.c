/* Lists in pages. */
#include "kube/cache/reflector_priv.h"
#include "kube/object/version.h"
#include "util/cleanup.h"
#include "util/clock.h"
#include "util/json.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define MAX_TOKEN    ((size_t)16 * 1024)
#define MAX_RESTARTS 3 /* of a list whose continue token expired, before it counts as failed */

/* One page on its way. */
struct page {
    struct kube_reflector_pump pump;
    struct kube_stage *stage; /* NULL: straight into the store */
    bool only_version;        /* its objects are of no interest */
    bool is_list;
    bool has_items;
    struct ccm_buf version;
    struct ccm_buf token; /* of the next page */
    struct ccm_error *err;
};

static int on_item(void *arg, const char *text, size_t len)
{
    struct page *page = arg;

    page->pump.pieces++;
    if (page->only_version) {
        return 0;
    }

    CCM_CLEANUP(kube_decode_text_fini) struct kube_decode_text object = { 0 };
    const int r = kube_decode_parse(text, len, &object, page->err);

    return r < 0 ? r
                 : kube_reflector_apply(page->pump.reflector, page->stage, false, &object, NULL,
                                        page->err);
}

static int on_metadata(struct page *page, const char *text, size_t len)
{
    CCM_CLEANUP(ccm_json_freep) cJSON *json = NULL;

    if (ccm_json_parse(text, len, &json) < 0) {
        return ccm_error_set(page->err, -EBADMSG, CCM_ERROR_TRANSIENT, "unreadable list metadata");
    }
    ccm_buf_adds(&page->version, ccm_json_text(json, "resourceVersion"));
    ccm_buf_adds(&page->token, ccm_json_text(json, "continue"));
    return ccm_buf_error(&page->version) < 0 || ccm_buf_error(&page->token) < 0
               ? ccm_error_set(page->err, -EBADMSG, CCM_ERROR_TRANSIENT, "oversized list metadata")
               : 0;
}

/* Elements of a list do not say what they are; the list does: "DeploymentList". */
static void learn_kind(struct kube_reflector *r, const char *name, size_t len)
{
    if (r->config.kind.kind == CCM_KIND_RAW && r->config.kind.kind_name == NULL &&
        len < sizeof(r->kind_name)) {
        memcpy(r->kind_name, name, len);
        r->kind_name[len] = '\0';
        r->config.kind.kind_name = r->kind_name;
    }
}

static int on_member(void *arg, const char *name, const char *text, size_t len)
{
    struct page *page = arg;

    if (strcmp(name, "kind") == 0) {
        page->is_list = len > 5 && memcmp(text + len - 5, "List\"", 5) == 0;
        if (page->is_list) {
            learn_kind(page->pump.reflector, text + 1, len - 6);
        }
    } else if (strcmp(name, "metadata") == 0) {
        return on_metadata(page, text, len);
    } else if (strcmp(name, "items") == 0) {
        page->has_items = len == 4 && memcmp(text, "null", 4) == 0;
    }
    return 0;
}

/* A page counts only when it is complete and surely a list: anything else could pass for an empty
 * one. */
static int check_page(struct page *page)
{
    if (page->pump.scan.saw_array) {
        page->has_items = true;
    }
    if (!page->is_list || !page->has_items || page->version.len == 0) {
        return ccm_error_set(page->err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "the answer is not a list of objects");
    }
    return 0;
}

/* Read the page that `token` leads to ("" = the first); on success the token of the next one is in
 * its place. */
static int read_page(struct page *page, const char *label, struct ccm_buf *token)
{
    struct kube_reflector *r = page->pump.reflector;
    const struct kube_jsonstream_sink sink = { .item = on_item, .member = on_member, .arg = page };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf path = { .max = 64 * 1024 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf params = { .max = 64 * 1024 };

    ccm_buf_addf(&params, "limit=%" PRIu32, page->only_version ? 1 : r->config.page_limit);
    kube_reflector_add_param(&params, "continue", ccm_buf_str(token));
    kube_reflector_path(r, &path, ccm_buf_str(&params), label);
    if (ccm_buf_error(&params) < 0 || ccm_buf_error(&path) < 0) {
        return ccm_error_set(page->err, -EMSGSIZE, CCM_ERROR_TERMINAL, "the request is too long");
    }
    page->pump.silence_ms = r->config.timing.progress_ms;
    page->pump.err = page->err;
    page->is_list = false;
    page->has_items = false;
    ccm_buf_reset(&page->version);
    ccm_buf_reset(&page->token);
    kube_jsonstream_init(&page->pump.scan, KUBE_JSONSTREAM_MEMBERS, "items", KUBE_DECODE_MAX_TEXT,
                         &sink);

    int code = kube_reflector_pump(&page->pump, ccm_buf_str(&path));

    if (code == 0) {
        code = check_page(page);
    }
    kube_jsonstream_fini(&page->pump.scan);
    if (code < 0) {
        return code;
    }
    if (page->token.len > 0 && ccm_text_equal(ccm_buf_str(&page->token), ccm_buf_str(token))) {
        return ccm_error_set(page->err, -EBADMSG, CCM_ERROR_TRANSIENT,
                             "the list leads back to the same page");
    }
    ccm_buf_reset(token);
    ccm_buf_add(token, ccm_buf_str(&page->token), page->token.len);
    return ccm_buf_error(token) < 0 ? ccm_error_nomem(page->err) : 0;
}

/* All pages. *version: of the first page, from which a watch misses nothing whatever the later ones
 * say. */
static int read_pages(struct page *page, const char *label, struct ccm_buf *version)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf token = { .max = MAX_TOKEN };

    for (;;) {
        const int code = read_page(page, label, &token);

        if (code < 0) {
            return code;
        }
        if (version->len == 0) {
            ccm_buf_add(version, page->version.data, page->version.len);
        }
        if (token.len == 0) {
            break;
        }
    }
    return ccm_buf_error(version) < 0 ? ccm_error_nomem(page->err) : 0;
}

static void page_init(struct page *page, struct kube_reflector *r, struct kube_stream *stream,
                      struct ccm_error *err)
{
    memset(page, 0, sizeof(*page));
    page->pump.reflector = r;
    page->pump.stream = stream;
    page->version.max = 4096;
    page->token.max = MAX_TOKEN;
    page->err = err;
}

static void page_fini(struct page *page)
{
    ccm_buf_fini(&page->version);
    ccm_buf_fini(&page->token);
}

int kube_reflector_fetch_now(struct kube_reflector *r, const char *label, struct ccm_error *err)
{
    CCM_CLEANUP(page_fini) struct page page;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf version = { .max = 4096 };

    page_init(&page, r, r->side, err);
    return read_pages(&page, label, &version);
}

/* Such a list is no answer of a cache that may lag behind, so it is never older than any event. */
void kube_reflector_check_server(struct kube_reflector *r, struct kube_reflector_end *end)
{
    const int64_t started_ms = ccm_clock_now_ms();
    CCM_CLEANUP(page_fini) struct page page;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf token = { .max = MAX_TOKEN };

    page_init(&page, r, r->main, &end->err);
    page.only_version = true;
    end->code = read_page(&page, NULL, &token);
    if (end->code == 0) {
        r->server_uncertain = false;
        end->code = kube_reflector_check_version(r, ccm_buf_str(&page.version), &end->err);
    }
    if (end->code == 0) {
        kube_reflector_relist_outdated(r);
    }
    end->lasted_ms = ccm_clock_now_ms() - started_ms;
}

static int list_once(struct kube_reflector *r, struct page *page, int64_t started_ms)
{
    CCM_CLEANUP(kube_stage_freep) struct kube_stage *stage = kube_reflector_new_stage(r);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf version = { .max = 4096 };

    if (stage == NULL) {
        return ccm_error_nomem(page->err);
    }
    page->stage = stage;

    const int code = read_pages(page, NULL, &version);

    if (code == 0) {
        kube_reflector_commit(r, &stage, ccm_buf_str(&version), "paged", started_ms);
    }
    return code;
}

void kube_reflector_list(struct kube_reflector *r, struct kube_reflector_end *end)
{
    const int64_t started_ms = ccm_clock_now_ms();
    CCM_CLEANUP(page_fini) struct page page;

    page_init(&page, r, r->main, &end->err);
    for (int i = 0; i <= MAX_RESTARTS; i++) {
        end->code = list_once(r, &page, started_ms);
        if (end->code != -ESTALE) {
            break;
        }
        ccm_log_info(&kube_reflector_log, "%s: the list expired while it was read, starting again",
                     r->config.name);
    }
    end->lasted_ms = ccm_clock_now_ms() - started_ms;
}
