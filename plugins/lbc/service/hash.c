#include "lbc/service/hash.h"

#include "lbc/names.h"
#include "util/buf.h"
#include "util/cleanup.h"
#include "util/text.h"

#include <errno.h>
#include <inttypes.h>
#include <openssl/evp.h>
#include <string.h>

/*
 * The canonical form is a sequence of records in a fixed order: a text is its length, ':' and its
 * bytes; a number is its digits and ';'; a list is '+' before each item and '.' behind the last
 * one. So each form has one reading, and different Services have different forms.
 */

static void hash_add_text(struct ccm_buf *form, const char *text)
{
    ccm_buf_addf(form, "%zu:%s", strlen(text), text);
}

static void hash_add_number(struct ccm_buf *form, int64_t number)
{
    ccm_buf_addf(form, "%" PRId64 ";", number);
}

static void hash_add_port(struct ccm_buf *form, const struct ccm_service_port *port)
{
    const bool named = port->target_port_name[0] != '\0';

    ccm_buf_addc(form, '+');
    hash_add_text(form, port->name);
    hash_add_text(form, port->protocol);
    hash_add_text(form, port->app_protocol);
    hash_add_number(form, port->port);
    hash_add_text(form, port->target_port_name);
    hash_add_number(form, named ? 0 : port->target_port);
    hash_add_number(form, port->node_port);
}

/* An empty annotation counts as none. */
static void hash_add_annotation(struct ccm_buf *form, const struct ccm_pair *pair)
{
    if (pair->value[0] == '\0' || ccm_text_equal(pair->key, lbc_names.hash_ignored)) {
        return;
    }
    ccm_buf_addc(form, '+');
    hash_add_text(form, pair->key);
    hash_add_text(form, pair->value);
}

static void hash_add_service(struct ccm_buf *form, const struct ccm_service *service)
{
    for (uint64_t i = 0; i < service->port_count; i++) {
        hash_add_port(form, service->ports[i]);
    }
    ccm_buf_addc(form, '.');
    hash_add_text(form, service->type);
    hash_add_text(form, service->external_traffic_policy);
    hash_add_text(form, service->load_balancer_class);
    for (uint64_t i = 0; i < service->meta.annotation_count; i++) {
        hash_add_annotation(form, service->meta.annotations[i]);
    }
    ccm_buf_addc(form, '.');
    hash_add_number(form, service->meta.deleted_ms);
    for (uint64_t i = 0; i < service->source_range_count; i++) {
        ccm_buf_addc(form, '+');
        hash_add_text(form, service->source_ranges[i]);
    }
    ccm_buf_addc(form, '.');
}

int lbc_hash_text(const char *text, char ret[LBC_HASH_DIGEST])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int len = 0;

    if (EVP_Digest(text, strlen(text), digest, &len, EVP_sha224(), NULL) != 1 ||
        len * 2 + 1 != LBC_HASH_DIGEST) {
        return -ENOMEM;
    }
    for (unsigned int i = 0; i < len; i++) {
        ccm_text_printf(ret + (size_t)i * 2, 3, "%02x", digest[i]);
    }
    return 0;
}

int lbc_hash_service(const struct ccm_service *service, char ret[LBC_HASH_TEXT])
{
    CCM_CLEANUP(ccm_buf_fini) struct ccm_buf form = { 0 };

    hash_add_service(&form, service);
    if (ccm_buf_error(&form) < 0) {
        return -ENOMEM;
    }
    memcpy(ret, LBC_HASH_FORM, sizeof(LBC_HASH_FORM));
    return lbc_hash_text(ccm_buf_str(&form), ret + sizeof(LBC_HASH_FORM) - 1);
}

enum lbc_hash_verdict lbc_hash_compare(const struct ccm_service *service, const char *hash)
{
    const char *label = ccm_object_label(&service->meta, lbc_names.hash_label);

    if (ccm_text_equal(label, hash)) {
        return LBC_HASH_SAME;
    }
    return ccm_text_empty(label) || ccm_text_starts(label, LBC_HASH_FORM) ? LBC_HASH_OTHER
                                                                          : LBC_HASH_FOREIGN;
}

int lbc_hash_see(const struct ccm_service *service, struct lbc_hash_seen *ret)
{
    const int r = lbc_hash_service(service, ret->text);

    ret->verdict = r == 0 ? lbc_hash_compare(service, ret->text) : LBC_HASH_OTHER;
    return r;
}
