#include "util/parse.h"

#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <regex.h>
#include <string.h>

int ccm_parse_i64(const char *text, int64_t min, int64_t max, int64_t *ret)
{
    const bool negative = text[0] == '-';
    const uint64_t most = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    const char *p = text + (negative ? 1 : 0);
    uint64_t value = 0;
    bool overflow = false;

    if (*p == '\0') {
        return -EINVAL;
    }
    for (; *p != '\0'; p++) {
        if (*p < '0' || *p > '9') {
            return -EINVAL;
        }

        const uint64_t digit = (uint64_t)(*p - '0');

        overflow = overflow || value > (most - digit) / 10; /* go on: the form counts first */
        value = overflow ? 0 : value * 10 + digit;
    }
    if (overflow) {
        return -ERANGE;
    }

    /* The smallest number has no positive counterpart. */
    const int64_t number = negative && value > 0 ? -(int64_t)(value - 1) - 1 : (int64_t)value;

    if (number < min || number > max) {
        return -ERANGE;
    }
    *ret = number;
    return 0;
}

int ccm_parse_u32(const char *text, uint32_t min, uint32_t max, uint32_t *ret)
{
    int64_t value;
    const int r = ccm_parse_i64(text, min, max, &value);

    if (r == 0) {
        *ret = (uint32_t)value;
    }
    return r;
}

int ccm_parse_bool(const char *text, bool *ret)
{
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0) {
        return -EINVAL;
    }
    *ret = text[0] == 't';
    return 0;
}

/* n decimal digits at *p; advances. */
static int parse_digits(const char **p, int n, int *ret)
{
    int value = 0;

    for (int i = 0; i < n; i++) {
        const char c = (*p)[i];

        if (c < '0' || c > '9') {
            return -EINVAL;
        }
        value = value * 10 + (c - '0');
    }
    *p += n;
    *ret = value;
    return 0;
}

static int parse_expect_char(const char **p, char c)
{
    if (**p != c) {
        return -EINVAL;
    }
    (*p)++;
    return 0;
}

/* Days since 1970-01-01 of a date of the Gregorian calendar (Howard Hinnant's days_from_civil). */
static int64_t days_from_civil(int year, int month, int day)
{
    const int64_t y = month <= 2 ? year - 1 : year;
    const int64_t era = (y >= 0 ? y : y - 399) / 400;
    const int64_t year_of_era = y - era * 400;
    const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    const int64_t day_of_era =
        year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;

    return era * 146097 + day_of_era - 719468;
}

/* "Z" or "+hh:mm" at p up to the end of the text. */
static int zone_offset(const char *p, int *ret_seconds)
{
    int hours;
    int minutes;

    if (strcmp(p, "Z") == 0 || strcmp(p, "z") == 0) {
        *ret_seconds = 0;
        return 0;
    }

    const int sign = *p == '-' ? -1 : 1;

    if (*p != '+' && *p != '-') {
        return -EINVAL;
    }
    p++;
    if (parse_digits(&p, 2, &hours) < 0 || parse_expect_char(&p, ':') < 0 ||
        parse_digits(&p, 2, &minutes) < 0 || *p != '\0') {
        return -EINVAL;
    }
    *ret_seconds = sign * (hours * 3600 + minutes * 60);
    return 0;
}

int ccm_parse_rfc3339(const char *text, int64_t *ret_ms)
{
    const char *p = text;
    int year;
    int month;
    int day;
    int hour;
    int minute;
    int second;
    int offset;

    if (parse_digits(&p, 4, &year) < 0 || parse_expect_char(&p, '-') < 0 ||
        parse_digits(&p, 2, &month) < 0 || parse_expect_char(&p, '-') < 0 ||
        parse_digits(&p, 2, &day) < 0) {
        return -EINVAL;
    }
    if (*p != 'T' && *p != 't' && *p != ' ') {
        return -EINVAL;
    }
    p++;
    if (parse_digits(&p, 2, &hour) < 0 || parse_expect_char(&p, ':') < 0 ||
        parse_digits(&p, 2, &minute) < 0 || parse_expect_char(&p, ':') < 0 ||
        parse_digits(&p, 2, &second) < 0) {
        return -EINVAL;
    }
    if (*p == '.') {
        p++;
        p += strspn(p, "0123456789");
    }
    if (zone_offset(p, &offset) < 0) {
        return -EINVAL;
    }
    if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60) {
        return -ERANGE;
    }

    const int64_t seconds =
        days_from_civil(year, month, day) * 86400 + hour * 3600 + minute * 60 + second;

    *ret_ms = (seconds - offset) * 1000;
    return 0;
}

bool ccm_parse_piece(const char **cursor, char separator, const char **ret_start, size_t *ret_len)
{
    const char *start = *cursor;

    if (start == NULL) {
        return false;
    }

    const char *end = strchr(start, separator);

    *cursor = end == NULL ? NULL : end + 1;

    size_t len = end == NULL ? strlen(start) : (size_t)(end - start);

    *ret_start = ccm_text_trim(start, &len);
    *ret_len = len;
    return true;
}

bool ccm_parse_has_piece(const char *list, char separator, const char *text, size_t len)
{
    const char *piece = NULL;
    size_t piece_len = 0;

    while (ccm_parse_piece(&list, separator, &piece, &piece_len)) {
        if (piece_len == len && memcmp(piece, text, len) == 0) {
            return true;
        }
    }
    return false;
}

int ccm_parse_matches(const char *text, const char *pattern)
{
    CCM_CLEANUP(ccm_freep) char *whole = ccm_text_format("^(%s)$", pattern);
    regex_t compiled;
    int r;

    if (whole == NULL || regcomp(&compiled, whole, REG_EXTENDED | REG_NOSUB) != 0) {
        return -EINVAL;
    }
    r = regexec(&compiled, text, 0, NULL, 0);
    regfree(&compiled);
    return r == 0 ? 1 : 0;
}
