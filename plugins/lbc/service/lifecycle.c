#include "lbc/service/lifecycle.h"
#include "lbc/names.h"

#include "lbc/model/annotation.h"
#include "lbc/model/object.h"
#include "lbc/service/hash.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* version: the patch is refused unless the Service still has it; NULL = written in any case. */
static void life_open_patch(struct ccm_jsonw *w, const struct ccm_service *service,
                            const char *version, const char *member, char bracket)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_open(w, "metadata", '{');
    ccm_jsonw_str(w, "uid", service->meta.uid);
    if (!ccm_text_empty(version)) {
        ccm_jsonw_str(w, "resourceVersion", version);
    }
    ccm_jsonw_open(w, member, bracket);
}

/* form: type and subresource of the patch. */
static int life_write_patch(const struct lbc_life *life, const struct ccm_request *req,
                            const struct ccm_service *service, struct ccm_patch form,
                            const struct ccm_buf *body, struct ccm_error *err)
{
    if (ccm_buf_error(body) == -EMSGSIZE) {
        return ccm_error_set(err, -EMSGSIZE, CCM_ERROR_TERMINAL,
                             "what is to be written is larger than an API server takes");
    }
    if (ccm_buf_error(body) < 0) {
        return ccm_error_nomem(err);
    }
    form.struct_size = sizeof(form);
    form.kind = CCM_KIND_SERVICE;
    form.namespace_ = service->meta.namespace_;
    form.name = service->meta.name;
    form.body = ccm_buf_str(body);
    if (life->memory != NULL) {
        life->memory->wrote = true;
    }
    return life->host->patch(life->host, req, &form, err);
}

static bool life_is_gone(int r, const struct ccm_error *err)
{
    return r < 0 && err->kind == CCM_ERROR_NOT_FOUND;
}

int lbc_life_patch_status(const struct lbc_life *life, const struct ccm_request *req,
                          const struct ccm_service *service, uint64_t type,
                          const struct ccm_buf *body, struct ccm_error *err)
{
    const int r = life_write_patch(
        life, req, service, (struct ccm_patch){ .type = type, .subresource = "status" }, body, err);

    return life_is_gone(r, err) ? 0 : r;
}

/* --- what the Service shows --- */

struct lbc_life_now lbc_life_see(const struct lbc_life *life, const struct ccm_service *service)
{
    const struct ccm_object *held =
        life->host->get(life->host, CCM_KIND_SERVICE, service->meta.key);
    const bool same = held != NULL && ccm_text_equal(held->uid, service->meta.uid);

    return (struct lbc_life_now){ life->host, held,
                                  same ? (const struct ccm_service *)held : service };
}

void lbc_life_now_fini(struct lbc_life_now *now)
{
    if (now->held != NULL) {
        now->host->release(now->host, now->held);
    }
}

/* The version that the Service must still have for a write that an older view of it must not make.
 * A deleted one cannot be given another load balancer any more: NULL. */
static const char *life_required_version(const struct ccm_service *now)
{
    return now->meta.deleted_ms != 0 ? NULL : now->meta.resource_version;
}

/* --- the finalizer --- */

/* version: as for life_open_patch(). */
static int life_write_finalizer(const struct lbc_life *life, const struct ccm_request *req,
                                const struct ccm_service *service, bool wanted, const char *version,
                                struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = LBC_LIFE_PATCH_MAX };
    struct ccm_jsonw w = { .buf = &body };

    life_open_patch(&w, service, version,
                    wanted ? "finalizers" : "$deleteFromPrimitiveList/finalizers", '[');
    ccm_jsonw_str(&w, NULL, life->finalizer);
    ccm_jsonw_close_all(&w, "]}}");

    const int r = life_write_patch(
        life, req, service, (struct ccm_patch){ .type = CCM_PATCH_STRATEGIC, .subresource = "" },
        &body, err);

    return !wanted && life_is_gone(r, err) ? 0 : r;
}

static void life_record_finalizer(const struct lbc_life *life, bool confirmed, bool bound)
{
    if (life->memory != NULL) {
        life->memory->confirmed = confirmed;
        life->memory->bound = bound;
    }
}

static bool life_has_same_annotation(const struct ccm_service *a, const struct ccm_service *b,
                                     const char *name)
{
    return ccm_text_equal(lbc_anno_get(&a->meta, name), lbc_anno_get(&b->meta, name));
}

/* Whether the Service is another one than what a release went by: it was deleted meanwhile, names
 * another load balancer, or has other values of what decides whether and where it has one. Further
 * edits do not count, or someone who edits often could hold up the release for ever. */
static bool life_has_changed(const struct ccm_service *was, const struct ccm_service *now)
{
    const char *id = ccm_object_label(&now->meta, lbc_names.lb_label);

    return was->meta.deleted_ms != now->meta.deleted_ms ||
           (!ccm_text_empty(id) &&
            !ccm_text_equal(id, ccm_object_label(&was->meta, lbc_names.lb_label))) ||
           !ccm_text_equal(was->type, now->type) ||
           !ccm_text_equal(was->load_balancer_class, now->load_balancer_class) ||
           !life_has_same_annotation(was, now, "id") || !life_has_same_annotation(was, now, "name");
}

static int life_fail_changed(struct ccm_error *err)
{
    return ccm_error_set(err, -EAGAIN, CCM_ERROR_CONFLICT,
                         "the Service has changed since it was read");
}

/* After a write, whose answer the caches hold. */
static bool life_is_current(const struct lbc_life *life, const struct ccm_service *service)
{
    CCM_CLEANUP(lbc_life_now_fini) struct lbc_life_now now = lbc_life_see(life, service);

    return !life_has_changed(service, now.service);
}

int lbc_life_set_finalizer(const struct lbc_life *life, const struct ccm_request *req,
                           const struct ccm_service *service, bool wanted, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_life_now_fini) struct lbc_life_now now = lbc_life_see(life, service);

    if (lbc_object_has_finalizer(&now.service->meta, life->finalizer) == wanted) {
        return 0;
    }
    if (life->plan != NULL) {
        ccm_buf_addf(life->plan, "%s finalizer %s %s the %s\n", wanted ? "add" : "remove",
                     life->finalizer, wanted ? "to" : "from",
                     life->noun == NULL ? "Service" : life->noun);
        life_record_finalizer(life, false, wanted);
        return 0;
    }
    if (!wanted && life_has_changed(service, now.service)) {
        return life_fail_changed(err);
    }
    if (!wanted) {
        life_record_finalizer(life, false, false);
        return life_write_finalizer(life, req, service, false, life_required_version(now.service),
                                    err);
    }
    int r = life_write_finalizer(life, req, service, true, now.service->meta.resource_version, err);
    const bool bound = r == 0;

    if (r < 0 && err->kind == CCM_ERROR_CONFLICT) {
        r = life_write_finalizer(life, req, service, true, NULL, err);
    }
    life_record_finalizer(life, r == 0 && life_is_current(life, service), bound);
    return r;
}

int lbc_life_confirm_release(const struct lbc_life *life, const struct ccm_request *req,
                             const struct ccm_service *service, struct ccm_error *err)
{
    const struct ccm_object *now = NULL;
    int r = life->host->fetch(life->host, req, CCM_KIND_SERVICE, service->meta.namespace_,
                              service->meta.name, &now, err);

    if (life_is_gone(r, err)) {
        ccm_error_clear(err);
        return 0;
    }
    if (r < 0) {
        return r;
    }
    if (ccm_text_equal(now->uid, service->meta.uid) &&
        life_has_changed(service, (const struct ccm_service *)now)) {
        r = life_fail_changed(err);
    }
    life->host->release(life->host, now);
    return r;
}

int lbc_life_confirm_finalizer(const struct lbc_life *life, const struct ccm_request *req,
                               const struct ccm_service *service, struct ccm_error *err)
{
    if (life->memory == NULL || life->plan != NULL || life->memory->confirmed) {
        return 0;
    }
    int r = life_write_finalizer(life, req, service, true, NULL, err);

    if (r == 0 && !life_is_current(life, service)) {
        r = life_fail_changed(err);
    }
    life_record_finalizer(life, r == 0, life->memory->bound);
    return r;
}

/* --- labels and status --- */

static bool label_differs(const struct ccm_service *service, const char *key, const char *value)
{
    if (key == NULL || value == NULL) {
        return false;
    }
    const char *present = ccm_object_label(&service->meta, key);

    return value[0] == '\0' ? present != NULL : !ccm_text_equal(present, value);
}

static bool is_ip(const struct ccm_ingress *ingress, const char *ip, size_t len, const char *mode)
{
    return strlen(ingress->ip) == len && memcmp(ingress->ip, ip, len) == 0 &&
           ccm_text_empty(ingress->hostname) &&
           (ccm_text_empty(mode) || ccm_text_equal(ingress->ip_mode, mode));
}

static bool addresses_differ(const struct ccm_service *service, const char *ips, const char *mode)
{
    const char *cursor = ips;
    const char *ip = NULL;
    size_t len = 0;
    uint64_t count = 0;

    while (ips[0] != '\0' && ccm_parse_piece(&cursor, ',', &ip, &len)) {
        if (count >= service->ingress_count || !is_ip(service->ingress[count], ip, len, mode)) {
            return true;
        }
        count++;
    }
    return service->ingress_count != count;
}

static bool ingress_differs(const struct ccm_service *service, const struct lbc_life_state *state)
{
    if (!ccm_text_empty(state->hostname)) {
        return service->ingress_count != 1 || !ccm_text_empty(service->ingress[0]->ip) ||
               !ccm_text_equal(service->ingress[0]->hostname, state->hostname);
    }
    return state->ip != NULL && addresses_differ(service, state->ip, state->ip_mode);
}

static bool has_stale_tags(const struct ccm_service *service, const struct lbc_life_state *state)
{
    return state->tags != NULL && state->tags[0] == '\0' &&
           label_differs(service, lbc_names.tags_label, state->tags);
}

/* Value of the label of reuse; NULL: it is not there. */
static const char *life_reused_label(const struct lbc_life *life, const struct ccm_service *service)
{
    return life->reused_label == NULL ? NULL : ccm_object_label(&service->meta, life->reused_label);
}

/* It does not say something else than that. That it says nothing is no reason to write. */
static bool life_shows_reused(const struct lbc_life *life, const struct ccm_service *service,
                              const char *id)
{
    const char *shown = life_reused_label(life, service);

    return shown == NULL || ccm_text_equal(shown, id);
}

void lbc_life_record_condition(const struct lbc_life *life, bool says)
{
    if (life->memory != NULL && says) {
        life->memory->spoke = true;
    }
}

/* A process whose cache is old must not write back the label of additional tags: what it replaces
 * may be all that says which tags are ours. */
static const char *state_required_version(const struct ccm_service *now,
                                          const struct lbc_life_state *state)
{
    return label_differs(now, lbc_names.tags_label, state->tags) ? life_required_version(now)
                                                                 : NULL;
}

/* --- the label of additional tags --- */

static uint64_t life_hash_tags(const struct ccm_service *service)
{
    const char *label = ccm_object_label(&service->meta, lbc_names.tags_label);

    return ccm_text_hash(label == NULL ? "" : label) | 1;
}

const char *lbc_life_read_tags(const struct lbc_life *life, const struct ccm_service *now)
{
    if (life->memory != NULL) {
        life->memory->tags = life_hash_tags(now);
    }
    return ccm_object_label(&now->meta, lbc_names.tags_label);
}

bool lbc_life_has_other_tags(const struct lbc_life *life, const struct ccm_service *now)
{
    return life->memory != NULL && life->memory->tags != 0 &&
           life->memory->tags != life_hash_tags(now);
}

/* The new label must be made from the one that it replaces: a newer one may name tags that this
 * process does not know of. An older one than that, which the caches still show, has a version that
 * the API server refuses. */
static int life_check_tags(const struct lbc_life *life, const struct ccm_service *service,
                           const struct ccm_service *now, struct ccm_error *err)
{
    if (!lbc_life_has_other_tags(life, now) || life_hash_tags(now) == life_hash_tags(service)) {
        return 0;
    }
    life->memory->tags = 0; /* it is read again */
    return life_fail_changed(err);
}

/* r: of the write. */
static void life_record_tags(const struct lbc_life *life, int r, const char *label)
{
    if (r == 0 && life->memory != NULL && label != NULL) {
        life->memory->tags = ccm_text_hash(label) | 1;
    }
}

/* service: NULL = whatever it says. */
static void write_label(struct ccm_jsonw *w, const struct ccm_service *service, const char *key,
                        const char *value)
{
    if (service == NULL ? key != NULL && value != NULL : label_differs(service, key, value)) {
        ccm_jsonw_str(w, key, value[0] == '\0' ? NULL : value);
    }
}

static void write_entry(struct ccm_jsonw *w, const char *name, const char *value, const char *mode)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, name, value);
    if (!ccm_text_empty(mode)) {
        ccm_jsonw_str(w, "ipMode", mode);
    }
    ccm_jsonw_close(w, '}');
}

static void write_addresses(struct ccm_jsonw *w, const char *ips, const char *mode)
{
    const char *cursor = ips;
    const char *ip = NULL;
    size_t len = 0;

    while (ccm_parse_piece(&cursor, ',', &ip, &len)) {
        char one[64];

        ccm_text_printf(one, sizeof(one), "%.*s", (int)(len < 64 ? len : 63), ip);
        write_entry(w, "ip", one, mode);
    }
}

static void write_ingress(struct ccm_jsonw *w, const struct lbc_life_state *state)
{
    const bool named = !ccm_text_empty(state->hostname);

    ccm_jsonw_open(w, "loadBalancer", '{');
    if (!named && state->ip[0] == '\0') {
        ccm_jsonw_raw(w, "ingress", "null");
    } else {
        ccm_jsonw_open(w, "ingress", '[');
        if (named) {
            write_entry(w, "hostname", state->hostname, NULL);
        } else {
            write_addresses(w, state->ip, state->ip_mode);
        }
        ccm_jsonw_close(w, ']');
    }
    ccm_jsonw_close(w, '}');
}

/* words: NULL = none is to be written. */
static void write_condition(struct ccm_jsonw *w, const struct lbc_life *life,
                            const struct lbc_condition_words *words)
{
    ccm_jsonw_open(w, "conditions", '[');
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_str(w, "type", lbc_names.condition);
    lbc_condition_print(w, words, !words->same_status, life->host->wall_ms(life->host));
    ccm_jsonw_close_all(w, "}]");
}

/* Whether something is worth a write of its own. */
static bool state_needs_write(const struct lbc_life *life, const struct ccm_service *service,
                              const struct lbc_life_state *state)
{
    return label_differs(service, lbc_names.hash_label, state->hash) ||
           label_differs(service, lbc_names.lb_label, state->lb_id) ||
           label_differs(service, life->extra_label, state->extra) ||
           has_stale_tags(service, state) || ingress_differs(service, state) ||
           (state->reused != NULL && !life_shows_reused(life, service, state->reused));
}

static void write_state(struct ccm_buf *body, const struct lbc_life *life,
                        const struct ccm_service *service, const struct lbc_life_state *state,
                        const struct lbc_condition_words *words)
{
    const bool ingress = ingress_differs(service, state);
    struct ccm_jsonw w = { .buf = body };

    life_open_patch(&w, service, state_required_version(service, state), "labels", '{');
    write_label(&w, service, lbc_names.hash_label, state->hash);
    write_label(&w, service, lbc_names.lb_label, state->lb_id);
    write_label(&w, service, life->extra_label, state->extra);
    write_label(&w, service, lbc_names.tags_label, state->tags);
    write_label(&w, service, life->reused_label, state->reused);
    ccm_jsonw_close_all(&w, "}}");
    if (ingress || words != NULL) {
        ccm_jsonw_open(&w, "status", '{');
        if (ingress) {
            write_ingress(&w, state);
        }
        if (words != NULL) {
            write_condition(&w, life, words);
        }
        ccm_jsonw_close(&w, '}');
    }
    ccm_jsonw_close(&w, '}');
}

/* --- what stands for what it shows --- */

static void add_shown_label(struct ccm_buf *text, const struct ccm_service *service,
                            const char *key, const char *value)
{
    const char *shown = key == NULL ? NULL : ccm_object_label(&service->meta, key);

    if (value != NULL) {
        shown = value;
    }
    ccm_buf_addf(text, "%s\n", shown == NULL ? "" : shown);
}

static void add_shown_ingress(struct ccm_buf *text, const struct ccm_service *service)
{
    for (uint64_t i = 0; i < service->ingress_count; i++) {
        const struct ccm_ingress *one = service->ingress[i];

        ccm_buf_addf(text, "%s%s", i == 0 ? "" : ",",
                     ccm_text_empty(one->hostname) ? one->ip : one->hostname);
    }
}

/* What stands for what we keep on the Service once `state` is written; 0 = not known (out of
 * memory). */
static uint64_t shown_after(const struct lbc_life *life, const struct ccm_service *service,
                            const struct lbc_life_state *state)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = LBC_LIFE_PATCH_MAX };

    add_shown_label(&text, service, lbc_names.hash_label, state->hash);
    add_shown_label(&text, service, lbc_names.lb_label, state->lb_id);
    add_shown_label(&text, service, life->extra_label, state->extra);
    if (!ccm_text_empty(state->hostname)) {
        ccm_buf_adds(&text, state->hostname);
    } else if (state->ip != NULL) {
        ccm_buf_adds(&text, state->ip);
    } else {
        add_shown_ingress(&text, service);
    }
    return ccm_buf_error(&text) < 0 ? 0 : ccm_text_hash(ccm_buf_str(&text)) | 1;
}

bool lbc_life_shows_ours(const struct lbc_life *life, const struct ccm_service *service)
{
    const struct lbc_life_state as_it_is = { .hash = NULL };

    return life->memory != NULL && life->memory->shows != 0 &&
           lbc_object_has_finalizer(&service->meta, life->finalizer) &&
           life->memory->shows == shown_after(life, service, &as_it_is);
}

bool lbc_life_is_marked(const struct lbc_life *life, const struct ccm_service *service)
{
    CCM_CLEANUP(lbc_life_now_fini) struct lbc_life_now now = lbc_life_see(life, service);

    return life->extra_label != NULL &&
           ccm_object_label(&now.service->meta, life->extra_label) != NULL;
}

/* --- the same for people --- */

static void print_label(const struct lbc_life *life, const struct ccm_service *service,
                        const char *key, const char *value)
{
    if (label_differs(service, key, value)) {
        const char *present = ccm_object_label(&service->meta, key);

        ccm_buf_addf(life->plan, "set label %s: %s -> %s\n", key,
                     ccm_text_empty(present) ? "none" : present, value[0] == '\0' ? "none" : value);
    }
}

static void print_ingress(const struct lbc_life *life, const struct ccm_service *service,
                          const struct lbc_life_state *state)
{
    const char *now = ccm_text_empty(state->hostname) ? state->ip : state->hostname;

    ccm_buf_adds(life->plan, "set status:");
    for (uint64_t i = 0; i < service->ingress_count; i++) {
        const struct ccm_ingress *one = service->ingress[i];

        ccm_buf_addf(life->plan, " %s", ccm_text_empty(one->ip) ? one->hostname : one->ip);
    }
    ccm_buf_addf(life->plan, "%s -> %s", service->ingress_count == 0 ? " none" : "",
                 ccm_text_empty(now) ? "none" : now);
    if (now == state->ip && !ccm_text_empty(now) && !addresses_differ(service, now, NULL)) {
        ccm_buf_addf(life->plan, " (ipMode %s)", state->ip_mode);
    }
    ccm_buf_addc(life->plan, '\n');
}

void lbc_life_print_condition(const struct lbc_life *life, const struct lbc_condition_words *words)
{
    CCM_CLEANUP(ccm_freep)
    char *line = ccm_text_format("set condition %s to %s (%s)\n", lbc_names.condition,
                                 words->status, words->reason);

    if (line != NULL && strstr(ccm_buf_str(life->plan), line) == NULL) {
        ccm_buf_adds(life->plan, line);
    }
}

/* words: NULL = no condition is to be written. */
static void print_state(const struct lbc_life *life, const struct ccm_service *service,
                        const struct lbc_life_state *state, const struct lbc_condition_words *words)
{
    print_label(life, service, lbc_names.hash_label, state->hash);
    print_label(life, service, lbc_names.lb_label, state->lb_id);
    print_label(life, service, life->extra_label, state->extra);
    print_label(life, service, lbc_names.tags_label, state->tags);
    print_label(life, service, life->reused_label, state->reused);
    if (ingress_differs(service, state)) {
        print_ingress(life, service, state);
    }
    if (words != NULL) {
        lbc_life_print_condition(life, words);
    }
}

int lbc_life_mark(const struct lbc_life *life, const struct ccm_request *req,
                  const struct ccm_service *service, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = LBC_LIFE_PATCH_MAX };
    struct ccm_jsonw w = { .buf = &body };

    if (lbc_life_is_marked(life, service)) {
        return 0;
    }
    if (life->plan != NULL) {
        print_label(life, service, life->extra_label, LBC_LIFE_PENDING);
        return 0;
    }
    life_open_patch(&w, service, NULL, "labels", '{');
    ccm_jsonw_str(&w, life->extra_label, LBC_LIFE_PENDING);
    ccm_jsonw_close_all(&w, "}}}");

    return life_write_patch(life, req, service,
                            (struct ccm_patch){ .type = CCM_PATCH_MERGE, .subresource = "status" },
                            &body, err);
}

/* version: as for life_open_patch(). */
static int life_write_labels(const struct lbc_life *life, const struct ccm_request *req,
                             const struct ccm_service *service, const char *version,
                             const struct lbc_tags *labels, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = LBC_LIFE_PATCH_MAX };
    struct ccm_jsonw w = { .buf = &body };

    for (size_t i = 0; life->plan != NULL && i < labels->len; i++) {
        print_label(life, service, labels->items[i].key, labels->items[i].value);
    }
    if (life->plan != NULL) {
        return 0;
    }
    life_open_patch(&w, service, version, "labels", '{');
    for (size_t i = 0; i < labels->len; i++) {
        write_label(&w, NULL, labels->items[i].key, labels->items[i].value);
    }
    ccm_jsonw_close_all(&w, "}}}");

    return lbc_life_patch_status(life, req, service, CCM_PATCH_MERGE, &body, err);
}

const char *lbc_life_reused_id(const struct lbc_life *life, const struct ccm_service *service)
{
    const char *shown = life_reused_label(life, service);

    return shown == NULL ? "" : shown;
}

int lbc_life_mark_reused(const struct lbc_life *life, const struct ccm_request *req,
                         const struct ccm_service *service, const char *id, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_life_now_fini) struct lbc_life_now now = lbc_life_see(life, service);
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags labels = { 0 };

    if (life->reused_label == NULL || ccm_text_equal(life_reused_label(life, now.service), id)) {
        return 0;
    }
    if (lbc_tags_put(&labels, life->reused_label, id) < 0) {
        return ccm_error_nomem(err);
    }
    return lbc_life_write_labels(life, req, service, &labels, err);
}

int lbc_life_mark_tags(const struct lbc_life *life, const struct ccm_request *req,
                       const struct ccm_service *service, const char *marks, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_life_now_fini) struct lbc_life_now now = lbc_life_see(life, service);
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags labels = { 0 };

    if (life->plan != NULL || !label_differs(now.service, lbc_names.tags_label, marks)) {
        return 0;
    }
    if (lbc_tags_put(&labels, lbc_names.tags_label, marks) < 0) {
        return ccm_error_nomem(err);
    }
    int r = life_check_tags(life, service, now.service, err);

    r = r < 0 ? r
              : life_write_labels(life, req, service, life_required_version(now.service), &labels,
                                  err);
    life_record_tags(life, r, marks);
    return r;
}

int lbc_life_publish(const struct lbc_life *life, const struct ccm_request *req,
                     const struct ccm_service *service, const struct lbc_life_state *state,
                     bool *ret_written, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = LBC_LIFE_PATCH_MAX };
    CCM_CLEANUP(lbc_condition_words_fini) struct lbc_condition_words words = { .status = NULL };
    CCM_CLEANUP(lbc_life_now_fini) struct lbc_life_now now = lbc_life_see(life, service);

    *ret_written = state_needs_write(life, now.service, state);
    if (life->memory != NULL) {
        life->memory->shows = shown_after(life, now.service, state);
    }
    if (!*ret_written) {
        return 0;
    }
    if (state->condition != NULL) {
        lbc_condition_format(state->condition, now.service, life->host->wall_ms(life->host),
                             &words);
    }

    const bool says = state->condition != NULL && !words.is_shown;

    lbc_life_record_condition(life, says);
    if (life->plan != NULL) {
        print_state(life, now.service, state, says ? &words : NULL);
        return 0;
    }
    int r = label_differs(now.service, lbc_names.tags_label, state->tags)
                ? life_check_tags(life, service, now.service, err)
                : 0;

    if (r < 0) {
        return r;
    }
    write_state(&body, life, now.service, state, says ? &words : NULL);
    /* Of a list only a strategic patch can change one member. */
    r = lbc_life_patch_status(life, req, service, says ? CCM_PATCH_STRATEGIC : CCM_PATCH_MERGE,
                              &body, err);
    life_record_tags(life, r, state->tags);
    return r;
}

int lbc_life_write_labels(const struct lbc_life *life, const struct ccm_request *req,
                          const struct ccm_service *service, const struct lbc_tags *labels,
                          struct ccm_error *err)
{
    return life_write_labels(life, req, service, NULL, labels, err);
}

void lbc_life_event(const struct lbc_life *life, const struct ccm_service *service, bool warning,
                    const char *reason, const char *format, ...)
{
    char message[1024];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof(message), format, args); /* cut by contract */
    va_end(args);

    const struct ccm_event event = {
        .struct_size = sizeof(event),
        .object = &service->meta,
        .component = life->component,
        .reason = reason,
        .message = message,
        .warning = warning ? 1 : 0,
    };

    life->host->event(life->host, &event);
}

void lbc_life_stand(const struct lbc_life *life, const struct ccm_service *service,
                    const struct lbc_life_standing *standing)
{
    const struct ccm_event event = {
        .struct_size = sizeof(event),
        .object = &service->meta,
        .component = life->component,
        .reason = standing->reason,
        .message = standing->text,
        .warning = standing->warning ? 1 : 0,
        .topic = standing->topic,
        .cause = standing->cause,
        .after_ms = standing->after_ms,
    };

    life->host->event(life->host, &event);
}
