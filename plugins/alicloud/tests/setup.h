/* A started client on a fake host. */
#ifndef CCM_ALICLOUD_TESTS_SETUP_H
#define CCM_ALICLOUD_TESTS_SETUP_H

#include "alicloud/client.h"
#include "support/fake_host.h"

#define TEST_KEY_ID "LTAItestkeyid"
#define TEST_SECRET "sEcReTsEcReTsEcReT"
#define TEST_TOKEN  "tOkEnTOKENtOkEn"

struct setup {
    struct fake_host *fake;
    const struct ccm_host *host;
    struct ali_client *ali;
};

/* Region cn-hangzhou, VPC vpc-1, credentials from the environment. `options` is a NULL-terminated
 * list of name, value; may be NULL. */
void setup_begin(struct setup *setup, const char *const *options);
/* Also checks that no secret got into the log and that no request went unanswered. */
void setup_end(struct setup *setup);

/* A request whose deadline is ms away. */
struct ccm_request setup_request(const struct setup *setup, int64_t ms);

/* Fails the test when text holds the secret or the token. */
void setup_no_secret(const char *text);

#endif
