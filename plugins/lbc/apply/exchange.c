#include "lbc/apply/exchange.h"

/* Refusals with another reason than the one before; as there are quotas. */
#define SURPRISES_MAX 2

void lbc_exchange_fini(struct lbc_exchange *exchange)
{
    lbc_backends_fini(&exchange->add);
    lbc_backends_fini(&exchange->remove);
}

static size_t count_least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The smallest number whose square is not less. */
static size_t count_root(size_t number)
{
    size_t root = 1;

    while (root * root < number) {
        root++;
    }
    return root;
}

/* How many to add in the next call; 0: not now. */
static size_t count_add(const struct lbc_exchange *exchange)
{
    const struct lbc_capacity *capacity = exchange->capacity;
    const size_t most = count_least(exchange->add.len, exchange->batch);

    if (exchange->is_failed || exchange->is_robbed || most == 0) {
        return 0;
    }
    if (!capacity->is_known) {
        return most;
    }
    if (capacity->fits > 0) {
        return count_least(most, capacity->fits);
    }
    if (capacity->below <= 1) {
        return 0;
    }
    if (exchange->remove.len > 0 && !exchange->is_stuck) {
        /* The last one that serves goes only when not even one fits beside it. */
        return exchange->stays == 0 && exchange->remove.len == 1 ? 1 : 0;
    }
    /* Steps of the root, then single ones: at most two more refusals whatever the answer is. */
    return exchange->is_single ? 1 : count_root(count_least(most, capacity->below - 1));
}

/* How many to remove in the next call; 0: not now. */
static size_t count_remove(const struct lbc_exchange *exchange)
{
    const size_t most = count_least(exchange->remove.len, exchange->batch);
    const size_t half = (exchange->stays + exchange->remove.len) / 2;

    if (exchange->is_stuck || most == 0) {
        return 0;
    }
    /* Nobody takes their place now. */
    if (exchange->is_failed || exchange->is_robbed) {
        return exchange->stays > 0 ? most : 0;
    }
    if (exchange->add.len == 0) {
        return exchange->lacks && exchange->stays == 0 ? 0 : most;
    }
    return count_least(count_least(most, exchange->add.len), half > 0 ? half : 1);
}

static int exchange_copy_part(const struct lbc_backends *from, size_t count,
                              struct lbc_backends *ret)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < count; i++) {
        r = lbc_backends_put(ret, &from->items[i]);
    }
    return r;
}

int lbc_exchange_next(const struct lbc_exchange *exchange, enum lbc_exchange_move *ret_move,
                      struct lbc_backends *ret_part)
{
    const size_t add = count_add(exchange);
    const size_t remove = add > 0 ? 0 : count_remove(exchange);

    *ret_move = add > 0 ? LBC_EXCHANGE_ADD : remove > 0 ? LBC_EXCHANGE_REMOVE : LBC_EXCHANGE_END;
    return add > 0 ? exchange_copy_part(&exchange->add, add, ret_part)
                   : exchange_copy_part(&exchange->remove, remove, ret_part);
}

void lbc_exchange_done(struct lbc_exchange *exchange, enum lbc_exchange_move move,
                       const struct lbc_backends *part)
{
    struct lbc_backends *from = move == LBC_EXCHANGE_ADD ? &exchange->add : &exchange->remove;

    for (size_t i = 0; i < part->len; i++) {
        lbc_backends_remove(from, &part->items[i]);
    }
    if (move == LBC_EXCHANGE_ADD) {
        exchange->stays += part->len;
        lbc_capacity_use(exchange->capacity, part->len);
    } else {
        lbc_capacity_free(exchange->capacity, part->len);
    }
}

void lbc_exchange_refuse(struct lbc_exchange *exchange, const struct lbc_backends *part,
                         const struct lbc_usage *usage)
{
    struct lbc_capacity *capacity = exchange->capacity;
    const bool is_surprise = capacity->is_known && part->len <= capacity->fits;
    const bool is_explained = usage != NULL && usage->used + part->len > usage->most;

    exchange->surprises += is_surprise ? 1 : 0;
    exchange->is_robbed = exchange->surprises > (is_explained ? SURPRISES_MAX : 0);
    exchange->is_single = exchange->is_single || (capacity->is_known && !is_surprise);
    if (is_explained) {
        lbc_capacity_set(capacity, usage);
    } else {
        lbc_capacity_refuse(capacity, part->len);
    }
}

void lbc_exchange_fail(struct lbc_exchange *exchange, enum lbc_exchange_move move)
{
    if (move == LBC_EXCHANGE_ADD) {
        exchange->is_failed = true;
    } else {
        exchange->is_stuck = true;
    }
}

void lbc_exchange_renew(struct lbc_exchange *exchange)
{
    exchange->is_single = false;
    exchange->is_robbed = false;
    exchange->surprises = 0;
}
