#include "lbc/apply/capacity.h"

#include <string.h>

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
