#include "notation.h"

#include "lbc/tests/objects.h"
#include "nlb/nlb.h"
#include "nlb/owner_key.h"
#include "util/array.h"
#include "util/cleanup.h"
#include "util/parse.h"
#include "util/text.h"

#include <errno.h>
#include <string.h>

#define WORDS 24

struct line {
    char text[512];
    char *words[WORDS];
    size_t count;
    struct nlb_state *state;
    struct nlb_model *model; /* NULL: the present side */
};

static void notation_assert_ok(int r)
{
    assert_int_equal(r, 0);
}

static void split(struct line *line, const char *text, size_t len)
{
    char *rest = line->text;

    assert_true(len < sizeof(line->text));
    memcpy(line->text, text, len);
    line->text[len] = '\0';
    line->count = 0;
    while (*(rest += strspn(rest, " ")) != '\0') {
        assert_true(line->count < WORDS);
        line->words[line->count++] = rest;
        rest += strcspn(rest, " ");
        if (*rest != '\0') {
            *rest++ = '\0';
        }
    }
}

static const char *none(const char *word)
{
    return strcmp(word, "-") == 0 ? NULL : word;
}

/* "+Name=value" -> told, name, value. */
static bool is_pair(char *word, bool *ret_told, const char **ret_name, const char **ret_value)
{
    char *equals = strchr(word, '=');

    if (equals == NULL) {
        return false;
    }
    *equals = '\0';
    *ret_told = *word == '+';
    *ret_name = word + (*ret_told ? 1 : 0);
    *ret_value = equals + 1;
    return true;
}

static const char *part_after(char *text, char separator)
{
    char *at = strchr(text, separator);

    if (at == NULL) {
        return NULL;
    }
    *at = '\0';
    return at + 1;
}

static uint16_t number(const char *text)
{
    uint32_t value = 0;

    notation_assert_ok(ccm_parse_u32(text, 0, 65535, &value));
    return (uint16_t)value;
}

static void notation_set_text(char **to, char *name)
{
    assert_non_null(name);
    notation_assert_ok(lbc_text_set(to, name));
    free(name);
}

static void name_of(char **to, const char *key, enum lbc_protocol protocol)
{
    notation_set_text(to, nlb_name_format(key, protocol, &obj_service()->meta, "c1", NLB_NAME_MAX));
}

/* --- the load balancer --- */

static const char *const lb_names[] = {
    [NLB_LB_NAME] = "name",         [NLB_LB_ADDRESS_TYPE] = "type",
    [NLB_LB_IPV6_TYPE] = "ipv6",    [NLB_LB_IP_VERSION] = "version",
    [NLB_LB_GROUP] = "rg",          [NLB_LB_PACKAGE] = "package",
    [NLB_LB_CROSS_ZONE] = "cross",  [NLB_LB_MODIFICATION] = "modification",
    [NLB_LB_PROTECT] = "protection"
};

static void read_lb_field(struct line *line, char *word)
{
    const char *name = NULL;
    const char *value = NULL;
    bool explicit = false;

    if (strcmp(word, "untagged") == 0) {
        line->state->lb.lbc.untagged = true;
        return;
    }
    assert_true(is_pair(word, &explicit, &name, &value));
    if (strcmp(name, "vpc") == 0) {
        notation_assert_ok(lbc_text_set(&line->state->lb.lbc.vpc_id, value));
        return;
    }
    for (size_t i = 0; i < NLB_LB_FIELD_COUNT; i++) {
        if (strcmp(lb_names[i], name) == 0) {
            unsigned *bits =
                line->model != NULL ? &line->model->lbc.explicit : &line->state->lb.lbc.explicit;

            notation_assert_ok(nlb_lb_set(&line->state->lb, (enum nlb_lb_field)i, value));
            *bits |= explicit ? 1U << i : 0;
            return;
        }
    }
    fail_msg("no field %s", name);
}

static void read_lb(struct line *line)
{
    notation_assert_ok(lbc_text_set(&line->state->lb.lbc.id, none(line->words[1])));
    for (size_t i = 2; i < line->count; i++) {
        read_lb_field(line, line->words[i]);
    }
}

static void read_zone(struct line *line)
{
    notation_assert_ok(nlb_lb_put_zone(&line->state->lb, line->words[1], line->words[2],
                                       line->count > 3 ? none(line->words[3]) : NULL,
                                       line->count > 4 ? line->words[4] : NULL));
    if (line->model != NULL) {
        line->model->zones_explicit = true;
    }
}

static void read_sg(struct line *line)
{
    for (size_t i = 1; i < line->count; i++) {
        notation_assert_ok(lbc_texts_put(&line->state->lb.security_groups, line->words[i]));
    }
    if (line->model != NULL) {
        line->model->groups_explicit = true;
    }
}

static void read_tag(struct line *line)
{
    const char *value = part_after(line->words[1], '=');

    notation_assert_ok(lbc_tags_put(&line->state->lb.lbc.tags, line->words[1], value));
}

static void read_flags(struct line *line)
{
    for (size_t i = 1; i < line->count; i++) {
        const char *word = line->words[i];

        line->model->lbc.reused = line->model->lbc.reused || strcmp(word, "reused") == 0;
        line->model->lbc.preserve = line->model->lbc.preserve || strcmp(word, "preserve") == 0;
        line->model->lbc.override = line->model->lbc.override || strcmp(word, "override") == 0;
        line->model->lbc.keep_weights = line->model->lbc.keep_weights || strcmp(word, "keep") == 0;
        line->model->lbc.incomplete =
            line->model->lbc.incomplete || strcmp(word, "incomplete") == 0;
    }
}

/* --- groups --- */

static void read_group_word(struct nlb_group *group, char *word)
{
    const char *name = NULL;
    const char *value = NULL;
    bool explicit = false;

    if (!is_pair(word, &explicit, &name, &value)) {
        group->any_port = group->any_port || strcmp(word, "any") == 0;
        group->lbc.add_only = group->lbc.add_only || strcmp(word, "addonly") == 0;
        group->lbc.frozen_by = group->lbc.frozen_by || strcmp(word, "hold") == 0;
        group->lbc.broken = group->lbc.broken || strcmp(word, "broken") == 0;
        group->lbc.unread = group->lbc.unread || strcmp(word, "unread") == 0;
    } else if (strcmp(name, "type") == 0) {
        notation_assert_ok(lbc_text_set(&group->type, value));
    } else if (strcmp(name, "family") == 0) {
        notation_assert_ok(lbc_text_set(&group->family, value));
    } else if (strcmp(name, "name") == 0) {
        notation_assert_ok(lbc_text_set(&group->lbc.name, value));
    } else if (strcmp(name, "owner") == 0) {
        notation_assert_ok(lbc_tags_put(&group->tags, LBC_TAG_OWNER, value));
    } else if (strcmp(name, "cluster") == 0) {
        notation_assert_ok(lbc_tags_put(&group->tags, LBC_TAG_CLUSTER, value));
    } else {
        assert_non_null(nlb_group_field(name));
        notation_assert_ok(
            lbc_attrs_set(&group->lbc.attrs, nlb_group_field(name), value, explicit));
    }
}

static void read_group(struct line *line)
{
    struct nlb_group *group = nlb_state_new_group(line->state);
    const char *protocol = part_after(line->words[2], '/');

    notation_assert_ok(lbc_text_set(&group->lbc.id, none(line->words[1])));
    group->lbc.protocol = lbc_protocol_parse(protocol, NLB_PROTOCOLS);
    name_of(&group->lbc.name, line->words[2], group->lbc.protocol);
    if (strspn(line->words[2], "0123456789") == strlen(line->words[2])) {
        group->lbc.port = line->model == NULL ? 0 : number(line->words[2]);
    }
    for (size_t i = 3; i < line->count; i++) {
        read_group_word(group, line->words[i]);
    }
}

static void read_server(struct line *line)
{
    struct nlb_group *group = nlb_group_at(line->state, line->state->lbc.group_count - 1);
    struct lbc_backend one = { .server_id = line->words[1] };
    const char *weight = part_after(line->words[1], '=');
    const char *port = part_after(line->words[1], ':');
    const char *ip = part_after(line->words[1], '/');

    one.weight = (uint8_t)number(weight);
    one.port = number(port);
    if (ip != NULL) {
        one.type = LBC_BACKEND_INTERFACE;
        one.server_ip = (char *)(uintptr_t)ip;
    }
    for (size_t i = 2; i < line->count; i++) {
        one.leaving = one.leaving || strcmp(line->words[i], "leaving") == 0;
        if (line->words[i][0] == '!') {
            one.description = line->words[i] + 1;
        }
    }
    notation_assert_ok(lbc_backends_put(&group->lbc.backends, &one));
}

/* --- listeners --- */

static void read_listener_word(struct nlb_listener *listener, char *word)
{
    const char *name = NULL;
    const char *value = NULL;
    bool explicit = false;

    if (!is_pair(word, &explicit, &name, &value)) {
        listener->lbc.broken = listener->lbc.broken || strcmp(word, "broken") == 0;
    } else if (strcmp(name, "desc") == 0) {
        notation_assert_ok(lbc_text_set(&listener->lbc.description, value));
    } else if (strcmp(name, "chosen") == 0) {
        notation_assert_ok(lbc_text_set(&listener->lbc.group_id, value));
    } else {
        assert_non_null(nlb_listener_field(name));
        notation_assert_ok(
            lbc_attrs_set(&listener->lbc.attrs, nlb_listener_field(name), value, explicit));
    }
}

/* The desired one, which stands before it. */
static void find_group(const struct line *line, struct lbc_listener *listener)
{
    CCM_CLEANUP(ccm_freep) char *name = NULL;
    const char *protocol = part_after(line->words[4], '/');
    const struct lbc_state *want = &line->state->lbc;

    name_of(&name, line->words[4], lbc_protocol_parse(protocol, NLB_PROTOCOLS));
    for (size_t i = 0; i < want->group_count; i++) {
        if (ccm_text_equal(want->groups[i]->name, name) &&
            ccm_text_equal(want->groups[i]->id, listener->group_id)) {
            listener->group = want->groups[i];
        }
    }
}

static void read_listener(struct line *line)
{
    struct nlb_listener *listener = nlb_state_new_listener(line->state);
    const char *end = part_after(line->words[3], '-');
    char key[32];

    notation_assert_ok(lbc_text_set(&listener->lbc.id, none(line->words[1])));
    listener->lbc.protocol = lbc_protocol_parse(line->words[2], NLB_PROTOCOLS);
    listener->lbc.port = number(line->words[3]);
    listener->lbc.last_port = end == NULL ? listener->lbc.port : number(end);
    listener->lbc.is_range = end != NULL;
    if (line->model == NULL) {
        notation_assert_ok(lbc_text_set(&listener->lbc.group_id, none(line->words[4])));
    }
    ccm_text_printf(key, sizeof(key), end == NULL ? "%u" : "%u_%u", listener->lbc.port,
                    listener->lbc.last_port);
    name_of(&listener->lbc.description, key, listener->lbc.protocol);
    for (size_t i = 5; i < line->count; i++) {
        read_listener_word(listener, line->words[i]);
    }
    if (line->model != NULL) {
        find_group(line, &listener->lbc);
    }
}

static void read_certs(struct line *line)
{
    struct nlb_listener *listener =
        nlb_listener_at(line->state, line->state->lbc.listener_count - 1);

    listener->lbc.certs_known = true;
    for (size_t i = 1; i < line->count; i++) {
        notation_assert_ok(lbc_texts_put(&listener->certs, line->words[i]));
    }
}

/* --- the security group --- */

static void read_guard(struct line *line)
{
    struct nlb_security_group *security_group = &line->state->security_group;

    security_group->known = line->model == NULL;
    security_group->wanted = line->model != NULL;
    notation_assert_ok(
        lbc_text_set(&security_group->id, line->count > 1 ? none(line->words[1]) : NULL));
    notation_set_text(&security_group->name, nlb_security_group_name(&obj_service()->meta));
    notation_set_text(&security_group->description,
                      nlb_security_group_description(&obj_service()->meta, "c1"));
}

static void read_rule(struct line *line)
{
    struct nlb_security_group *security_group = &line->state->security_group;
    struct nlb_rule *rule = nlb_security_group_new_rule(security_group);

    notation_assert_ok(lbc_text_set(&rule->id, none(line->words[1])));
    rule->drop = strcmp(line->words[2], "drop") == 0;
    notation_assert_ok(lbc_text_set(&rule->cidr, line->words[3]));
    rule->ipv6 = strchr(line->words[3], ':') != NULL;
    rule->priority = number(line->words[4]);
    notation_assert_ok(lbc_text_set(&rule->protocol, line->model == NULL ? "ALL" : "All"));
    notation_assert_ok(lbc_text_set(&rule->port_range, "-1/-1"));
    notation_assert_ok(lbc_text_set(
        &rule->description, line->count > 5 ? line->words[5] + 1 : security_group->description));
}

/* --- all --- */

static const struct {
    const char *word;
    void (*read)(struct line *line);
} kinds[] = {
    { "model", read_flags },   { "lb", read_lb },
    { "zone", read_zone },     { "sg", read_sg },
    { "tag", read_tag },       { "group", read_group },
    { "server", read_server }, { "listener", read_listener },
    { "certs", read_certs },   { "guard", read_guard },
    { "rule", read_rule },
};

static void read_line(struct line *line)
{
    for (size_t i = 0; i < CCM_ARRAY_LEN(kinds); i++) {
        if (strcmp(kinds[i].word, line->words[0]) == 0) {
            kinds[i].read(line);
            return;
        }
    }
    fail_msg("no kind %s", line->words[0]);
}

static void read_lines(struct nlb_state *state, struct nlb_model *model, const char *text)
{
    while (text != NULL && *text != '\0') {
        const size_t len = strcspn(text, "\n");
        struct line line = { .state = state, .model = model };

        split(&line, text, len);
        if (line.count > 0) {
            read_line(&line);
        }
        text += text[len] == '\0' ? len : len + 1;
    }
}

void read_state(struct nlb_state *state, const char *text)
{
    state->lbc.groups_known = true;
    state->lbc.listeners_known = true;
    read_lines(state, NULL, text);
}

void read_model(struct nlb_model *model, const char *text)
{
    model->lbc.want = &model->want.lbc;
    model->lbc.ops = &nlb_model_ops;
    read_lines(&model->want, model, text);
}

void model_end(struct nlb_model *model)
{
    nlb_state_fini(&model->want);
}

/* --- questions --- */

static bool is_lb_step(const struct lbc_step *step)
{
    return step->type <= LBC_STEP_DELETE_LB ||
           (step->type >= LBC_STEP_OWN && step->type <= NLB_STEP_LEAVE &&
            step->type != NLB_STEP_CREATE_SECURITY_GROUP &&
            step->type != NLB_STEP_DELETE_SECURITY_GROUP);
}

static bool is_listener_step(const struct lbc_step *step)
{
    return step->type == LBC_STEP_CREATE_LISTENER || step->type == LBC_STEP_UPDATE_LISTENER ||
           step->type == LBC_STEP_RESTORE_LISTENER || step->type == NLB_STEP_ADD_CERTS ||
           step->type == NLB_STEP_REMOVE_CERTS;
}

static bool is_group_step(const struct lbc_step *step)
{
    return step->type >= LBC_STEP_CREATE_GROUP && step->type <= LBC_STEP_UPDATE;
}

static bool is_same_thing(const struct lbc_step *a, const struct lbc_step *b)
{
    if (is_lb_step(a) && is_lb_step(b)) {
        return true;
    }
    if (a->type == LBC_STEP_CREATE_GROUP && a->want == b->want) {
        return true; /* whatever uses it waits for its job */
    }
    if (is_listener_step(a) && is_listener_step(b)) {
        return a->port == b->port && a->protocol == b->protocol;
    }
    return is_group_step(a) && is_group_step(b) && a->group == b->group &&
           (a->group != NULL || a->want == b->want);
}

void check_stages(const struct lbc_plan *plan)
{
    for (size_t i = 1; i < plan->len; i++) {
        const struct lbc_step *step = plan->steps[i];

        assert_true(step->stage >= plan->steps[i - 1]->stage);
        for (size_t k = 0; k < i; k++) {
            if (plan->steps[k]->stage == step->stage && is_same_thing(plan->steps[k], step)) {
                fail_msg("stage %u: %s and %s", step->stage,
                         lbc_step_name(&nlb_steps, plan->steps[k]->type),
                         lbc_step_name(&nlb_steps, step->type));
            }
        }
    }
}

static void check_plan(const struct plan_question *question)
{
    CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { 0 };
    CCM_CLEANUP(nlb_state_fini) struct nlb_state have = { 0 };
    CCM_CLEANUP(lbc_problems_fini) struct lbc_problems problems = LBC_PROBLEMS_INIT;
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 16384 };
    CCM_CLEANUP(model_end) struct nlb_model model = { .lbc.explicit = 0 };
    const struct lbc_plan_input in = { .model = &model.lbc,
                                       .have = &have.lbc,
                                       .service = obj_service(),
                                       .cluster_id = "c1",
                                       .batch = question->batch };

    read_model(&model, question->want);
    read_state(&have, question->have);
    notation_assert_ok(lbc_plan_ensure(&plan, &nlb_plan_ops, &in, &problems));
    lbc_plan_print(&plan, NULL, &text);
    if (strcmp(ccm_buf_str(&text), question->plan) != 0) {
        fail_msg("%s:\n%s", question->name, ccm_buf_str(&text));
    }
    if ((problems.count == 0) != (question->problem == NULL) ||
        (question->problem != NULL &&
         strstr(ccm_buf_str(&problems.text), question->problem) == NULL)) {
        fail_msg("%s: %s", question->name, ccm_buf_str(&problems.text));
    }
    check_stages(&plan);
}

void check_plans(const struct plan_question *questions, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check_plan(&questions[i]);
    }
}
