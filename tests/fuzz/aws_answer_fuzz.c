/* Bytes as what AWS, or somebody in its place, answers: refusals get a code and a message, the rest is a map or refused; keys are whole or refused. */
#include "aws/credentials.h"
#include "aws/error.h"
#include "aws/protocol.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void as_answer(str bytes, enum aws_service s, int status)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct http_response r = {.status = status, .body = bytes};
    struct tree *t;
    str code, message, request;
    struct err e = {0};

    protocol_read_error(a, s, &r, &code, &message, &request);
    assert(code.n && message.n && error_kind(code, status) != ERR_NONE);
    if (protocol_read(a, s, &r, &t, &e))
        assert(t->kind == TREE_MAP);
    else
        assert(e.kind == ERR_IO && e.msg[0]);
}

static void as_keys(str bytes)
{
    static const struct lease_names names = {"AccessKeyId", "SecretAccessKey", "Token", "Expiration"};
    AUTO(arena) struct arena *a = arena_new(0);
    struct lease l;
    struct err e = {0};

    if (lease_read(a, bytes, &names, &l, &e))
        assert(l.keys.id.n && l.keys.secret.n);
    else
        assert(e.kind == ERR_INVALID && str_starts(str_c(e.msg), STR("an answer ")));
}

/* The first byte: which service, and how it went. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    str bytes = {(const char *)data + 1, size - 1};
    as_answer(bytes, data[0] % AWS_N_SERVICES, data[0] & 64 ? 500 : 400);
    as_keys(bytes);
    return 0;
}
