/* Jobs: pods that run to an end, until enough of them have.
 *
 * Every pod has a finalizer until its end is in the Job's status, so that none is counted twice or never. */
#include "base/bits.h"
#include "sim/kube/cluster/workload.h"

#define COMPONENT "job-controller"
#define TRACKING "batch.kubernetes.io/job-tracking"
#define INDEX "batch.kubernetes.io/job-completion-index"
#define BACKOFF_S 10
#define MAX_BACKOFF_S 360
#define RETRY_US 5000000ll
#define MAX_INDEXES 100000u

struct jobs {
    struct cluster *c;
    struct work *q, *orphans; /* Jobs; uids of pods whose Job is gone */
};

struct run { /* one Job that is being looked at */
    struct subject *s;
    struct jobs *p;
    int64_t parallelism, completions; /* completions -1: any success is enough */
    bool indexed, suspended;
    int64_t active, ready, terminating, succeeded, failed;
    int64_t last_failure_ms;
    uint64_t *done, *busy; /* indexes; [MAX_INDEXES] bits at most */
    uint32_t words;
    VEC(str) counted; /* uids of pods whose finalizer can go */
};

/* ---- indexes ---- */

/* "0-2,5" */
static void parse_indexes(str text, uint64_t *bits, uint32_t n)
{
    while (text.n) {
        str part, from, to;
        int64_t a, b;

        str_cut(text, ',', &part, &text);
        if (!str_cut(part, '-', &from, &to))
            to = from;
        if (!str_to_i64(from, &a) || !str_to_i64(to, &b))
            continue;
        for (int64_t i = MAX(a, 0); i <= b && i < n; i++)
            bit_set(bits, (uint32_t)i);
    }
}

static str print_indexes(struct arena *a, const uint64_t *bits, uint32_t n)
{
    struct sb b = {0};

    for (uint32_t i = 0; i < n; i++) {
        uint32_t end = i;

        if (!bit_test(bits, i))
            continue;
        while (end + 1 < n && bit_test(bits, end + 1))
            end++;
        sb_printf(&b, end > i + 1 ? "%s%u-%u" : end > i ? "%s%u,%u" : "%s%u", b.n ? "," : "", i, end);
        i = end;
    }
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static int64_t index_of(const struct object *o)
{
    int64_t i;

    return str_to_i64(object_label(o, STR(INDEX)), &i) ? i : -1;
}

/* ---- looking at the pods ---- */

static void look_at(struct run *r, const struct pod_entry *e)
{
    bool leaving = e->o->deleted_ms != 0, over = pod_is_over(e);
    int64_t index = r->indexed ? index_of(e->o) : -1;
    bool known = index >= 0 && index < r->completions;

    if (!over && !leaving) {
        r->active++;
        r->ready += e->ready;
        if (known)
            bit_set(r->busy, (uint32_t)index);
    }
    r->terminating += leaving && !over;
    if (e->phase == POD_FAILED)
        r->last_failure_ms = MAX(r->last_failure_ms, e->ready_since_ms);
    if (!e->tracked || (!over && !leaving))
        return;
    vec_push(&r->counted, e->uid);
    if (e->phase != POD_SUCCEEDED) {
        r->failed++;
        return;
    }
    if (!r->indexed) {
        r->succeeded++;
    } else if (known && !bit_test(r->done, (uint32_t)index)) {
        bit_set(r->done, (uint32_t)index);
        r->succeeded++;
    }
}

static void release(struct run *r)
{
    struct subject *s = r->s;

    for (uint32_t i = 0; i < r->counted.n; i++) {
        const struct pod_entry *e = pods_get(s->c->pods, r->counted.v[i]);

        if (!e)
            continue;
        struct tree *t = kube_tree(s->a, e->o);
        struct tree *list = tree_sublist(s->a, tree_sub(s->a, t, "metadata"), "finalizers");
        for (uint32_t k = list->n; k-- > 0;)
            if (str_is(tree_str(&list->items[k]), TRACKING))
                tree_remove(list, k);
        cluster_update(s->c, s->c->kinds.pod, NULL, t);
    }
}

/* ---- making and removing pods ---- */

static void set_index(struct run *r, struct tree *pod, uint32_t index)
{
    struct subject *s = r->s;
    str text = arena_printf(s->a, "%u", index);
    struct tree *meta = tree_sub(s->a, pod, "metadata"), *spec = tree_sub(s->a, pod, "spec");
    struct tree *containers = tree_sublist(s->a, spec, "containers");

    tree_set_str(s->a, tree_sub(s->a, meta, "labels"), INDEX, text);
    tree_set_str(s->a, tree_sub(s->a, meta, "annotations"), INDEX, text);
    tree_set_str(s->a, meta, "generateName", arena_printf(s->a, STR_FMT "-%u-", STR_ARG(s->o->name), index));
    tree_set_str(s->a, spec, "hostname", arena_printf(s->a, STR_FMT "-%u", STR_ARG(s->o->name), index));
    for (uint32_t i = 0; i < containers->n; i++) {
        struct tree *env = tree_push(s->a, tree_sublist(s->a, &containers->items[i], "env"), *tree_new_map(s->a));

        tree_set_str(s->a, env, "name", STR("JOB_COMPLETION_INDEX"));
        tree_set_str(s->a, tree_path(s->a, env, "valueFrom", "fieldRef", NULL), "fieldPath",
                     STR("metadata.labels['" INDEX "']"));
    }
}

static bool start_pod(struct run *r, uint32_t index)
{
    struct subject *s = r->s;
    struct tree *t = pod_of_template(s, tree_get(s->spec, "template"), (str){0});
    struct status st;

    tree_push(s->a, tree_sublist(s->a, tree_sub(s->a, t, "metadata"), "finalizers"), tree_of_str(STR(TRACKING)));
    if (r->indexed)
        set_index(r, t, index);
    return create_pod(s, COMPONENT, t, NULL, &st);
}

static void stop_pods(struct run *r, int64_t surplus)
{
    struct subject *s = r->s;
    const struct pod_group *g = pods_of_owner(s->c->pods, s->o->uid);
    VEC(str) uids = {0};

    for (const struct pod_entry *e = g ? g->last : NULL; e && surplus > 0; e = e->by_owner.prev)
        if (pod_is_active(e)) {
            vec_push(&uids, e->uid);
            surplus--;
        }
    for (uint32_t i = 0; i < uids.n; i++)
        if (pods_get(s->c->pods, uids.v[i]))
            delete_pod(s, COMPONENT, pods_get(s->c->pods, uids.v[i]));
    vec_fini(&uids);
}

/* After failures the next pods wait, twice as long each time. */
static int64_t wait_ms(const struct run *r, int64_t failed)
{
    int64_t s = BACKOFF_S;

    if (failed == 0)
        return 0;
    for (int64_t i = 1; i < failed && s < MAX_BACKOFF_S; i++)
        s *= 2;
    return r->last_failure_ms + MIN(s, MAX_BACKOFF_S) * 1000 - r->s->now_ms;
}

static void adjust(struct run *r, int64_t succeeded, int64_t failed)
{
    int64_t want = r->parallelism, more;

    if (r->completions >= 0)
        want = MIN(want, r->completions - succeeded);
    else if (succeeded > 0)
        want = MIN(want, r->active); /* the others finish what there is to do */
    want = MAX(want, 0);
    if (r->active > want) {
        stop_pods(r, r->active - want);
        r->active = want;
        return;
    }
    more = want - r->active;
    if (more > 0 && wait_ms(r, failed) > 0) {
        key_add_name_after(r->p->q, r->s->o->ns, r->s->o->name, wait_ms(r, failed) * 1000);
        return;
    }
    for (uint32_t index = 0; more > 0; index++) {
        if (r->indexed) {
            while (index < r->completions && (bit_test(r->done, index) || bit_test(r->busy, index)))
                index++;
            if (index >= r->completions)
                break;
        }
        if (!start_pod(r, index)) {
            key_add_name_after(r->p->q, r->s->o->ns, r->s->o->name, RETRY_US);
            break;
        }
        r->active++;
        more--;
    }
}

/* ---- ends ---- */

static void set_cond(struct run *r, const char *type, const char *status, const char *reason, const char *message)
{
    struct condition c = {.type = str_c(type),
                          .status = str_c(status),
                          .reason = str_c(reason),
                          .message = str_c(message),
                          .flavour = CONDITION_JOB};

    cond_set(r->s->a, tree_sublist(r->s->a, r->s->status, "conditions"), &c, r->s->now);
}

static bool has_ended(const struct subject *s)
{
    const struct tree *conditions = tree_get(s->status, "conditions");

    return cond_is(conditions, STR("Complete"), STR("True")) || cond_is(conditions, STR("Failed"), STR("True"));
}

static void fail(struct run *r, const char *reason, const char *message)
{
    stop_pods(r, INT64_MAX);
    r->active = r->ready = 0;
    set_cond(r, "FailureTarget", "True", reason, message);
    set_cond(r, "Failed", "True", reason, message);
    cluster_event(r->s->c, r->s->o, COMPONENT, "Warning", reason, "%s", message);
}

static void succeed(struct run *r)
{
    static const char message[] = "Reached expected number of succeeded pods";

    stop_pods(r, INT64_MAX);
    r->active = r->ready = 0;
    set_cond(r, "SuccessCriteriaMet", "True", "CompletionsReached", message);
    set_cond(r, "Complete", "True", "CompletionsReached", message);
    tree_set_str(r->s->a, r->s->status, "completionTime", r->s->now);
    cluster_event(r->s->c, r->s->o, COMPONENT, "Normal", "Completed", "Job completed");
}

static void set_suspended(struct run *r)
{
    struct subject *s = r->s;
    bool said = cond_is(tree_get(s->status, "conditions"), STR("Suspended"), STR("True"));

    if (r->suspended && !said) {
        set_cond(r, "Suspended", "True", "JobSuspended", "Job suspended");
        tree_drop(s->status, STR("startTime"));
        cluster_event(s->c, s->o, COMPONENT, "Normal", "Suspended", "Job suspended");
    } else if (!r->suspended && said) {
        set_cond(r, "Suspended", "False", "JobResumed", "Job resumed");
        tree_set_str(s->a, s->status, "startTime", s->now);
        cluster_event(s->c, s->o, COMPONENT, "Normal", "Resumed", "Job resumed");
    }
    if (r->suspended) {
        stop_pods(r, INT64_MAX);
        r->active = r->ready = 0;
    }
}

static bool past_deadline(struct run *r)
{
    struct subject *s = r->s;
    const struct tree *limit = tree_get(s->spec, "activeDeadlineSeconds");
    int64_t start_ms = field_time(tree_get(s->status, "startTime"), s->now_ms), left_ms;

    if (!limit || r->suspended)
        return false;
    left_ms = start_ms + field_i64(limit, 0) * 1000 - s->now_ms;
    if (left_ms > 0)
        key_add_name_after(r->p->q, s->o->ns, s->o->name, left_ms * 1000);
    return left_ms <= 0;
}

static void write_status(struct run *r, const struct tree *was, int64_t succeeded, int64_t failed)
{
    struct subject *s = r->s;

    status_count(s, "active", r->active);
    status_count(s, "succeeded", succeeded);
    status_count(s, "failed", failed);
    tree_set_i64(s->a, s->status, "ready", r->ready);
    tree_set_i64(s->a, s->status, "terminating", r->terminating);
    tree_set(s->a, s->status, "uncountedTerminatedPods", *tree_new_map(s->a));
    if (r->indexed && succeeded)
        tree_set_str(s->a, s->status, "completedIndexes",
                     print_indexes(s->a, r->done, (uint32_t)MAX(r->completions, 0)));
    if (!tree_equal(was, s->status))
        subject_write_status(s);
}

/* A finished Job goes after its time to live. */
static void expire(struct jobs *p, struct subject *s)
{
    const struct tree *ttl = tree_get(s->spec, "ttlSecondsAfterFinished");
    const struct tree *conditions = tree_get(s->status, "conditions");
    const struct tree *end = cond_find(conditions, STR("Complete"));
    struct delete_options d = {.grace_s = -1, .uid = s->o->uid, .propagation = "Foreground"};
    struct status st;

    if (!ttl || s->o->deleted_ms)
        return;
    if (!end)
        end = cond_find(conditions, STR("Failed"));
    int64_t left_ms = field_time(tree_get(end, "lastTransitionTime"), s->now_ms) + field_i64(ttl, 0) * 1000 - s->now_ms;
    if (left_ms > 0)
        key_add_name_after(p->q, s->o->ns, s->o->name, left_ms * 1000);
    else
        kube_delete(s->c->k, s->a, s->o->kind, s->o->ns, s->o->name, &d, &st);
}

/* ---- the controller ---- */

static void read_job(struct run *r)
{
    struct subject *s = r->s;
    const struct tree *completions = tree_get(s->spec, "completions");

    r->parallelism = field_i64(tree_get(s->spec, "parallelism"), 1);
    r->completions = completions ? field_i64(completions, 1) : -1;
    r->indexed = str_is(tree_str(tree_get(s->spec, "completionMode")), "Indexed");
    r->suspended = tree_is_true(tree_get(s->spec, "suspend"));
    if (r->indexed)
        r->completions = MIN(r->completions, MAX_INDEXES);
    r->words = BITS_WORDS(r->indexed ? MAX(r->completions, 0) : 0) + 1;
    r->done = arena_new_array(s->a, uint64_t, r->words);
    r->busy = arena_new_array(s->a, uint64_t, r->words);
    parse_indexes(tree_str(tree_get(s->status, "completedIndexes")), r->done, (r->words - 1) * 64);
}

static void sync(struct run *r)
{
    struct subject *s = r->s;
    const struct tree *was = tree_copy(s->a, s->status);
    const struct pod_group *g = pods_of_owner(s->c->pods, s->o->uid);
    bool ended = has_ended(s);

    read_job(r);
    for (const struct pod_entry *e = g ? g->first : NULL; e; e = e->by_owner.next)
        look_at(r, e);
    int64_t succeeded = field_i64(tree_get(s->status, "succeeded"), 0) + (ended ? 0 : r->succeeded);
    int64_t failed = field_i64(tree_get(s->status, "failed"), 0) + (ended ? 0 : r->failed);
    if (!ended && !tree_get(s->status, "startTime") && !r->suspended)
        tree_set_str(s->a, s->status, "startTime", s->now);
    if (ended || s->o->deleted_ms) {
        /* nothing is started any more */
    } else if (failed > field_i64(tree_get(s->spec, "backoffLimit"), 6)) {
        fail(r, "BackoffLimitExceeded", "Job has reached the specified backoff limit");
    } else if (past_deadline(r)) {
        fail(r, "DeadlineExceeded", "Job was active longer than specified deadline");
    } else if (r->completions >= 0 ? succeeded >= r->completions : succeeded > 0 && r->active == 0) {
        succeed(r);
    } else {
        set_suspended(r);
        if (!r->suspended)
            adjust(r, succeeded, failed);
    }
    write_status(r, was, succeeded, failed);
    release(r);
    if (has_ended(s))
        expire(r->p, s);
}

static void on_work(void *ctx, str key)
{
    struct jobs *p = ctx;
    struct subject s;

    if (!subject_begin(&s, p->c, p->c->kinds.job, key))
        return;
    struct run r = {.s = &s, .p = p};
    sync(&r);
    vec_fini(&r.counted);
    subject_end(&s);
}

/* A Job that is gone cannot count its pods: they are let go. */
static void on_pod(void *ctx, struct seen *s)
{
    struct jobs *p = ctx;

    const struct pod_entry *e = pods_seen(p->c->pods, s);
    const struct owner *owner = controller_of(seen_object(s));

    if (!e || (s->new && !(e->news & POD_COUNTS)))
        return;
    wake_owner(p->q, p->c->kinds.job, seen_object(s));
    if (s->new && e->tracked && (!owner || !kube_by_uid(p->c->k, owner->uid)))
        work_add(p->orphans, s->new->uid);
}

static void on_orphan(void *ctx, str uid)
{
    struct jobs *p = ctx;
    const struct pod_entry *e = pods_get(p->c->pods, uid);
    const struct owner *owner = e ? controller_of(e->o) : NULL;

    if (!e || !e->tracked || (owner && kube_by_uid(p->c->k, owner->uid)))
        return;
    struct subject s = {.c = p->c, .a = cluster_begin(p->c)};
    struct run r = {.s = &s, .p = p};
    vec_push(&r.counted, e->uid);
    release(&r);
    vec_fini(&r.counted);
}

static void on_job(void *ctx, struct seen *s)
{
    struct jobs *p = ctx;

    if (s->new) {
        if (!is_own_status(p->c, s))
            key_add(p->q, s->new);
        return;
    }
    const struct pod_group *g = pods_of_owner(p->c->pods, s->old->uid);
    for (const struct pod_entry *e = g ? g->first : NULL; e; e = e->by_owner.next)
        if (e->tracked)
            work_add(p->orphans, e->uid);
}

struct jobs *jobs_new(struct cluster *c)
{
    struct jobs *p = xcalloc(1, sizeof(*p));

    p->c = c;
    p->q = work_new(c->w, "job", on_work, p);
    p->orphans = work_new(c->w, "job-orphans", on_orphan, p);
    see(c, c->kinds.job, on_job, p);
    see(c, c->kinds.pod, on_pod, p);
    return p;
}

void jobs_free(struct jobs *p)
{
    if (!p)
        return;
    work_free(p->q);
    work_free(p->orphans);
    free(p);
}
