#include "write.h"

#include "gone.h"
#include "patch.h"
#include "util/cleanup.h"
#include "util/parallel.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define BODY_MAX ((size_t)16 * 1024)
/* So many writes are under way at once. */
#define WRITERS 8
/* A node that others write at the same time is read again so often. */
#define TRIES 3

/* What is written of one node, in one version of it. */
struct draft {
    struct node_run *run;
    struct node_item *item;
    struct node_want want;
};

static void draft_format_now(const struct ccm_host *host, char *to, size_t size)
{
    const time_t now = (time_t)(host->wall_ms(host) / 1000);
    struct tm parts;

    to[0] = '\0';
    if (gmtime_r(&now, &parts) != NULL) {
        (void)strftime(to, size, "%Y-%m-%dT%H:%M:%SZ", &parts); /* 20 characters fit */
    }
}

static int draft_write_status(const struct draft *draft, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = BODY_MAX };
    const struct ccm_host *host = draft->run->control->host;
    char now[32];

    draft_format_now(host, now, sizeof(now));
    node_patch_status(&body, node_item_object(draft->item), &draft->want, now);
    if (ccm_buf_error(&body) < 0) {
        return ccm_error_nomem(err);
    }

    const struct ccm_patch patch = {
        .struct_size = sizeof(patch),
        .kind = CCM_KIND_NODE,
        .type = CCM_PATCH_STRATEGIC,
        .name = draft->item->object->name,
        .subresource = "status",
        .body = ccm_buf_str(&body),
    };
    const int r = host->patch(host, draft->run->req, &patch, err);

    return r < 0 ? ccm_error_wrap(err, r, "patch status") : 0;
}

static int draft_write_object(const struct draft *draft, struct ccm_error *err)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf body = { .max = BODY_MAX };
    const struct ccm_host *host = draft->run->control->host;

    node_patch_object(&body, node_item_object(draft->item), &draft->want);
    if (ccm_buf_error(&body) < 0) {
        return ccm_error_nomem(err);
    }

    const struct ccm_raw_call call = {
        .struct_size = sizeof(call),
        .api_version = "v1",
        .resource = "nodes",
        .name = draft->item->object->name,
        .body = ccm_buf_str(&body),
        .patch = CCM_PATCH_JSON,
    };
    const int r = host->patch_raw(host, draft->run->req, &call, NULL, err);

    if (r < 0 && err->http_status == 422) {
        err->kind = CCM_ERROR_CONFLICT; /* a test failed: it is not what we have seen any more */
    }
    return r < 0 ? ccm_error_wrap(err, r, "patch spec") : 0;
}

/* The status first: a node without its addresses or the condition about its network gets no pods.
 */
static int draft_write(const struct draft *draft, struct ccm_error *err)
{
    int r = 0;

    if (node_want_has_status(&draft->want)) {
        r = draft_write_status(draft, err);
    }
    if (r == 0 && node_want_has_object(&draft->want)) {
        r = draft_write_object(draft, err);
    }
    return r;
}

static int draft_make(struct draft *draft, struct ccm_error *err)
{
    const struct node_item *item = draft->item;
    const struct node_control *control = draft->run->control;
    const struct node_sight sight = {
        .node = node_item_object(item),
        .subject = &item->subject,
        .machine = item->machine,
        .closed = item->closed,
        .told = node_memory_facts(control->memory, item->object->name),
    };

    node_want_fini(&draft->want);
    draft->want = (struct node_want){ 0 };
    return node_want_make(&control->rules, &sight, &draft->want) < 0 ? ccm_error_nomem(err) : 0;
}

/* The node as it is now takes the place of the one that was looked at. -ESTALE: it is another one,
 * or has another instance. */
static int item_refresh(struct node_run *run, struct node_item *item, struct ccm_error *err)
{
    const struct ccm_host *host = run->control->host;
    const struct ccm_object *fresh = NULL;
    struct ccm_error failure = CCM_ERROR_INIT;
    const int r =
        host->fetch(host, run->req, CCM_KIND_NODE, "", item->object->name, &fresh, &failure);

    if (r < 0) {
        ccm_error_copy(err, &failure);
        return ccm_error_wrap(err, r, "get origin object");
    }

    const struct ccm_node *node = (const struct ccm_node *)fresh;

    if (strcmp(fresh->uid, item->object->uid) != 0 ||
        strcmp(node->provider_id, node_item_object(item)->provider_id) != 0) {
        host->release(host, fresh);
        return -ESTALE; /* err is that of the write */
    }
    host->release(host, item->object);
    item->object = fresh;
    node_subject_init(&item->subject, node);
    return 0;
}

/* Nothing else of it is our business. */
static bool item_is_only_untainted(const struct node_item *item)
{
    return item->subject.fresh && !item->failed &&
           (item->subject.kind == NODE_LINGJUN
                ? item->answer == NODE_NOT_ASKED || item->answer == NODE_FOUND
                : item->subject.kind == NODE_ECS && item->subject.excluded);
}

static bool item_is_written(const struct node_item *item)
{
    return item->machine != NULL || item_is_only_untainted(item);
}

static int item_try_write(struct draft *draft, struct ccm_error *err)
{
    struct node_run *run = draft->run;
    int r = draft_make(draft, err);

    if (r < 0) {
        return r;
    }
    if (draft->item->machine != NULL) {
        node_memory_expect(run->control->memory, node_item_object(draft->item), &draft->want,
                           node_want_facts(draft->item->machine),
                           run->control->host->now_ms(run->control->host));
    }
    return draft_write(draft, err);
}

/* kubelet says it has an address that the instance has not. */
static void item_fail_address(struct node_item *item, const struct node_want *want)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf list = { .max = 600 };

    for (size_t i = 0; i < want->addresses.len; i++) {
        ccm_buf_addf(&list, "%s%s", i == 0 ? "" : ", ", want->addresses.items[i].address);
    }
    (void)ccm_error_set(&item->err, 0, CCM_ERROR_TERMINAL,
                        "user specified ip is not found in cloudprovider: kubelet has --node-ip "
                        "%.200s, instance %.70s has %s",
                        want->no_address, item->subject.instance,
                        ccm_buf_str(&list)); /* the failure is kept in the item */
    item->failed = true;
}

/* An answer without addresses takes none away. */
static void item_fail_unaddressed(struct node_item *item)
{
    (void)ccm_error_set(&item->err, 0, CCM_ERROR_NOT_FOUND,
                        "the cloud shows no address of instance %.70s: the node stays as it is",
                        item->subject.instance); /* the failure is kept in the item */
    item->failed = true;
}

static void item_judge_addresses(struct node_item *item, const struct node_want *want)
{
    if (item->failed) {
        return;
    }
    if (want->no_address != NULL) {
        item_fail_address(item, want);
    } else if (want->unaddressed) {
        item_fail_unaddressed(item);
    }
}

/* A node belongs to one thread alone. */
static void item_write(void *arg, size_t i)
{
    struct node_run *run = arg;
    struct node_item *item = &run->items[i];
    struct draft draft = { .run = run, .item = item };
    struct ccm_error err = CCM_ERROR_INIT;
    int r = -1;

    if (!item_is_written(item)) {
        return;
    }
    for (int tries = 0; tries < TRIES && r < 0; tries++) {
        ccm_error_clear(&err);
        r = item_try_write(&draft, &err);
        if (r < 0 && (err.kind != CCM_ERROR_CONFLICT || item_refresh(run, item, &err) < 0)) {
            break;
        }
    }
    if (r < 0 && err.kind != CCM_ERROR_NOT_FOUND && !item->failed) {
        item->failed = true; /* not found: its deletion is on its way to us */
        ccm_error_copy(&item->err, &err);
    } else if (r == 0) {
        item_judge_addresses(item, &draft.want);
    }
    if (draft.want.bad_label != NULL) {
        ccm_text_printf(item->problem, sizeof(item->problem),
                        "label %s is left out: no label can have the value \"%.70s\"",
                        draft.want.bad_label, draft.want.bad_value);
    }
    node_want_fini(&draft.want);
}

void node_write(struct node_run *run)
{
    ccm_parallel_run(run->len, WRITERS, item_write, run);
}

/* ---- in words ---- */

static void plan_add_line(struct ccm_buf *to, const char *text, const char *what)
{
    ccm_buf_addf(to, "%s%s%s", to->len == 0 ? "" : "\n", text, what);
}

static void plan_add_want(struct ccm_buf *to, const struct node_want *want)
{
    for (size_t i = 0; want->set_addresses && i < want->addresses.len; i++) {
        ccm_buf_addf(to, "%s%s %s",
                     i == 0 ? (to->len == 0 ? "set addresses " : "\nset addresses ") : ", ",
                     want->addresses.items[i].type, want->addresses.items[i].address);
    }
    if (want->set_network) {
        plan_add_line(to, "set condition NetworkUnavailable to ", "True");
    }
    for (size_t i = 0; i < NODE_LABELS; i++) {
        if (want->labels[i] != NULL) {
            plan_add_line(to, "set label ", node_labels[i].key);
            ccm_buf_addf(to, "=%s", want->labels[i]);
        } else if (want->drop[i]) {
            plan_add_line(to, "remove label ", node_labels[i].key);
        }
    }
    if (want->provider[0] != '\0') {
        plan_add_line(to, "set provider id ", want->provider);
    }
    if (want->untaint || want->start) {
        plan_add_line(to, "remove taint ", want->untaint ? NODE_TAINT_NEW : NODE_TAINT_STOPPED);
    }
    if (want->stop) {
        plan_add_line(to, "add taint ", NODE_TAINT_STOPPED);
    }
}

static void plan_write_item(struct node_run *run, struct node_item *item)
{
    const struct ccm_host *host = run->control->host;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = (size_t)64 * 1024 };
    struct draft draft = { .run = run, .item = item };
    struct ccm_error err = CCM_ERROR_INIT;

    if (item->forwards) {
        plan_add_line(&text, "switch the source/destination check off: ",
                      node_machine_interface(item->machine));
    }
    if (node_gone_is_likely(item)) {
        plan_add_line(&text, "delete the node when a second answer lacks instance ",
                      item->subject.instance);
    }
    if (item_is_written(item) && draft_make(&draft, &err) == 0) {
        plan_add_want(&text, &draft.want);
        item_judge_addresses(item, &draft.want);
    }
    host->plan(host, item->object->name, ccm_buf_str(&text));
    node_want_fini(&draft.want);
}

void node_write_plan(struct node_run *run)
{
    for (size_t i = 0; i < run->len; i++) {
        plan_write_item(run, &run->items[i]);
    }
}
