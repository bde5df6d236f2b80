#include "lbc/report/describe.h"

#include "lbc/model/endpoint.h"
#include "lbc/pass.h"
#include "lbc/quota.h"
#include "util/cleanup.h"
#include "util/span_text.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ABSENT_MAX 200 /* nodes and endpoints that are no backends, as rows */

/* A Service while it is described. */
struct described {
    const struct lbc_instance *lbc;
    const struct ccm_view_sink *sink;
    const struct lbc_pass
        *pass; /* of no request: what the caches hold; NULL: the Service is gone */
    const struct lbc_model *model; /* what is desired; NULL: it is not known */
    size_t absent;
};

/* --- facts --- */

static void described_tell_fact(const struct described *d, const char *name, const char *value)
{
    d->sink->fact(d->sink, name, value, NULL);
}

static void described_tell_time(const struct described *d, const char *name, int64_t at_ms)
{
    char text[CCM_SPAN_TEXT];

    if (at_ms == 0) {
        return;
    }
    ccm_span_format_moment(at_ms - d->lbc->host->now_ms(d->lbc->host), text);
    described_tell_fact(d, name, text);
}

static void described_tell_lb(const struct described *d, const struct lbc_entry *entry)
{
    const struct lbc_cloud *cloud = &d->lbc->cloud;
    const struct lbc_lb *lb = lbc_state_lb(entry->state);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf url = { .max = 1024 };

    if (lb->id == NULL) {
        described_tell_fact(d, "load balancer", "none");
        return;
    }
    if (cloud->ops->console != NULL && d->lbc->ops->product->console != NULL) {
        cloud->ops->console(cloud->account, d->lbc->ops->product->console, lb->id, &url);
    }
    d->sink->fact(d->sink, "load balancer", lb->id, url.len == 0 ? NULL : ccm_buf_str(&url));
    if (lb->texts[LBC_LB_NAME] != NULL) {
        described_tell_fact(d, "name", lb->texts[LBC_LB_NAME]);
    }
    if (lbc_entry_acquired_id(entry)[0] != '\0') {
        described_tell_fact(d, "made by", "a person: the Service names it by annotation id");
    }
}

static void described_tell_facts(const struct described *d, const struct lbc_entry *entry,
                                 bool valid)
{
    described_tell_lb(d, entry);
    if (!valid) {
        described_tell_fact(d, "state of the cloud",
                            "as it was last known: the next pass reads it again");
    }
    if (lbc_freeze_keeps(&entry->freeze)) {
        described_tell_fact(d, "backends",
                            "some are kept although they are missing in the cluster");
    }
    described_tell_time(d, "last read", entry->audit.read_ms);
    described_tell_time(d, "last repair", entry->audit.repaired_ms);
    described_tell_time(d, "next second look", entry->audit.due_ms);
}

/* --- listeners --- */

static const char *group_name(const struct lbc_group *group)
{
    return group == NULL ? "" : group->name != NULL ? group->name : group->id;
}

static const struct lbc_group *state_find_group(const struct lbc_state *state, const char *id)
{
    for (size_t i = 0; id != NULL && i < state->group_count; i++) {
        if (ccm_text_equal(state->groups[i]->id, id)) {
            return state->groups[i];
        }
    }
    return NULL;
}

static void described_tell_listeners(const struct described *d, const struct lbc_state *state)
{
    static const char *const columns[] = { "port",     "protocol",    "state",
                                           "sends to", "listener id", NULL };

    const bool must_run = lbc_has_trait(d->lbc, LBC_MUST_RUN);

    d->sink->table(d->sink, "Listeners", columns);
    for (size_t i = 0; i < state->listener_count; i++) {
        const struct lbc_listener *one = state->listeners[i];
        const struct lbc_group *group = state_find_group(state, one->group_id);
        char port[24];

        if (one->last_port > one->port) {
            ccm_text_printf(port, sizeof(port), "%u-%u", one->port, one->last_port);
        } else {
            ccm_text_printf(port, sizeof(port), "%u", one->port);
        }
        const char *const cells[] = { port, state->type->protocol_name(one->protocol),
                                      one->running || !must_run ? "runs" : "is stopped",
                                      group != NULL ? group_name(group) : one->group_id, one->id };

        d->sink->row(d->sink, cells);
    }
}

/* --- backends --- */

static void described_tell_backend(const struct described *d, const struct lbc_group *group,
                                   const struct lbc_backend *one)
{
    const struct ccm_node *node =
        d->pass == NULL
            ? NULL
            : lbc_snapshot_find_server(d->pass, one->type == LBC_BACKEND_INSTANCE ? one->server_id
                                                                                  : one->server_ip);
    char port[8];
    char weight[8];

    ccm_text_printf(port, sizeof(port), "%u", one->port);
    ccm_text_printf(weight, sizeof(weight), "%u", one->weight);
    const char *const cells[] = { group_name(group),
                                  one->server_id,
                                  one->server_ip,
                                  port,
                                  weight,
                                  node == NULL ? "" : node->meta.name,
                                  one->leaving ? "is being taken out" : "is there" };

    d->sink->row(d->sink, cells);
    if (node != NULL) {
        d->lbc->host->release(d->lbc->host, &node->meta);
    }
}

static bool backend_is_candidate(const struct lbc_backend *backend, const struct lbc_candidate *one)
{
    const bool server =
        one->instance_id[0] != '\0'
            ? strcmp(backend->server_id, one->instance_id) == 0
            : strcmp(backend->server_ip == NULL ? "" : backend->server_ip, one->address) == 0 ||
                  strcmp(backend->server_id, one->address) == 0;

    return server && (one->port == 0 || backend->port == 0 || backend->port == one->port);
}

static bool group_has_candidate(const struct lbc_group *group, const struct lbc_candidate *one)
{
    for (size_t i = 0; group != NULL && i < group->backends.len; i++) {
        if (backend_is_candidate(&group->backends.items[i], one)) {
            return true;
        }
    }
    return false;
}

/* Those that the cluster asks for and the group does not have. */
static void described_tell_missing(const struct described *d, const struct lbc_group *want,
                                   const struct lbc_group *have, const struct lbc_candidates *set)
{
    for (size_t i = 0; i < set->len; i++) {
        const struct lbc_candidate *one = &set->items[i];
        char port[8];
        char weight[8];

        if (group_has_candidate(have, one) || one->leaving) {
            continue;
        }
        ccm_text_printf(port, sizeof(port), "%u", one->port);
        ccm_text_printf(weight, sizeof(weight), "%u", one->weight);
        const char *const cells[] = {
            group_name(want),
            one->instance_id,
            one->address,
            port,
            weight,
            one->node == NULL ? "" : one->node->node->meta.name,
            have == NULL ? "missing: its group is not made yet"
                         : "missing: not added yet, see why the object fails or waits"
        };

        d->sink->row(d->sink, cells);
    }
}

static const struct lbc_group *state_find_actual(const struct lbc_state *state,
                                                 const struct lbc_group *want)
{
    const struct lbc_group *chosen = state_find_group(state, want->id);

    for (size_t i = 0; chosen == NULL && want->id == NULL && i < state->group_count; i++) {
        if (ccm_text_equal(state->groups[i]->name, want->name)) {
            return state->groups[i];
        }
    }
    return chosen;
}

static void described_tell_backends(const struct described *d, const struct lbc_state *state)
{
    static const char *const columns[] = { "group",  "server", "address", "port",
                                           "weight", "node",   "state",   NULL };
    const struct lbc_model *model = d->model;

    d->sink->table(d->sink, "Backends", columns);
    for (size_t i = 0; i < state->group_count; i++) {
        const struct lbc_group *group = state->groups[i];

        for (size_t j = 0; j < group->backends.len; j++) {
            described_tell_backend(d, group, &group->backends.items[j]);
        }
    }
    for (size_t i = 0; model != NULL && i < model->want->group_count; i++) {
        described_tell_missing(d, model->want->groups[i],
                               state_find_actual(state, model->want->groups[i]), &model->sets[i]);
    }
}

/* --- who is no backend, and why --- */

static void described_tell_absent(struct described *d, const char *what, const char *name,
                                  const char *why)
{
    const char *const cells[] = { what, name, why };

    if (d->absent++ < ABSENT_MAX) {
        d->sink->row(d->sink, cells);
    }
}

static void described_tell_absent_nodes(struct described *d)
{
    const struct lbc_node_table *nodes = &d->model->nodes;

    for (size_t i = 0; i < nodes->len; i++) {
        const struct ccm_node *node = nodes->items[i].node;
        const char *why =
            nodes->items[i].use == LBC_NODE_BACKEND ? NULL : lbc_node_explain(node, &nodes->rules);

        if (why != NULL) {
            /* "nodes NotReady" */
            described_tell_absent(d, "node", node->meta.name,
                                  ccm_text_starts(why, "nodes ") ? why + strlen("nodes ") : why);
        }
    }
}

static void described_tell_absent_endpoints(struct described *d,
                                            const struct ccm_endpoint_slice *slice)
{
    for (uint64_t i = 0; i < slice->endpoint_count; i++) {
        const struct ccm_endpoint *one = slice->endpoints[i];
        const char *name = one->pod_name[0] == '\0' ? one->address : one->pod_name;

        if (lbc_endpoint_is_usable(one, NULL)) {
            continue;
        }
        described_tell_absent(d, "pod", name,
                              (one->flags & CCM_ENDPOINT_TERMINATING) != 0 ? "is being stopped"
                                                                           : "is not ready");
    }
}

static void described_tell_all_absent(struct described *d)
{
    static const char *const columns[] = { "what", "name", "why", NULL };
    char rest[48];

    if (d->model == NULL) {
        return;
    }
    d->sink->table(d->sink, "Nodes and pods that are no backends", columns);
    described_tell_absent_nodes(d);
    for (size_t i = 0; i < d->pass->snapshot.slice_count; i++) {
        described_tell_absent_endpoints(
            d, (const struct ccm_endpoint_slice *)d->pass->snapshot.slices[i]);
    }
    if (d->absent > ABSENT_MAX) {
        ccm_text_printf(rest, sizeof(rest), "%zu more", d->absent - ABSENT_MAX);
        d->absent = 0;
        described_tell_absent(d, "and", rest, "");
    }
}

/* --- the whole --- */

static void described_tell(void *arg, const struct lbc_entry *entry, bool valid)
{
    struct described *d = arg;

    described_tell_facts(d, entry, valid);
    described_tell_listeners(d, entry->state);
    described_tell_backends(d, entry->state);
    described_tell_all_absent(d);
}

/* With what the caches hold; the Service is one that wants a load balancer. */
static int describe_wanted(struct lbc_instance *lbc, struct lbc_pass *pass, struct described *d)
{
    struct lbc_model *model = calloc(1, lbc->ops->model->size);
    struct ccm_error err = CCM_ERROR_INIT;
    int r = model == NULL ? -ENOMEM : lbc_snapshot_take(pass, &err);

    if (r == 0) {
        const struct lbc_model_input in = lbc_pass_model_input(pass);

        /* Failures of the Service are reported elsewhere. */
        d->model =
            lbc_model_build(model, lbc->ops->model, &in, &pass->problems, &err) < 0 ? NULL : model;
        d->pass = pass;
        r = lbc_mirrors_view(lbc->mirrors, pass->service->meta.key, described_tell, d);
    }
    lbc_snapshot_drop(pass);
    if (model != NULL) {
        lbc_model_fini(model);
    }
    free(model);
    return r;
}

int lbc_describe(struct lbc_instance *lbc, const char *key, const struct ccm_view_sink *sink)
{
    const struct ccm_host *host = lbc->host;
    struct described d = { .lbc = lbc, .sink = sink };
    struct lbc_pass pass = {
        .lbc = lbc,
        .problems = LBC_PROBLEMS_INIT,
        .refused = LBC_REFUSALS_INIT,
    };
    int r = 0;

    if (key == NULL) {
        if (lbc->cloud.ops->describe != NULL) {
            lbc->cloud.ops->describe(lbc->cloud.account, host, sink);
        }
        lbc_quota_tell(lbc, sink);
        return 0;
    }
    const struct ccm_object *object = host->get(host, CCM_KIND_SERVICE, key);

    pass.service = (const struct ccm_service *)object;
    if (object != NULL && !lbc_pass_is_unwanted(lbc, pass.service)) {
        r = describe_wanted(lbc, &pass, &d);
    } else {
        r = lbc_mirrors_view(lbc->mirrors, key, described_tell, &d);
    }
    if (object != NULL) {
        host->release(host, object);
    }
    lbc_problems_fini(&pass.problems);
    lbc_refusals_fini(&pass.refused);
    return r;
}
