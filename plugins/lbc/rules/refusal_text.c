/* What is said of many annotations that cannot be used: each with its value, in one event. */
#include "lbc/rules/refusal.h"

#include "util/cleanup.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>

#define EVENT_ROOM  800  /* bytes of an event's 1,024 that are left beside what stands around it */
#define DETAILS_MAX 2048 /* bytes of what is said about very many bad values beside their names */
#define VALUE_MAX   60   /* bytes of a value that stands beside its key alone */

/* How much is said of one value. */
enum refusal_form {
    FORM_WHOLE,
    FORM_CUT,     /* a long value is cut */
    FORM_NO_HINT, /* and without what it must be */
    FORM_VALUE,   /* key and value alone */
};

static void refusal_write_value(const struct lbc_refusals *refusals, const struct lbc_refusal *one,
                                struct ccm_buf *text)
{
    const struct ccm_object *meta = &refusals->service->meta;
    const char *value = lbc_anno_value(meta, one->row);
    const size_t shown = ccm_text_utf8_cut(value, VALUE_MAX);
    char key[LBC_ANNO_KEY_MAX];

    ccm_buf_addf(text, "annotation %s cannot be used, got [%.*s%s]",
                 lbc_anno_key(meta, one->row, key), (int)shown, value,
                 value[shown] == '\0' ? "" : "...");
}

/* The text with a long value, or the part of it that it repeats, cut. */
static void refusal_write_cut(const struct lbc_refusals *refusals, const struct lbc_refusal *one,
                              struct ccm_buf *text)
{
    const char *value = lbc_anno_value(&refusals->service->meta, one->row);
    const size_t shown = ccm_text_utf8_cut(value, VALUE_MAX);
    CCM_CLEANUP(ccm_freep) char *begin = strndup(value, shown);
    const char *at = begin == NULL || value[shown] == '\0' ? NULL : strstr(one->text, begin);
    size_t same = 0;

    if (at == NULL) {
        ccm_buf_adds(text, one->text);
        return;
    }
    while (value[same] != '\0' && at[same] == value[same]) {
        same++;
    }
    ccm_buf_add(text, one->text, (size_t)(at - one->text));
    ccm_buf_addf(text, "%s...%s", begin, at + same);
}

/* See lbc_anno_explain() for what it looks for. */
static void refusal_write(const struct lbc_refusals *refusals, const struct lbc_refusal *one,
                          enum refusal_form form, struct ccm_buf *text)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf whole = { 0 };

    if (form == FORM_VALUE) {
        refusal_write_value(refusals, one, text);
        return;
    }
    if (form == FORM_WHOLE) {
        ccm_buf_adds(text, one->text);
        return;
    }
    refusal_write_cut(refusals, one, &whole);

    const char *name = strstr(ccm_buf_str(&whole), " (annotation ");
    const char *hint = name == NULL ? NULL : strstr(name, " must be ");

    if (form == FORM_NO_HINT && hint != NULL) {
        ccm_buf_addf(text, "%.*s)", (int)(hint - ccm_buf_str(&whole)), ccm_buf_str(&whole));
    } else {
        ccm_buf_adds(text, ccm_buf_str(&whole));
    }
}

static size_t refusal_size(const struct lbc_refusals *refusals, size_t index,
                           enum refusal_form form)
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf text = { 0 };

    refusal_write(refusals, &refusals->items[index], form, &text);
    return text.len;
}

/* Shorten the longest one that can be: how many bytes that saves; 0: none can be. */
static size_t refusals_shorten_one(const struct lbc_refusals *refusals, unsigned char *forms)
{
    size_t most = 0;
    size_t longest = refusals->len;

    for (size_t i = 0; i < refusals->len; i++) {
        const size_t size = refusals->items[i].fails && forms[i] < FORM_VALUE
                                ? refusal_size(refusals, i, (enum refusal_form)forms[i])
                                : 0;

        if (size > most) {
            most = size;
            longest = i;
        }
    }
    if (longest == refusals->len) {
        return 0;
    }
    forms[longest]++;

    const size_t left = refusal_size(refusals, longest, (enum refusal_form)forms[longest]);

    return left < most ? most - left : refusals_shorten_one(refusals, forms);
}

static void refusals_write_all(const struct lbc_refusals *refusals, const unsigned char *forms,
                               struct ccm_buf *text)
{
    ccm_buf_adds(text, ccm_buf_str(&refusals->others));
    for (size_t i = 0; i < refusals->len; i++) {
        if (refusals->items[i].fails) {
            ccm_buf_adds(text, text->len == 0 ? "" : "; ");
            refusal_write(refusals, &refusals->items[i], (enum refusal_form)forms[i], text);
        }
    }
}

static void refusals_write_names(const struct lbc_refusals *refusals, const char *details,
                                 struct ccm_buf *text)
{
    ccm_buf_adds(text, "annotations that cannot be used: ");
    for (size_t i = 0, n = 0; i < refusals->len; i++) {
        if (refusals->items[i].fails) {
            ccm_buf_addf(text, "%s%s", n++ == 0 ? "" : "; ", refusals->items[i].row->name);
        }
    }
    ccm_buf_adds(text, ": ");
    ccm_buf_add(text, details, ccm_text_utf8_cut(details, DETAILS_MAX));
}

int lbc_refusals_shorten(struct lbc_refusals *refusals)
{
    struct ccm_buf *text = &refusals->problems.text;
    CCM_CLEANUP(ccm_freep) unsigned char *forms = calloc(refusals->len + 1, 1);
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf each = { 0 };
    struct ccm_buf all = { .max = text->max };
    size_t saved = 1;

    if (ccm_buf_error(text) == 0 && text->len <= EVENT_ROOM) {
        return 0;
    }
    if (forms == NULL) {
        return -ENOMEM;
    }
    while (saved > 0) {
        ccm_buf_reset(&each);
        refusals_write_all(refusals, forms, &each);
        saved = each.len > EVENT_ROOM ? refusals_shorten_one(refusals, forms) : 0;
    }
    if (each.len > EVENT_ROOM) {
        refusals_write_names(refusals, ccm_buf_str(&each), &all);
    } else {
        ccm_buf_adds(&all, ccm_buf_str(&each));
    }
    ccm_buf_fini(text);
    *text = all;
    return ccm_buf_error(&each) < 0 ? ccm_buf_error(&each) : ccm_buf_error(text);
}
