/*
 * ClientTokens. Those of creations are the same after a restart, so that a repeated call cannot
 * create twice; another for another attempt, or after an earlier load balancer. That of a load
 * balancer is the same whatever is asked for: what a lost call has made is not made again because
 * somebody has edited the Service since; the cloud refuses such a repetition. All other writes that
 * take a token get a random one (alilb/action.c:add_token()). Every thread; nothing blocks.
 *
 *     struct lbc_token token = LBC_TOKEN_INIT;
 *     lbc_token_add(&token, name);     what else tells it from others, NULL counts as ""
 *     lbc_token_write(&token, service, entry->attempt, text);
 */
#ifndef CCM_LBC_TOKEN_H
#define CCM_LBC_TOKEN_H

#include "ccm/host.h"
#include "lbc/model/tags.h"
#include "util/attr.h"

#include <stdint.h>

#define LBC_TOKEN_SIZE 65

struct lbc_token {
    uint64_t hash;
};

#define LBC_TOKEN_INIT                                                                             \
    {                                                                                              \
        UINT64_C(14695981039346656037)                                                             \
    }

void lbc_token_add(struct lbc_token *token, const char *text);
/* Keys and values. */
void lbc_token_add_tags(struct lbc_token *token, const struct lbc_tags *tags);
/* attempt: how many load balancers of the Service were given up before. The Service's label with
 * the id of its last one counts as well. */
void lbc_token_write(const struct lbc_token *token, const struct ccm_service *service,
                     uint32_t attempt, char ret[static LBC_TOKEN_SIZE]);

/* A random one: for all tries of one call; the next call gets another. 0 or negative. */
CCM_NODISCARD int lbc_token_write_random(const struct ccm_host *host,
                                         char ret[static LBC_TOKEN_SIZE]);

/* A number for a text, always the same: for choices that a repeated call has to make again. */
uint64_t lbc_token_number(const char *text);

#endif
