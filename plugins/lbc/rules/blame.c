#include "lbc/rules/blame.h"

#include "util/cleanup.h"
#include "util/text.h"

#include <string.h>

#define VALUE_MAX 100 /* bytes of a value that are shown: it stands in the manifest */
#define WORD      "annotation"

static bool blame_is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

/* Whether the words of text that end before `end` end with `word`. */
static bool blame_ends_with(const char *text, const char *end, const char *word)
{
    const size_t len = strlen(word);

    return (size_t)(end - text) >= len && memcmp(end - len, word, len) == 0;
}

/* Whether text has it as a whole word; beside_word: and the word annotation before or behind it. */
static bool blame_finds(const char *text, const char *name, bool beside_word)
{
    const size_t len = strlen(name);

    for (const char *at = strstr(text, name); at != NULL; at = strstr(at + 1, name)) {
        const char *rest = at + len;

        if ((at == text || !blame_is_letter(at[-1])) && !blame_is_letter(*rest) &&
            (!beside_word || blame_ends_with(text, at, WORD " ") ||
             ccm_text_starts(rest, " " WORD))) {
            return true;
        }
    }
    return false;
}

static bool blame_is_for(const struct lbc_anno *row, const char *remedy, const char *message)
{
    if (row->name == NULL) {
        return false;
    }
    return blame_finds(remedy, row->name, true) ||
           (row->field != NULL && blame_finds(message, row->field, false));
}

void lbc_blame_write(const struct lbc_anno_table *table, const struct ccm_object *meta,
                     const char *remedy, const char *message, struct ccm_buf *text)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf values = { .max = text->max };
    const char *sentence = remedy == NULL ? "" : remedy;
    size_t len = strlen(sentence);

    for (size_t i = 0; table != NULL && i < table->count; i++) {
        const struct lbc_anno *row = &table->rows[i];
        const char *value = row->name == NULL ? "" : lbc_anno_value(meta, row);
        char key[LBC_ANNO_KEY_MAX];

        if (value[0] != '\0' && blame_is_for(row, sentence, message)) {
            const size_t shown = ccm_text_utf8_cut(value, VALUE_MAX);

            ccm_buf_addf(&values, "%s" WORD " %s is [%.*s%s]",
                         values.len > 0 ? ", "
                         : len > 0      ? ": "
                                        : "",
                         lbc_anno_key(meta, row, key), (int)shown, value,
                         value[shown] == '\0' ? "" : "...");
        }
    }
    if (values.len > 0 && len > 0 && sentence[len - 1] == '.') {
        len--;
    }
    ccm_buf_add(text, sentence, len);
    ccm_buf_adds(text, ccm_buf_str(&values));
}
