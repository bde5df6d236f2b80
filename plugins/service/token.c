#include "token.h"

#include "lifecycle.h"
#include "object.h"

#include <inttypes.h>
#include <stdio.h>

#define PRIME UINT64_C(1099511628211)

/* FNV-1a, 64 bit: spreads, keeps no secret. */
void ccm_token_add(struct ccm_token *token, const char *text)
{
    for (const char *p = text == NULL ? "" : text; *p != '\0'; p++) {
        token->hash = (token->hash ^ (unsigned char)*p) * PRIME;
    }
    token->hash = (token->hash ^ 0xFF) * PRIME; /* "ab","c" is not "a","bc" */
}

void ccm_token_write(const struct ccm_token *token, const struct ccm_service *service,
                     uint32_t attempt, char ret[static CCM_TOKEN_SIZE])
{
    struct ccm_token whole = *token;
    char number[16];

    (void)snprintf(number, sizeof(number), "%" PRIu32, attempt); /* fits */
    ccm_token_add(&whole, ccm_object_label(&service->meta, CCM_LIFE_LB_LABEL));
    ccm_token_add(&whole, number);
    (void)snprintf(ret, CCM_TOKEN_SIZE, "ccm-%.40s-%016" PRIx64, service->meta.uid,
                   whole.hash); /* fits */
}

uint64_t ccm_token_number(const char *text)
{
    struct ccm_token token = CCM_TOKEN_INIT;

    ccm_token_add(&token, text);
    return token.hash;
}
