/* Which plain texts are something else than text: numbers, dates, booleans, null. */
#include "service/yaml.h"

#include "util/attr.h"

#include <ctype.h>
#include <string.h>

static bool is_word(const char *text)
{
    static const char *const words[] = {
        "",     "~",     "null",  "Null",  "NULL",  "y",     "Y",     "yes",   "Yes",   "YES",
        "true", "True",  "TRUE",  "on",    "On",    "ON",    "n",     "N",     "no",    "No",
        "NO",   "false", "False", "FALSE", "off",   "Off",   "OFF",   ".nan",  ".NaN",  ".NAN",
        ".inf", ".Inf",  ".INF",  "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF", "<<",
    };

    for (size_t i = 0; i < CCM_ARRAY_LEN(words); i++) {
        if (strcmp(words[i], text) == 0) {
            return true;
        }
    }
    return false;
}

static size_t digits(const char *p)
{
    size_t len = 0;

    while (isdigit((unsigned char)p[len])) {
        len++;
    }
    return len;
}

static const char *skip_sign(const char *p)
{
    return *p == '+' || *p == '-' ? p + 1 : p;
}

/* Digits of a base up to 16, at least one, to the end. Underscores are ignored. */
static bool all_of(const char *p, const char *set)
{
    size_t count = 0;

    for (; *p != '\0'; p++) {
        if (*p == '_') {
            continue;
        }
        if (strchr(set, *p) == NULL) {
            return false;
        }
        count++;
    }
    return count > 0;
}

static bool is_integer(const char *text)
{
    const char *p = skip_sign(text);

    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
        return all_of(p + 2, "0123456789abcdefABCDEF");
    }
    if (p[0] == '0' && (p[1] == 'o' || p[1] == 'O')) {
        return all_of(p + 2, "01234567");
    }
    if (p[0] == '0' && (p[1] == 'b' || p[1] == 'B')) {
        return all_of(p + 2, "01");
    }
    return all_of(p, "0123456789");
}

/* [-+]? ( .digits | digits [ .digits? ] ) [ e [-+]? digits ], underscores ignored by the caller. */
static bool is_float_clean(const char *text)
{
    const char *p = skip_sign(text);
    const size_t whole = digits(p);

    p += whole;
    if (*p == '.') {
        const size_t fraction = digits(p + 1);

        if (whole == 0 && fraction == 0) {
            return false;
        }
        p += 1 + fraction;
    } else if (whole == 0) {
        return false;
    }
    if (*p == 'e' || *p == 'E') {
        p = skip_sign(p + 1);
        const size_t exponent = digits(p);

        if (exponent == 0) {
            return false;
        }
        p += exponent;
    }
    return *p == '\0';
}

static bool is_float(const char *text)
{
    char clean[128] = "";
    size_t len = 0;

    for (const char *p = text; *p != '\0'; p++) {
        if (len + 1 == sizeof(clean)) {
            return false;
        }
        if (*p != '_') {
            clean[len++] = *p;
        }
    }
    clean[len] = '\0';
    return is_float_clean(clean);
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
        const size_t len = digits(p + 1);

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

/* "hh:mm:ss[.fraction]"; NULL when it is none, else what follows. */
static const char *skip_clock(const char *p)
{
    for (int part = 0; part < 3; part++) {
        const size_t len = digits(p);

        if (len < 1 || len > 2) {
            return NULL;
        }
        p += len;
        if (part < 2 && *p++ != ':') {
            return NULL;
        }
    }
    if (*p == '.' && digits(p + 1) > 0) {
        p += 1 + digits(p + 1);
    }
    return p;
}

static bool is_zone(const char *p)
{
    if (strcmp(p, "Z") == 0) {
        return true;
    }
    return (*p == '+' || *p == '-') && digits(p + 1) == 2 && p[3] == ':' && digits(p + 4) == 2 &&
           p[6] == '\0';
}

/* yyyy-m-d, alone or with a time of day. */
static bool is_timestamp(const char *text)
{
    const char *p = text;

    if (digits(p) != 4 || p[4] != '-') {
        return false;
    }
    p += 5;
    const size_t month = digits(p);

    if (month < 1 || month > 2 || p[month] != '-') {
        return false;
    }
    p += month + 1;
    const size_t day = digits(p);

    if (day < 1 || day > 2) {
        return false;
    }
    p += day;
    if (*p == '\0') {
        return true;
    }
    const char separator = *p;
    const char *rest = skip_clock(p + 1);

    if (rest == NULL) {
        return false;
    }
    return separator == ' ' ? *rest == '\0'
                            : (separator == 'T' || separator == 't') && is_zone(rest);
}

bool ccm_yaml_resolves(const char *text)
{
    return is_word(text) || is_integer(text) || is_float(text) || is_base60(text) ||
           is_timestamp(text);
}
