#include "lbc/service/lifecycle.h"
#include "lbc/names.h"

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

static void life_open_patch(struct ccm_jsonw *w, const struct ccm_service *service,
                            const char *member, char bracket)
{
    ccm_jsonw_open(w, NULL, '{');
    ccm_jsonw_open(w, "metadata", '{');
    ccm_jsonw_str(w, "uid", service->meta.uid);
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

/* --- what was written before --- */

enum lbc_written_verdict lbc_life_decide(const struct lbc_life *life, enum lbc_life_part part,
                                         bool shown, const char *want)
{
    struct lbc_life_memory *memory = life->memory;

    if (memory == NULL) {
        return shown ? LBC_WRITTEN_WELL : LBC_WRITTEN_WRITE;
    }

    const enum lbc_written_verdict verdict =
        lbc_written_decide(&memory->parts[part], memory->seen_ms, shown, lbc_written_what(want));

    memory->coming = memory->coming || verdict == LBC_WRITTEN_COMING;
    return verdict;
}

static bool needs_write(enum lbc_written_verdict verdict)
{
    return verdict == LBC_WRITTEN_WRITE || verdict == LBC_WRITTEN_ANEW;
}

bool lbc_life_needs(const struct lbc_life *life, enum lbc_life_part part, bool shown,
                    const char *want)
{
    return needs_write(lbc_life_decide(life, part, shown, want));
}

void lbc_life_record_write(const struct lbc_life *life, enum lbc_life_part part, int r,
                           const char *want)
{
    if (life->memory != NULL) {
        lbc_written_record(&life->memory->parts[part], life->host->now_ms(life->host), r,
                           lbc_written_what(want));
    }
}

void lbc_life_record_condition(const struct lbc_life *life, int r, const char *want,
                               const char *status)
{
    lbc_life_record_write(life, LBC_LIFE_READY, r, want);
    lbc_life_record_write(life, LBC_LIFE_TURN, r, status);
}

bool lbc_life_has_written(const struct lbc_life *life, enum lbc_life_part part, const char *what)
{
    return life->memory != NULL && life->memory->parts[part].what == lbc_written_what(what);
}

/* --- the finalizer --- */

static const char *const finalizer_wanted[] = { "absent", "present" };

static int life_write_finalizer(const struct lbc_life *life, const struct ccm_request *req,
                                const struct ccm_service *service, bool wanted,
                                struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = LBC_LIFE_PATCH_MAX };
    struct ccm_jsonw w = { .buf = &body };

    life_open_patch(&w, service, wanted ? "finalizers" : "$deleteFromPrimitiveList/finalizers",
                    '[');
    ccm_jsonw_str(&w, NULL, life->finalizer);
    ccm_jsonw_close_all(&w, "]}}");

    const int r = life_write_patch(
        life, req, service, (struct ccm_patch){ .type = CCM_PATCH_STRATEGIC, .subresource = "" },
        &body, err);

    return !wanted && life_is_gone(r, err) ? 0 : r;
}

int lbc_life_set_finalizer(const struct lbc_life *life, const struct ccm_request *req,
                           const struct ccm_service *service, bool wanted, struct ccm_error *err)
{
    const bool shown = lbc_object_has_finalizer(&service->meta, life->finalizer) == wanted;

    if (!lbc_life_needs(life, LBC_LIFE_FINALIZER, shown, finalizer_wanted[wanted ? 1 : 0])) {
        return 0;
    }
    if (life->plan != NULL) {
        ccm_buf_addf(life->plan, "%s finalizer %s %s the %s\n", wanted ? "add" : "remove",
                     life->finalizer, wanted ? "to" : "from",
                     life->noun == NULL ? "Service" : life->noun);
        return 0;
    }
    const int r = life_write_finalizer(life, req, service, wanted, err);

    lbc_life_record_write(life, LBC_LIFE_FINALIZER, r, finalizer_wanted[wanted ? 1 : 0]);
    return r;
}

int lbc_life_confirm_finalizer(const struct lbc_life *life, const struct ccm_request *req,
                               const struct ccm_service *service, struct ccm_error *err)
{
    const uint64_t present = lbc_written_what(finalizer_wanted[1]);

    if (life->memory == NULL || life->plan != NULL ||
        life->memory->parts[LBC_LIFE_FINALIZER].what == present) {
        return 0;
    }
    const int r = life_write_finalizer(life, req, service, true, err);

    if (r == 0) {
        lbc_life_record_write(life, LBC_LIFE_FINALIZER, r, finalizer_wanted[1]);
    }
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

static bool rest_differs(const struct lbc_life *life, const struct ccm_service *service,
                         const struct lbc_life_state *state)
{
    return label_differs(service, lbc_names.lb_label, state->lb_id) ||
           label_differs(service, life->extra_label, state->extra) ||
           has_stale_tags(service, state) || ingress_differs(service, state);
}

/* One of them that is left alone is not one that is taken away. */
static const char *life_encode_text(const char *text)
{
    return text == NULL ? "\n" : text;
}

/* All but the hash in one text; NULL on ENOMEM. */
static char *text_of(const struct lbc_life_state *state)
{
    return ccm_text_format("%s\n%s\n%s\n%s\n%s", life_encode_text(state->lb_id),
                           life_encode_text(state->ip), life_encode_text(state->ip_mode),
                           life_encode_text(state->hostname), life_encode_text(state->extra));
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
    lbc_condition_print(w, words,
                        lbc_life_needs(life, LBC_LIFE_TURN, words->same_status, words->status),
                        life->host->wall_ms(life->host));
    ccm_jsonw_close_all(w, "}]");
}

/* To be taken away. Either the snapshot may be older than our own write of it, or it shows one that
 * no write of ours has taken away, whatever was taken away beside it. */
static bool life_must_untag(const struct lbc_life *life, const struct ccm_service *service,
                            const struct lbc_life_state *state)
{
    const struct lbc_life_memory *memory = life->memory;

    if (memory == NULL || state->tags == NULL || state->tags[0] != '\0') {
        return false;
    }
    return memory->tagged || (!memory->untagged && has_stale_tags(service, state));
}

/* What a patch is for, and where the snapshot is not to be believed. */
struct need {
    enum lbc_written_verdict hash;
    enum lbc_written_verdict rest;
    enum lbc_written_verdict reused;
};

static struct need needs_of(const struct lbc_life *life, const struct ccm_service *service,
                            const struct lbc_life_state *state, const char *rest)
{
    const char *hash = state->hash;
    const bool same_hash = !label_differs(service, lbc_names.hash_label, hash);
    const bool same_rest = !rest_differs(life, service, state);

    return (struct need){
        .hash =
            hash == NULL ? LBC_WRITTEN_WELL : lbc_life_decide(life, LBC_LIFE_HASH, same_hash, hash),
        .rest = life_must_untag(life, service, state)
                    ? LBC_WRITTEN_ANEW
                    : lbc_life_decide(life, LBC_LIFE_STATE, same_rest, rest),
        .reused =
            state->reused == NULL
                ? LBC_WRITTEN_WELL
                : lbc_life_decide(life, LBC_LIFE_REUSED,
                                  life_shows_reused(life, service, state->reused), state->reused),
    };
}

static void write_state(struct ccm_buf *body, const struct lbc_life *life,
                        const struct ccm_service *service, const struct need *need,
                        const struct lbc_life_state *state, const struct lbc_condition_words *words)
{
    const bool anew = need->rest == LBC_WRITTEN_ANEW;
    const struct ccm_service *shown = anew ? NULL : service;
    const bool all = anew || need->hash == LBC_WRITTEN_ANEW;
    struct ccm_jsonw w = { .buf = body };

    life_open_patch(&w, service, "labels", '{');
    write_label(&w, need->hash == LBC_WRITTEN_ANEW ? NULL : service, lbc_names.hash_label,
                state->hash);
    write_label(&w, shown, lbc_names.lb_label, state->lb_id);
    write_label(&w, shown, life->extra_label, state->extra);
    write_label(&w, all ? NULL : service, lbc_names.tags_label, state->tags);
    write_label(&w, need->reused == LBC_WRITTEN_ANEW ? NULL : service, life->reused_label,
                state->reused);
    ccm_jsonw_close_all(&w, "}}");

    const bool ingress = anew ? state->ip != NULL || !ccm_text_empty(state->hostname)
                              : ingress_differs(service, state);

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

/* --- what the Service shows --- */

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
    return ccm_buf_error(&text) < 0 ? 0 : lbc_written_what(ccm_buf_str(&text));
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
    return life->extra_label != NULL &&
           ((life->memory != NULL && life->memory->marked) ||
            ccm_object_label(&service->meta, life->extra_label) != NULL);
}

/* extra: as it is published, NULL = left alone. */
static void life_record_mark(const struct lbc_life *life, const char *extra)
{
    if (life->memory != NULL && extra != NULL) {
        life->memory->marked = extra[0] != '\0';
    }
}

/* tags: as they were published, NULL = left alone. What failed may have been written. */
static void life_record_tags(const struct lbc_life *life, int r, const char *tags)
{
    if (life->memory != NULL && tags != NULL && (r == 0 || tags[0] != '\0')) {
        life->memory->tagged = tags[0] != '\0';
        life->memory->untagged = tags[0] == '\0';
    }
}

/* r: the result of the patch; what was no part of it is as it was. */
static void life_record_state(const struct lbc_life *life, const struct need *need, int r,
                              const struct lbc_life_state *state, const char *rest)
{
    if (needs_write(need->hash)) {
        lbc_life_record_write(life, LBC_LIFE_HASH, r, state->hash);
    }
    if (needs_write(need->rest)) {
        lbc_life_record_write(life, LBC_LIFE_STATE, r, rest);
    }
    if (state->reused != NULL) {
        lbc_life_record_write(life, LBC_LIFE_REUSED, r, state->reused);
    }
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
    ccm_buf_addf(life->plan, "set condition %s to %s (%s)\n", lbc_names.condition, words->status,
                 words->reason);
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
    life_open_patch(&w, service, "labels", '{');
    ccm_jsonw_str(&w, life->extra_label, LBC_LIFE_PENDING);
    ccm_jsonw_close_all(&w, "}}}");

    const int r = life_write_patch(
        life, req, service, (struct ccm_patch){ .type = CCM_PATCH_MERGE, .subresource = "status" },
        &body, err);

    /* For what is published next: the snapshot is older than this. */
    lbc_life_record_write(life, LBC_LIFE_STATE, r, LBC_LIFE_PENDING);
    if (r == 0) {
        life_record_mark(life, LBC_LIFE_PENDING);
    }
    return r;
}

const char *lbc_life_reused_id(const struct lbc_life *life, const struct ccm_service *service)
{
    const char *shown = life_reused_label(life, service);

    return shown == NULL ? "" : shown;
}

bool lbc_life_awaits_reused(const struct lbc_life *life, const struct ccm_service *service,
                            const char *id)
{
    const struct lbc_written *slot =
        life->memory == NULL ? NULL : &life->memory->parts[LBC_LIFE_REUSED];

    return slot != NULL && slot->what != 0 && slot->what != lbc_written_what("") &&
           slot->what != lbc_written_what(id) &&
           life->memory->seen_ms - slot->ms < LBC_WRITTEN_LAG_MS &&
           life_reused_label(life, service) == NULL;
}

int lbc_life_mark_reused(const struct lbc_life *life, const struct ccm_request *req,
                         const struct ccm_service *service, const char *id, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags labels = { 0 };
    const bool shown = ccm_text_equal(life_reused_label(life, service), id);

    if (life->reused_label == NULL || !lbc_life_needs(life, LBC_LIFE_REUSED, shown, id)) {
        return 0;
    }
    if (lbc_tags_put(&labels, life->reused_label, id) < 0) {
        return ccm_error_nomem(err);
    }
    const int r = lbc_life_write_labels(life, req, service, &labels, err);

    if (life->plan == NULL) {
        lbc_life_record_write(life, LBC_LIFE_REUSED, r, id);
    }
    return r;
}

int lbc_life_mark_tags(const struct lbc_life *life, const struct ccm_request *req,
                       const struct ccm_service *service, const char *marks, struct ccm_error *err)
{
    CCM_CLEANUP(lbc_tags_fini) struct lbc_tags labels = { 0 };

    if (life->plan != NULL || !label_differs(service, lbc_names.tags_label, marks)) {
        return 0;
    }
    if (lbc_tags_put(&labels, lbc_names.tags_label, marks) < 0) {
        return ccm_error_nomem(err);
    }
    const int r = lbc_life_write_labels(life, req, service, &labels, err);

    life_record_tags(life, r, marks);
    return r;
}

int lbc_life_publish(const struct lbc_life *life, const struct ccm_request *req,
                     const struct ccm_service *service, const struct lbc_life_state *state,
                     bool *ret_written, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = LBC_LIFE_PATCH_MAX };
    CCM_CLEANUP(lbc_condition_words_fini) struct lbc_condition_words words = { .status = NULL };
    CCM_CLEANUP(ccm_freep) char *rest = text_of(state);

    *ret_written = false;
    if (rest == NULL) {
        return ccm_error_nomem(err);
    }

    const struct need need = needs_of(life, service, state, rest);

    if (life->memory != NULL) {
        life->memory->shows = shown_after(life, service, state);
    }
    if (!needs_write(need.hash) && !needs_write(need.rest) && !needs_write(need.reused)) {
        life_record_mark(life, state->extra);
        return 0;
    }
    *ret_written = true;
    if (state->condition != NULL) {
        lbc_condition_format(state->condition, service, life->host->wall_ms(life->host), &words);
    }

    const bool says =
        state->condition != NULL &&
        lbc_life_needs(life, LBC_LIFE_READY, words.is_shown, ccm_buf_str(&words.want));

    int r = 0;

    if (life->plan != NULL) {
        print_state(life, service, state, says ? &words : NULL);
    } else {
        write_state(&body, life, service, &need, state, says ? &words : NULL);
        /* Of a list only a strategic patch can change one member. */
        r = lbc_life_patch_status(life, req, service, says ? CCM_PATCH_STRATEGIC : CCM_PATCH_MERGE,
                                  &body, err);
    }
    if (says) {
        lbc_life_record_condition(life, r, ccm_buf_str(&words.want), words.status);
    }
    life_record_state(life, &need, r, state, rest);
    life_record_tags(life, r, state->tags);
    if (r == 0) {
        life_record_mark(life, state->extra);
    }
    return r;
}

int lbc_life_write_labels(const struct lbc_life *life, const struct ccm_request *req,
                          const struct ccm_service *service, const struct lbc_tags *labels,
                          struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = LBC_LIFE_PATCH_MAX };
    struct ccm_jsonw w = { .buf = &body };

    for (size_t i = 0; life->plan != NULL && i < labels->len; i++) {
        print_label(life, service, labels->items[i].key, labels->items[i].value);
    }
    if (life->plan != NULL) {
        return 0;
    }
    life_open_patch(&w, service, "labels", '{');
    for (size_t i = 0; i < labels->len; i++) {
        write_label(&w, NULL, labels->items[i].key, labels->items[i].value);
    }
    ccm_jsonw_close_all(&w, "}}}");

    return lbc_life_patch_status(life, req, service, CCM_PATCH_MERGE, &body, err);
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
