#include "alilb/pem.h"

#include "util/text.h"

#include <stddef.h>
#include <string.h>

#define BEGIN_MARK "-----BEGIN "
#define END_MARK   "-----END "
#define DASHES     "-----"
#define LABEL_MAX  40

enum block { BLOCK_NONE, BLOCK_FOUND, BLOCK_BAD };

/* "{label}-----" behind a mark. NULL: there is none. */
static const char *label_read(const char *from, char label[static LABEL_MAX + 1])
{
    const char *end = strstr(from, DASHES);

    if (end == NULL || end == from || end - from > LABEL_MAX ||
        strcspn(from, "\r\n") < (size_t)(end - from)) {
        return NULL;
    }
    memcpy(label, from, (size_t)(end - from));
    label[end - from] = '\0';
    return end + strlen(DASHES);
}

/* Base64, of something that begins as a sequence or an identifier of DER does. */
static bool body_is_der(const char *from, const char *end)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t len = 0;
    size_t padding = 0;

    for (const char *p = from; p < end; p++) {
        if (strchr(" \t\r\n", *p) != NULL) {
            continue;
        }
        if ((len == 0 && *p != 'M' && *p != 'B') || (*p != '=' && strchr(letters, *p) == NULL) ||
            (*p != '=' && padding > 0)) {
            return false;
        }
        padding += *p == '=' ? 1 : 0;
        len++;
    }
    return len >= 4 && len % 4 == 0 && padding <= 2;
}

/* The next one; text between blocks is nobody's business. */
static enum block block_next(const char **text, char label[static LABEL_MAX + 1])
{
    const char *begin = strstr(*text, BEGIN_MARK);
    const char *body = NULL;
    const char *end = NULL;
    char closing[LABEL_MAX + 1];

    if (begin == NULL) {
        return BLOCK_NONE;
    }
    body = label_read(begin + strlen(BEGIN_MARK), label);
    end = body == NULL ? NULL : strstr(body, END_MARK);
    *text = end == NULL ? NULL : label_read(end + strlen(END_MARK), closing);
    return *text != NULL && strcmp(label, closing) == 0 && body_is_der(body, end) ? BLOCK_FOUND
                                                                                  : BLOCK_BAD;
}

bool alilb_pem_is_chain(const char *text)
{
    char label[LABEL_MAX + 1];
    enum block one = block_next(&text, label);
    size_t count = 0;

    while (one == BLOCK_FOUND && strcmp(label, "CERTIFICATE") == 0) {
        count++;
        one = block_next(&text, label);
    }
    return one == BLOCK_NONE && count > 0;
}

bool alilb_pem_is_key(const char *text)
{
    char label[LABEL_MAX + 1];
    enum block one = block_next(&text, label);

    /* Tools write the curve of a key before it. */
    if (one == BLOCK_FOUND && strcmp(label, "EC PARAMETERS") == 0) {
        one = block_next(&text, label);
    }
    if (one != BLOCK_FOUND ||
        (strcmp(label, "PRIVATE KEY") != 0 && strcmp(label, "RSA PRIVATE KEY") != 0 &&
         strcmp(label, "EC PRIVATE KEY") != 0)) {
        return false;
    }
    return block_next(&text, label) == BLOCK_NONE;
}
