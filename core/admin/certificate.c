#include "admin/certificate.h"

#include <limits.h>
#include <openssl/bio.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <string.h>

static int64_t certificate_get_end_ms(const X509 *certificate)
{
    ASN1_TIME *epoch = ASN1_TIME_set(NULL, 0);
    int64_t end_ms = 0;
    int days = 0;
    int seconds = 0;

    if (epoch != NULL &&
        ASN1_TIME_diff(&days, &seconds, epoch, X509_get0_notAfter(certificate)) == 1) {
        end_ms = ((int64_t)days * 86400 + seconds) * 1000;
    }
    ASN1_TIME_free(epoch);
    return end_ms;
}

int64_t admin_certificate_end_ms(const char *pem)
{
    const size_t len = strlen(pem);
    BIO *bio = len > INT_MAX ? NULL : BIO_new_mem_buf(pem, (int)len);
    X509 *certificate = bio == NULL ? NULL : PEM_read_bio_X509(bio, NULL, NULL, NULL);
    const int64_t end_ms = certificate == NULL ? 0 : certificate_get_end_ms(certificate);

    X509_free(certificate);
    BIO_free(bio);
    return end_ms;
}
