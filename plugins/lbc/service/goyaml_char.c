/* What characters are to the Go library. */
#include "lbc/service/goyaml_text.h"

size_t lbc_yaml_char_len(const unsigned char *p)
{
    const size_t want = *p < 0x80 ? 1 : *p < 0xE0 ? 2 : *p < 0xF0 ? 3 : 4;
    size_t len = 1;

    while (len < want && (p[len] & 0xC0) == 0x80) {
        len++;
    }
    return len;
}

uint32_t lbc_yaml_char_value(const unsigned char *p, size_t len)
{
    uint32_t value = len == 1 ? *p : len == 2 ? *p & 0x1FU : len == 3 ? *p & 0x0FU : *p & 0x07U;

    for (size_t i = 1; i < len; i++) {
        value = value << 6 | (p[i] & 0x3FU);
    }
    return value;
}

bool lbc_yaml_is_break(const unsigned char *p)
{
    return *p == '\n' || *p == '\r' || (p[0] == 0xC2 && p[1] == 0x85) ||
           (p[0] == 0xE2 && p[1] == 0x80 && (p[2] == 0xA8 || p[2] == 0xA9));
}

bool lbc_yaml_is_printable(const unsigned char *p)
{
    if (*p < 0x80) {
        return *p == '\n' || (*p >= 0x20 && *p <= 0x7E);
    }
    if (*p == 0xC2) {
        return p[1] >= 0xA0;
    }
    if (*p == 0xED) {
        return p[1] < 0xA0;
    }
    if (*p == 0xEF) {
        return !(p[1] == 0xBB && p[2] == 0xBF) && !(p[1] == 0xBF && (p[2] == 0xBE || p[2] == 0xBF));
    }
    return *p > 0xC2 && *p < 0xEF;
}
