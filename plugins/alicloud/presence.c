#include "alicloud/presence.h"

#include "alicloud/ali.h"
#include "alicloud/params.h"
#include "alicloud/presence_cache.h"
#include "util/array.h"
#include "util/book.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/jsonw.h"
#include "util/text.h"

#include <errno.h>
#include <stdlib.h>

#define PAGE      100 /* the most that one answer has */
#define CHUNK     99  /* and one is the witness */
#define KNOWN_MS  30000
#define FAILED_MS 5000
#define KNOWN_MAX 20000 /* then everything is forgotten */

struct ali_presence {
    struct ccm_book known; /* its lock guards the rest, and is not held over a call */
    bool asking;
    int64_t failed_ms; /* monotonic; 0 = it did not */
};

/* What was heard about one. */
struct heard {
    bool gone;
    int64_t at_ms;
};

/* Whom to ask about. */
struct asked {
    const char **ids;
    size_t len;
    size_t cap;
};

/* One question, over all its calls. */
struct inquiry {
    const struct ali_caller *by;
    const struct ali_inquiry *about;
};

static void asked_fini(struct asked *asked)
{
    free(asked->ids);
}

struct ali_presence *ali_presence_new(void)
{
    struct ali_presence *presence = calloc(1, sizeof(*presence));

    if (presence == NULL) {
        return NULL;
    }
    if (ccm_book_init(&presence->known, free) < 0) {
        free(presence);
        return NULL;
    }
    return presence;
}

void ali_presence_free(struct ali_presence *presence)
{
    if (presence == NULL) {
        return;
    }
    ccm_book_fini(&presence->known);
    free(presence);
}

/* --- the memory --- */

static const struct heard *find_known_locked(const struct ali_presence *presence, const char *id,
                                             int64_t now)
{
    const struct heard *heard = ccm_strmap_get(presence->known.map, id);

    return heard != NULL && now - heard->at_ms < KNOWN_MS ? heard : NULL;
}

/* What is known already, and who has to be asked about. */
static int sort_known_locked(struct ali_presence *presence, const char *const *ids, size_t count,
                             int64_t now, bool *ret_gone, struct asked *ret)
{
    for (size_t i = 0; i < count; i++) {
        const struct heard *heard = find_known_locked(presence, ids[i], now);

        ret_gone[i] = heard != NULL && heard->gone;
        if (heard != NULL) {
            continue;
        }
        if (ccm_array_grow(&ret->ids, &ret->cap, ret->len + 1, sizeof(*ret->ids)) < 0) {
            return -ENOMEM;
        }
        ret->ids[ret->len++] = ids[i];
    }
    return 0;
}

/* Why nobody else may ask now; 0 = somebody may. */
static int refusal_locked(const struct ali_presence *presence, int64_t now)
{
    if (presence->asking) {
        return -EAGAIN;
    }
    return presence->failed_ms != 0 && now - presence->failed_ms < FAILED_MS ? -EBUSY : 0;
}

/* 0: the caller asks about what is in `ret`, if there is any, and ends with end_inquiry(). */
static int begin_inquiry(const struct inquiry *inquiry, const char *const *ids, size_t count,
                         bool *ret_gone, struct asked *ret)
{
    struct ali_presence *presence = inquiry->by->client->presence;
    const int64_t now = inquiry->by->host->now_ms(inquiry->by->host);

    (void)ccm_book_open(&presence->known);
    int r = sort_known_locked(presence, ids, count, now, ret_gone, ret);

    if (r == 0 && ret->len > 0) {
        r = refusal_locked(presence, now);
    }
    presence->asking = presence->asking || (r == 0 && ret->len > 0);
    ccm_book_close(&presence->known);
    return r;
}

static void end_inquiry(const struct inquiry *inquiry, bool failed)
{
    struct ali_presence *presence = inquiry->by->client->presence;

    (void)ccm_book_open(&presence->known);
    presence->asking = false;
    presence->failed_ms = failed ? inquiry->by->host->now_ms(inquiry->by->host) : 0;
    ccm_book_close(&presence->known);
}

/* Out of memory forgets it, then it is asked for again. */
static void presence_record_locked(struct ali_presence *presence, const char *id, bool gone,
                                   int64_t now)
{
    struct heard *heard = ccm_book_obtain(&presence->known, id, sizeof(*heard));

    if (heard != NULL) {
        *heard = (struct heard){ .gone = gone, .at_ms = now };
    }
}

/* --- the calls --- */

/* Ids in the answer. -EBADMSG: it has not the form of a list, or has more than fits. */
static int read_present(const cJSON *answer, struct ccm_strmap *present)
{
    const cJSON *list = ccm_json_path(answer, "Instances", "Instance", NULL);
    int r = cJSON_IsArray(list) ? 0 : -EBADMSG;

    if (r == 0 && (int64_t)cJSON_GetArraySize(list) < ccm_json_i64(answer, "TotalCount", 0)) {
        r = -EBADMSG;
    }
    for (const cJSON *item = ccm_json_elements(list); item != NULL; item = item->next) {
        const char *id = ccm_json_str(item, "InstanceId");

        if (r == 0 && !ccm_text_empty(id)) {
            r = ccm_strmap_set(present, id, NULL);
        }
    }
    return r;
}

static void write_params(const struct inquiry *inquiry, const char *const *ids, size_t count,
                         struct ccm_buf *list, struct ali_params *params)
{
    struct ccm_jsonw w = { .buf = list };

    ccm_jsonw_open(&w, NULL, '[');
    if (inquiry->about->witness[0] != '\0') {
        ccm_jsonw_str(&w, NULL, inquiry->about->witness);
    }
    for (size_t i = 0; i < count; i++) {
        ccm_jsonw_str(&w, NULL, ids[i]);
    }
    ccm_jsonw_close(&w, ']');
    ali_param_add(params, "RegionId", ali_region(inquiry->by->client));
    ali_param_add(params, "InstanceIds", ccm_buf_str(list));
    ali_param_i64(params, "MaxResults", PAGE);
}

static int ask_chunk(const struct inquiry *inquiry, const char *const *ids, size_t count,
                     struct ccm_strmap *present, struct ccm_error *err)
{
    CCM_CLEANUP(ali_params_fini) struct ali_params params = { 0 };
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf list = { .max = 32768 };
    CCM_CLEANUP(ccm_json_freep) cJSON *answer = NULL;
    const struct ali_call call = {
        .product = ALI_ECS,
        .action = "DescribeInstances",
        .params = &params,
        .priority = ALI_PRIO_REMOVE,
        .repeat = ALI_READ,
        .object = inquiry->about->object,
        .patience_ms = inquiry->about->object == NULL ? 0 : ALI_PATIENCE_MS,
    };

    write_params(inquiry, ids, count, &list, &params);
    if (ccm_buf_error(&list) < 0 || params.error < 0) {
        return ccm_error_nomem(err);
    }

    int r = ali_call(inquiry->by, &call, &answer, NULL, err);

    if (r < 0) {
        return r;
    }
    r = read_present(answer, present);
    if (r == -ENOMEM) {
        return ccm_error_nomem(err);
    }
    if (r < 0) {
        (void)ccm_error_set(err, r, CCM_ERROR_TRANSIENT,
                            "DescribeInstances: no whole list in the answer"); /* returns r */
        ccm_error_add_request_id(err, ccm_json_text(answer, "RequestId"));
    }
    return r;
}

static void presence_record_chunk(const struct inquiry *inquiry, const char *const *ids,
                                  size_t count, const struct ccm_strmap *present)
{
    struct ali_presence *presence = inquiry->by->client->presence;
    const bool telling = ccm_strmap_len(present) > 0;
    const int64_t now = inquiry->by->host->now_ms(inquiry->by->host);

    struct ccm_strmap *known = ccm_book_open(&presence->known);

    if (ccm_strmap_len(known) > KNOWN_MAX) {
        void *cursor = NULL;
        const char *id = NULL;

        while (ccm_strmap_next(known, &cursor, &id, NULL)) {
            ccm_strmap_del(known, id);
        }
    }
    for (size_t i = 0; i < count; i++) {
        presence_record_locked(presence, ids[i], telling && !ccm_strmap_has(present, ids[i]), now);
    }
    ccm_book_close(&presence->known);
}

static int ask_all(const struct inquiry *inquiry, const struct asked *asked, struct ccm_error *err)
{
    for (size_t first = 0; first < asked->len; first += CHUNK) {
        CCM_CLEANUP(ccm_strmap_freep) struct ccm_strmap *present = ccm_strmap_new(NULL);
        const size_t rest = asked->len - first;
        const size_t count = rest < CHUNK ? rest : CHUNK;
        int r = present == NULL ? ccm_error_nomem(err)
                                : ask_chunk(inquiry, asked->ids + first, count, present, err);

        if (r < 0) {
            return r;
        }
        presence_record_chunk(inquiry, asked->ids + first, count, present);
    }
    return 0;
}

static void read_known(const struct inquiry *inquiry, const char *const *ids, size_t count,
                       bool *ret_gone)
{
    struct ali_presence *presence = inquiry->by->client->presence;
    const int64_t now = inquiry->by->host->now_ms(inquiry->by->host);

    (void)ccm_book_open(&presence->known);
    for (size_t i = 0; i < count; i++) {
        const struct heard *heard = find_known_locked(presence, ids[i], now);

        ret_gone[i] = heard != NULL && heard->gone;
    }
    ccm_book_close(&presence->known);
}

int ali_find_gone_instances(const struct ali_caller *by, const struct ali_inquiry *about,
                            bool *ret_gone, struct ccm_error *err)
{
    CCM_CLEANUP(asked_fini) struct asked asked = { 0 };
    const struct inquiry inquiry = { .by = by, .about = about };
    int r = begin_inquiry(&inquiry, about->ids, about->count, ret_gone, &asked);

    if (r == -ENOMEM) {
        return ccm_error_nomem(err);
    }
    if (r < 0 || asked.len == 0) {
        return r;
    }
    r = ask_all(&inquiry, &asked, err);
    end_inquiry(&inquiry, r < 0 && !ali_error_is_put_off(err));
    read_known(&inquiry, about->ids, about->count, ret_gone);
    return r;
}
