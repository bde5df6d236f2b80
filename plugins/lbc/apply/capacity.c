#include "lbc/apply/capacity.h"

#include <string.h>

/* Refusals with another reason than the one before; as there are quotas. */
#define SURPRISES_MAX 2

/* --- what is known --- */

void lbc_capacity_refuse(struct lbc_capacity *capacity, size_t count)
{
    if (!capacity->is_known || count < capacity->below) {
        capacity->below = count;
    }
    if (capacity->fits >= capacity->below) {
        capacity->fits = 0;
    }
    capacity->is_known = true;
}

void lbc_capacity_set(struct lbc_capacity *capacity, const struct lbc_usage *usage)
{
    const bool has_some = usage->used < usage->most;
    const size_t fits = has_some ? usage->most - usage->used : 0;

    *capacity = (struct lbc_capacity){ .is_known = true,
                                       .fits = fits,
                                       .below = fits + 1,
                                       .lack = has_some ? 0 : usage->used - usage->most };
}

void lbc_capacity_use(struct lbc_capacity *capacity, size_t count)
{
    if (capacity->is_known) {
        capacity->fits -= count < capacity->fits ? count : capacity->fits;
        capacity->below = capacity->below > count + 1 ? capacity->below - count : 1;
    }
}

void lbc_capacity_free(struct lbc_capacity *capacity, size_t count)
{
    const size_t paid = count < capacity->lack ? count : capacity->lack;

    if (capacity->is_known) {
        capacity->lack -= paid;
        capacity->fits += count - paid;
        capacity->below += count - paid;
    }
}

bool lbc_capacity_lacks(const struct lbc_capacity *capacity, size_t count)
{
    return capacity->is_known && count >= capacity->below;
}

/* The number that begins at `text`, with its end; false: there is none. */
static bool parse_count(const char *text, const char **ret_end, size_t *ret)
{
    const size_t digits = strspn(text, "0123456789");

    *ret = 0;
    *ret_end = text + digits;
    for (size_t i = 0; i < digits && digits <= 9; i++) {
        *ret = *ret * 10 + (size_t)(text[i] - '0');
    }
    return digits > 0 && digits <= 9;
}

bool lbc_capacity_parse(const char *message, struct lbc_usage *ret)
{
    static const char word[] = "usage ";
    const char *at = strstr(message, word);

    return at != NULL && parse_count(at + strlen(word), &at, &ret->used) && *at == '/' &&
           parse_count(at + 1, &at, &ret->most);
}

/* --- one group --- */

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
        return most;
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
