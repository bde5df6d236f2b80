#include "lbc/custom/record.h"

#include "util/book.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>

struct lbc_custom_records {
    struct ccm_book by_key; /* its lock guards the versions, too */
    struct ccm_book marks;  /* key -> uint64_t, heap */
    size_t size;
};

struct lbc_custom_records *lbc_custom_records_new(size_t size)
{
    struct lbc_custom_records *records = calloc(1, sizeof(*records));

    if (records == NULL) {
        return NULL;
    }
    records->size = size;
    if (ccm_book_init(&records->by_key, free) < 0) {
        free(records);
        return NULL;
    }
    if (ccm_book_init(&records->marks, free) < 0) {
        ccm_book_fini(&records->by_key);
        free(records);
        return NULL;
    }
    return records;
}

void lbc_custom_records_free(struct lbc_custom_records *records)
{
    if (records != NULL) {
        ccm_book_fini(&records->by_key);
        ccm_book_fini(&records->marks);
    }
    free(records);
}

struct lbc_custom_record *lbc_custom_record_get(struct lbc_custom_records *records, const char *key,
                                                const char *uid)
{
    struct lbc_custom_record *found = NULL;

    (void)ccm_book_open(&records->by_key);
    found = ccm_book_obtain(&records->by_key, key, records->size);
    if (found != NULL && strcmp(found->uid, uid) != 0) {
        memset(found, 0, records->size);
        ccm_text_copy(found->uid, sizeof(found->uid), uid);
    }
    ccm_book_close(&records->by_key);
    return found;
}

void lbc_custom_record_forget(struct lbc_custom_records *records, const char *key)
{
    ccm_book_forget(&records->by_key, key);
    ccm_book_forget(&records->marks, key);
}

bool lbc_custom_record_mark(struct lbc_custom_records *records, const char *key, uint64_t mark)
{
    const bool is_new = !ccm_strmap_has(ccm_book_open(&records->marks), key);
    uint64_t *found = ccm_book_obtain(&records->marks, key, sizeof(*found));
    const bool changed = is_new || found == NULL || *found != mark;

    if (found != NULL) {
        *found = mark;
    }
    ccm_book_close(&records->marks);
    return changed;
}

uint64_t lbc_custom_record_marked(struct lbc_custom_records *records, const char *key)
{
    const uint64_t *found = ccm_strmap_get(ccm_book_open(&records->marks), key);
    const uint64_t mark = found == NULL ? 0 : *found;

    ccm_book_close(&records->marks);
    return mark;
}

bool lbc_custom_record_is_behind(const struct lbc_custom_record *record, const char *shown)
{
    return record->version[0] != '\0' && strcmp(record->shown, shown) == 0;
}

const char *lbc_custom_record_version(const struct lbc_custom_record *record, const char *shown)
{
    return lbc_custom_record_is_behind(record, shown) ? record->version : shown;
}

void lbc_custom_record_note_version(struct lbc_custom_records *records,
                                    struct lbc_custom_record *record, const char *shown,
                                    const char *version)
{
    (void)ccm_book_open(&records->by_key);
    ccm_text_copy(record->shown, sizeof(record->shown), shown);
    ccm_text_copy(record->version, sizeof(record->version), version);
    ccm_book_close(&records->by_key);
}

bool lbc_custom_record_is_own(struct lbc_custom_records *records, const char *key,
                              const char *version)
{
    const struct lbc_custom_record *found = ccm_strmap_get(ccm_book_open(&records->by_key), key);
    const bool own = found != NULL && strcmp(found->version, version) == 0;

    ccm_book_close(&records->by_key);
    return own;
}
