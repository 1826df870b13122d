#include "aws/protocol.h"

#include "data/edit.h"
#include "data/reader.h"
#include "data/xml.h"

#define MAX_CODE 256
#define MAX_MESSAGE ((size_t)64 << 10)

enum protocol {
    QUERY, /* a form with Action and Version; XML comes back */
    JSON,  /* what is meant is in X-Amz-Target */
    REST,  /* what is meant is in method and path */
};

static const struct {
    enum protocol protocol;
    const char *version;      /* QUERY */
    const char *content_type; /* of what has a body */
    const char *target;       /* JSON */
} protocols[AWS_N_SERVICES] = {
    [AWS_EC2] = {QUERY, "2016-11-15", "application/x-www-form-urlencoded; charset=utf-8", NULL},
    [AWS_IAM] = {QUERY, "2010-05-08", "application/x-www-form-urlencoded; charset=utf-8", NULL},
    [AWS_STS] = {QUERY, "2011-06-15", "application/x-www-form-urlencoded; charset=utf-8", NULL},
    [AWS_SSM] = {JSON, NULL, "application/x-amz-json-1.1", "AmazonSSM."},
    [AWS_SQS] = {JSON, NULL, "application/x-amz-json-1.0", "AmazonSQS."},
    [AWS_EKS] = {REST, NULL, "application/json", NULL},
    [AWS_PRICING] = {JSON, NULL, "application/x-amz-json-1.1", "AWSPriceListService."},
    [AWS_ZONAL_SHIFT] = {REST, NULL, "application/json", NULL},
};

bool protocol_is_form(enum aws_service s)
{
    return protocols[s].protocol == QUERY;
}

static void put_header(struct protocol_request *r, str name, str value)
{
    assert(r->n_headers < PROTOCOL_MAX_HEADERS);
    r->headers[r->n_headers++] = (struct http_header){name, value};
}

void protocol_write(struct arena *a, const struct aws_call *call, struct protocol_request *ret)
{
    enum aws_service s = call->service;
    struct protocol_request r = {.method = call->method ? call->method : "POST",
                                 .path = call->path.n ? call->path : STR("/"),
                                 .body = call->body};

    if (protocols[s].protocol == QUERY)
        r.body = arena_printf(a, "Action=%s&Version=%s%s" STR_FMT, call->action, protocols[s].version,
                              call->body.n ? "&" : "", STR_ARG(call->body));
    else if (protocols[s].protocol == JSON && !r.body.n)
        r.body = STR("{}");
    if (r.body.n)
        put_header(&r, STR("Content-Type"), str_c(protocols[s].content_type));
    if (protocols[s].target)
        put_header(&r, STR("X-Amz-Target"), arena_printf(a, "%s%s", protocols[s].target, call->action));
    if (s == AWS_SQS)
        put_header(&r, STR("x-amzn-query-mode"), STR("true"));
    *ret = r;
}

/* JSON is read in place: its bytes have to stay, and are overwritten. */
static struct tree *read_tree(struct arena *a, enum protocol p, str body, struct err *e)
{
    struct tree *t = NULL;
    char *bytes;
    str root;

    if (p == QUERY)
        return xml_read(a, body, &root, e);
    bytes = arena_new_array(a, char, body.n + READER_PAD);
    memcpy(bytes, body.p, body.n);
    return tree_read_json(a, "answer", bytes, body.n, &t, e) ? t : NULL;
}

bool protocol_read(struct arena *a, enum aws_service s, const struct http_response *r, struct tree **ret, struct err *e)
{
    struct tree *t = str_trim(r->body).n ? read_tree(a, protocols[s].protocol, r->body, e) : tree_new_map(a);

    if (!t) {
        e->kind = ERR_IO;
        return err_wrap(e, "an answer that cannot be read");
    }
    if (t->kind == TREE_NULL || (t->kind == TREE_STRING && !str_trim(t->text).n))
        t = tree_new_map(a); /* an XML root without content is a text */
    if (t->kind != TREE_MAP)
        return err_set(e, ERR_IO, "an answer that is %s", tree_kind_name(t->kind));
    *ret = t;
    return true;
}

/* ---- errors ---- */

static const struct tree *first_of(const struct tree *t)
{
    return t && t->kind == TREE_LIST ? (t->n ? &t->items[0] : NULL) : t;
}

/* <Response><Errors><Error>… of EC2, <ErrorResponse><Error>… of the others. */
static void read_xml_error(const struct tree *t, str *ret_code, str *ret_message)
{
    const struct tree *e = first_of(tree_get(first_of(tree_get(t, "Errors")), "Error"));

    if (!e)
        e = first_of(tree_get(t, "Error"));
    *ret_code = tree_str(tree_get(e, "Code"));
    *ret_message = tree_str(tree_get(e, "Message"));
}

/* "com.amazonaws.sqs#QueueDoesNotExist", "ResourceNotFoundException:http://…". */
static str bare_code(str s)
{
    str head, tail;

    (void)str_cut(s, ':', &s, &tail);
    while (str_cut(s, '#', &head, &tail))
        s = tail;
    return str_trim(s);
}

static void read_json_error(const struct tree *t, const struct http_response *r, str *ret_code, str *ret_message)
{
    str type = tree_str(tree_get(t, "__type")), rest,
        header = http_header_get(r->headers, r->n_headers, "x-amzn-errortype"),
        query = http_header_get(r->headers, r->n_headers, "x-amzn-query-error");

    if (!type.n)
        type = header.n ? header : tree_str(tree_get(t, "code"));
    *ret_code = bare_code(type);
    if (query.n)
        (void)str_cut(query, ';', ret_code, &rest);
    *ret_message = tree_str(tree_get(t, "message"));
    if (!ret_message->n)
        *ret_message = tree_str(tree_get(t, "Message"));
}

/* In a header of all services but some older ones, which have it in the body. */
static str read_request(const struct tree *t, const struct http_response *r)
{
    str id = http_header_get(r->headers, r->n_headers, "x-amzn-requestid");

    if (!id.n)
        id = tree_str(tree_get(t, "RequestID"));
    return id.n ? id : tree_str(tree_get(t, "RequestId"));
}

void protocol_read_error(struct arena *a, enum aws_service s, const struct http_response *r, str *ret_code,
                         str *ret_message, str *ret_request)
{
    AUTO(arena) struct arena *tmp = arena_new(0);
    struct err none;
    const struct tree *t = str_trim(r->body).n ? read_tree(tmp, protocols[s].protocol, r->body, &none) : NULL;
    str code, message;

    if (protocols[s].protocol == QUERY)
        read_xml_error(t, &code, &message);
    else
        read_json_error(t, r, &code, &message);
    *ret_request = arena_strdup(a, str_sub(read_request(t, r), 0, MAX_CODE));
    *ret_code = arena_strdup(a, code.n ? str_sub(code, 0, MAX_CODE) : STR("UnknownError"));
    *ret_message =
        message.n ? arena_strdup(a, str_sub(message, 0, MAX_MESSAGE)) : arena_printf(a, "HTTP status %d", r->status);
}
