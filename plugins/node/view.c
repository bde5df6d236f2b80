#include "view.h"

#include "gone.h"
#include "util/book.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/span_text.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STATUS_SIZE 24

struct node_views {
    struct ccm_book nodes;
};

/* The last look at a node. */
struct view {
    int64_t looked_ms; /* monotonic */
    int64_t again_ms;  /* monotonic: it is looked at again by itself; 0 = in its turn */
    enum node_answer answer;
    char status[STATUS_SIZE]; /* of the instance; "" = unknown */
    const char *absence;      /* what of the rules for deletions keeps it; NULL = nothing */
    char *note;               /* what is wrong with it else; NULL = nothing */
};

static void view_free(void *arg)
{
    struct view *view = arg;

    free(view->note);
    free(view);
}

struct node_views *node_views_new(void)
{
    struct node_views *views = calloc(1, sizeof(*views));

    if (views == NULL) {
        return NULL;
    }
    if (ccm_book_init(&views->nodes, view_free) < 0) {
        free(views);
        return NULL;
    }
    return views;
}

void node_views_free(struct node_views *views)
{
    if (views == NULL) {
        return;
    }
    ccm_book_fini(&views->nodes);
    free(views);
}

void node_views_forget(struct node_views *views, const char *name)
{
    ccm_book_forget(&views->nodes, name);
}

/* ---- what a call has found out ---- */

static struct view *view_new(const struct node_run *run, const struct node_item *item)
{
    const int64_t now_ms = run->control->host->now_ms(run->control->host);
    const char *note = item->failed ? item->err.message : item->problem;
    struct view *view = calloc(1, sizeof(*view));

    if (view == NULL) {
        return NULL;
    }
    view->looked_ms = now_ms;
    view->again_ms = item->again_ms == 0 ? 0 : now_ms + (int64_t)item->again_ms;
    view->answer = item->answer;
    if (item->machine != NULL) {
        ccm_text_copy(view->status, sizeof(view->status), node_machine_status(item->machine));
    }
    view->absence = node_gone_explain(run->control, item->object->name);
    view->note = note[0] == '\0' ? NULL : strdup(note); /* without memory it is not told */
    return view;
}

void node_views_take(struct node_run *run)
{
    struct node_views *views = run->control->views;

    for (size_t i = 0; i < run->len; i++) {
        const struct node_item *item = &run->items[i];
        struct view *view = item->waits ? NULL : view_new(run, item);

        if (view == NULL) {
            continue;
        }
        if (ccm_strmap_set(ccm_book_open(&views->nodes), item->object->name, view) < 0) {
            view_free(view);
        }
        ccm_book_close(&views->nodes);
    }
}

/* ---- the page ---- */

/* One node while it is described. */
struct described {
    const struct node_control *control;
    const struct ccm_view_sink *sink;
    const struct ccm_node *node;
    struct node_subject subject;
    struct view view; /* note: owned */
    bool seen;        /* by this process */
};

static void described_tell(const struct described *d, const char *name, const char *value)
{
    d->sink->fact(d->sink, name, value, NULL);
}

/* Only what can stand in a path: provider ids are free text. */
static bool text_is_plain(const char *text)
{
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-")] ==
           '\0';
}

static void described_tell_instance(const struct described *d)
{
    const struct node_subject *subject = &d->subject;
    char url[300];

    ccm_text_printf(url, sizeof(url), "https://ecs.console.aliyun.com/server/%s/detail?regionId=%s",
                    subject->instance, subject->region);
    if (subject->kind != NODE_ECS) {
        described_tell(d, "instance",
                       subject->kind == NODE_UNNAMED ? "unknown: the node has no provider id yet"
                                                     : d->node->provider_id);
        return;
    }
    d->sink->fact(d->sink, "instance", subject->instance,
                  text_is_plain(subject->instance) && text_is_plain(subject->region) ? url : NULL);
    described_tell(d, "region", subject->region);
}

/* What ccmd does with such a node. */
static const char *subject_explain(const struct node_subject *subject, bool find)
{
    if (subject->excluded) {
        return "it is excluded by label or provider id: its taint goes, nothing else is touched";
    }
    switch (subject->kind) {
    case NODE_ECS:
        return "it is kept as the cloud has it";
    case NODE_LINGJUN:
        return "a Lingjun node: its taint goes, it is deleted when its machine is gone";
    case NODE_UNNAMED:
        return find ? "its instance is looked for by its only InternalIP"
                    : "it waits for its provider id";
    case NODE_NONE:
        break;
    }
    return "it is left alone: its provider id names nothing that is known";
}

static const char *condition_name(uint64_t status)
{
    switch (status) {
    case CCM_CONDITION_TRUE:
        return "True";
    case CCM_CONDITION_FALSE:
        return "False";
    case CCM_CONDITION_UNKNOWN:
        return "Unknown: nobody hears of it";
    default:
        return "not told yet";
    }
}

static void described_tell_time(const struct described *d, const char *name, int64_t at_ms)
{
    char text[CCM_SPAN_TEXT];

    ccm_span_format_moment(at_ms - d->control->host->now_ms(d->control->host), text);
    described_tell(d, name, text);
}

static const char *answer_explain(const struct described *d)
{
    switch (d->view.answer) {
    case NODE_FOUND:
        return d->view.status[0] == '\0' ? "there" : d->view.status;
    case NODE_ABSENT:
        return "gone: an answer of the cloud lacks it and has one that is there for certain";
    case NODE_UNPROVED:
        return "not known: the answer of the cloud lacks a node that is ready, or all of them, and "
               "proves nothing";
    case NODE_NOT_ASKED:
        break;
    }
    return d->view.note == NULL ? "not asked for" : "not known: the cloud did not answer";
}

/* Why the node is still there although its instance is not. */
static const char *described_explain_deletion(const struct described *d)
{
    if (d->node->meta.deleted_ms != 0) {
        return "it is being deleted";
    }
    if (!d->seen || (d->view.answer != NODE_ABSENT && d->view.answer != NODE_UNPROVED)) {
        return NULL;
    }
    if (d->node->ready != CCM_CONDITION_UNKNOWN) {
        return "not as long as its kubelet is heard of";
    }
    return d->view.answer == NODE_UNPROVED ? "not on such an answer" : d->view.absence;
}

static void described_tell_look(const struct described *d)
{
    const char *deletion = described_explain_deletion(d);

    if (d->seen) {
        described_tell_time(d, "last look", d->view.looked_ms);
        described_tell(d, "state of the instance", answer_explain(d));
    } else {
        described_tell(d, "last look", "none by this process yet");
    }
    if (d->seen && d->view.again_ms != 0) {
        described_tell_time(d, "next look", d->view.again_ms);
    }
    if (deletion != NULL) {
        described_tell(d, "deletion", deletion);
    }
    if (d->seen && d->view.note != NULL) {
        described_tell(d, "what is wrong", d->view.note);
    }
}

static void described_tell_addresses(const struct described *d)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 4096 };

    for (uint64_t i = 0; i < d->node->address_count; i++) {
        ccm_buf_addf(&text, "%s%s %s", i == 0 ? "" : ", ", d->node->addresses[i]->type,
                     d->node->addresses[i]->address);
    }
    described_tell(d, "addresses", text.len == 0 ? "none yet" : ccm_buf_str(&text));
}

static void described_tell_labels(const struct described *d)
{
    static const char *const columns[] = { "label", "value", NULL };

    d->sink->table(d->sink, "Labels from the cloud", columns);
    for (size_t i = 0; i < NODE_LABELS; i++) {
        const char *value = ccm_object_label(&d->node->meta, node_labels[i].key);
        const char *const cells[] = { node_labels[i].key, value };

        if (value != NULL) {
            d->sink->row(d->sink, cells);
        }
    }
}

static void described_tell_all(const struct described *d)
{
    described_tell_instance(d);
    described_tell(d, "what is done with it", subject_explain(&d->subject, d->control->find));
    described_tell(d, "initialised",
                   d->subject.fresh ? "not yet: it has the taint " NODE_TAINT_NEW : "yes");
    described_tell(d, "ready", condition_name(d->node->ready));
    described_tell_look(d);
    described_tell_addresses(d);
    described_tell_labels(d);
}

static void views_copy(struct node_views *views, const char *name, struct described *ret)
{
    const struct view *view = ccm_strmap_get(ccm_book_open(&views->nodes), name);

    if (view != NULL) {
        ret->seen = true;
        ret->view = *view;
        ret->view.note = view->note == NULL ? NULL : strdup(view->note);
    }
    ccm_book_close(&views->nodes);
}

int node_views_describe(const struct node_control *control, const char *name,
                        const struct ccm_view_sink *sink)
{
    const struct ccm_host *host = control->host;
    const struct ccm_object *object = host->get(host, CCM_KIND_NODE, name);
    struct described d = {
        .control = control,
        .sink = sink,
        .node = (const struct ccm_node *)object,
    };

    if (object == NULL) {
        return -ENOENT;
    }
    node_subject_init(&d.subject, d.node);
    views_copy(control->views, name, &d);
    described_tell_all(&d);
    free(d.view.note);
    host->release(host, object);
    return 0;
}
