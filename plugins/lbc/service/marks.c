#include "lbc/service/marks.h"

#include "util/buf.h"
#include "util/cleanup.h"

#include <openssl/evp.h>

#include <errno.h>
#include <stdint.h>
#include <string.h>

#define MARK_LEN 4 /* characters, about 24 bits */

static int mark_make(const char *uid, const struct lbc_tag *tag, char ret[static MARK_LEN])
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = 4096 };
    unsigned char digest[EVP_MAX_MD_SIZE] = { 0 };
    uint64_t number = 0;

    ccm_buf_add(&text, uid, strlen(uid) + 1);
    ccm_buf_add(&text, tag->key, strlen(tag->key) + 1);
    ccm_buf_adds(&text, tag->value);
    if (ccm_buf_error(&text) < 0 ||
        EVP_Digest(ccm_buf_str(&text), text.len, digest, NULL, EVP_sha256(), NULL) != 1) {
        return -EIO;
    }
    for (size_t i = 0; i < sizeof(number); i++) {
        number = number << 8 | digest[i];
    }
    for (size_t i = 0; i < MARK_LEN; i++) {
        ret[i] = letters[number % (sizeof(letters) - 1)];
        number /= sizeof(letters) - 1;
    }
    return 0;
}

int lbc_marks_format(const char *uid, const struct lbc_tags *tags, const struct lbc_tags *more,
                     char ret[static LBC_MARKS_TEXT])
{
    CCM_CLEANUP(lbc_texts_fini) struct lbc_texts marks = { 0 };
    const struct lbc_tags *lists[] = { tags, more };
    char mark[MARK_LEN + 1] = "";
    int r = 0;

    ret[0] = '\0';
    for (size_t l = 0; l < CCM_ARRAY_LEN(lists); l++) {
        for (size_t i = 0; r == 0 && lists[l] != NULL && i < lists[l]->len; i++) {
            r = mark_make(uid, &lists[l]->items[i], mark);
            if (r == 0) {
                r = lbc_texts_put(&marks, mark);
            }
        }
    }
    if (r < 0 || marks.len > LBC_MARKS_MAX) {
        return r < 0 ? r : -E2BIG;
    }
    for (size_t i = 0; i < marks.len; i++) {
        memcpy(ret + i * MARK_LEN, marks.items[i], MARK_LEN + 1);
    }
    return 0;
}

bool lbc_marks_has(const char *marks, const char *uid, const struct lbc_tag *tag)
{
    const size_t len = marks == NULL ? 0 : strlen(marks);
    char mark[MARK_LEN];

    if (len == 0 || len % MARK_LEN != 0 || mark_make(uid, tag, mark) < 0) {
        return false;
    }
    for (size_t at = 0; at < len; at += MARK_LEN) {
        if (memcmp(marks + at, mark, MARK_LEN) == 0) {
            return true;
        }
    }
    return false;
}
