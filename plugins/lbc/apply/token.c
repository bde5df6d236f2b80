#include "lbc/apply/token.h"
#include "lbc/names.h"

#include "ccm/object.h"
#include "lbc/service/lifecycle.h"
#include "util/text.h"

#include <inttypes.h>
#include <stdio.h>

#define PRIME UINT64_C(1099511628211)

/* FNV-1a, 64 bit: spreads, keeps no secret. */
void lbc_token_add(struct lbc_token *token, const char *text)
{
    for (const char *p = text == NULL ? "" : text; *p != '\0'; p++) {
        token->hash = (token->hash ^ (unsigned char)*p) * PRIME;
    }
    token->hash = (token->hash ^ 0xFF) * PRIME; /* "ab","c" is not "a","bc" */
}

void lbc_token_add_tags(struct lbc_token *token, const struct lbc_tags *tags)
{
    for (size_t i = 0; i < tags->len; i++) {
        lbc_token_add(token, tags->items[i].key);
        lbc_token_add(token, tags->items[i].value);
    }
}

void lbc_token_write(const struct lbc_token *token, const struct ccm_service *service,
                     uint32_t attempt, char ret[static LBC_TOKEN_SIZE])
{
    struct lbc_token whole = *token;
    char number[16];

    ccm_text_printf(number, sizeof(number), "%" PRIu32, attempt);
    lbc_token_add(&whole, ccm_object_label(&service->meta, lbc_names.lb_label));
    lbc_token_add(&whole, number);
    ccm_text_printf(ret, LBC_TOKEN_SIZE, "ccm-%.40s-%016" PRIx64, service->meta.uid, whole.hash);
}

int lbc_token_write_random(const struct ccm_host *host, char ret[static LBC_TOKEN_SIZE])
{
    unsigned char bytes[16];
    const int r = host->random(host, bytes, sizeof(bytes));

    ccm_text_copy(ret, LBC_TOKEN_SIZE, "ccm-");
    for (size_t i = 0; r == 0 && i < sizeof(bytes); i++) {
        ccm_text_printf(ret + 4 + 2 * i, 3, "%02x", (unsigned int)bytes[i]);
    }
    return r;
}

uint64_t lbc_token_number(const char *text)
{
    struct lbc_token token = LBC_TOKEN_INIT;

    lbc_token_add(&token, text);
    return token.hash;
}
