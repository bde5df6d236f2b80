#include "util/suggest.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define MOST_WRONG 3

static char fold_case(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static size_t smallest_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Row i of the distance table, of which the last three are kept. */
static void fill_row(const char *a, size_t i, const char *b, size_t b_len,
                     size_t rows[3][CCM_SUGGEST_TEXT_MAX + 1])
{
    size_t *row = rows[i % 3];
    const size_t *above = rows[(i + 2) % 3];
    const size_t *older = rows[(i + 1) % 3];

    row[0] = i;
    for (size_t j = 1; j <= b_len; j++) {
        const bool same = fold_case(a[i - 1]) == fold_case(b[j - 1]);

        row[j] =
            smallest_size(above[j - 1] + (same ? 0 : 1), smallest_size(above[j], row[j - 1]) + 1);
        if (i > 1 && j > 1 && fold_case(a[i - 1]) == fold_case(b[j - 2]) &&
            fold_case(a[i - 2]) == fold_case(b[j - 1])) {
            row[j] = smallest_size(row[j], older[j - 2] + 1);
        }
    }
}

size_t ccm_suggest_distance(const char *a, const char *b)
{
    const size_t a_len = strlen(a);
    const size_t b_len = strlen(b);
    size_t rows[3][CCM_SUGGEST_TEXT_MAX + 1];

    if (a_len > CCM_SUGGEST_TEXT_MAX || b_len > CCM_SUGGEST_TEXT_MAX) {
        return SIZE_MAX;
    }
    for (size_t j = 0; j <= b_len; j++) {
        rows[0][j] = j;
    }
    for (size_t i = 1; i <= a_len; i++) {
        fill_row(a, i, b, b_len, rows);
    }
    return rows[a_len % 3][b_len];
}

void ccm_suggest_offer(struct ccm_suggest *suggest, const char *known)
{
    const size_t third = strlen(suggest->wanted) / 3;
    const size_t allowed = third < 1 ? 1 : smallest_size(third, MOST_WRONG);
    const size_t distance = ccm_suggest_distance(suggest->wanted, known);

    if (distance > allowed || (suggest->best != NULL && distance >= suggest->distance)) {
        return;
    }
    suggest->best = known;
    suggest->distance = distance;
}

const char *ccm_suggest_best(const struct ccm_suggest *suggest)
{
    return suggest->best;
}
