/* The queue that tells of interruptions. */
#include "aws/services_int.h"
#include "data/json.h"

#define SECOND_US INT64_C(1000000)
#define WAIT_S 20

struct queue {
    str url;
};

struct messages {
    struct sqs_message *v;
    uint32_t n;
};

static const struct wire_field queue_fields[] = {WIRE(queue, url, WIRE_TEXT, "QueueUrl")};
static const struct wire_shape queue_shape = WIRE_SHAPE(queue, queue_fields);

/* Milliseconds, as a text. */
static bool sent_time(struct wire *w, const struct tree *t, void *ret)
{
    struct sqs_message *m = ret;
    str text;

    m->sent_ms = INT64_MIN;
    if (!wire_find(w, t, "Attributes/SentTimestamp", &text))
        return false;
    int64_t ms;
    if (str_to_i64(text, &ms) && ms >= 0)
        m->sent_ms = ms;
    return true;
}

static const struct wire_field message_fields[] = {
    WIRE(sqs_message, body, WIRE_TEXT, "Body"),
    WIRE(sqs_message, receipt, WIRE_TEXT, "ReceiptHandle"),
};
static const struct wire_shape message_shape = WIRE_SHAPE(sqs_message, message_fields, .more = sent_time);

static const struct wire_field messages_fields[] = {
    WIRE_COUNTED(messages, v, n, WIRE_LIST, "Messages[]", .shape = &message_shape),
};
const struct wire_shape sqs_messages_shape = WIRE_SHAPE(messages, messages_fields);

/* ---- calls ---- */

static void put(struct jw *w, const char *key, str value)
{
    jw_key(w, key);
    jw_str(w, value);
}

static void put_list_of_one(struct jw *w, const char *key, const char *value)
{
    jw_key(w, key);
    jw_list(w);
    jw_c(w, value);
    jw_end(w);
}

bool sqs_queue_url(struct aws *c, struct arena *a, str name, str *ret, struct err *e)
{
    struct sb body = {0};
    struct jw w = {.out = &body};
    struct queue q = {0};

    jw_map(&w);
    put(&w, "QueueName", name);
    jw_end(&w);
    struct aws_call call = {.service = AWS_SQS, .action = "GetQueueUrl", .body = sb_view(&body)};
    bool ok = aws_ask(c, a, &call, &queue_shape, &q, NULL, e);
    sb_fini(&body);
    if (ok)
        *ret = q.url;
    return ok;
}

bool sqs_receive(struct aws *c, struct arena *a, str url, struct sqs_message **ret, uint32_t *ret_n, struct err *e)
{
    struct sb body = {0};
    struct jw w = {.out = &body};
    struct messages m = {0};

    jw_map(&w);
    put(&w, "QueueUrl", url);
    jw_key(&w, "MaxNumberOfMessages");
    jw_i64(&w, 10);
    jw_key(&w, "VisibilityTimeout");
    jw_i64(&w, 20);
    jw_key(&w, "WaitTimeSeconds");
    jw_i64(&w, WAIT_S);
    put_list_of_one(&w, "AttributeNames", "SentTimestamp");
    put_list_of_one(&w, "MessageAttributeNames", "All");
    jw_end(&w);
    struct aws_call call = {.service = AWS_SQS,
                            .action = "ReceiveMessage",
                            .body = sb_view(&body),
                            .timeout_us = (WAIT_S + 40) * SECOND_US};
    bool ok = aws_ask(c, a, &call, &sqs_messages_shape, &m, NULL, e);
    sb_fini(&body);
    if (ok) {
        *ret = m.v;
        *ret_n = m.n;
    }
    return ok;
}

bool sqs_delete(struct aws *c, struct arena *a, str url, str receipt, struct err *e)
{
    struct sb body = {0};
    struct jw w = {.out = &body};

    jw_map(&w);
    put(&w, "QueueUrl", url);
    put(&w, "ReceiptHandle", receipt);
    jw_end(&w);
    struct aws_call call = {.service = AWS_SQS, .action = "DeleteMessage", .body = sb_view(&body)};
    bool ok = aws_ask(c, a, &call, NULL, NULL, NULL, e);
    sb_fini(&body);
    return ok;
}
