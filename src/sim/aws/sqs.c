/* sqs - queues: messages that are handed out, hidden for a while, and deleted by those who have dealt with them.
 *
 * A receiver may wait (a long poll): it is answered when a message comes, when one is visible again, or when its time is up. Faults may hand a message out twice at
 * the same time, or let one overtake those before it, as AWS allows itself.
 */
#include <stdio.h>

#include "sim/aws/call.h"
#include "sim/aws/md5.h"

#define MAX_BODY (256u << 10)
#define MAX_WAIT_S 20
#define MAX_VISIBILITY_S 43200

struct poll {
    struct poll *next;
    struct queue *q;
    struct call *c;
    struct timer timer;
    int64_t until_ms;
};

/* ---- the queue itself ---- */

static void drop_first_of(struct queue *q, struct message **at)
{
    struct message *m = *at;

    *at = m->next;
    if (q->last == &m->next)
        q->last = at;
    free(m);
}

/* Nobody looks through a queue in which nothing can be too old yet. */
static void expire(struct sim_aws *s, struct queue *q)
{
    int64_t now = account_now_ms(s), oldest = INT64_MAX;

    if (q->oldest_ms + q->retention_ms > now)
        return;
    for (struct message **at = &q->first; *at;) {
        if ((*at)->sent_ms + q->retention_ms <= now) {
            drop_first_of(q, at);
            continue;
        }
        oldest = MIN(oldest, (*at)->sent_ms);
        at = &(*at)->next;
    }
    q->oldest_ms = MIN(oldest, now);
}

static void serve_polls(struct sim_aws *s, struct queue *q);

void queue_send(struct sim_aws *s, struct queue *q, str body, char ret_id[40])
{
    struct message *m = xcalloc(1, sizeof(*m) + body.n);
    uint64_t hi = world_random(s->w), lo = world_random(s->w);

    memcpy(m + 1, body.p, body.n);
    m->body = (str){(const char *)(m + 1), body.n};
    (void)snprintf(m->id, sizeof(m->id), "%08llx-%04llx-4%03llx-8%03llx-%012llx", (unsigned long long)hi >> 32,
                   (unsigned long long)(hi >> 16) & 0xffff, (unsigned long long)hi & 0xfff,
                   (unsigned long long)lo >> 52, (unsigned long long)lo & 0xffffffffffffULL);
    m->sent_ms = account_now_ms(s);
    m->came_ms = m->visible_ms = account_mono_ms(s);
    expire(s, q);
    if (q->first && account_chance(s, s->faults.reorder)) {
        m->next = q->first;
        q->first = m;
    } else {
        *q->last = m;
        q->last = &m->next;
    }
    memcpy(ret_id, m->id, sizeof(m->id));
    serve_polls(s, q);
}

void queue_free(struct sim_aws *s, struct queue *q)
{
    while (q->polls) {
        struct poll *p = q->polls;

        q->polls = p->next;
        timer_stop(s->w, &p->timer);
        p->c->x->on_over = NULL;
        reply_abort(p->c->x);
        free(p);
    }
    while (q->first)
        drop_first_of(q, &q->first);
    free(q);
}

/* ---- receiving ---- */

static void hand_out(struct call *c, struct message *m, int64_t visibility_ms)
{
    struct tree *t = tree_push(c->a, tree_sublist(c->a, c->out, "Messages"), *tree_new_map(c->a));
    const struct tree *names = in_list(c, "AttributeNames"), *newer = in_list(c, "MessageSystemAttributeNames");
    char digest[33];

    m->receipt = ++c->s->serial;
    m->received++;
    m->visible_ms = account_mono_ms(c->s) + visibility_ms;
    md5_hex(m->body, digest);
    tree_set_str(c->a, t, "MessageId", arena_strdup(c->a, str_c(m->id)));
    tree_set_str(c->a, t, "ReceiptHandle", arena_printf(c->a, "%s#%llu", m->id, (unsigned long long)m->receipt));
    tree_set_str(c->a, t, "MD5OfBody", arena_strdup(c->a, str_c(digest)));
    tree_set_str(c->a, t, "Body", arena_strdup(c->a, m->body));
    if (!names && !newer)
        return;
    struct tree *attrs = tree_sub(c->a, t, "Attributes");

    tree_set_str(c->a, attrs, "SentTimestamp", arena_printf(c->a, "%lld", (long long)m->sent_ms));
    tree_set_str(c->a, attrs, "ApproximateReceiveCount", arena_printf(c->a, "%u", m->received));
}

/* Whether there was anything. */
static bool take(struct call *c, struct queue *q)
{
    int64_t most = in_i64(c, "MaxNumberOfMessages", 1), n = 0;
    int64_t hidden_ms = in_i64(c, "VisibilityTimeout", q->visibility_ms / 1000) * 1000;

    expire(c->s, q);
    for (struct message *m = q->first; m && n < most; m = m->next) {
        if (m->visible_ms > account_mono_ms(c->s))
            continue;
        /* Handed out twice: it stays visible, for somebody else or for the next time. */
        hand_out(c, m, account_chance(c->s, c->s->faults.duplicate) ? 0 : hidden_ms);
        n++;
    }
    return n > 0;
}

static void poll_end(struct poll *p)
{
    struct poll **at = &p->q->polls;

    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    timer_stop(p->c->s->w, &p->timer);
    p->c->x->on_over = NULL;
    free(p);
}

/* When there will be something to look at again: a message becomes visible, or the time is up. */
static void poll_sleep(struct poll *p)
{
    int64_t at = p->until_ms, now = account_mono_ms(p->c->s);

    for (const struct message *m = p->q->first; m; m = m->next)
        at = MIN(at, m->visible_ms);
    timer_set(p->c->s->w, &p->timer, MAX(at - now, 1) * 1000);
}

static void poll_look(struct poll *p)
{
    struct call *c = p->c;

    if (!take(c, p->q) && account_mono_ms(c->s) < p->until_ms) {
        poll_sleep(p);
        return;
    }
    poll_end(p);
    call_done(c);
}

static void poll_timer(void *ctx)
{
    poll_look(ctx);
}

static void poll_over(struct exchange *x)
{
    poll_end(x->ctx);
}

/* The first that waits gets what came. Answers go out from the loop: whoever sends may be inside of anything. */
static void serve_polls(struct sim_aws *s, struct queue *q)
{
    for (struct poll *p = q->polls; p; p = p->next)
        timer_set(s->w, &p->timer, 0);
}

static struct queue *queue_of(struct call *c)
{
    str url = in_str(c, "QueueUrl"), name = in_str(c, "QueueName");
    struct queue *q;

    for (size_t i = url.n; name.n == 0 && i > 0; i--)
        if (url.p[i - 1] == '/')
            name = str_sub(url, i, url.n);
    q = account_queue(c->s, name);
    if (!q)
        (void)call_fail(c, "QueueDoesNotExist", "The specified queue does not exist.");
    return q;
}

void serve_receive_message(struct call *c)
{
    struct queue *q = queue_of(c);
    int64_t most = in_i64(c, "MaxNumberOfMessages", 1), wait_s = in_i64(c, "WaitTimeSeconds", 0);
    int64_t hidden_s = in_i64(c, "VisibilityTimeout", 0);

    if (!q)
        return;
    if (most < 1 || most > 10 || wait_s < 0 || wait_s > MAX_WAIT_S || hidden_s < 0 || hidden_s > MAX_VISIBILITY_S) {
        (void)call_fail(
            c, "InvalidParameterValue",
            "MaxNumberOfMessages is from 1 to 10, WaitTimeSeconds from 0 to 20, VisibilityTimeout from 0 to 43200");
        return;
    }
    if (take(c, q) || wait_s == 0)
        return;
    struct poll *p = xcalloc(1, sizeof(*p)), **at = &q->polls;

    p->q = q;
    p->c = c;
    p->timer = (struct timer){.fn = poll_timer, .ctx = p};
    p->until_ms = account_mono_ms(c->s) + wait_s * 1000;
    while (*at)
        at = &(*at)->next;
    *at = p;
    c->waits = true;
    c->x->ctx = p;
    c->x->on_over = poll_over;
    poll_sleep(p);
}

/* ---- the rest ---- */

/* By its receipt: "id#n". NULL: it is gone already. */
static struct message **message_of(struct queue *q, str receipt)
{
    str id, n;

    (void)str_cut(receipt, '#', &id, &n);
    for (struct message **at = &q->first; *at; at = &(*at)->next)
        if (str_is(id, (*at)->id))
            return at;
    return NULL;
}

static bool delete_one(struct call *c, struct queue *q, str receipt)
{
    struct message **at = message_of(q, receipt);
    str id, n;

    if (!str_cut(receipt, '#', &id, &n))
        return call_fail(c, "ReceiptHandleIsInvalid", "The input receipt handle is invalid.");
    if (at)
        drop_first_of(q, at);
    return true;
}

void serve_delete_message(struct call *c)
{
    struct queue *q = queue_of(c);
    str receipt;

    if (q && in_required(c, "ReceiptHandle", &receipt))
        (void)delete_one(c, q, receipt);
}

void serve_delete_message_batch(struct call *c)
{
    struct queue *q = queue_of(c);
    const struct tree *entries = in_list(c, "Entries");
    struct tree *done = tree_new_list(c->a);

    for (uint32_t i = 0; q && entries && i < entries->n; i++) {
        if (!delete_one(c, q, tree_str(tree_get(&entries->items[i], "ReceiptHandle"))))
            return;
        struct tree *t = tree_push(c->a, done, *tree_new_map(c->a));

        tree_set_str(c->a, t, "Id", tree_str(tree_get(&entries->items[i], "Id")));
    }
    tree_set(c->a, c->out, "Successful", *done);
    (void)tree_sublist(c->a, c->out, "Failed");
}

void serve_change_visibility(struct call *c)
{
    struct queue *q = queue_of(c);
    int64_t seconds = in_i64(c, "VisibilityTimeout", -1);
    str receipt;

    if (!q || !in_required(c, "ReceiptHandle", &receipt))
        return;
    struct message **at = message_of(q, receipt);

    if (!at || seconds < 0 || seconds > MAX_VISIBILITY_S) {
        (void)call_fail(c, "InvalidParameterValue", "The message is gone, or VisibilityTimeout is not from 0 to 43200");
        return;
    }
    (*at)->visible_ms = account_mono_ms(c->s) + seconds * 1000;
    serve_polls(c->s, q);
}

void serve_send_message(struct call *c)
{
    struct queue *q = queue_of(c);
    str body;
    char id[40], digest[33];

    if (!q || !in_required(c, "MessageBody", &body))
        return;
    if (body.n > MAX_BODY) {
        (void)call_fail(c, "InvalidParameterValue",
                        "One or more parameters are invalid. Reason: Message must be shorter than %u bytes.", MAX_BODY);
        return;
    }
    queue_send(c->s, q, body, id);
    md5_hex(body, digest);
    tree_set_str(c->a, c->out, "MessageId", arena_strdup(c->a, str_c(id)));
    tree_set_str(c->a, c->out, "MD5OfMessageBody", arena_strdup(c->a, str_c(digest)));
}

void serve_purge_queue(struct call *c)
{
    struct queue *q = queue_of(c);

    while (q && q->first)
        drop_first_of(q, &q->first);
}

void serve_get_queue_url(struct call *c)
{
    const struct queue *q = queue_of(c);

    if (q)
        tree_set_str(c->a, c->out, "QueueUrl", q->url);
}

void serve_list_queues(struct call *c)
{
    str prefix = in_str(c, "QueueNamePrefix");

    for (uint32_t i = 0; i < c->s->queues.n; i++)
        if (str_starts(c->s->queues.v[i]->name, prefix))
            (void)tree_push(c->a, tree_sublist(c->a, c->out, "QueueUrls"), tree_of_str(c->s->queues.v[i]->url));
}

static void attribute(struct call *c, const char *name, str value)
{
    const struct tree *names = in_list(c, "AttributeNames");

    for (uint32_t i = 0; names && i < names->n; i++)
        if (str_is(tree_str(&names->items[i]), name) || str_is(tree_str(&names->items[i]), "All")) {
            tree_set_str(c->a, tree_sub(c->a, c->out, "Attributes"), name, value);
            return;
        }
}

static void attribute_number(struct call *c, const char *name, int64_t value)
{
    attribute(c, name, arena_printf(c->a, "%lld", (long long)value));
}

void serve_get_queue_attributes(struct call *c)
{
    struct queue *q = queue_of(c);
    int64_t visible = 0, hidden = 0;

    if (!q)
        return;
    expire(c->s, q);
    for (const struct message *m = q->first; m; m = m->next)
        *(m->visible_ms > account_mono_ms(c->s) ? &hidden : &visible) += 1;
    attribute(c, "QueueArn", q->arn);
    attribute_number(c, "ApproximateNumberOfMessages", visible);
    attribute_number(c, "ApproximateNumberOfMessagesNotVisible", hidden);
    attribute_number(c, "ApproximateNumberOfMessagesDelayed", 0);
    attribute_number(c, "CreatedTimestamp", q->created_ms / 1000);
    attribute_number(c, "LastModifiedTimestamp", q->created_ms / 1000);
    attribute_number(c, "VisibilityTimeout", q->visibility_ms / 1000);
    attribute_number(c, "MessageRetentionPeriod", q->retention_ms / 1000);
    attribute_number(c, "MaximumMessageSize", MAX_BODY);
    attribute_number(c, "DelaySeconds", 0);
    attribute_number(c, "ReceiveMessageWaitTimeSeconds", 0);
    attribute(c, "SqsManagedSseEnabled", STR("true"));
}

uint32_t sim_aws_messages(const struct sim_aws *s, str queue, int64_t *ret_oldest_ms)
{
    const struct queue *q = account_queue(s, queue);
    int64_t sent_ms = INT64_MAX;
    uint32_t n = 0;

    for (const struct message *m = q ? q->first : NULL; m; m = m->next, n++)
        sent_ms = MIN(sent_ms, m->came_ms);
    if (ret_oldest_ms)
        *ret_oldest_ms = n ? account_mono_ms(s) - sent_ms : 0;
    return n;
}
