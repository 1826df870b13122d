/* CronJobs: Jobs by schedule, in UTC. */
#include "model/cron.h"
#include "sim/kube/cluster/workload.h"

#define COMPONENT "cronjob-controller"
#define SCHEDULED "batch.kubernetes.io/cronjob-scheduled-timestamp"
#define MAX_MISSED 100

struct cron_jobs {
    struct cluster *c;
    struct work *q;
};

struct history {
    const struct object *o;
    struct tree *t;
    bool complete, failed;
    int64_t start_ms;
};

/* ---- Jobs that were made ---- */

static int compare_start(const void *x, const void *y, void *ctx)
{
    const struct history *a = x, *b = y;

    (void)ctx;
    if (a->start_ms != b->start_ms)
        return a->start_ms < b->start_ms ? -1 : 1;
    return str_cmp(a->o->name, b->o->name);
}

static uint32_t load(struct subject *s, const objects *list, struct history **ret)
{
    *ret = arena_new_array(s->a, struct history, list->n);
    for (uint32_t i = 0; i < list->n; i++) {
        struct tree *t = kube_tree(s->a, list->v[i]);
        const struct tree *conditions = tree_at(t, "status", "conditions", NULL);

        (*ret)[i] = (struct history){
            .o = list->v[i],
            .t = t,
            .complete = cond_is(conditions, STR("Complete"), STR("True")),
            .failed = cond_is(conditions, STR("Failed"), STR("True")),
            .start_ms = field_time(tree_at(t, "status", "startTime", NULL), list->v[i]->created_ms),
        };
    }
    sort_stable(*ret, list->n, sizeof(**ret), compare_start, NULL);
    return list->n;
}

static bool was_active(const struct tree *active, str uid)
{
    for (uint32_t i = 0; active && i < active->n; i++)
        if (str_eq(tree_str(tree_get(&active->items[i], "uid")), uid))
            return true;
    return false;
}

/* status.active holds what runs; what has ended since the last look is said once. */
static uint32_t update_active(struct subject *s, const struct history *jobs, uint32_t n)
{
    const struct tree *was = tree_get(s->status, "active");
    struct tree *active = tree_new_list(s->a);
    int64_t success_ms = field_time(tree_get(s->status, "lastSuccessfulTime"), 0);

    for (uint32_t i = 0; i < n; i++) {
        const struct history *j = &jobs[i];

        if (!j->complete && !j->failed) {
            struct tree *ref = tree_push(s->a, active, *tree_new_map(s->a));

            tree_set_str(s->a, ref, "kind", STR("Job"));
            tree_set_str(s->a, ref, "namespace", j->o->ns);
            tree_set_str(s->a, ref, "name", j->o->name);
            tree_set_str(s->a, ref, "uid", j->o->uid);
            tree_set_str(s->a, ref, "apiVersion", STR("batch/v1"));
            tree_set_str(s->a, ref, "resourceVersion", arena_printf(s->a, "%llu", (unsigned long long)j->o->rv));
            continue;
        }
        if (was_active(was, j->o->uid))
            cluster_event(s->c, s->o, COMPONENT, "Normal", "SawCompletedJob",
                          "Saw completed job: " STR_FMT ", condition: %s", STR_ARG(j->o->name),
                          j->complete ? "Complete" : "Failed");
        str end = tree_str(tree_at(j->t, "status", "completionTime", NULL));
        if (j->complete && field_time(tree_at(j->t, "status", "completionTime", NULL), 0) > success_ms) {
            success_ms = field_time(tree_at(j->t, "status", "completionTime", NULL), 0);
            tree_set_str(s->a, s->status, "lastSuccessfulTime", end);
        }
    }
    if (active->n)
        tree_set(s->a, s->status, "active", *active);
    else
        tree_drop(s->status, STR("active"));
    return active->n;
}

static void delete_job(struct subject *s, const struct object *o)
{
    struct delete_options d = {.grace_s = -1, .uid = o->uid, .propagation = "Background"};
    struct status st;
    str name = arena_strdup(s->a, o->name);

    if (kube_delete(s->c->k, s->a, s->c->kinds.job, o->ns, o->name, &d, &st))
        cluster_event(s->c, s->o, COMPONENT, "Normal", "SuccessfulDelete", "Deleted job " STR_FMT, STR_ARG(name));
}

static void trim(struct subject *s, const struct history *jobs, uint32_t n, bool failed, int64_t limit)
{
    int64_t have = 0;

    for (uint32_t i = 0; i < n; i++)
        have += failed ? jobs[i].failed : jobs[i].complete;
    for (uint32_t i = 0; i < n && have > limit; i++)
        if (failed ? jobs[i].failed : jobs[i].complete) {
            delete_job(s, jobs[i].o);
            have--;
        }
}

/* ---- making Jobs ---- */

static void start(struct subject *s, int64_t at_ms)
{
    const struct tree *template = tree_get(s->spec, "jobTemplate"), *from = tree_get(template, "metadata");
    str name = arena_printf(s->a, STR_FMT "-%lld", STR_ARG(s->o->name), (long long)(at_ms / 60000));
    struct tree *t = object_new(s->a, s->c->kinds.job, s->o->ns, name), *meta = tree_sub(s->a, t, "metadata");
    struct tree *annotations = tree_sub(s->a, meta, "annotations");
    struct status st;

    if (tree_get(from, "labels"))
        strings_merge(s->a, tree_sub(s->a, meta, "labels"), tree_get(from, "labels"));
    strings_merge(s->a, annotations, tree_get(from, "annotations"));
    tree_set_str(s->a, annotations, SCHEDULED, time_text(s->a, at_ms));
    set_controller(s->a, meta, s->o);
    if (tree_get(template, "spec"))
        tree_set(s->a, t, "spec", *tree_copy(s->a, tree_get(template, "spec")));
    if (kube_create(s->c->k, s->a, s->c->kinds.job, t, NULL, &st))
        cluster_event(s->c, s->o, COMPONENT, "Normal", "SuccessfulCreate", "Created job " STR_FMT, STR_ARG(name));
    else if (!str_is(str_c(st.reason), "AlreadyExists"))
        cluster_event(s->c, s->o, COMPONENT, "Warning", "FailedCreate", "Error creating job: " STR_FMT,
                      STR_ARG(st.message));
    tree_set_str(s->a, s->status, "lastScheduleTime", time_text(s->a, at_ms));
}

/* The last time that has come and was not used; 0: none. */
static int64_t due_ms(const struct subject *s, const struct cron *cron)
{
    int64_t from_ms = field_time(tree_get(s->status, "lastScheduleTime"), s->o->created_ms), last = 0, next;
    int64_t deadline_s = field_i64(tree_get(s->spec, "startingDeadlineSeconds"), -1);

    if (deadline_s >= 0)
        from_ms = MAX(from_ms, s->now_ms - deadline_s * 1000);
    for (uint32_t n = 0; cron_next(cron, from_ms, &next) && next <= s->now_ms; n++) {
        last = from_ms = next;
        if (n > MAX_MISSED) /* nobody looked for long: begin again near now */
            from_ms = MAX(from_ms, s->now_ms - 3600 * 1000);
    }
    return last;
}

static void sync(struct cron_jobs *p, struct subject *s, struct history *jobs, uint32_t n)
{
    const struct tree *was = tree_copy(s->a, s->status);
    uint32_t active = update_active(s, jobs, n);
    str policy = tree_str(tree_get(s->spec, "concurrencyPolicy"));
    struct cron cron;
    struct err e;
    int64_t next;

    trim(s, jobs, n, false, field_i64(tree_get(s->spec, "successfulJobsHistoryLimit"), 3));
    trim(s, jobs, n, true, field_i64(tree_get(s->spec, "failedJobsHistoryLimit"), 1));
    if (!cron_parse(tree_str(tree_get(s->spec, "schedule")), &cron, &e)) {
        cluster_event(s->c, s->o, COMPONENT, "Warning", "UnparseableSchedule", "unparseable schedule: \"" STR_FMT "\"",
                      STR_ARG(tree_str(tree_get(s->spec, "schedule"))));
    } else if (!tree_is_true(tree_get(s->spec, "suspend")) && !s->o->deleted_ms) {
        int64_t at_ms = due_ms(s, &cron);

        if (at_ms && active && str_is(policy, "Forbid")) {
            cluster_event(s->c, s->o, COMPONENT, "Normal", "JobAlreadyActive",
                          "Not starting job because prior execution is running and concurrency policy is Forbid");
        } else if (at_ms) {
            for (uint32_t i = 0; i < n && str_is(policy, "Replace"); i++)
                if (!jobs[i].complete && !jobs[i].failed)
                    delete_job(s, jobs[i].o);
            start(s, at_ms);
        }
        if (cron_next(&cron, s->now_ms, &next))
            key_add_name_after(p->q, s->o->ns, s->o->name, (next - s->now_ms) * 1000);
    }
    if (!tree_equal(was, s->status))
        subject_write_status(s);
}

static void on_work(void *ctx, str key)
{
    struct cron_jobs *p = ctx;
    struct history *jobs;
    objects list = {0};
    struct subject s;

    if (!subject_begin(&s, p->c, p->c->kinds.cron_job, key))
        return;
    children_of(&s, p->c->kinds.job, &list);
    uint32_t n = load(&s, &list, &jobs);
    sync(p, &s, jobs, n);
    objects_fini(&list);
    subject_end(&s);
}

static void on_cron_job(void *ctx, struct seen *s)
{
    struct cron_jobs *p = ctx;

    if (s->new)
        key_add(p->q, s->new);
}

static void on_job(void *ctx, struct seen *s)
{
    struct cron_jobs *p = ctx;

    wake_owner(p->q, p->c->kinds.cron_job, seen_object(s));
}

struct cron_jobs *cron_jobs_new(struct cluster *c)
{
    struct cron_jobs *p = xcalloc(1, sizeof(*p));

    p->c = c;
    p->q = work_new(c->w, "cronjob", on_work, p);
    see(c, c->kinds.cron_job, on_cron_job, p);
    see(c, c->kinds.job, on_job, p);
    return p;
}

void cron_jobs_free(struct cron_jobs *p)
{
    if (!p)
        return;
    work_free(p->q);
    free(p);
}
