/* When the condition of a Service is written, and how. */
#include "check.h"
#include "lbc/service/conditions.h"
#include "objects.h"
#include "support/fake_host.h"

#include <errno.h>
#include <string.h>

#define HEAD                                                                                       \
    "{\"metadata\":{\"uid\":\"" OBJ_UID                                                            \
    "\"},\"status\":{\"conditions\":[{\"type\":\"" LBC_LIFE_CONDITION "\","
#define NOW  ",\"lastTransitionTime\":\"2026-01-02T03:04:05Z\""
#define TAIL "}]}}"
#define WALL "2026-01-02T03:04:05Z"
#define OLD  "2026-01-02T02:34:05Z"

struct step {
    const char *before[3]; /* status, reason, message of the Service; NULL = no condition */
    struct lbc_life_condition want;
    bool take_away;
    const char *body; /* NULL: no write */
};

static const struct step steps[] = {
    { { NULL },
      { true, 0, "fine", NULL, NULL, NULL },
      false,
      HEAD "\"status\":\"True\",\"reason\":\"Ready\",\"message\":\"fine\"" NOW TAIL },
    { { "True", "Ready", "fine" }, { true, 0, "fine", NULL, NULL, NULL }, false, NULL },
    { { "True", "Ready", "fine" },
      { true, 0, "finer", NULL, NULL, NULL },
      false,
      HEAD "\"status\":\"True\",\"reason\":\"Ready\",\"message\":\"finer\"" TAIL },
    { { "True", "Ready", "fine" },
      { false, CCM_ERROR_TERMINAL, "bad", NULL, NULL, NULL },
      false,
      HEAD "\"status\":\"False\",\"reason\":\"Refused\",\"message\":\"bad\"" NOW TAIL },
    { { "False", "Refused", "bad" },
      { false, CCM_ERROR_TERMINAL, "bad", NULL, NULL, NULL },
      false,
      NULL },
    { { "False", "Refused", "bad" },
      { false, CCM_ERROR_AUTH, "bad", NULL, NULL, NULL },
      false,
      HEAD "\"status\":\"False\",\"reason\":\"NotAllowed\",\"message\":\"bad\"" TAIL },
    { { "False", "Refused", "bad" },
      { false, CCM_ERROR_THROTTLED, "bad", NULL, NULL, NULL },
      false,
      HEAD "\"status\":\"False\",\"reason\":\"Throttled\",\"message\":\"bad\"" TAIL },
    { { NULL },
      { false, CCM_ERROR_TRANSIENT, "", NULL, NULL, NULL },
      false,
      HEAD "\"status\":\"False\",\"reason\":\"SyncFailed\",\"message\":\"\"" NOW TAIL },
    { { NULL },
      { false, CCM_ERROR_AUTH, "bad (mend it.)", "Tried again soon", NULL, "1" },
      false,
      HEAD "\"status\":\"False\",\"reason\":\"NotAllowed\",\"message\":\"bad (mend it.). "
           "Tried again soon (as of " WALL ", RequestId 1)\"" NOW TAIL },
    /* Another try of the same cause says nothing new, */
    { { "False", "NotAllowed", "bad (mend it.). Tried again soon (as of " WALL ", RequestId 1)" },
      { false, CCM_ERROR_AUTH, "bad (mend it.)", "Tried again later", NULL, "2" },
      false,
      NULL },
    /* another cause does, */
    { { "False", "NotAllowed", "bad (mend it.). Tried again soon (as of " WALL ", RequestId 1)" },
      { false, CCM_ERROR_AUTH, "ill (mend it.)", "Tried again later", NULL, "2" },
      false,
      HEAD "\"status\":\"False\",\"reason\":\"NotAllowed\",\"message\":\"ill (mend it.). "
           "Tried again later (as of " WALL ", RequestId 2)\"" TAIL },
    /* and so does half an hour, also one that an earlier version wrote without a time. */
    { { "False", "NotAllowed", "bad. Tried again soon (as of " OLD ", RequestId 1)" },
      { false, CCM_ERROR_AUTH, "bad", "Tried again later", NULL, "2" },
      false,
      HEAD "\"status\":\"False\",\"reason\":\"NotAllowed\",\"message\":\"bad. "
           "Tried again later (as of " WALL ", RequestId 2)\"" TAIL },
    { { "False", "NotAllowed", "bad" },
      { false, CCM_ERROR_AUTH, "bad", "Tried again later", NULL, "2" },
      false,
      HEAD "\"status\":\"False\",\"reason\":\"NotAllowed\",\"message\":\"bad. "
           "Tried again later (as of " WALL ", RequestId 2)\"" TAIL },
    { { "True", "Ready", "fine" },
      { false, 0, "port 80/tcp: it has no endpoint", NULL, "NoReadyBackend", NULL },
      false,
      HEAD "\"status\":\"False\",\"reason\":\"NoReadyBackend\","
           "\"message\":\"port 80/tcp: it has no endpoint\"" NOW TAIL },
    /* A conflict is looked at again at once: the verdict of before about the same stays, */
    { { "False", "Refused", "bad. Tried again later (as of " WALL ", RequestId 1)" },
      { false, CCM_ERROR_CONFLICT, "bad", "Tried again soon", NULL, "2" },
      false,
      NULL },
    /* of something else, or where there is none, it is what is known. */
    { { "False", "Refused", "bad" },
      { false, CCM_ERROR_CONFLICT, "ill", NULL, NULL, NULL },
      false,
      HEAD "\"status\":\"False\",\"reason\":\"SyncFailed\",\"message\":\"ill\"" TAIL },
    { { NULL }, { 0 }, true, NULL },
    { { "True", "Ready", "fine" }, { 0 }, true, HEAD "\"$patch\":\"delete\"" TAIL },
};

static int tell(struct fake_host *fake, const struct step *step,
                const struct lbc_life_condition *want, struct ccm_error *err)
{
    const struct lbc_life life = { .host = fake_host_table(fake), .component = "test" };
    const struct ccm_request req = { .struct_size = sizeof(req) };
    const struct ccm_condition other = { "other", "True", "a", "b", 0 };
    const struct ccm_condition own = { LBC_LIFE_CONDITION, step->before[0], step->before[1],
                                       step->before[2], 0 };
    const struct ccm_condition *const both[] = { &other, &own };
    struct ccm_service *service = obj_service();

    service->conditions = both;
    service->condition_count = step->before[0] == NULL ? 1 : 2;
    const int r = lbc_life_publish_condition(&life, &req, service, want, err);

    service->conditions = NULL;
    service->condition_count = 0;
    return r;
}

static void test_steps(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct fake_host *fake = fake_host_new();
        struct ccm_error err = CCM_ERROR_INIT;

        assert_int_equal(tell(fake, &steps[i], steps[i].take_away ? NULL : &steps[i].want, &err),
                         0);
        assert_int_equal(fake_host_patch_count(fake), steps[i].body == NULL ? 0 : 1);
        if (steps[i].body != NULL) {
            assert_int_equal(fake_host_patch(fake, 0)->type, CCM_PATCH_STRATEGIC);
            assert_string_equal(fake_host_patch(fake, 0)->subresource, "status");
            assert_string_equal(fake_host_patch(fake, 0)->body, steps[i].body);
        }
        fake_host_free(fake);
    }
}

static void test_failures(void **state)
{
    struct fake_host *fake = fake_host_new();
    struct ccm_error err = CCM_ERROR_INIT;

    (void)state;
    fake_host_patch_result(fake, -ENOENT, CCM_ERROR_NOT_FOUND);
    assert_int_equal(tell(fake, &steps[0], &steps[0].want, &err), 0);
    fake_host_patch_result(fake, -EIO, CCM_ERROR_TRANSIENT);
    assert_int_equal(tell(fake, &steps[0], &steps[0].want, &err), -EIO);
    fake_host_free(fake);
}

/* A long message is cut, between characters, and the cut one is not news again. */
static void test_long(void **state)
{
    char text[2048];
    const char *cut = NULL;
    struct fake_host *fake = fake_host_new();
    struct ccm_error err = CCM_ERROR_INIT;
    struct step step = { .want = { false, CCM_ERROR_TERMINAL, text, NULL, NULL, NULL } };

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    memcpy(text + 1023, "\xc3\xa4", 2);
    assert_int_equal(tell(fake, &step, &step.want, &err), 0);
    cut = strstr(fake_host_patch(fake, 0)->body, "xxx");
    assert_non_null(cut);
    assert_int_equal(strspn(cut, "x"), 1023);
    assert_int_equal(cut[1023], '"');
    fake_host_free(fake);
}

/* What is behind it is not. */
static void test_long_with_retry(void **state)
{
    char text[2048];
    struct fake_host *fake = fake_host_new();
    struct ccm_error err = CCM_ERROR_INIT;
    struct step step = { .want = { false, CCM_ERROR_TERMINAL, text, "Tried again soon", NULL,
                                   NULL } };

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    assert_int_equal(tell(fake, &step, &step.want, &err), 0);

    const char *body = fake_host_patch(fake, 0)->body;
    const char *message = strstr(body, "xxx");

    assert_non_null(message);
    assert_non_null(strstr(message, "x. Tried again soon (as of " WALL ")\""));
    assert_in_range(strchr(message, '"') - message, 900, 1024);
    fake_host_free(fake);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_steps, obj_end),
        cmocka_unit_test_teardown(test_failures, obj_end),
        cmocka_unit_test_teardown(test_long, obj_end),
        cmocka_unit_test_teardown(test_long_with_retry, obj_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
