#include "util/text.h"

#include "util/buf.h"
#include "util/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

bool ccm_text_equal(const char *a, const char *b)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }
    return strcmp(a, b) == 0;
}

bool ccm_text_empty(const char *text)
{
    return text == NULL || text[0] == '\0';
}

bool ccm_text_starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool ccm_text_ends(const char *text, const char *suffix)
{
    const size_t len = strlen(text);
    const size_t tail = strlen(suffix);

    return len >= tail && strcmp(text + len - tail, suffix) == 0;
}

bool ccm_text_equal_case(const char *a, const char *b)
{
    if (a == NULL || b == NULL) {
        return a == b;
    }
    return strcasecmp(a, b) == 0;
}

bool ccm_text_has_line(const char *text, const char *line)
{
    const size_t len = strcspn(line, "\n");

    while (*text != '\0') {
        const size_t here = strcspn(text, "\n");

        if (here == len && memcmp(text, line, len) == 0) {
            return true;
        }
        text += here + (text[here] == '\0' ? 0 : 1);
    }
    return false;
}

static bool text_is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

const char *ccm_text_trim(const char *text, size_t *len)
{
    while (*len > 0 && text_is_space(text[0])) {
        text++;
        (*len)--;
    }
    while (*len > 0 && text_is_space(text[*len - 1])) {
        (*len)--;
    }
    return text;
}

void ccm_text_strip(char *text)
{
    size_t len = strlen(text);
    const char *start = ccm_text_trim(text, &len);

    memmove(text, start, len);
    text[len] = '\0';
}

void ccm_text_copy(char *to, size_t size, const char *from)
{
    const size_t len = strnlen(from, size - 1);

    memcpy(to, from, len);
    to[len] = '\0';
}

size_t ccm_text_utf8_cut(const char *text, size_t max)
{
    size_t len = strnlen(text, max);

    if (text[len] == '\0') {
        return len;
    }
    while (len > 0 && ((unsigned char)text[len] & 0xC0) == 0x80) {
        len--;
    }
    return len;
}

size_t ccm_text_utf8_len(const unsigned char *p)
{
    size_t n;

    if (p[0] < 0x80) {
        return 1;
    }
    if (p[0] >= 0xC2 && p[0] <= 0xDF) {
        n = 2;
    } else if (p[0] >= 0xE0 && p[0] <= 0xEF) {
        n = 3;
    } else if (p[0] >= 0xF0 && p[0] <= 0xF4) {
        n = 4;
    } else {
        return 0;
    }
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    if ((p[0] == 0xE0 && p[1] < 0xA0) || (p[0] == 0xED && p[1] > 0x9F) ||
        (p[0] == 0xF0 && p[1] < 0x90) || (p[0] == 0xF4 && p[1] > 0x8F)) {
        return 0;
    }
    return n;
}

size_t ccm_text_printable(const char *text, size_t len)
{
    size_t at = 0;

    while (at < len) {
        unsigned char next[5] = { 0 };

        memcpy(next, text + at, len - at < 4 ? len - at : 4);

        const size_t n = ccm_text_utf8_len(next);

        if (n == 0 || next[0] == 0x7F ||
            (next[0] < ' ' && next[0] != '\t' && next[0] != '\n' && next[0] != '\r')) {
            break;
        }
        at += n;
    }
    return at;
}

void ccm_text_printf(char *to, size_t size, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)vsnprintf(to, size, format, args); /* an output that is cut is the contract */
    va_end(args);
}

char *ccm_text_format(const char *format, ...)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { .max = 0 };
    char *text = NULL;
    va_list args;

    va_start(args, format);
    ccm_buf_vaddf(&buf, format, args);
    va_end(args);
    return ccm_buf_take(&buf, &text) < 0 ? NULL : text;
}

int ccm_text_read_file(const char *path, size_t max, char **ret_text, size_t *ret_len)
{
    CCM_CLEANUP(ccm_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

    return fd < 0 ? -errno : ccm_text_read_open(fd, max, ret_text, ret_len);
}

int ccm_text_read_open(int fd, size_t max, char **ret_text, size_t *ret_len)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf buf = { .max = max };
    char chunk[4096];

    for (;;) {
        const ssize_t n = read(fd, chunk, sizeof(chunk));

        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return -errno;
        }
        if (n == 0) {
            break;
        }
        ccm_buf_add(&buf, chunk, (size_t)n);
    }
    if (ccm_buf_error(&buf) == -EMSGSIZE) {
        return -EFBIG;
    }

    const size_t len = buf.len;
    const int r = ccm_buf_take(&buf, ret_text);

    if (r == 0 && ret_len != NULL) {
        *ret_len = len;
    }
    return r;
}

uint64_t ccm_text_hash(const char *text)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (; *text != '\0'; text++) {
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    }
    return hash;
}
