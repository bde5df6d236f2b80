#include "bench.h"

#include "alilb/account.h"
#include "lbc/tests/objects.h"
#include "nlb/nlb.h"
#include "nlb/plan_parts.h"
#include "util/text.h"

#include "lbc/tests/check.h"

#include <stdlib.h>
#include <string.h>

void bench_begin(struct bench *bench)
{
    memset(bench, 0, sizeof(*bench));
    sim_begin(&bench->sim);
    sim_next_id(&bench->sim, "nlb-1");
    bench->problems = (struct lbc_problems)LBC_PROBLEMS_INIT;
}

void bench_end(struct bench *bench)
{
    lbc_plan_fini(&bench->plan);
    nlb_state_fini(&bench->have);
    nlb_state_fini(&bench->want);
    lbc_problems_fini(&bench->problems);
    sim_end(&bench->sim);
}

/* What a plan finds in the mirror. */
static void find_present(struct bench *bench, struct nlb_step *step)
{
    struct lbc_step *base = &step->lbc;

    if (base->group == NULL && base->want != NULL && base->type != LBC_STEP_CREATE_GROUP) {
        struct nlb_group *group =
            nlb_state_group_for(&bench->have, (const struct nlb_group *)base->want);

        base->group = group == NULL ? NULL : &group->lbc;
    }
    if (base->listener == NULL && base->type != LBC_STEP_CREATE_LISTENER) {
        base->listener = lbc_state_listener_like(&bench->have.lbc, base->to);
    }
}

int bench_run(struct bench *bench, bool deletion)
{
    for (size_t i = 0; i < bench->plan.len; i++) {
        find_present(bench, (struct nlb_step *)bench->plan.steps[i]);
    }
    bench->cloud = (struct lbc_cloud){ .ops = &alilb_cloud_ops, .account = bench->sim.call.ali };
    bench->apply = (struct alilb_apply){
        .lbc = { .ops = &nlb_apply_ops.lbc,
                 .cloud = &bench->cloud,
                 .attempt = &bench->attempt,
                 .problems = &bench->problems,
                 .service = obj_service(),
                 .have = &bench->have.lbc,
                 .model = deletion ? NULL : &bench->model.lbc,
                 .forgives_lb = deletion },
        .call = bench->sim.call,
    };
    return lbc_apply_run(alilb_apply_bind(&bench->apply), &bench->plan);
}

void bench_again(struct bench *bench)
{
    lbc_plan_fini(&bench->plan);
    lbc_problems_fini(&bench->problems);
    bench->problems = (struct lbc_problems)LBC_PROBLEMS_INIT;
    sim_forget(&bench->sim);
}

const char *bench_told(const struct bench *bench)
{
    return ccm_buf_str(&bench->problems.text);
}

void bench_set(char **text, const char *value)
{
    assert_int_equal(lbc_text_set(text, value), 0);
}

struct nlb_step *bench_step(struct bench *bench, unsigned type, unsigned stage)
{
    bench->plan.table = &nlb_steps;

    struct nlb_step *fresh = (struct nlb_step *)lbc_plan_new_step(&bench->plan, type, stage);

    assert_non_null(fresh);
    fresh->lbc.to = calloc(1, sizeof(struct nlb_listener));
    assert_non_null(fresh->lbc.to);
    return fresh;
}

struct nlb_group *bench_want(struct bench *bench, const char *name, uint16_t port)
{
    struct nlb_group *group = NULL;

    for (size_t i = 0; i < bench->want.lbc.group_count; i++) {
        if (strcmp(bench->want.lbc.groups[i]->name, name) == 0) {
            return nlb_group_at(&bench->want, i);
        }
    }
    group = nlb_state_new_group(&bench->want);
    bench_set(&group->lbc.name, name);
    group->lbc.port = port;
    return group;
}

void bench_at(struct bench *bench, struct nlb_step *step, const char *id)
{
    step->lbc.group = lbc_state_group_by_id(&bench->have.lbc, id);
    step->lbc.listener = lbc_state_listener_by_id(&bench->have.lbc, id);
    assert_true(step->lbc.group != NULL || step->lbc.listener != NULL);
}

struct nlb_step *bench_group_step(struct bench *bench, unsigned type, unsigned stage, uint16_t port,
                                  const char *name)
{
    struct nlb_step *fresh = bench_step(bench, type, stage);

    fresh->lbc.port = port;
    fresh->lbc.protocol = LBC_TCP;
    fresh->lbc.want = name == NULL ? NULL : &bench_want(bench, name, port)->lbc;
    return fresh;
}

void bench_put_server(struct lbc_backends *to, const char *id, uint16_t port)
{
    const struct lbc_backend one = { .server_id = (char *)(uintptr_t)id,
                                     .server_ip = (char *)(uintptr_t) "",
                                     .port = port,
                                     .weight = 100 };

    assert_int_equal(lbc_backends_put(to, &one), 0);
}

struct nlb_step *bench_server_step(struct bench *bench, unsigned type, unsigned stage,
                                   uint16_t port, const char *name, const char *id)
{
    struct nlb_step *fresh = bench_group_step(bench, type, stage, port, name);

    bench_put_server(&fresh->lbc.backends, id, (uint16_t)(30000 + port));
    return fresh;
}

struct nlb_step *bench_listener_step(struct bench *bench, unsigned type, unsigned stage,
                                     uint16_t port, const char *group)
{
    struct nlb_step *fresh = bench_group_step(bench, type, stage, port, group);

    fresh->lbc.to->protocol = LBC_TCP;
    fresh->lbc.to->port = port;
    fresh->lbc.to->last_port = port;
    bench_set(&fresh->lbc.to->description, "k8s.x.TCP.web.default.c1");
    return fresh;
}

struct nlb_step *bench_create_lb(struct bench *bench)
{
    struct nlb_step *fresh = bench_step(bench, LBC_STEP_CREATE_LB, 0);

    assert_int_equal(nlb_lb_put_zone(&fresh->lb, "z-a", "vsw-1", NULL, NULL), 0);
    assert_int_equal(nlb_lb_put_zone(&fresh->lb, "z-b", "vsw-2", "172.16.2.9", "eip-1"), 0);
    assert_int_equal(lbc_tags_put(&fresh->lbc.tags, "team", "a"), 0);
    return fresh;
}

void bench_put_present_of(struct bench *bench, enum lbc_protocol protocol, uint16_t port)
{
    struct nlb_group *group = nlb_state_new_group(&bench->have);
    struct nlb_listener *listener = nlb_state_new_listener(&bench->have);
    char text[16];

    ccm_text_printf(text, sizeof(text), "sgp-%u", port);
    if (bench->have.lb.lbc.id == NULL) {
        sim_put_nlb(&bench->sim);
        bench_set(&bench->have.lb.lbc.id, "nlb-1");
        bench_set(&bench->have.lb.status, "Active");
        bench_set(&bench->have.lb.lbc.vpc_id, "vpc-9");
        bench->have.lbc.listeners_known = bench->have.lbc.groups_known = true;
    }
    sim_put_nlb_port(&bench->sim, lbc_protocol_name(protocol), port);
    bench_set(&group->lbc.id, text);
    bench_set(&listener->lbc.group_id, text);
    ccm_text_printf(text, sizeof(text), "g%u", port);
    bench_set(&group->lbc.name, text);
    bench_set(&group->type, "Instance");
    group->lbc.protocol = protocol;
    bench_put_server(&group->lbc.backends, "i-1", (uint16_t)(30000 + port));
    ccm_text_printf(text, sizeof(text), "lsn-%u@%u", port, port);
    bench_set(&listener->lbc.id, text);
    listener->lbc.protocol = protocol;
    listener->lbc.certs_known = protocol == LBC_TCPSSL;
    listener->lbc.port = listener->lbc.last_port = port;
}

void bench_put_present(struct bench *bench, uint16_t port)
{
    bench_put_present_of(bench, LBC_TCP, port);
}
