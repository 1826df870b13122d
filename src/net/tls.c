/* A certificate for servers on loopback: P-256, good for ten years, and its own authority, so that a client needs this one
 * file to trust it.
 */
#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "base/arena.h"
#include "base/sb.h"
#include "net/loop.h"

#define HOUR_S 3600
#define TEN_YEARS_S (3652ll * 24 * HOUR_S)

static bool failed(struct err *e, const char *what)
{
    char why[160] = "";
    unsigned long code = ERR_get_error();

    if (code)
        ERR_error_string_n(code, why, sizeof(why));
    return err_set(e, ERR_IO, "certificate: %s%s%s", what, why[0] ? ": " : "", why);
}

/* Names end up in OpenSSL's little language for extensions, where a comma would begin something new. */
static bool is_plain_name(const char *name)
{
    size_t n = strlen(name);

    return n > 0 && n <= 253 && strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:*") == n;
}

static bool is_address(const char *name)
{
    unsigned char bytes[16];

    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

static bool add_extension(X509 *cert, int nid, const char *value)
{
    X509V3_CTX ctx;

    X509V3_set_ctx_nodb(&ctx);
    X509V3_set_ctx(&ctx, cert, cert, NULL, NULL, 0);
    X509_EXTENSION *ext = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    bool ok = ext && X509_add_ext(cert, ext, -1) == 1;
    X509_EXTENSION_free(ext);
    return ok;
}

static bool add_names(X509 *cert, const char *const *names, uint32_t n_names, struct err *e)
{
    struct sb san = {0};

    for (uint32_t i = 0; i < n_names; i++) {
        if (!is_plain_name(names[i])) {
            sb_fini(&san);
            return err_set(e, ERR_INVALID, "not a host name or an address: \"%.100s\"", names[i]);
        }
        sb_printf(&san, "%s%s:%s", i ? "," : "", is_address(names[i]) ? "IP" : "DNS", names[i]);
    }
    bool ok = add_extension(cert, NID_subject_alt_name, sb_cstr(&san));
    sb_fini(&san);
    return ok || failed(e, "names");
}

/* Who it is for is in its alternative names; the subject only tells it from others in a list. */
static bool set_identity(X509 *cert, int64_t now_ms)
{
    static const unsigned char name[] = "karpenter";
    unsigned char serial[16];
    X509_NAME *subject = X509_get_subject_name(cert);
    time_t now = (time_t)(now_ms / 1000);

    if (RAND_bytes(serial, sizeof(serial)) != 1)
        return false;
    serial[0] = (unsigned char)((serial[0] & 0x7f) | 0x40); /* positive, and of full length */
    BIGNUM *number = BN_bin2bn(serial, sizeof(serial), NULL);
    bool ok = number && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(cert)) &&
              X509_set_version(cert, X509_VERSION_3) == 1 &&
              X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, name, -1, -1, 0) == 1 &&
              X509_set_issuer_name(cert, subject) == 1 &&
              ASN1_TIME_set(X509_getm_notBefore(cert), now - HOUR_S) && /* for clocks that are behind */
              ASN1_TIME_set(X509_getm_notAfter(cert), now + TEN_YEARS_S);
    BN_free(number);
    return ok;
}

static const char *pem_text(struct arena *a, BIO *bio)
{
    char *p = NULL;
    long n = BIO_get_mem_data(bio, &p);

    return arena_printf(a, "%.*s", (int)n, p).p;
}

static bool write_pems(struct arena *a, X509 *cert, EVP_PKEY *key, const char **ret_cert, const char **ret_key)
{
    BIO *c = BIO_new(BIO_s_mem()), *k = BIO_new(BIO_s_secmem());
    bool ok =
        c && k && PEM_write_bio_X509(c, cert) == 1 && PEM_write_bio_PrivateKey(k, key, NULL, NULL, 0, NULL, NULL) == 1;

    if (ok) {
        *ret_cert = pem_text(a, c);
        *ret_key = pem_text(a, k);
    }
    BIO_free(c);
    BIO_free(k);
    return ok;
}

bool tls_self_signed(struct arena *a, const char *const *names, uint32_t n_names, int64_t now_ms,
                     const char **ret_cert_pem, const char **ret_key_pem, struct err *e)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *cert = X509_new();
    bool ok = false;

    assert(n_names > 0);
    if (!key || !cert || !set_identity(cert, now_ms) || X509_set_pubkey(cert, key) != 1)
        (void)failed(e, "identity");
    else if (!add_names(cert, names, n_names, e))
        ok = false;
    else if (!add_extension(cert, NID_basic_constraints, "critical,CA:TRUE") ||
             !add_extension(cert, NID_key_usage, "critical,digitalSignature,keyCertSign") ||
             !add_extension(cert, NID_ext_key_usage, "serverAuth") ||
             !add_extension(cert, NID_subject_key_identifier, "hash") || X509_sign(cert, key, EVP_sha256()) == 0)
        (void)failed(e, "signature");
    else
        ok = write_pems(a, cert, key, ret_cert_pem, ret_key_pem) || failed(e, "PEM");
    X509_free(cert);
    EVP_PKEY_free(key);
    return ok;
}
