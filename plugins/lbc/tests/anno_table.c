#include "anno_table.h"

#include "check.h"
#include "lbc/rules/attrs.h"
#include "objects.h"
#include "util/text.h"

#include <stdio.h>
#include <string.h>

const struct anno_row *anno_row_of(const struct anno_world *world, const char *name)
{
    for (size_t i = 0; i < world->count; i++) {
        if (strcmp(world->rows[i].name, name) == 0) {
            return &world->rows[i];
        }
    }
    return NULL;
}

/* Names with a slash are whole keys. */
static void annotate(struct ccm_service *service, const char *prefix, const char *name,
                     const char *value)
{
    char key[256];

    ccm_text_printf(key, sizeof(key), "%s%s", strchr(name, '/') == NULL ? prefix : "", name);
    obj_annotate(&service->meta, key, value);
}

struct ccm_service *anno_service(const struct anno_world *world, const struct anno_row *row,
                                 const char *prefix, const char *value)
{
    const size_t most = sizeof(row->beside) / sizeof(row->beside[0]);
    struct ccm_service *service = world->service(row);

    for (size_t i = 0; i < most && row->beside[i].name != NULL; i++) {
        annotate(service, P, row->beside[i].name, row->beside[i].value);
    }
    if (prefix != NULL) {
        annotate(service, prefix, row->name, value);
    }
    return service;
}

/* What creation asks for at each place; `sent` "" or NULL = nothing. */
static void expect_sent(const struct anno_world *world, const struct anno_row *row,
                        const struct ccm_service *service, const char *sent, bool explicit,
                        const char *what)
{
    for (size_t p = 0; p < world->place_count; p++) {
        const bool applies = (row->places >> p & 1U) != 0;
        const char *expected = applies && sent != NULL ? sent : "";
        char got[ANNO_TEXT] = "";
        bool got_explicit = false;

        world->sent(service, p, row, got, &got_explicit);
        if (strcmp(got, expected) != 0 || (applies && got[0] != '\0' && got_explicit != explicit)) {
            fail_msg("%s, %s, %s: got [%s]%s, not [%s]%s", row->name, what, world->places[p], got,
                     got_explicit ? " told" : "", expected, explicit ? " told" : "");
        }
    }
}

/* A good value and what it becomes. */
static bool next_good(const char **cursor, char *value, char *sent, size_t size)
{
    const size_t len = strcspn(*cursor, " ");
    char *arrow;

    if (len == 0) {
        return false;
    }
    ccm_text_printf(value, size, "%.*s", (int)len, *cursor);
    *cursor += (*cursor)[len] == '\0' ? len : len + 1;
    arrow = strstr(value, "->");
    ccm_text_printf(sent, size, "%s", arrow == NULL ? value : arrow + 2);
    if (arrow != NULL) {
        *arrow = '\0';
    }
    for (char *p = value; *p != '\0'; p++) {
        *p = *p == '~' ? ' ' : *p;
    }
    return true;
}

void anno_test_default(void **state)
{
    const struct anno_world *world = *state;

    for (size_t i = 0; i < world->count; i++) {
        const struct anno_row *row = &world->rows[i];

        expect_sent(world, row, anno_service(world, row, NULL, NULL), row->fallback, false,
                    "default");
        if (strchr(row->name, '/') == NULL) {
            expect_sent(world, row, anno_service(world, row, P, ""), row->fallback, false, "empty");
        }
    }
}

void anno_test_valid(void **state)
{
    const struct anno_world *world = *state;

    for (size_t i = 0; i < world->count; i++) {
        const struct anno_row *row = &world->rows[i];
        const char *cursor = row->good;
        char value[ANNO_TEXT];
        char sent[ANNO_TEXT];

        while (next_good(&cursor, value, sent, sizeof(value))) {
            const struct ccm_service *now = anno_service(world, row, P, value);
            const struct ccm_service *before = anno_service(world, row, OLD_PREFIX, value);
            struct ccm_error err = CCM_ERROR_INIT;

            if (world->check(now, &err) < 0 || world->check(before, &err) < 0) {
                fail_msg("%s=%s: %s", row->name, value, err.message);
            }
            expect_sent(world, row, now, sent, sent[0] != '\0', value);
            expect_sent(world, row, before, sent, sent[0] != '\0', value);
        }
    }
}

/* The key of today hides the older one, also when it is empty. */
void anno_test_hidden(void **state)
{
    const struct anno_world *world = *state;

    for (size_t i = 0; i < world->count; i++) {
        const struct anno_row *row = &world->rows[i];
        const char *cursor = row->good;
        struct ccm_service *service;
        char key[256];
        char value[ANNO_TEXT];
        char sent[ANNO_TEXT];

        if (strchr(row->name, '/') != NULL) {
            continue; /* there is no older one */
        }
        assert_true(next_good(&cursor, value, sent, sizeof(value)));
        service = anno_service(world, row, OLD_PREFIX, value);
        ccm_text_printf(key, sizeof(key), "%s%s", P, row->name);
        obj_annotate(&service->meta, key, "");
        expect_sent(world, row, service, row->fallback, false, "hidden");
    }
}

/* The whole value, or the item of a list that is the bad one. */
static bool is_named(const char *message, const char *value)
{
    bool named = strstr(message, value) != NULL;

    for (const char *item = value; !named && item != NULL; item = strchr(item, ',')) {
        char text[ANNO_TEXT];

        item += *item == ',' ? 1 : 0;
        ccm_text_printf(text, sizeof(text), "%.*s", (int)strcspn(item, ","), item);
        named = text[0] != '\0' && strstr(message, text) != NULL;
    }
    return named;
}

static void expect_refused(const struct anno_world *world, const struct anno_row *row,
                           const char *value)
{
    struct ccm_error err = CCM_ERROR_INIT;

    if (world->check(anno_service(world, row, P, value), &err) == 0) {
        fail_msg("%s=[%s] was accepted", row->name, value);
    }
    assert_int_equal(err.kind, CCM_ERROR_TERMINAL);
    if (strstr(err.message, row->complaint) == NULL || !is_named(err.message, value)) {
        fail_msg("%s=[%s]: %s", row->name, value, err.message);
    }
}

void anno_test_invalid(void **state)
{
    const struct anno_world *world = *state;

    for (size_t i = 0; i < world->count; i++) {
        const char *cursor = world->rows[i].bad;

        while (cursor != NULL) {
            const size_t len = strcspn(cursor, "|");
            char value[ANNO_TEXT];

            ccm_text_printf(value, sizeof(value), "%.*s", (int)len, cursor);
            expect_refused(world, &world->rows[i], value);
            cursor = cursor[len] == '\0' ? NULL : cursor + len + 1;
        }
    }
}

static void expect_update(const struct anno_world *world, const struct anno_row *row,
                          const struct ccm_service *before, const struct ccm_service *after,
                          unsigned places, const char *expect, const char *what)
{
    for (size_t p = 0; p < world->place_count; p++) {
        const bool applies = (places >> p & 1U) != 0;
        const char *expected = applies && expect != NULL ? expect : "";
        char got[ANNO_TEXT] = "";

        world->update(before, after, p, row, got);
        if (strcmp(got, expected) != 0) {
            fail_msg("%s, %s, %s: update [%s], not [%s]", row->name, what, world->places[p], got,
                     expected);
        }
    }
}

static void expect_removal(const struct anno_world *world, const struct anno_row *row,
                           const struct ccm_service *before, const struct ccm_service *after)
{
    expect_update(world, row, before, after,
                  row->removed_places == 0 ? row->places : row->removed_places, row->removed,
                  "removed");
}

/* From each good value to the next: this one changes. To the same: nothing. */
void anno_test_change(void **state)
{
    const struct anno_world *world = *state;

    for (size_t i = 0; i < world->count; i++) {
        const struct anno_row *row = &world->rows[i];
        const struct ccm_service *last = NULL;
        const char *cursor = row->good;
        char last_sent[ANNO_TEXT] = "";
        char value[ANNO_TEXT];
        char sent[ANNO_TEXT];

        while (next_good(&cursor, value, sent, sizeof(value))) {
            const struct ccm_service *now = anno_service(world, row, P, value);

            expect_update(world, row, now, now, row->places, NULL, "same");
            if (last == NULL) {
                expect_removal(world, row, now, anno_service(world, row, NULL, NULL));
            } else if (sent[0] == '\0') {
                expect_removal(world, row, last, now);
            } else if (strcmp(sent, last_sent) != 0) {
                expect_update(world, row, last, now, row->places,
                              row->change == NULL ? sent : row->change, value);
            }
            last = now;
            ccm_text_printf(last_sent, sizeof(last_sent), "%s", sent);
        }
    }
}

static bool is_listed(const char *const *names, const char *name)
{
    for (; *names != NULL; names++) {
        if (strcmp(*names, name) == 0) {
            return true;
        }
    }
    return false;
}

void anno_test_complete(const struct anno_world *world, const struct lbc_anno_table *table,
                        const char *const *elsewhere)
{
    assert_true(table->count + table->mute_count <= LBC_ATTR_ROWS_MAX);
    for (size_t i = 0; i < table->count; i++) {
        const char *name = table->rows[i].name;
        const bool here = anno_row_of(world, name) != NULL;

        if (here == is_listed(elsewhere, name)) {
            fail_msg("annotation %s %s", name, here ? "is tested twice" : "has no cases");
        }
    }
    for (size_t i = 0; i < world->count; i++) {
        if (lbc_anno_find(table, world->rows[i].name) == NULL) {
            fail_msg("%s is no annotation", world->rows[i].name);
        }
    }
    for (; *elsewhere != NULL; elsewhere++) {
        if (lbc_anno_find(table, *elsewhere) == NULL) {
            fail_msg("%s is no annotation", *elsewhere);
        }
    }
}
