#include "lbc/rules/annotation_text.h"
#include "lbc/names.h"

#include "util/cleanup.h"
#include "util/text.h"

#include <inttypes.h>
#include <string.h>

static const char *const headings[] = {
    [LBC_ANNO_INSTANCE] = "Load balancer",
    [LBC_ANNO_LISTENER] = "Listeners: every port of a matching protocol",
    [LBC_ANNO_SERVERS] = "Server groups: every port",
    [LBC_ANNO_BACKEND] = "Backends",
    [LBC_ANNO_CLASS] = "Without the prefix",
};

const char *lbc_anno_heading(enum lbc_anno_group group)
{
    return headings[group];
}

void lbc_anno_write_values(const struct lbc_anno *row, struct ccm_buf *text)
{
    switch (row->type) {
    case LBC_ANNO_INT:
        ccm_buf_addf(text, "%" PRId64 " to %" PRId64, row->min, row->max);
        break;
    case LBC_ANNO_ENUM:
        for (const char *p = row->values; *p != '\0'; p++) {
            ccm_buf_adds(text, *p == '|' ? ", " : "");
            if (*p != '|') {
                ccm_buf_addc(text, *p);
            }
        }
        ccm_buf_adds(text, (row->flags & LBC_ANNO_NO_CASE) != 0 ? " (any case)" : "");
        break;
    case LBC_ANNO_SWITCH:
        ccm_buf_adds(text, "on, off");
        break;
    case LBC_ANNO_BOOL:
        ccm_buf_adds(text, "on, off, true, false (any case)");
        break;
    case LBC_ANNO_ON:
        ccm_buf_adds(text, "on; anything else is off");
        break;
    case LBC_ANNO_TEXT:
    case LBC_ANNO_ANY:
        ccm_buf_adds(text, "text");
        break;
    }
    ccm_buf_adds(text, (row->flags & LBC_ANNO_EMPTY) != 0 ? "; empty counts" : "");
}

void lbc_anno_write_fallback(const struct lbc_anno *row, struct ccm_buf *text)
{
    ccm_buf_adds(text, row->fallback != NULL ? row->fallback
                       : row->field != NULL  ? "the cloud's"
                                             : "none");
    for (unsigned i = 0; i < LBC_OTHER; i++) {
        if ((row->other.on >> i & 1U) != 0) {
            ccm_buf_addf(text, ", %s %s", lbc_protocol_name((enum lbc_protocol)i),
                         row->other.value);
        }
    }
}

void lbc_anno_write_example(const struct lbc_anno *row, struct ccm_buf *text)
{
    const char *words = row->type == LBC_ANNO_ENUM ? row->values : "on|off";
    const char *fallback = row->fallback == NULL ? "" : row->fallback;
    size_t len = strcspn(words, "|");

    if (row->example != NULL) {
        ccm_buf_adds(text, row->example);
        return;
    }
    if (strlen(fallback) == len && strncmp(words, fallback, len) == 0 && words[len] == '|') {
        words += len + 1;
        len = strcspn(words, "|");
    }
    ccm_buf_add(text, words, len);
}

bool lbc_anno_is_changeable(const struct lbc_anno *row)
{
    return (row->flags & LBC_ANNO_FIXED) == 0 && row->immutable == NULL;
}

/* --- for programs that know nothing of rows ------------------------------------------------- */

/* What the texts of one row are written into. */
struct told {
    struct ccm_buf key;
    struct ccm_buf old_key;
    struct ccm_buf values;
    struct ccm_buf fallback;
    struct ccm_buf example;
    struct ccm_buf scope;
    struct ccm_buf needs;
    struct ccm_buf page;
};

static struct ccm_buf *const *told_list(struct told *told, struct ccm_buf *list[static 9])
{
    struct ccm_buf *const all[] = { &told->key,      &told->old_key, &told->values,
                                    &told->fallback, &told->example, &told->scope,
                                    &told->needs,    &told->page,    NULL };

    memcpy(list, all, sizeof(all));
    return list;
}

static void told_fini(struct told *told)
{
    struct ccm_buf *list[9];

    for (struct ccm_buf *const *at = told_list(told, list); *at != NULL; at++) {
        ccm_buf_fini(*at);
    }
}

static int told_error(struct told *told)
{
    struct ccm_buf *list[9];
    int r = 0;

    for (struct ccm_buf *const *at = told_list(told, list); *at != NULL && r == 0; at++) {
        r = ccm_buf_error(*at);
    }
    return r;
}

static const char *told_text(struct ccm_buf *text)
{
    return text->len == 0 ? NULL : ccm_buf_str(text);
}

/* The fragment by which a heading is linked to. */
static void anno_write_anchor(const char *heading, struct ccm_buf *text)
{
    for (const char *at = heading; *at != '\0'; at++) {
        if (*at >= 'A' && *at <= 'Z') {
            ccm_buf_addc(text, (char)(*at - 'A' + 'a'));
        } else if (*at == ' ' || (*at >= 'a' && *at <= 'z')) {
            ccm_buf_addc(text, *at == ' ' ? '-' : *at);
        }
    }
}

static const char *anno_describe_change(const struct lbc_anno *row)
{
    if (row->immutable != NULL) {
        return "A change is refused once the load balancer is there; delete the Service and make "
               "it again.";
    }
    if ((row->flags & LBC_ANNO_FIXED) != 0) {
        return "It counts when the load balancer is made; a later change has no effect.";
    }
    if ((row->cloud & LBC_ATTR_RESET) != 0) {
        return "A change reaches the load balancer that is there. Taken away, what it has set goes "
               "back to the default, but for existing load balancers (annotation id).";
    }
    if (row->field == NULL) {
        return "A change counts at once; taken away, the default holds.";
    }
    return "A change reaches the load balancer that is there. Taken away, what it has set stays.";
}

static void told_write(struct told *told, const struct lbc_anno_table *table,
                       const struct lbc_anno *row)
{
    const bool whole = strchr(row->name, '/') != NULL;

    ccm_buf_addf(&told->key, "%s%s", whole ? "" : lbc_names.annotations, row->name);
    if (!whole) {
        ccm_buf_addf(&told->old_key, "%s%s", lbc_names.annotations_before, row->name);
    }
    lbc_anno_write_values(row, &told->values);
    lbc_anno_write_fallback(row, &told->fallback);
    lbc_anno_write_example(row, &told->example);
    if (row->group == LBC_ANNO_LISTENER && row->on != 0) {
        ccm_buf_adds(&told->scope, "ports of ");
        lbc_anno_write_protocols(row, ", ", &told->scope);
    }
    if (row->needs != NULL) {
        const struct lbc_anno *needed = lbc_anno_find(table, row->needs);

        ccm_buf_addf(&told->needs, "annotation %s%s", row->needs,
                     row->need == LBC_NEED_SET ? "" : ": on");
        if (needed != NULL && needed->on != 0 && needed->on != row->on) {
            ccm_buf_adds(&told->needs, " (ports of ");
            lbc_anno_write_protocols(needed, ", ", &told->needs);
            ccm_buf_adds(&told->needs, ")");
        }
    }
    if (table->page != NULL) {
        ccm_buf_addf(&told->page, "%s#", table->page);
        anno_write_anchor(headings[row->group], &told->page);
    }
}

static int anno_list_row(const struct lbc_anno_table *table, const struct lbc_anno *row,
                         const struct ccm_annotation_sink *sink)
{
    CCM_CLEANUP(told_fini) struct told told = { 0 };

    told_write(&told, table, row);
    if (told_error(&told) < 0) {
        return told_error(&told);
    }

    const struct ccm_annotation annotation = {
        .struct_size = sizeof(annotation),
        .key = ccm_buf_str(&told.key),
        .old_key = told_text(&told.old_key),
        .name = strrchr(row->name, '/') == NULL ? row->name : strrchr(row->name, '/') + 1,
        .subject = table->kind,
        .heading = headings[row->group],
        .help = row->help,
        .values = told_text(&told.values),
        .fallback = told_text(&told.fallback),
        .example = told_text(&told.example),
        .scope = told_text(&told.scope),
        .needs = told_text(&told.needs),
        .change = anno_describe_change(row),
        .field = row->field,
        .page = told_text(&told.page),
    };

    sink->annotation(sink, &annotation);
    return 0;
}

int lbc_anno_list(const struct lbc_anno_table *table, const struct ccm_annotation_sink *sink)
{
    int r = 0;

    for (size_t group = 0; group < CCM_ARRAY_LEN(headings); group++) {
        for (size_t i = 0; i < table->count && r == 0; i++) {
            if (table->rows[i].group == (enum lbc_anno_group)group) {
                r = anno_list_row(table, &table->rows[i], sink);
            }
        }
    }
    return r;
}
