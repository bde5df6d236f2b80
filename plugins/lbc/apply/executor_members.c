#include "lbc/apply/executor_members.h"

#include "lbc/apply/model.h"
#include "lbc/model/resolve.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SIFTED_MAX   64   /* refusals of one run that are looked into; the next one goes on */
#define GO_ON_MS     1000 /* until then */
#define DENSE        3
#define NAME_BYTES   400
#define NAMES_SHOWN  5
#define REASON_BYTES 300

/* --- names --- */

/* As `model` knows it; provider ids are what a person looks for. */
static void backend_format(const struct lbc_backend *one, const struct lbc_model *model,
                           struct ccm_buf *text)
{
    const bool is_pod = one->type == LBC_BACKEND_INTERFACE;

    for (size_t i = 0; !is_pod && model != NULL && i < model->nodes.len; i++) {
        const struct ccm_node *node = model->nodes.items[i].node;

        if (lbc_node_is_server(node, one->server_id)) {
            ccm_buf_addf(text, "node %s (%s)", node->meta.name,
                         one->type == LBC_BACKEND_IP ? one->server_id : node->provider_id);
            return;
        }
    }
    if (is_pod) {
        ccm_buf_addf(text, "pod %s (%s)", one->server_ip, one->server_id);
    } else {
        ccm_buf_adds(text, one->server_id);
    }
}

static void backends_format(const struct lbc_backends *set, const struct lbc_model *model,
                            struct ccm_buf *text)
{
    for (size_t i = 0; i < set->len && i < NAMES_SHOWN; i++) {
        ccm_buf_adds(text, i == 0 ? "" : ", ");
        backend_format(&set->items[i], model, text);
    }
    if (set->len > NAMES_SHOWN) {
        ccm_buf_addf(text, " and %zu more", set->len - NAMES_SHOWN);
    }
}

void lbc_left_out_format(const struct lbc_left_out *left_out, const struct lbc_model *model,
                         const struct lbc_cloud *cloud, struct ccm_buf *text)
{
    for (size_t i = 0; i < left_out->len; i++) {
        const struct lbc_left_out_part *part = &left_out->parts[i];
        const char *remedy = cloud == NULL ? NULL : lbc_cloud_explain(cloud, &part->why).remedy;

        ccm_buf_adds(text, i == 0 ? "" : cloud == NULL ? ", " : "; ");
        backends_format(&part->backends, model, text);
        if (cloud != NULL) {
            ccm_buf_addf(text, ": %.*s", (int)ccm_text_utf8_cut(part->why.message, REASON_BYTES),
                         part->why.message);
        }
        if (remedy != NULL) {
            ccm_buf_addf(text, " (%s)", remedy);
        }
    }
}

/* --- who is left out --- */

static int run_note_left_out(struct lbc_run *run, const struct lbc_backend *one, uint64_t again_ms,
                             const struct ccm_error *why)
{
    return lbc_left_out_add(run->apply->left_out, one, again_ms, why) < 0
               ? lbc_run_out_of_memory(run)
               : 0;
}

int lbc_members_leave_out(struct lbc_run *run, const struct lbc_backend *one, bool is_gone,
                          const struct ccm_error *err)
{
    const struct lbc_apply *apply = run->apply;
    const struct lbc_backends alone = { .items = (struct lbc_backend *)(uintptr_t)one, .len = 1 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf name = { .max = NAME_BYTES };
    const char *key = apply->service->meta.key;
    const uint64_t again_ms =
        apply->unknown == NULL ? 0
                               : lbc_unknown_record(apply->unknown, one, is_gone ? "" : key, err);

    run->found_in_a_row++;
    backend_format(one, apply->model, &name);
    apply->host->log(apply->host, CCM_LEVEL_WARN, key, "%s is left out of the backends: %s",
                     ccm_buf_str(&name), err->code); /* the whole is told once, by the pass */
    lbc_resolve_forget(apply->cloud, &alone);
    return run_note_left_out(run, one, again_ms, err);
}

/* *ret: whether the run does without it, as it knows already or hears now. */
static int run_check_left_out(struct lbc_run *run, const struct lbc_backend *one, bool *ret)
{
    const struct lbc_apply *apply = run->apply;
    struct ccm_error why = CCM_ERROR_INIT;
    uint64_t again_ms = 0;

    *ret = lbc_left_out_has(apply->left_out, one);
    if (*ret || apply->unknown == NULL) {
        return 0;
    }
    again_ms = lbc_unknown_find(apply->unknown, one, apply->service->meta.key, run->goes_on, &why);
    *ret = again_ms > 0;
    return *ret ? run_note_left_out(run, one, again_ms, &why) : 0;
}

int lbc_members_drop(struct lbc_run *run, struct lbc_backends *set, size_t *ret_count)
{
    int r = 0;

    *ret_count = 0;
    for (size_t i = set->len; run->apply->left_out != NULL && r == 0 && i > 0; i--) {
        bool is_left_out = false;

        r = run_check_left_out(run, &set->items[i - 1], &is_left_out);
        if (is_left_out) {
            lbc_backends_remove(set, &set->items[i - 1]);
            ++*ret_count;
        }
    }
    return r;
}

/* --- members of a step: of these lists it has one --- */

static size_t step_count_members(const struct lbc_step *step)
{
    return step->backends.len + step->texts.len + step->tags.len;
}

static void step_remove_first(struct lbc_step *step)
{
    if (step->backends.len > 0) {
        lbc_backends_remove(&step->backends, &step->backends.items[0]);
    } else if (step->texts.len > 0) {
        lbc_texts_remove(&step->texts, step->texts.items[0]);
    } else {
        lbc_tags_remove(&step->tags, step->tags.items[0].key);
    }
}

static void step_cut(struct lbc_step *step, size_t count)
{
    step->backends.len = step->backends.len < count ? step->backends.len : count;
    step->texts.len = step->texts.len < count ? step->texts.len : count;
    step->tags.len = step->tags.len < count ? step->tags.len : count;
}

static bool step_adds_backends(const struct lbc_step *step)
{
    return step->type == LBC_STEP_ADD || step->type == LBC_STEP_CREATE_GROUP;
}

bool lbc_members_is_refused(struct lbc_run *run, const struct lbc_step *step,
                            const struct ccm_error *err)
{
    const struct lbc_apply_ops *ops = run->apply->ops;

    return (ops->steps[step->type].flags & LBC_SIFTS) != 0 && step_count_members(step) > 0 &&
           (run->apply->left_out != NULL || !step_adds_backends(step)) &&
           lbc_refusal_is(ops, LBC_REFUSAL_MEMBER, err) && run->sifted++ < SIFTED_MAX;
}

bool lbc_members_are_dense(const struct lbc_run *run)
{
    return run->found_in_a_row >= DENSE;
}

void lbc_members_put_off(const struct lbc_run *run, const struct lbc_step *step,
                         struct ccm_error *err)
{
    const struct lbc_apply *apply = run->apply;

    if (!step_adds_backends(step) || apply->unknown == NULL || apply->sifting == NULL) {
        return;
    }
    if (run->sifted > SIFTED_MAX && lbc_refusal_is(apply->ops, LBC_REFUSAL_MEMBER, err)) {
        ccm_error_clear(err);
        (void)ccm_error_set(err, 0, CCM_ERROR_THROTTLED,
                            "the cloud has refused %d calls because of backends that are left "
                            "out: the others follow",
                            SIFTED_MAX); /* the text is what counts */
        err->retry_after_ms = GO_ON_MS;
    }
    *apply->sifting = *apply->sifting || (run->sifted > 0 && lbc_error_is_put_off(err));
}

/* --- the cloud's word on instances --- */

/* It is a backend already, so there is such an instance. */
static bool state_has_instance(const struct lbc_state *have, const char *id)
{
    for (size_t g = 0; g < have->group_count; g++) {
        const struct lbc_backends *set = &have->groups[g]->backends;

        for (size_t i = 0; i < set->len; i++) {
            if (set->items[i].type == LBC_BACKEND_INSTANCE &&
                ccm_text_equal(set->items[i].server_id, id)) {
                return true;
            }
        }
    }
    return false;
}

static bool set_has_instance(const struct lbc_backends *set, const char *id)
{
    for (size_t i = 0; i < set->len; i++) {
        if (ccm_text_equal(set->items[i].server_id, id)) {
            return true;
        }
    }
    return false;
}

/* One that is there for certain: it is a backend, or else another node of the cluster. */
static const char *run_find_witness(const struct lbc_run *run, const struct lbc_backends *asked)
{
    const struct lbc_state *have = run->apply->have;
    const struct lbc_model *model = run->apply->model;

    for (size_t g = 0; g < have->group_count; g++) {
        const struct lbc_backends *set = &have->groups[g]->backends;

        for (size_t i = 0; i < set->len; i++) {
            if (set->items[i].type == LBC_BACKEND_INSTANCE &&
                !set_has_instance(asked, set->items[i].server_id)) {
                return set->items[i].server_id;
            }
        }
    }
    for (size_t i = 0; model != NULL && i < model->nodes.len; i++) {
        const char *id = model->nodes.items[i].instance_id;

        if (id != NULL && !set_has_instance(asked, id)) {
            return id;
        }
    }
    return "";
}

static int run_leave_out_gone(struct lbc_run *run, const struct lbc_backends *set, const bool *gone,
                              const struct ccm_error *err, size_t *ret_count)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < set->len; i++) {
        if (gone[i] && !state_has_instance(run->apply->have, set->items[i].server_id)) {
            r = lbc_members_leave_out(run, &set->items[i], true, err);
            ++*ret_count;
        }
    }
    return r;
}

/* A question that fails is no answer. */
int lbc_members_ask(struct lbc_run *run, const struct lbc_backends *set,
                    const struct ccm_error *err, size_t *ret_count)
{
    const struct lbc_apply *apply = run->apply;
    const struct lbc_cloud_caller by = { apply->cloud->account, apply->host, apply->req };
    CCM_CLEANUP(ccm_freep) const char **ids = NULL;
    CCM_CLEANUP(ccm_freep) bool *gone = NULL;
    struct ccm_error ignored = CCM_ERROR_INIT;
    size_t count = 0;

    *ret_count = 0;
    while (count < set->len && set->items[count].type == LBC_BACKEND_INSTANCE) {
        count++; /* they come first */
    }
    if (apply->cloud->ops->find_gone_instances == NULL || count == 0 ||
        !lbc_refusal_is(apply->ops, LBC_REFUSAL_SERVER, err)) {
        return 0;
    }
    ids = calloc(count, sizeof(*ids));
    gone = calloc(set->len, sizeof(*gone));
    if (ids == NULL || gone == NULL) {
        return lbc_run_out_of_memory(run);
    }
    for (size_t i = 0; i < count; i++) {
        ids[i] = set->items[i].server_id;
    }
    (void)apply->cloud->ops->find_gone_instances(&by, run_find_witness(run, set), ids, count, gone,
                                                 &ignored); /* as said above */
    return run_leave_out_gone(run, set, gone, err, ret_count);
}

/* --- sifting --- */

/* Some first members of a step as a call of their own, which has ended then. */
struct part {
    struct lbc_step *step; /* borrows all but `sent` */
    int refusal;           /* 0: it was sent */
};

static void part_fini(struct part *part)
{
    if (part->step != NULL) {
        lbc_sent_fini(&part->step->sent);
        free(part->step);
    }
}

static int part_init(struct part *part, struct lbc_run *run, const struct lbc_step *step,
                     size_t count)
{
    const size_t size = run->plan->table->size;

    part->step = malloc(size);
    if (part->step == NULL) {
        return lbc_run_out_of_memory(run);
    }
    memcpy(part->step, step, size);
    memset(&part->step->sent, 0, sizeof(part->step->sent));
    part->step->type = step->type == LBC_STEP_CREATE_GROUP ? LBC_STEP_ADD : step->type;
    step_cut(part->step, count);
    return 0;
}

static int part_run(struct part *part, struct lbc_run *run, struct ccm_error *err)
{
    part->refusal = lbc_run_check_cancelled(run);
    if (part->refusal < 0) {
        return part->refusal;
    }
    part->refusal = lbc_run_send(run, part->step, err);
    return part->refusal < 0 ? 0 : lbc_run_end(run, &part->step, 1);
}

/* It was refused as the only one. What is to go is gone. */
static int step_leave_out_first(struct lbc_run *run, struct lbc_step *step,
                                const struct ccm_error *err)
{
    CCM_CLEANUP(part_fini) struct part part = { .step = NULL };
    const unsigned flags = run->apply->ops->steps[step->type].flags;
    struct ccm_error own;
    int r = 0;

    if (step_adds_backends(step)) {
        size_t count = 0;

        step->lacks = true;
        r = lbc_members_leave_out(run, &step->backends.items[0], false, err);
        return r < 0 ? r : lbc_members_drop(run, &step->backends, &count);
    }
    if ((flags & LBC_TAKES_AWAY) != 0 && err->kind == CCM_ERROR_NOT_FOUND) {
        r = part_init(&part, run, step, 1);
        if (r == 0) {
            part.step->verdict = LBC_VERDICT_SENT;
            r = lbc_run_end(run, &part.step, 1);
        }
    } else {
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf name = { .max = NAME_BYTES };

        if (step->backends.len > 0) {
            backend_format(&step->backends.items[0], run->apply->model, &name);
        } else {
            ccm_buf_adds(&name,
                         step->texts.len > 0 ? step->texts.items[0] : step->tags.items[0].key);
        }
        ccm_error_copy(&own, err);
        (void)ccm_error_wrap(&own, 0, "left out: %s", ccm_buf_str(&name)); /* sets the text */
        r = lbc_run_fail(run, step, -EIO, &own, NULL);
    }
    step_remove_first(step);
    return r;
}

/* What is known of the members of a step that was refused. */
struct sift {
    size_t suspect;  /* one of the first so many is bad; 0: of none it is known */
    size_t next;     /* so many are sent then, 0 = all: one, doubled by each call that goes well,
                        once several bad ones were found in a row */
    bool is_alone;   /* it was refused as the only one of a call */
    bool takes_away; /* one that is not there may be well, so only a call tells */
    bool is_over;    /* refused for another reason, or there is a problem */
};

static size_t sift_choose_count(const struct lbc_run *run, const struct sift *sift, size_t all)
{
    if (sift->suspect > 0) {
        return sift->suspect == 1 || lbc_members_are_dense(run) ? 1 : sift->suspect / 2;
    }
    return sift->next > 0 && sift->next < all ? sift->next : all;
}

/* The next call: half of the suspects, or those of which nothing is known. */
static int step_sift_once(struct lbc_run *run, struct lbc_step *step, struct sift *sift,
                          int *refusal, struct ccm_error *err)
{
    CCM_CLEANUP(part_fini) struct part part = { .step = NULL };
    const size_t count = sift_choose_count(run, sift, step_count_members(step));
    int r = part_init(&part, run, step, count);

    r = r < 0 ? r : part_run(&part, run, err);
    *refusal = part.refusal;
    if (r < 0) {
        return r;
    }
    if (part.refusal < 0) {
        sift->is_over = !lbc_members_is_refused(run, part.step, err);
        sift->suspect = count;
        sift->is_alone = count == 1;
        return 0;
    }
    sift->is_over = part.step->verdict != LBC_VERDICT_DONE;
    for (size_t i = 0; !sift->is_over && i < count; i++) {
        step_remove_first(step);
    }
    sift->suspect -= sift->suspect == 0 ? 0 : count;
    sift->next *= 2;
    run->found_in_a_row = 0;
    return 0;
}

static int step_sift(struct lbc_run *run, struct lbc_step *step, int *refusal,
                     struct ccm_error *err)
{
    struct sift sift = {
        .suspect = step_count_members(step),
        .is_alone = step_count_members(step) == 1,
        .takes_away = (run->apply->ops->steps[step->type].flags & LBC_TAKES_AWAY) != 0,
    };
    int r = 0;

    while (r == 0 && step_count_members(step) > 0 && !sift.is_over && !run->put_off) {
        if (sift.suspect == 1 && (sift.is_alone || !sift.takes_away)) {
            r = step_leave_out_first(run, step, err);
            sift.suspect = 0;
            sift.next = lbc_members_are_dense(run) ? 1 : 0;
            sift.is_alone = false;
            *refusal = 0;
        } else {
            r = step_sift_once(run, step, &sift, refusal, err);
        }
    }
    if (r == 0 && step_count_members(step) == 0) {
        step->verdict = LBC_VERDICT_DONE;
    }
    return r;
}

/* As long as the cloud says who it is. */
static int step_send_others(struct lbc_run *run, struct lbc_step *step, int *refusal,
                            struct ccm_error *err)
{
    size_t found = 1;
    int r = 0;

    while (r == 0 && *refusal < 0 && found > 0) {
        r = lbc_members_ask(run, &step->backends, err, &found);
        if (r < 0 || found == 0) {
            return r;
        }
        step->lacks = true;
        r = lbc_members_drop(run, &step->backends, &found);
        if (r == 0 && step->type == LBC_STEP_ADD && step->backends.len == 0) {
            step->verdict = LBC_VERDICT_DONE;
            *refusal = 0;
        } else if (r == 0) {
            *refusal = lbc_run_send(run, step, err);
            found = *refusal < 0 && lbc_members_is_refused(run, step, err) ? 1 : 0;
        }
    }
    return r;
}

int lbc_members_sift(struct lbc_run *run, struct lbc_step *step, int *refusal,
                     struct ccm_error *err)
{
    int r = step_adds_backends(step) ? step_send_others(run, step, refusal, err) : 0;

    if (r < 0 || *refusal == 0 || !lbc_refusal_is(run->apply->ops, LBC_REFUSAL_MEMBER, err)) {
        return r;
    }
    if (step->type == LBC_STEP_CREATE_GROUP) {
        r = lbc_run_make_empty(run, step);
        if (r < 0 || step->group == NULL) {
            *refusal = 0; /* there is a problem */
            return r;
        }
    }
    return step_sift(run, step, refusal, err);
}

/* --- what follows --- */

int lbc_members_fail(struct lbc_run *run, const struct lbc_step *step)
{
    const struct lbc_apply *apply = run->apply;
    const bool removes = step->type == LBC_STEP_REMOVE;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf names = { .max = NAME_BYTES };
    struct ccm_error err;

    lbc_left_out_format(apply->left_out, apply->model, NULL, &names);
    ccm_error_copy(&err, &apply->left_out->parts[apply->left_out->len - 1].why);
    if (run->told_left_out) { /* the whole of it */
        err.request_id[0] = '\0';
        ccm_text_copy(err.message, sizeof(err.message), err.code);
        err.detail_len = 0;
    }
    run->told_left_out = true;
    (void)ccm_error_wrap(&err, 0, "%s: %s",
                         removes ? "kept, because the cloud does not take what replaces them"
                                 : "left out, and there is no other backend",
                         ccm_buf_str(&names)); /* sets the text */
    *apply->uncertain = false;
    return lbc_run_fail(run, step, -EIO, &err, NULL);
}

/* Another call of the run adds further backends to the group. */
static bool run_adds_later(const struct lbc_run *run, const struct lbc_group *group)
{
    for (size_t i = 0; i < run->plan->len; i++) {
        const struct lbc_step *step = run->plan->steps[i];

        if (step->type == LBC_STEP_ADD && step->group == group &&
            step->verdict == LBC_VERDICT_OPEN) {
            return true;
        }
    }
    return false;
}

int lbc_members_settle(struct lbc_run *run, const struct lbc_step *step)
{
    const bool is_empty =
        step->group != NULL && step->group->backends.len == 0 && !run_adds_later(run, step->group);
    int r = 0;

    if (!step->lacks || step->verdict != LBC_VERDICT_DONE || step->group == NULL) {
        return 0;
    }
    r = lbc_run_mark_short(run, step->group, !is_empty);
    return r < 0 || !is_empty ? r : lbc_members_fail(run, step);
}
