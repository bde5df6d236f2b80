/* Listeners that come, go, change and forward: in which order, and whose they are. */
#include "lbc/tests/check.h"

#include "clb/plan.h"
#include "lbc/tests/objects.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

#define MOST 6

/* One listener; port 0 ends a list. */
struct one {
    enum lbc_protocol protocol;
    uint16_t port;
    uint16_t forward;
    const char *group;       /* port of the group; NULL = its own port */
    const char *description; /* NULL = ours */
    const char *cert;
    const char *domains; /* "a=c1 b=c2"; wanted: NULL = not told */
    bool stopped;
    bool broken;
};

struct order_case {
    const char *name;
    struct one want[MOST];
    struct one have[MOST];
    const char *groups; /* that exist already, ports separated by blanks */
    const char *plan;
    const char *problem;
};

static void format(char *text, size_t size, const char *part)
{
    ccm_text_printf(text, size, "k8s/%s/web/default/c1", part);
}

static void add_domains(struct clb_listener *listener, const char *text, bool wanted)
{
    char copy[128];
    char *save = copy;

    listener->lbc.certs_known = text != NULL;
    ccm_text_printf(copy, sizeof(copy), "%s", text == NULL ? "" : text);
    while (*save != '\0') {
        char *word = save;
        char *equals = strchr(word, '=');
        const size_t len = strcspn(word, " ");

        save += word[len] == '\0' ? len : len + 1;
        word[len] = '\0';
        *equals = '\0';
        assert_int_equal(
            clb_domains_put(&listener->domains, word, equals + 1, wanted ? NULL : word), 0);
    }
}

static void add_listener(struct clb_state *state, const struct one *one, bool wanted)
{
    struct clb_listener *listener = clb_state_new_listener(state);
    char number[16];
    char text[64];

    ccm_text_printf(number, sizeof(number), "%u", one->port);
    listener->lbc.port = one->port;
    listener->lbc.last_port = listener->lbc.port;
    listener->lbc.protocol = one->protocol;
    listener->lbc.running = !one->stopped;
    listener->lbc.broken = one->broken;
    format(text, sizeof(text), number);
    assert_int_equal(lbc_text_set(&listener->lbc.description,
                                  one->description == NULL ? text : one->description),
                     0);
    format(text, sizeof(text), one->group == NULL ? number : one->group);
    if (wanted) {
        listener->lbc.group = lbc_state_group_for(&state->lbc, &(struct lbc_group){ .name = text });
    } else {
        assert_int_equal(lbc_text_set(&listener->lbc.group_id, text), 0);
    }
    if (one->cert != NULL) {
        assert_int_equal(lbc_attrs_set(&listener->lbc.attrs, clb_field_find("ServerCertificateId"),
                                       one->cert, true),
                         0);
    }
    if (one->forward != 0) {
        ccm_text_printf(number, sizeof(number), "%u", one->forward);
        assert_int_equal(
            lbc_attrs_set(&listener->lbc.attrs, clb_field_find("ListenerForward"), "on", true), 0);
        assert_int_equal(
            lbc_attrs_set(&listener->lbc.attrs, clb_field_find("ForwardPort"), number, true), 0);
    }
    if (one->protocol == LBC_HTTPS) {
        add_domains(listener, one->domains, wanted);
    }
}

/* Groups have their name as id. */
static void add_group(struct clb_state *state, const char *port, bool present)
{
    struct lbc_group *group;
    char text[64];

    format(text, sizeof(text), port);
    if (lbc_state_group_for(&state->lbc, &(struct lbc_group){ .name = text }) != NULL) {
        return;
    }
    group = clb_state_new_group(state);
    group->port = 80;
    assert_int_equal(lbc_text_set(&group->name, text), 0);
    assert_int_equal(present ? lbc_text_set(&group->id, text) : 0, 0);
}

static void fill(const struct order_case *one, struct clb_state *want, struct clb_state *have)
{
    char copy[64];
    char *next = copy;

    assert_int_equal(lbc_text_set(&have->lb.lbc.id, "lb"), 0);
    for (size_t i = 0; i < MOST && one->want[i].port != 0; i++) {
        char number[16];

        ccm_text_printf(number, sizeof(number), "%u", one->want[i].port);
        add_group(want, one->want[i].group == NULL ? number : one->want[i].group, false);
        add_listener(want, &one->want[i], true);
    }
    for (size_t i = 0; i < MOST && one->have[i].port != 0; i++) {
        add_listener(have, &one->have[i], false);
    }
    ccm_text_printf(copy, sizeof(copy), "%s", one->groups);
    while (*next != '\0') {
        char *word = next;
        const size_t len = strcspn(word, " ");

        next += word[len] == '\0' ? len : len + 1;
        word[len] = '\0';
        add_group(have, word, true);
        add_group(want, word, false);
    }
}

/* Without the names of groups, which only repeat the ports. */
static void shorten(const char *plan, struct ccm_buf *ret)
{
    for (const char *p = plan; *p != '\0'; p++) {
        if (strncmp(p, " k8s/", 5) == 0 || strncmp(p, " (k8s/", 6) == 0) {
            p += 1;
            p += strcspn(p, " \n") - 1;
            continue;
        }
        ccm_buf_addc(ret, *p == '\n' ? ';' : *p);
    }
}

#define T LBC_TCP
#define U LBC_UDP
#define H LBC_HTTP
#define S LBC_HTTPS

static const struct order_case cases[] = {
    { "64: new group, known group, update to a new one, delete",
      { { T, 80, .group = "1" }, { T, 443, .group = "2" }, { T, 444, .group = "3" } },
      { { T, 444, .group = "2" }, { T, 445, .group = "2" } },
      "2",
      "delete listener 445/tcp;"
      "create server group 80/tcp;create listener 80/tcp;start listener 80/tcp;"
      "create listener 443/tcp;start listener 443/tcp;"
      "create server group 80/tcp;update listener 444/tcp;",
      NULL },
    { "65: https, and http that forwards to it, which comes last",
      { { H, 80, .forward = 443 }, { S, 443, .cert = "c1" } },
      { { 0 } },
      "",
      "create server group 80/tcp;create server group 80/tcp;"
      "create listener 443/https;start listener 443/https;"
      "create listener 80/http -> 443;start listener 80/http;",
      NULL },
    { "66: both gone: what forwards goes first",
      { { 0 } },
      { { S, .port = 443 }, { H, 80, .forward = 443 } },
      "",
      "delete listener 80/http;delete listener 443/https;",
      NULL },
    { "67: tcp to udp, new group",
      { { U, .port = 80 } },
      { { T, 80, .group = "1" } },
      "",
      "delete listener 80/tcp;create server group 80/tcp;create listener 80/udp;"
      "start listener 80/udp;",
      NULL },
    { "67: tcp to udp, known group",
      { { U, .port = 80 } },
      { { T, .port = 80 } },
      "80",
      "delete listener 80/tcp;create listener 80/udp;start listener 80/udp;",
      NULL },
    { "tcp to http on one port: the delete comes before the create",
      { { H, .port = 80 } },
      { { T, .port = 80 } },
      "80",
      "delete listener 80/tcp;create listener 80/http;start listener 80/http;",
      NULL },
    { "68: http and https gone, udp in their place",
      { { U, .port = 80 }, { U, .port = 443 } },
      { { S, .port = 443 }, { H, 80, .forward = 443 } },
      "",
      "delete listener 80/http;delete listener 443/https;"
      "create server group 80/tcp;create listener 80/udp;start listener 80/udp;"
      "create server group 80/tcp;create listener 443/udp;start listener 443/udp;",
      NULL },
    { "69: http starts to forward",
      { { H, 80, .forward = 443 }, { S, 443, .cert = "c" } },
      { { H, .port = 80 }, { S, 443, .cert = "c" } },
      "80 443",
      "delete listener 80/http;create listener 80/http -> 443;start listener 80/http;",
      NULL },
    { "70: update to a new group",
      { { T, 80, .group = "2" } },
      { { T, 80, .group = "1" } },
      "",
      "create server group 80/tcp;update listener 80/tcp;",
      NULL },
    { "70: update to a known group",
      { { T, 80, .group = "2" } },
      { { T, 80, .group = "1" } },
      "2",
      "update listener 80/tcp;",
      NULL },
    { "57: target moves: the forward goes early, because its target does",
      { { H, 80, .forward = 444 }, { S, 444, .cert = "c" } },
      { { H, 80, .forward = 443 }, { S, 443, .cert = "c" } },
      "80",
      "delete listener 80/http;delete listener 443/https;"
      "create server group 80/tcp;create listener 444/https;start listener 444/https;"
      "create listener 80/http -> 444;start listener 80/http;",
      NULL },
    { "57: source moves",
      { { H, 81, .forward = 443 }, { S, 443, .cert = "c" } },
      { { H, 80, .forward = 443 }, { S, 443, .cert = "c" } },
      "443",
      "delete listener 80/http;create server group 80/tcp;"
      "create listener 81/http -> 443;start listener 81/http;",
      NULL },
    { "57: forward removed",
      { { H, .port = 80 }, { S, 443, .cert = "c" } },
      { { H, 80, .forward = 443 }, { S, 443, .cert = "c" } },
      "80 443",
      "delete listener 80/http;create listener 80/http;start listener 80/http;",
      NULL },
    { "57: the https side goes, http stays",
      { { H, .port = 80 } },
      { { H, 80, .forward = 443 }, { S, .port = 443 } },
      "80",
      "delete listener 80/http;delete listener 443/https;"
      "create listener 80/http;start listener 80/http;",
      NULL },
    { "57: the http side goes",
      { { S, 443, .cert = "c" } },
      { { H, 80, .forward = 443 }, { S, 443, .cert = "c" } },
      "443",
      "delete listener 80/http;",
      NULL },
    { "forward unchanged",
      { { H, 80, .forward = 443 }, { S, 443, .cert = "c" } },
      { { H, 80, .forward = 443 }, { S, 443, .cert = "c" } },
      "80 443",
      "",
      NULL },
    { "forward unchanged, but stopped",
      { { H, 80, .forward = 443 }, { S, 443, .cert = "c" } },
      { { H, 80, .forward = 443, .stopped = true }, { S, 443, .cert = "c" } },
      "80 443",
      "start listener 80/http;",
      NULL },
    { "W29: no forward is the same as forward off",
      { { H, .port = 80 } },
      { { H, .port = 80 } },
      "80",
      "",
      NULL },
    { "a group that fails leaves other ports alone: each port's steps stand together",
      { { T, .port = 80 }, { T, .port = 81 } },
      { { 0 } },
      "",
      "create server group 80/tcp;create listener 80/tcp;start listener 80/tcp;"
      "create server group 80/tcp;create listener 81/tcp;start listener 81/tcp;",
      NULL },
    { "W26: another Service's listener",
      { { T, .port = 80 } },
      { { T, 80, .description = "k8s/80/other/default/c1" } },
      "80",
      "",
      "port 80/tcp: the listener belongs to another Service (k8s/80/other/default/c1)" },
    { "another cluster's listener",
      { { T, .port = 80 } },
      { { T, 80, .description = "k8s/80/web/default/c2" } },
      "80",
      "",
      "port 80/tcp: the listener belongs to another Service (k8s/80/web/default/c2)" },
    { "a person's listener is taken over",
      { { T, .port = 80 } },
      { { T, 80, .description = "by hand" } },
      "80",
      "update listener 80/tcp;",
      NULL },
    { "a person's listener of another protocol has the port",
      { { H, .port = 80 } },
      { { T, 80, .description = "by hand" } },
      "80",
      "",
      "port 80/http: the tcp listener belongs to somebody else (by hand)" },
    { "another Service's of another protocol",
      { { T, .port = 80 } },
      { { S, 80, .description = "k8s/80/other/default/c1" } },
      "80",
      "",
      "port 80/tcp: the https listener belongs to another Service" },
    { "59: tcp and udp share a port",
      { { T, .port = 80 }, { U, .port = 80 } },
      { { U, 80, .description = "by hand" } },
      "80",
      "create listener 80/tcp;start listener 80/tcp;update listener 80/udp;",
      NULL },
    { "63: other ports of others",
      { { T, .port = 80 } },
      { { T, .port = 80 }, { T, 81, .description = "by hand" }, { H, 82, .description = "" } },
      "80",
      "",
      NULL },
    { "W27: an unknown protocol of somebody",
      { { T, .port = 80 } },
      { { T, .port = 80 }, { LBC_OTHER, 80, .description = "by hand" }, { LBC_OTHER, .port = 81 } },
      "80",
      "",
      NULL },
    { "62: stopped",
      { { S, 443, .cert = "c" } },
      { { S, 443, .cert = "c", .stopped = true } },
      "443",
      "start listener 443/https;",
      NULL },
    { "54: other certificate",
      { { S, 443, .cert = "c2" } },
      { { S, 443, .cert = "c1" } },
      "443",
      "update listener 443/https;",
      NULL },
    { "55: domains with a new listener come before its start",
      { { S, 443, .cert = "c", .domains = "a.com=c1 b.com=c2" } },
      { { 0 } },
      "443",
      "create listener 443/https;create domain extension 443/https a.com=c1;"
      "create domain extension 443/https b.com=c2;start listener 443/https;",
      NULL },
    { "55, W1: updates, then adds, then deletions",
      { { S, 443, .cert = "c", .domains = "a.com=c9 new.com=c2" } },
      { { S, 443, .cert = "c", .domains = "old.com=c1 a.com=c1" } },
      "443",
      "update domain extension 443/https a.com=c9;create domain extension 443/https new.com=c2;"
      "delete domain extension 443/https old.com=c1;",
      NULL },
    { "55, W2: an empty list removes all",
      { { S, 443, .cert = "c", .domains = "" } },
      { { S, 443, .cert = "c", .domains = "a.com=c1" } },
      "443",
      "delete domain extension 443/https a.com=c1;",
      NULL },
    { "without the annotation domains stay",
      { { S, 443, .cert = "c" } },
      { { S, 443, .cert = "c", .domains = "a.com=c1" } },
      "443",
      "",
      NULL },
    { "a broken port keeps what it has",
      { { H, 80, .broken = true } },
      { { T, .port = 80 }, { T, .port = 81 } },
      "80",
      "delete listener 81/tcp;",
      NULL },
};

static void test_order(void **state)
{
    const struct ccm_service *service = obj_service();

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(cases); i++) {
        CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { 0 };
        CCM_CLEANUP(clb_state_fini) struct clb_state have = { 0 };
        CCM_CLEANUP(lbc_problems_fini) struct lbc_problems problems = LBC_PROBLEMS_INIT;
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 8192 };
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf brief = { .max = 8192 };
        struct clb_model model;

        memset(&model, 0, sizeof(model));
        model.lbc.want = &model.want.lbc;
        model.lbc.ops = &clb_model_ops;
        fill(&cases[i], &model.want, &have);
        model.lbc.incomplete = true; /* groups are another test's */

        const struct lbc_plan_input in = { .model = &model.lbc,
                                           .have = &have.lbc,
                                           .service = service,
                                           .cluster_id = "c1",
                                           .batch = 40,
                                           .fresh = true };

        assert_int_equal(lbc_plan_ensure(&plan, &clb_plan_ops, &in, &problems), 0);
        lbc_plan_print(&plan, NULL, &text);
        shorten(ccm_buf_str(&text), &brief);
        if (strcmp(ccm_buf_str(&brief), cases[i].plan) != 0) {
            fail_msg("%s:\n%s\n%s", cases[i].name, ccm_buf_str(&brief), cases[i].plan);
        }
        if ((problems.count == 0) != (cases[i].problem == NULL) ||
            (cases[i].problem != NULL &&
             strstr(ccm_buf_str(&problems.text), cases[i].problem) == NULL)) {
            fail_msg("%s: %s", cases[i].name, ccm_buf_str(&problems.text));
        }
        clb_state_fini(&model.want);
    }
}

/* Somebody else's load balancer: listeners are managed when annotations say so, and only then. One
 * of ours is deleted with its port in any case. */
static void test_override(void **state)
{
    static const struct order_case one = { "reused",
                                           { { T, .port = 80 } },
                                           { { T, 80, .stopped = true }, { T, .port = 81 } },
                                           "80",
                                           NULL,
                                           NULL };
    const struct ccm_service *service = obj_service();

    (void)state;
    for (int override = 0; override < 2; override++) {
        CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { 0 };
        CCM_CLEANUP(clb_state_fini) struct clb_state have = { 0 };
        CCM_CLEANUP(lbc_problems_fini) struct lbc_problems problems = LBC_PROBLEMS_INIT;
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 8192 };
        struct clb_model model;

        memset(&model, 0, sizeof(model));
        model.lbc.want = &model.want.lbc;
        model.lbc.ops = &clb_model_ops;
        fill(&one, &model.want, &have);
        model.lbc.reused = true;
        model.lbc.override = override == 1;
        model.lbc.incomplete = true;

        const struct lbc_plan_input in = { .model = &model.lbc,
                                           .have = &have.lbc,
                                           .service = service,
                                           .cluster_id = "c1",
                                           .batch = 40 };

        assert_int_equal(lbc_plan_ensure(&plan, &clb_plan_ops, &in, &problems), 0);
        lbc_plan_print(&plan, NULL, &text);
        assert_non_null(strstr(ccm_buf_str(&text), "delete listener 81/tcp"));
        assert_true((strstr(ccm_buf_str(&text), "start listener 80/tcp") != NULL) ==
                    (override == 1));
        clb_state_fini(&model.want);
    }
}

/* Access list of spec.loadBalancerSourceRanges. */
struct acl_case {
    const char *want; /* entries separated by blanks; NULL = not asked for */
    const char *have; /* NULL = there is none */
    bool bound;
    const char *plan;
};

static void put_words(struct lbc_texts *texts, const char *text)
{
    char copy[128];
    char *next = copy;

    ccm_text_printf(copy, sizeof(copy), "%s", text);
    while (*next != '\0') {
        char *word = next;
        const size_t len = strcspn(word, " ");

        next += word[len] == '\0' ? len : len + 1;
        word[len] = '\0';
        assert_int_equal(lbc_texts_put(texts, word), 0);
    }
}

static void fill_acl(const struct acl_case *one, struct clb_state *want, struct clb_state *have)
{
    struct clb_listener *present = clb_listener_at(have, 0);

    have->acl.known = true;
    want->acl.known = one->want != NULL;
    clb_listener_at(want, 0)->lbc.ranges = one->want != NULL;
    if (one->want != NULL) {
        assert_int_equal(lbc_text_set(&want->acl.name, "name"), 0);
        put_words(&want->acl.entries, one->want);
    }
    if (one->have != NULL) {
        assert_int_equal(lbc_text_set(&have->acl.id, "acl-1"), 0);
        put_words(&have->acl.entries, one->have);
    }
    if (one->bound) {
        assert_int_equal(
            lbc_attrs_set(&present->lbc.attrs, clb_field_find("AclStatus"), "on", false), 0);
        assert_int_equal(
            lbc_attrs_set(&present->lbc.attrs, clb_field_find("AclId"), "acl-1", false), 0);
    }
}

static void test_ranges(void **state)
{
    static const struct order_case base = {
        "ranges", { { T, .port = 80 } }, { { T, .port = 80 } }, "80", NULL, NULL
    };
    static const struct acl_case acls[] = {
        { NULL, NULL, false, "" },
        { "10.0.0.0/8", NULL, false,
          "create access list name;add access list entries 10.0.0.0/8;update listener 80/tcp;" },
        { "10.0.0.0/8", "", false, "add access list entries 10.0.0.0/8;update listener 80/tcp;" },
        { "10.0.0.0/8", "10.0.0.0/8", true, "" },
        { "10.0.0.0/8 11.0.0.0/8", "12.0.0.0/8 10.0.0.0/8", true,
          "add access list entries 11.0.0.0/8;remove access list entries 12.0.0.0/8;" },
        { NULL, "10.0.0.0/8", true, "update listener 80/tcp;delete access list;" },
        { NULL, "10.0.0.0/8", false, "delete access list;" },
    };
    const struct ccm_service *service = obj_service();

    (void)state;
    for (size_t i = 0; i < CCM_ARRAY_LEN(acls); i++) {
        CCM_CLEANUP(lbc_plan_fini) struct lbc_plan plan = { 0 };
        CCM_CLEANUP(clb_state_fini) struct clb_state have = { 0 };
        CCM_CLEANUP(lbc_problems_fini) struct lbc_problems problems = LBC_PROBLEMS_INIT;
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 8192 };
        CCM_CLEANUP(ccm_buf_fini) struct ccm_buf brief = { .max = 8192 };
        struct clb_model model;

        memset(&model, 0, sizeof(model));
        model.lbc.want = &model.want.lbc;
        model.lbc.ops = &clb_model_ops;
        fill(&base, &model.want, &have);
        fill_acl(&acls[i], &model.want, &have);
        model.lbc.incomplete = true;

        const struct lbc_plan_input in = { .model = &model.lbc,
                                           .have = &have.lbc,
                                           .service = service,
                                           .cluster_id = "c1",
                                           .batch = 40 };

        assert_int_equal(lbc_plan_ensure(&plan, &clb_plan_ops, &in, &problems), 0);
        lbc_plan_print(&plan, NULL, &text);
        shorten(ccm_buf_str(&text), &brief);
        assert_string_equal(ccm_buf_str(&brief), acls[i].plan);
        clb_state_fini(&model.want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_order, obj_end),
        cmocka_unit_test_teardown(test_override, obj_end),
        cmocka_unit_test_teardown(test_ranges, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
