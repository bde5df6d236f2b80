#include "config/doc.h"

#include "util/text.h"

#include <inttypes.h>
#include <stddef.h>

/* A bar would end the cell, a line feed the row. */
static void add_cell(struct ccm_buf *buf, const char *text)
{
    for (const char *p = text; *p != '\0'; p++) {
        if (*p == '|') {
            ccm_buf_addc(buf, '\\');
        }
        ccm_buf_addc(buf, *p == '\n' ? ' ' : *p);
    }
}

static void add_type(struct ccm_buf *buf, const struct ccm_option *row)
{
    switch (row->type) {
    case CCM_OPTION_INT:
        ccm_buf_addf(buf, "whole number, %" PRId64 " to %" PRId64, row->min, row->max);
        break;
    case CCM_OPTION_BOOL:
        ccm_buf_adds(buf, "true or false");
        break;
    case CCM_OPTION_STRINGS:
        ccm_buf_adds(buf, "list of texts");
        break;
    case CCM_OPTION_PATH:
        ccm_buf_adds(buf, "absolute path");
        break;
    default:
        if (row->unless != NULL) {
            ccm_buf_addf(buf, "text, some with `%s` only", row->unless);
            break;
        }
        if (row->values == NULL && row->pattern == NULL) {
            ccm_buf_adds(buf, "text");
            break;
        }
        ccm_buf_adds(buf, row->values != NULL ? "one of " : "text of the form ");
        add_cell(buf, row->values != NULL ? row->values : row->pattern);
        break;
    }
}

static void add_default(struct ccm_buf *buf, const struct ccm_option *row)
{
    if ((row->flags & CCM_OPTION_REQUIRED) != 0) {
        ccm_buf_adds(buf, "required");
    } else if (!ccm_text_empty(row->fallback)) {
        ccm_buf_addc(buf, '`');
        add_cell(buf, row->fallback);
        ccm_buf_addc(buf, '`');
    } else if (row->type == CCM_OPTION_INT) {
        ccm_buf_adds(buf, "`0`");
    } else if (row->type == CCM_OPTION_BOOL) {
        ccm_buf_adds(buf, "`false`");
    } else {
        ccm_buf_adds(buf, "empty");
    }
}

void config_option_doc(struct ccm_buf *buf, const char *plugin,
                       const struct ccm_option *const *rows)
{
    if (rows == NULL || rows[0] == NULL) {
        ccm_buf_adds(buf, "There are no options.\n");
        return;
    }
    ccm_buf_adds(buf, "| option | type | default | meaning |\n|---|---|---|---|\n");
    for (size_t i = 0; rows[i] != NULL; i++) {
        const struct ccm_option *row = rows[i];

        if ((row->flags & CCM_OPTION_RETIRED) != 0) {
            continue;
        }
        const char *scope = row->group != NULL ? row->group : plugin == NULL ? "" : plugin;

        ccm_buf_addf(buf, "| `%s%s%s` | ", scope, *scope == '\0' ? "" : ".", row->name);
        add_type(buf, row);
        ccm_buf_adds(buf, " | ");
        add_default(buf, row);
        ccm_buf_adds(buf, " | ");
        add_cell(buf, row->help == NULL ? "" : row->help);
        ccm_buf_adds(buf, (row->flags & CCM_OPTION_LIVE) != 0 ? " *(live)* |\n" : " |\n");
    }
}
