#include "lbc/apply/taken.h"

#include "lbc/model/settings.h"
#include "lbc/names.h"
#include "util/array.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK    31 /* bytes of the text in one label */
#define CHUNKS   64
#define TEXT_MAX ((size_t)CHUNK * CHUNKS)
#define COMPLETE "end\n" /* the last line: nobody has taken a label away */
#define KEY_MAX  128

/* --- lists --- */

void lbc_taken_format_port(const struct lbc_listener *listener, char ret[static LBC_TAKEN_PORT])
{
    const char *protocol = lbc_protocol_lower(listener->protocol);

    if (listener->is_range) {
        ccm_text_printf(ret, LBC_TAKEN_PORT, "%u_%u-%s", listener->port, listener->last_port,
                        protocol);
    } else {
        ccm_text_printf(ret, LBC_TAKEN_PORT, "%u-%s", listener->port, protocol);
    }
}

struct lbc_taken *lbc_taken_new(struct lbc_taken_list *list, const char *port)
{
    if (ccm_array_grow(&list->items, &list->cap, list->len + 1, sizeof(*list->items)) < 0) {
        return NULL;
    }
    struct lbc_taken *taken = &list->items[list->len++];

    memset(taken, 0, sizeof(*taken));
    ccm_text_copy(taken->port, sizeof(taken->port), port);
    return taken;
}

void lbc_taken_fini(struct lbc_taken_list *list)
{
    for (size_t i = 0; i < list->len; i++) {
        lbc_tags_fini(&list->items[i].was);
    }
    free(list->items);
    memset(list, 0, sizeof(*list));
}

bool lbc_taken_is_refused(struct ccm_error *err, bool uncertain)
{
    const bool refused =
        !uncertain && (err->kind == CCM_ERROR_TERMINAL || err->kind == CCM_ERROR_NOT_FOUND);

    if (refused) {
        err->kind = CCM_ERROR_CONFLICT;
    }
    return refused;
}

/* --- text and labels --- */

static void chunk_key(const char *port, size_t number, char ret[static KEY_MAX])
{
    ccm_text_printf(ret, KEY_MAX, "%s%s.%zu", lbc_names.taken, port, number);
}

/* "name=value" lines; a value of several lines would read as several facts. */
static void facts_format(const struct lbc_tags *facts, struct ccm_buf *ret)
{
    for (size_t i = 0; i < facts->len; i++) {
        if (strchr(facts->items[i].value, '\n') == NULL) {
            ccm_buf_addf(ret, "%s=%s\n", facts->items[i].key, facts->items[i].value);
        }
    }
    ccm_buf_adds(ret, COMPLETE);
}

static int facts_parse(char *text, struct lbc_tags *ret)
{
    char *line = text;
    int r = 0;

    for (char *end = strchr(line, '\n'); r == 0 && end != NULL; end = strchr(line, '\n')) {
        char *equals = NULL;

        *end = '\0';
        equals = strchr(line, '=');
        if (equals != NULL) {
            *equals = '\0';
            r = lbc_tags_put(ret, line, equals + 1);
        }
        line = end + 1;
    }
    return r;
}

static int digit_of(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *found = c == '\0' ? NULL : strchr(digits, c);

    return found == NULL ? -1 : (int)(found - digits);
}

/* False: it is no such text. */
static bool hex_decode(const char *hex, struct ccm_buf *ret)
{
    for (; hex[0] != '\0'; hex += 2) {
        const int high = digit_of(hex[0]);
        const int low = high < 0 ? -1 : digit_of(hex[1]);

        if (low < 0 || (high | low) == 0) {
            return false;
        }
        ccm_buf_addc(ret, (char)(high * 16 + low));
    }
    return true;
}

static bool is_complete(const struct ccm_buf *text)
{
    const size_t len = strlen(COMPLETE);

    return text->len >= len && strcmp(ccm_buf_str(text) + text->len - len, COMPLETE) == 0;
}

int lbc_taken_read(const struct ccm_object *meta, const char *port, struct lbc_tags *ret)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = TEXT_MAX + 1 };
    CCM_CLEANUP(ccm_freep) char *lines = NULL;
    bool good = true;

    for (size_t i = 0; good && i < CHUNKS; i++) {
        char key[KEY_MAX];

        chunk_key(port, i, key);

        const char *value = ccm_object_label(meta, key);

        if (value == NULL) {
            break;
        }
        good = hex_decode(value, &text);
    }
    if (ccm_buf_error(&text) < 0) {
        return -ENOMEM;
    }
    if (!good || !is_complete(&text)) {
        return 0;
    }
    lines = strdup(ccm_buf_str(&text));
    return lines == NULL ? -ENOMEM : facts_parse(lines, ret);
}

struct lbc_taken *lbc_taken_record(struct lbc_taken_list *list, const struct ccm_object *meta,
                                   const char *port, const char *group, bool is_again,
                                   const char *description)
{
    struct lbc_taken *taken = lbc_taken_new(list, port);

    if (taken == NULL || (is_again && lbc_taken_read(meta, port, &taken->was) < 0) ||
        (lbc_tags_get(&taken->was, LBC_TAKEN_GROUP) == NULL &&
         lbc_tags_put(&taken->was, LBC_TAKEN_GROUP, group == NULL ? "" : group) < 0) ||
        lbc_tags_put(&taken->was, LBC_TAKEN_DESCRIPTION, description == NULL ? "" : description) <
            0) {
        return NULL;
    }
    return taken;
}

/* The labels that keep the text; -E2BIG when it is longer than all of them. */
static int add_chunks(const struct lbc_taken *taken, struct lbc_tags *labels)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { .max = (size_t)64 * 1024 };
    int r = 0;

    facts_format(&taken->was, &text);
    if (ccm_buf_error(&text) < 0 || text.len > TEXT_MAX) {
        return ccm_buf_error(&text) < 0 ? -ENOMEM : -E2BIG;
    }
    for (size_t i = 0; r == 0 && i * CHUNK < text.len; i++) {
        char hex[CHUNK * 2 + 1] = "";
        char key[KEY_MAX];

        for (size_t k = 0; k < CHUNK && i * CHUNK + k < text.len; k++) {
            ccm_text_printf(hex + k * 2, 3, "%02x",
                            (unsigned char)ccm_buf_str(&text)[i * CHUNK + k]);
        }
        chunk_key(taken->port, i, key);
        r = lbc_tags_put(labels, key, hex);
    }
    return r;
}

bool lbc_taken_label_port(const char *key, char ret[static LBC_TAKEN_PORT])
{
    const bool taken = ccm_text_starts(key, lbc_names.taken);
    const char *port = taken ? key + strlen(lbc_names.taken) : NULL;
    const char *dot = taken ? strrchr(port, '.') : NULL;

    if (dot == NULL || (size_t)(dot - port) >= LBC_TAKEN_PORT) {
        return false;
    }
    ccm_text_printf(ret, LBC_TAKEN_PORT, "%.*s", (int)(dot - port), port);
    return true;
}

/* Of a longer text that was kept for the same listener before, nothing must follow the new one. */
static int drop_surplus(const struct ccm_object *meta, const struct lbc_taken_list *list,
                        struct lbc_tags *labels)
{
    int r = 0;

    for (uint64_t i = 0; r == 0 && i < meta->label_count; i++) {
        const char *key = meta->labels[i]->key;
        char port[LBC_TAKEN_PORT];

        if (!lbc_taken_label_port(key, port) || lbc_tags_get(labels, key) != NULL) {
            continue;
        }
        for (size_t k = 0; r == 0 && k < list->len; k++) {
            r = strcmp(list->items[k].port, port) == 0 ? lbc_tags_put(labels, key, "") : 0;
        }
    }
    return r;
}

int lbc_taken_write(const struct lbc_taken_list *list, const struct ccm_object *meta,
                    struct lbc_tags *ret, const char **ret_port)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < list->len; i++) {
        *ret_port = list->items[i].port;
        r = add_chunks(&list->items[i], ret);
    }
    return r < 0 ? r : drop_surplus(meta, list, ret);
}
