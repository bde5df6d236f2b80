#include "util/jsonw.h"

#include "util/json.h"

#include <inttypes.h>

static void key_write(struct ccm_jsonw *w, const char *key)
{
    if (w->comma) {
        ccm_buf_addc(w->buf, ',');
    }
    w->comma = true;
    if (key != NULL) {
        ccm_json_quote(w->buf, key);
        ccm_buf_addc(w->buf, ':');
    }
}

void ccm_jsonw_open(struct ccm_jsonw *w, const char *key, char bracket)
{
    key_write(w, key);
    ccm_buf_addc(w->buf, bracket);
    w->comma = false;
}

void ccm_jsonw_close(struct ccm_jsonw *w, char bracket)
{
    ccm_buf_addc(w->buf, bracket);
    w->comma = true;
}

void ccm_jsonw_close_all(struct ccm_jsonw *w, const char *brackets)
{
    ccm_buf_adds(w->buf, brackets);
    w->comma = true;
}

void ccm_jsonw_str(struct ccm_jsonw *w, const char *key, const char *text)
{
    key_write(w, key);
    ccm_json_quote(w->buf, text);
}

void ccm_jsonw_i64(struct ccm_jsonw *w, const char *key, int64_t number)
{
    key_write(w, key);
    ccm_buf_addf(w->buf, "%" PRId64, number);
}

void ccm_jsonw_bool(struct ccm_jsonw *w, const char *key, bool value)
{
    key_write(w, key);
    ccm_buf_adds(w->buf, value ? "true" : "false");
}

void ccm_jsonw_raw(struct ccm_jsonw *w, const char *key, const char *json)
{
    key_write(w, key);
    ccm_buf_adds(w->buf, json);
}
