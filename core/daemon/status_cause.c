#include "daemon/status_cause.h"

#include "ccm/error.h"
#include "util/attr.h"
#include "util/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static const struct {
    uint64_t kind;
    const char *words;
    const char *remedy;
} kinds[] = {
    { CCM_ERROR_TRANSIENT, "did not work, for a passing reason", "tried again by itself" },
    { CCM_ERROR_THROTTLED, "too many calls for the cloud", "goes on by itself" },
    { CCM_ERROR_CONFLICT, "somebody else changed it meanwhile", "tried again by itself" },
    { CCM_ERROR_NOT_FOUND, "something it needs is not there", "tried again by itself" },
    { CCM_ERROR_AUTH, "refused: rights, quota or account",
      "look at rights, quota and account; tried again by itself" },
    { CCM_ERROR_TERMINAL, "cannot work as it is", "change the object, or what it names" },
    { CCM_ERROR_CANCELLED, "was broken off", "tried again by itself" },
    { CCM_ERROR_BUG, "an answer that nobody expected", "please report it; tried again by itself" },
};

const char *status_kind_words(uint64_t kind)
{
    for (size_t i = 0; i < CCM_ARRAY_LEN(kinds); i++) {
        if (kinds[i].kind == kind) {
            return kinds[i].words;
        }
    }
    return "failed";
}

const char *status_kind_remedy(uint64_t kind)
{
    for (size_t i = 0; i < CCM_ARRAY_LEN(kinds); i++) {
        if (kinds[i].kind == kind) {
            return kinds[i].remedy;
        }
    }
    return "tried again by itself";
}

/* --- what is the same --- */

static bool cause_is_word(char c)
{
    return isalnum((unsigned char)c) || strchr("-_./:", c) != NULL;
}

static void cause_add(uint64_t *hash, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        *hash = (*hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
    }
}

/* A word with a digit in it is a number or an id, and one with the object's name is about it. */
static bool cause_word_varies(const char *word, size_t len, const char *name)
{
    const size_t name_len = strlen(name);

    for (size_t i = 0; i < len; i++) {
        if (isdigit((unsigned char)word[i]) ||
            (name_len > 0 && len - i >= name_len && memcmp(word + i, name, name_len) == 0)) {
            return true;
        }
    }
    return false;
}

uint64_t status_cause_hash(const char *plugin, uint64_t kind, const char *key, const char *message)
{
    const char *slash = strrchr(key, '/');
    const char *name = slash == NULL ? key : slash + 1;
    uint64_t hash = ccm_text_hash(plugin) ^ kind;
    const char *p = message;

    while (*p != '\0') {
        size_t len = 0;

        while (p[len] != '\0' && cause_is_word(p[len])) {
            len++;
        }
        if (len == 0) {
            cause_add(&hash, p, 1);
            p++;
        } else if (cause_word_varies(p, len, name)) {
            cause_add(&hash, "*", 1);
            p += len;
        } else {
            cause_add(&hash, p, len);
            p += len;
        }
    }
    return hash >> 1; /* a number of a link, which fits into what links are parsed to */
}
