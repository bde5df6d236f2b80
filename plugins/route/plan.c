#include "plan.h"

#include "util/array.h"
#include "util/attr.h"
#include "util/cleanup.h"
#include "util/strmap.h"
#include "util/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A network of a node. */
struct claim {
    struct ccm_cidr net;
    size_t node;
};

struct planner {
    const struct route_view *view;
    struct route_plan *plan;
    struct claim *claims; /* of all nodes, in the order of route_net_compare() */
    size_t claim_count;
    int error;
};

/* One network of one node in one table. */
struct spot {
    size_t node;
    size_t table;
    const struct ccm_cidr *net;
    bool taken; /* an entry with this destination is there */
};

/* ---- who wants what ---- */

static int compare_claims(const void *a, const void *b)
{
    return route_net_compare(&((const struct claim *)a)->net, &((const struct claim *)b)->net);
}

static int collect_claims(struct planner *p)
{
    const struct route_view *view = p->view;

    p->claims = calloc(view->node_count * ROUTE_FAMILIES + 1, sizeof(*p->claims));
    if (p->claims == NULL) {
        return -ENOMEM;
    }
    for (size_t n = 0; n < view->node_count; n++) {
        for (size_t i = 0; i < view->nodes[n].net_count; i++) {
            p->claims[p->claim_count++] = (struct claim){ view->nodes[n].nets[i], n };
        }
    }
    qsort(p->claims, p->claim_count, sizeof(*p->claims), compare_claims);
    return 0;
}

/* First claim equal to or behind the network. */
static size_t claims_from(const struct planner *p, const struct ccm_cidr *net)
{
    size_t low = 0;
    size_t high = p->claim_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (route_net_compare(&p->claims[middle].net, net) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The node whose own network and instance the entry has, or ROUTE_NOBODY. */
static size_t planner_find_owner(const struct planner *p, const struct ccm_cidr *net,
                                 const char *hop)
{
    for (size_t i = claims_from(p, net);
         i < p->claim_count && route_net_compare(&p->claims[i].net, net) == 0; i++) {
        if (strcmp(p->view->nodes[p->claims[i].node].instance, hop) == 0) {
            return p->claims[i].node;
        }
    }
    return ROUTE_NOBODY;
}

static bool is_older(const struct ccm_node *a, const struct ccm_node *b)
{
    return a->meta.created_ms != b->meta.created_ms ? a->meta.created_ms < b->meta.created_ms
                                                    : strcmp(a->meta.name, b->meta.name) < 0;
}

/* Another node that wants the same network and was there first, or ROUTE_NOBODY. */
static size_t planner_find_rival(const struct planner *p, const struct spot *spot)
{
    const struct route_node *nodes = p->view->nodes;

    for (size_t i = claims_from(p, spot->net);
         i < p->claim_count && route_net_compare(&p->claims[i].net, spot->net) == 0; i++) {
        const size_t other = p->claims[i].node;

        if (other != spot->node &&
            (nodes[other].class_ == ROUTE_NODE_SERVED ||
             nodes[other].class_ == ROUTE_NODE_FROZEN) &&
            is_older(nodes[other].object, nodes[spot->node].object)) {
            return other;
        }
    }
    return ROUTE_NOBODY;
}

/* ---- the plan ---- */

static void add_step(struct planner *p, const struct route_step *step)
{
    struct route_plan *plan = p->plan;

    if (ccm_array_grow(&plan->steps, &plan->cap, plan->len + 1, sizeof(*plan->steps)) < 0) {
        p->error = -ENOMEM;
        return;
    }
    plan->steps[plan->len++] = *step;
    if (step->node != ROUTE_NOBODY) {
        plan->nodes[step->node].steps++;
    }
}

static void wait_for(struct planner *p, const struct spot *spot)
{
    p->plan->nodes[spot->node].wait = true;
    p->plan->waits[spot->table] = true;
}

/* Say why nothing can be done; the first reason counts. */
static void planner_set_stuck(struct planner *p, const struct spot *spot, const char *why,
                              const char *who)
{
    struct route_outlook *outlook = &p->plan->nodes[spot->node];
    char net[ROUTE_NET_TEXT];

    if (outlook->stuck) {
        return;
    }
    outlook->stuck = true;
    route_net_format(spot->net, net);
    ccm_text_printf(outlook->problem, sizeof(outlook->problem), "%s: pod CIDR %s %s %.120s",
                    p->view->tables[spot->table].id, net, why, who);
}

/* Should one that was just made not be there yet, the cloud says so, and we look again. */
static bool can_go(const struct route_entry *entry)
{
    return entry->status == ROUTE_SETTLED || entry->status == ROUTE_MADE;
}

static void clear_away(struct planner *p, const struct spot *spot, const struct route_entry *entry)
{
    const struct route_step step = {
        .type = ROUTE_STEP_CLEAR,
        .table = spot->table,
        .node = spot->node,
        .past = ROUTE_NOBODY,
        .net = entry->net,
        .instance = entry->hop,
    };

    if (can_go(entry)) {
        add_step(p, &step);
    } else {
        wait_for(p, spot);
    }
}

/* An entry with the node's own destination. */
static void planner_check_equal(struct planner *p, struct spot *spot,
                                const struct route_entry *entry)
{
    const struct route_node *node = &p->view->nodes[spot->node];
    const size_t owner =
        entry->can_be_ours ? planner_find_owner(p, &entry->net, entry->hop) : ROUTE_NOBODY;

    spot->taken = true;
    if (entry->can_be_ours && strcmp(entry->hop, node->instance) == 0) {
        if (entry->status == ROUTE_COMING || entry->status == ROUTE_LEAVING) {
            p->plan->nodes[spot->node].missing++;
            wait_for(p, spot);
        }
        return;
    }
    p->plan->nodes[spot->node].missing++;
    if (!entry->can_be_ours) {
        planner_set_stuck(
            p, spot, "is the destination of an entry that is not ours to replace:", entry->hop);
    } else if (owner != ROUTE_NOBODY) {
        planner_set_stuck(p, spot, "is also that of node", p->view->nodes[owner].object->meta.name);
    } else if (!route_nets_contain(p->view->cluster, &entry->net)) {
        planner_set_stuck(
            p, spot, "is not inside of cluster_cidr, so its entry is not replaced:", entry->hop);
    } else {
        clear_away(p, spot, entry);
    }
}

/* An entry for a part of the node's network takes that part's traffic away. */
static void planner_check_inner(struct planner *p, const struct spot *spot,
                                const struct route_entry *entry)
{
    if (entry->can_be_ours && entry->status != ROUTE_LEAVING &&
        route_nets_contain(p->view->cluster, &entry->net) &&
        planner_find_owner(p, &entry->net, entry->hop) == ROUTE_NOBODY) {
        clear_away(p, spot, entry);
    }
}

static void planner_add_entry(struct planner *p, const struct spot *spot)
{
    const struct route_node *node = &p->view->nodes[spot->node];
    const size_t other = planner_find_rival(p, spot);
    const struct route_step step = {
        .type = ROUTE_STEP_CREATE,
        .table = spot->table,
        .node = spot->node,
        .past = ROUTE_NOBODY,
        .net = *spot->net,
        .instance = node->instance,
    };

    p->plan->nodes[spot->node].missing++;
    if (other != ROUTE_NOBODY) {
        planner_set_stuck(p, spot, "is also that of node", p->view->nodes[other].object->meta.name);
    } else if (!route_nets_contain(p->view->cluster, spot->net)) {
        planner_set_stuck(p, spot,
                          "is not inside of cluster_cidr:", "add its network to that option");
    } else {
        add_step(p, &step);
    }
}

static void plan_spot(struct planner *p, struct spot *spot)
{
    const struct route_table *table = &p->view->tables[spot->table];

    for (size_t i = route_table_from(table, spot->net); i < table->len; i++) {
        const struct route_entry *entry = &table->entries[i];
        const enum route_relation relation = route_net_relation(spot->net, &entry->net);

        if (relation == ROUTE_NET_APART) {
            break;
        }
        if (relation == ROUTE_NET_EQUAL) {
            planner_check_equal(p, spot, entry);
        } else {
            planner_check_inner(p, spot, entry);
        }
    }
    if (!spot->taken && p->view->nodes[spot->node].class_ == ROUTE_NODE_SERVED) {
        planner_add_entry(p, spot);
    }
}

static void plan_node(struct planner *p, size_t n)
{
    const struct route_node *node = &p->view->nodes[n];
    struct route_outlook *outlook = &p->plan->nodes[n];

    if (node->class_ == ROUTE_NODE_INVALID) {
        outlook->missing = 1;
        outlook->stuck = true;
        ccm_text_printf(outlook->problem, sizeof(outlook->problem),
                        "invalid pod cidr on node spec: %.64s: correct spec.podCIDRs of the node",
                        node->bad);
    }
    if (node->class_ != ROUTE_NODE_SERVED && node->class_ != ROUTE_NODE_FROZEN) {
        return;
    }
    for (size_t i = 0; i < node->net_count; i++) {
        for (size_t t = 0; t < p->view->table_count; t++) {
            struct spot spot = { .node = n, .table = t, .net = &node->nets[i] };

            plan_spot(p, &spot);
        }
    }
}

/* ---- what was ---- */

static void plan_past(struct planner *p, size_t index, size_t node)
{
    const struct route_past *past = &p->view->past[index];

    if (planner_find_owner(p, &past->net, past->instance) != ROUTE_NOBODY ||
        !route_nets_contain(p->view->cluster, &past->net)) {
        return; /* it is wanted again, or none of our business */
    }
    for (size_t t = 0; t < p->view->table_count; t++) {
        const struct route_entry *entry = NULL;
        const struct route_step step = {
            .type = ROUTE_STEP_RETIRE,
            .table = t,
            .node = node,
            .past = index,
            .net = past->net,
            .instance = past->instance,
        };

        if (route_table_find(&p->view->tables[t], &past->net, past->instance, &entry) < 0 ||
            entry == NULL || entry->status == ROUTE_LEAVING) {
            continue;
        }
        p->plan->past_left[index]++;
        if (can_go(entry)) {
            add_step(p, &step);
        } else {
            p->plan->waits[t] = true;
        }
    }
}

static int plan_all_past(struct planner *p, const struct route_choice *choice)
{
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *names = ccm_strmap_new(NULL);
    const struct route_view *view = p->view;

    if (names == NULL) {
        return -ENOMEM;
    }
    for (size_t n = 0; view->past_count > 0 && n < view->node_count; n++) {
        if (ccm_strmap_set(names, view->nodes[n].object->meta.name, (void *)&view->nodes[n]) < 0) {
            return -ENOMEM;
        }
    }
    for (size_t i = 0; i < view->past_count; i++) {
        const struct route_node *node = ccm_strmap_get(names, view->past[i].node);

        if (choice->past == NULL || choice->past[i]) {
            plan_past(p, i, node == NULL ? ROUTE_NOBODY : (size_t)(node - view->nodes));
        }
    }
    return 0;
}

/* ---- what nobody wants ---- */

static bool touches_a_node(const struct planner *p, const struct ccm_cidr *net)
{
    for (size_t i = 0; i < p->claim_count; i++) {
        if (route_net_relation(&p->claims[i].net, net) != ROUTE_NET_APART ||
            route_net_relation(net, &p->claims[i].net) != ROUTE_NET_APART) {
            return true;
        }
    }
    return false;
}

static void plan_orphans_of(struct planner *p, size_t t, const struct ccm_strmap *instances)
{
    const struct route_table *table = &p->view->tables[t];

    for (size_t i = 0; i < table->len; i++) {
        const struct route_entry *entry = &table->entries[i];
        const struct route_step step = {
            .type = ROUTE_STEP_ORPHAN,
            .table = t,
            .node = ROUTE_NOBODY,
            .past = ROUTE_NOBODY,
            .net = entry->net,
            .instance = entry->hop,
        };

        if (entry->can_be_ours && entry->status == ROUTE_SETTLED &&
            !ccm_strmap_has(instances, entry->hop) &&
            route_nets_contain(p->view->cluster, &entry->net) && !touches_a_node(p, &entry->net)) {
            add_step(p, &step);
        }
    }
}

/* Without any node to serve nobody can tell what an orphan is. */
static int plan_orphans(struct planner *p)
{
    CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *instances = ccm_strmap_new(NULL);
    const struct route_view *view = p->view;
    bool served = false;

    if (instances == NULL) {
        return -ENOMEM;
    }
    for (size_t n = 0; n < view->node_count; n++) {
        served = served || view->nodes[n].class_ == ROUTE_NODE_SERVED;
        if (view->nodes[n].instance[0] != '\0' &&
            ccm_strmap_set(instances, view->nodes[n].instance, NULL) < 0) {
            return -ENOMEM;
        }
    }
    for (size_t t = 0; served && t < view->table_count; t++) {
        plan_orphans_of(p, t, instances);
    }
    return 0;
}

/* ---- all of it ---- */

static int planner_make_plan(struct planner *p, const struct route_choice *choice)
{
    int r = collect_claims(p);

    if (r < 0) {
        return r;
    }
    for (size_t n = 0; n < p->view->node_count; n++) {
        if (choice->nodes == NULL || choice->nodes[n]) {
            plan_node(p, n);
        }
    }
    r = plan_all_past(p, choice);
    if (r == 0 && choice->orphans) {
        r = plan_orphans(p);
    }
    free(p->claims);
    return r == 0 ? p->error : r;
}

int route_plan_make(const struct route_view *view, const struct route_choice *choice,
                    struct route_plan *ret)
{
    struct route_plan plan = {
        .nodes = calloc(view->node_count + 1, sizeof(*plan.nodes)),
        .past_left = calloc(view->past_count + 1, sizeof(*plan.past_left)),
        .waits = calloc(view->table_count + 1, sizeof(*plan.waits)),
    };
    struct planner planner = { .view = view, .plan = &plan };
    int r = plan.nodes == NULL || plan.past_left == NULL || plan.waits == NULL
                ? -ENOMEM
                : planner_make_plan(&planner, choice);

    if (r < 0) {
        route_plan_fini(&plan);
        return r;
    }
    *ret = plan;
    return 0;
}

void route_plan_fini(struct route_plan *plan)
{
    free(plan->steps);
    free(plan->nodes);
    free(plan->past_left);
    free(plan->waits);
    memset(plan, 0, sizeof(*plan));
}
