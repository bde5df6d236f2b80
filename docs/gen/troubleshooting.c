#include "alicloud/error.h"
#include "pages.h"
#include "util/text.h"

/* What happens by itself, per class, in the order of the page. */
static const struct {
    enum ali_class class_;
    const char *title;
    const char *text;
} classes[] = {
    { ALI_CLASS_CREDENTIAL, "Credentials",
      "An operator has to act. Tried again after long pauses, and at once after a restart." },
    { ALI_CLASS_PERMISSION, "Permissions",
      "An operator has to act. Tried again after long pauses, and at once after a restart." },
    { ALI_CLASS_QUOTA, "Quota, money, capacity",
      "A person has to act. Tried again after long pauses." },
    { ALI_CLASS_REQUEST, "Refused requests",
      "No use until the Service, a node or the configuration changes: then it is tried again at "
      "once." },
    { ALI_CLASS_STATE, "Wrong state",
      "The resource, or one that it needs, is not in the state that the call wants. What the cloud "
      "holds is read again and the pass repeated." },
    { ALI_CLASS_NOT_FOUND, "Not there",
      "A deletion has what it wants. Otherwise what the cloud holds is read again." },
    { ALI_CLASS_BUSY, "Busy",
      "An earlier change is not finished. Tried again in a moment; nothing to do." },
    { ALI_CLASS_THROTTLED, "Too many calls",
      "Nothing was done. The rate is lowered and the call tried again." },
    { ALI_CLASS_SERVER, "The cloud's own fault", "Tried again with growing pauses." },
};

static const char *remedy_of(const struct ali_error_row *row)
{
    if (row->remedy != NULL) {
        return row->remedy;
    }
    return row->class_ == ALI_CLASS_NOT_FOUND ? "Nothing to do." : "Wait.";
}

static void add_class(struct ccm_buf *page, enum ali_class class_)
{
    ccm_buf_adds(page, "| code | cause | what to do |\n|---|---|---|\n");
    for (size_t i = 0; ali_error_row_at(i) != NULL; i++) {
        const struct ali_error_row *row = ali_error_row_at(i);

        if (row->class_ != class_) {
            continue;
        }
        ccm_buf_addf(page, "| %s%s%s", ccm_text_equal(row->code, "*") ? "any" : "`",
                     ccm_text_equal(row->code, "*") ? "" : row->code,
                     ccm_text_equal(row->code, "*") ? "" : "`");
        if (row->text != NULL) {
            ccm_buf_adds(page, " with \"");
            docs_cell(page, row->text);
            ccm_buf_adds(page, "\"");
        }
        ccm_buf_adds(page, " | ");
        docs_cell(page, row->cause);
        ccm_buf_adds(page, " | ");
        docs_cell(page, remedy_of(row));
        ccm_buf_adds(page, " |\n");
    }
}

static void add_reasons(struct ccm_buf *page)
{
    ccm_buf_adds(page, "\n## Reasons of events\n\n"
                       "A failure that lasts is a Warning. On a Service unless it says otherwise; "
                       "`kubectl get events -A --field-selector reason=NAME` lists them.\n\n"
                       "| reason | severity | when | what to do |\n|---|---|---|---|\n");
    for (size_t i = 0; i < docs_reason_count; i++) {
        ccm_buf_addf(page, "| `%s` | %s | ", docs_reasons[i].name, docs_reasons[i].severity);
        docs_cell(page, docs_reasons[i].when);
        ccm_buf_adds(page, " | ");
        docs_cell(page, docs_reasons[i].remedy);
        ccm_buf_adds(page, " |\n");
    }
}

void docs_troubleshooting(struct ccm_buf *page)
{
    add_reasons(page);
    ccm_buf_adds(page, "\n## Messages of ccmd\n\n| text | cause | what to do |\n|---|---|---|\n");
    for (size_t i = 0; i < docs_message_count; i++) {
        ccm_buf_adds(page, "| ");
        docs_cell(page, docs_messages[i].text);
        ccm_buf_adds(page, " | ");
        docs_cell(page, docs_messages[i].cause);
        ccm_buf_adds(page, " | ");
        docs_cell(page, docs_messages[i].remedy);
        ccm_buf_adds(page, " |\n");
    }
    for (size_t i = 0; i < CCM_ARRAY_LEN(classes); i++) {
        ccm_buf_addf(page, "\n## Codes of the cloud: %s\n\n%s\n\n", classes[i].title,
                     classes[i].text);
        add_class(page, classes[i].class_);
    }
}
