/* Which plain texts are something else than text: numbers, dates, booleans, null. */
#include "lbc/service/goyaml.h"

#include "util/attr.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_MAX 4096 /* characters of a number; longer texts are none */

static bool is_word(const char *text)
{
    static const char *const words[] = {
        "",     "~",     "null",  "Null",  "NULL",  "y",     "Y",     "yes",   "Yes",   "YES",
        "true", "True",  "TRUE",  "on",    "On",    "ON",    "n",     "N",     "no",    "No",
        "NO",   "false", "False", "FALSE", "off",   "Off",   "OFF",   ".nan",  ".NaN",  ".NAN",
        ".inf", ".Inf",  ".INF",  "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF",
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(words); i++) {
        if (strcmp(words[i], text) == 0) {
            return true;
        }
    }
    return false;
}

static size_t plain_count_digits(const char *p)
{
    size_t len = 0;

    while (p[len] >= '0' && p[len] <= '9') {
        len++;
    }
    return len;
}

static const char *skip_sign(const char *p)
{
    return *p == '+' || *p == '-' ? p + 1 : p;
}

/* Value of a digit in bases up to 16; 16 for what is none. */
static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9') {
        return (unsigned)(c - '0');
    }
    c = (char)tolower((unsigned char)c);
    return c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
}

/* Digits of the base to the end, at least one unless `empty`, with a value up to the limit. */
static bool is_number(const char *p, unsigned base, uint64_t limit, bool empty)
{
    uint64_t value = 0;

    if (*p == '\0') {
        return empty;
    }
    for (; *p != '\0'; p++) {
        const unsigned digit = digit_value(*p);

        if (digit >= base || value > (limit - digit) / base) {
            return false;
        }
        value = value * base + digit;
    }
    return true;
}

static bool has_base(const char *p, char base)
{
    return p[0] == '0' && tolower((unsigned char)p[1]) == base && p[2] != '\0';
}

/* A whole number as Go's literals are written, of 64 bits. */
static bool is_integer(const char *clean)
{
    const char *p = skip_sign(clean);
    const uint64_t limit = *clean == '-'   ? (uint64_t)INT64_MAX + 1
                           : *clean == '+' ? (uint64_t)INT64_MAX
                                           : UINT64_MAX;

    if (has_base(p, 'x')) {
        return is_number(p + 2, 16, limit, false);
    }
    if (has_base(p, 'o')) {
        return is_number(p + 2, 8, limit, false);
    }
    if (has_base(p, 'b')) {
        return is_number(p + 2, 2, limit, false);
    }
    return p[0] == '0' ? is_number(p + 1, 8, limit, true) : is_number(p, 10, limit, false);
}

/* The library reads what follows "0b" once more, sign included. */
static bool is_signed_binary(const char *clean)
{
    return strncmp(clean, "0b", 2) == 0 && (clean[2] == '-' || clean[2] == '+') &&
           is_number(clean + 3, 2, clean[2] == '-' ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX,
                     false);
}

/* [-+]? ( .digits | digits [ .digits? ] ) [ e [-+]? digits ], underscores ignored by the caller. */
static bool is_float_clean(const char *text)
{
    const char *p = skip_sign(text);
    const size_t whole = plain_count_digits(p);

    p += whole;
    if (*p == '.') {
        const size_t fraction = plain_count_digits(p + 1);

        if (whole == 0 && fraction == 0) {
            return false;
        }
        p += 1 + fraction;
    } else if (whole == 0) {
        return false;
    }
    if (*p == 'e' || *p == 'E') {
        p = skip_sign(p + 1);
        const size_t exponent = plain_count_digits(p);

        if (exponent == 0) {
            return false;
        }
        p += exponent;
    }
    return *p == '\0';
}

/* One that is too large for a double is text. */
static bool is_float(const char *clean)
{
    return is_float_clean(clean) && isfinite(strtod(clean, NULL));
}

/* Without underscores; nothing that is longer than its buffer is a number. */
static bool strip_underscores(const char *text, char *ret, size_t size)
{
    size_t len = 0;

    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '_') {
            continue;
        }
        if (len + 1 == size) {
            return false;
        }
        ret[len++] = *p;
    }
    ret[len] = '\0';
    return true;
}

static bool has_good_underscores(const char *text)
{
    for (const char *p = strchr(text, '_'); p != NULL; p = strchr(p + 1, '_')) {
        if (p == text || !isdigit((unsigned char)p[-1]) || !isdigit((unsigned char)p[1])) {
            return false;
        }
    }
    return true;
}

/* Sexagesimal: digits ( : 0-59 )+ [ . digits ]; readers of old YAML take it for a number. */
static bool is_base60(const char *text)
{
    const char *p = skip_sign(text);
    size_t groups = 0;

    if (!isdigit((unsigned char)*p)) {
        return false;
    }
    while (isdigit((unsigned char)*p) || *p == '_') {
        p++;
    }
    while (*p == ':') {
        const size_t len = plain_count_digits(p + 1);

        if (len == 0 || len > 2 || (len == 2 && p[1] > '5')) {
            return false;
        }
        p += 1 + len;
        groups++;
    }
    if (*p == '.') {
        p++;
        while (isdigit((unsigned char)*p) || *p == '_') {
            p++;
        }
    }
    return groups > 0 && *p == '\0';
}

/* A number of at most `most` digits; *p goes on behind them. */
static bool skip_number(const char **p, size_t most, unsigned *ret_value)
{
    const size_t len = plain_count_digits(*p);

    *ret_value = 0;
    for (size_t i = 0; i < len && len <= most; i++) {
        *ret_value = *ret_value * 10 + (unsigned)(*(*p)++ - '0');
    }
    return len > 0 && len <= most;
}

static bool skip_part(const char **p, unsigned max)
{
    unsigned value = 0;

    return skip_number(p, 2, &value) && value <= max;
}

/* "h:m:s[.fraction]"; NULL when it is none, else what follows. */
static const char *skip_clock(const char *p)
{
    if (!skip_part(&p, 23) || *p++ != ':' || !skip_part(&p, 59) || *p++ != ':' ||
        !skip_part(&p, 59)) {
        return NULL;
    }
    if ((*p == '.' || *p == ',') && plain_count_digits(p + 1) > 0) {
        p += 1 + plain_count_digits(p + 1);
    }
    return p;
}

static bool is_zone(const char *p)
{
    if (strcmp(p, "Z") == 0) {
        return true;
    }
    if ((*p != '+' && *p != '-') || plain_count_digits(p + 1) != 2 || p[3] != ':' ||
        plain_count_digits(p + 4) != 2 || p[6] != '\0') {
        return false;
    }
    const char *hour = p + 1;
    const char *minute = p + 4;

    return skip_part(&hour, 24) && skip_part(&minute, 60);
}

static unsigned days_of(unsigned year, unsigned month)
{
    static const unsigned days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap ? 1 : 0);
}

/* "yyyy-m-d" of a day that there is; NULL when it is none, else what follows. */
static const char *skip_date(const char *text)
{
    const char *p = text;
    unsigned year = 0;
    unsigned month = 0;
    unsigned day = 0;

    if (plain_count_digits(text) != 4 || !skip_number(&p, 4, &year) || *p++ != '-' ||
        !skip_number(&p, 2, &month) || *p++ != '-' || month < 1 || month > 12 ||
        !skip_number(&p, 2, &day)) {
        return NULL;
    }
    return day >= 1 && day <= days_of(year, month) ? p : NULL;
}

static bool is_timestamp(const char *text)
{
    const char *p = skip_date(text);

    if (p == NULL || *p == '\0') {
        return p != NULL;
    }
    const char *rest = skip_clock(p + 1);

    if (rest == NULL) {
        return false;
    }
    return *p == ' ' ? *rest == '\0' : (*p == 'T' || *p == 't') && is_zone(rest);
}

static bool is_fraction(const char *text)
{
    char clean[NUMBER_MAX + 1];

    return strip_underscores(text, clean, sizeof(clean)) && is_float(clean);
}

static bool is_numeric(const char *text)
{
    char clean[NUMBER_MAX + 1];

    return is_timestamp(text) ||
           (strip_underscores(text, clean, sizeof(clean)) &&
            (is_integer(clean) || is_float(clean) || is_signed_binary(clean)));
}

bool lbc_yaml_resolves(const char *text)
{
    const char first = text[0];

    if (is_word(text) || is_base60(text)) {
        return true;
    }
    if (first == '.') {
        return has_good_underscores(text) && is_fraction(text);
    }
    return (isdigit((unsigned char)first) || first == '+' || first == '-') && is_numeric(text);
}
