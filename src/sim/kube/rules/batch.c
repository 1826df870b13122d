/* Rules and columns of what runs to an end: Job, CronJob. */
#include "base/sb.h"
#include "model/cron.h"
#include "sim/kube/rules/cells.h"
#include "sim/kube/rules/podspec.h"
#include "sim/kube/rules/rules.h"
#include "sim/kube/rules/view.h"

#define UID_LABEL "batch.kubernetes.io/controller-uid"
#define NAME_LABEL "batch.kubernetes.io/job-name"

static const struct at *const at_spec = &(const struct at){.key = STR_INIT("spec")};

/* ---- Job ---- */

static void default_failure_policy(struct arena *a, struct tree *policy)
{
    struct tree *rules = edit_list(policy, "rules");

    for (uint32_t i = 0; i < list_len(rules); i++) {
        struct tree *conditions = edit_list(&rules->items[i], "onPodConditions");

        for (uint32_t j = 0; j < list_len(conditions); j++)
            default_str(a, &conditions->items[j], "status", "True");
    }
}

static void job_defaults(struct arena *a, struct tree *obj)
{
    compact(a, obj);
    struct tree *spec = tree_sub(a, obj, "spec"), *conditions = edit_list(edit_map(obj, "status"), "conditions");
    if (!spec)
        return;
    if (!has(spec, "completions") && !has(spec, "parallelism"))
        tree_set_i64(a, spec, "completions", 1);
    default_i64(a, spec, "parallelism", 1);
    default_i64(a, spec, "backoffLimit", has(spec, "backoffLimitPerIndex") ? INT32_MAX : 6);
    default_str(a, spec, "completionMode", "NonIndexed");
    default_bool(a, spec, "suspend", false);
    default_bool(a, spec, "manualSelector", false);
    default_failure_policy(a, edit_map(spec, "podFailurePolicy"));
    default_str(a, spec, "podReplacementPolicy", has(spec, "podFailurePolicy") ? "Failed" : "TerminatingOrFailed");
    template_defaults(a, tree_sub(a, spec, "template"));
    tree_sub(a, obj, "status");
    for (uint32_t i = 0; i < list_len(conditions); i++) {
        default_null(a, &conditions->items[i], "lastProbeTime");
        default_null(a, &conditions->items[i], "lastTransitionTime");
    }
}

/* The job's own pods are told by its uid, unless the user takes care of that. */
static void job_on_create(struct rule_context *c, struct tree *obj, str *ret_denied)
{
    str uid = tree_str(tree_at(obj, "metadata", "uid", NULL)), name = object_name(obj);

    status_empty(c, obj, ret_denied);
    struct tree *spec = edit_map(obj, "spec");
    struct tree *labels = tree_path(c->a, spec, "template", "metadata", "labels", NULL);
    if (!labels)
        return;
    if (!tree_is_true(tree_get(spec, "manualSelector"))) {
        struct tree *own = tree_path(c->a, spec, "selector", "matchLabels", NULL);

        tree_set_str(c->a, labels, "controller-uid", uid);
        tree_set_str(c->a, labels, UID_LABEL, uid);
        tree_set_str(c->a, labels, "job-name", name);
        tree_set_str(c->a, labels, NAME_LABEL, name);
        if (own)
            tree_set_str(c->a, own, UID_LABEL, uid);
    }
    struct tree *meta = tree_sub(c->a, obj, "metadata");
    if (meta && labels->n && !has(meta, "labels"))
        tree_set(c->a, meta, "labels", *tree_copy(c->a, labels));
}

static void check_restart(struct flaws *f, const struct at *tmpl, const struct tree *t)
{
    const struct tree *policy = tree_at(t, "spec", "restartPolicy", NULL);
    static const char *const words[] = {"OnFailure", "Never", NULL};

    if (is_empty(policy) || str_is(tree_str(policy), "Always"))
        flaw_required(f, AT(AT(tmpl, "spec"), "restartPolicy"), "valid values: \"OnFailure\", \"Never\"");
    else
        check_word(f, AT(AT(tmpl, "spec"), "restartPolicy"), policy, words);
}

static void check_job_spec(struct flaws *f, const struct at *at, const struct tree *spec)
{
    static const char *const counts[] = {
        "parallelism",          "completions",     "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished",
        "backoffLimitPerIndex", "maxFailedIndexes"};
    static const char *const modes[] = {"NonIndexed", "Indexed", NULL};
    static const char *const replacement[] = {"Failed", "TerminatingOrFailed", NULL};
    const struct tree *tmpl = tree_get(spec, "template");

    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        check_not_negative(f, AT_STR(at, str_c(counts[i])), tree_get(spec, counts[i]));
    check_word(f, AT(at, "completionMode"), tree_get(spec, "completionMode"), modes);
    if (str_is(tree_str(tree_get(spec, "completionMode")), "Indexed") && !has(spec, "completions"))
        flaw_required(f, AT(at, "completions"), "when completion mode is Indexed");
    check_word(f, AT(at, "podReplacementPolicy"), tree_get(spec, "podReplacementPolicy"), replacement);
    template_check(f, AT(at, "template"), tmpl);
    check_restart(f, AT(at, "template"), tmpl);
}

/* The selector that on_create made, and nothing else. */
static void check_own_selector(struct flaws *f, const struct tree *obj)
{
    const struct tree *spec = tree_get(obj, "spec"), *selector = tree_get(spec, "selector");
    const struct tree *labels = tree_at(spec, "template", "metadata", "labels", NULL);
    const struct tree *match = tree_get(selector, "matchLabels");

    if (!tree_is_true(tree_get(spec, "manualSelector"))) {
        if (!match || match->n != 1 || !has(match, UID_LABEL) || has(selector, "matchExpressions"))
            flaw_invalid(f, AT(at_spec, "selector"), view_text(f->a, view_label_selector, selector),
                         "`selector` not auto-generated");
        return;
    }
    if (!selector)
        flaw_required(f, AT(at_spec, "selector"), "%s", "");
    else
        selector_check(f, AT(at_spec, "selector"), selector);
    if (!selector_selects(selector, labels))
        flaw_invalid(f, AT(AT(AT(at_spec, "template"), "metadata"), "labels"), json_sorted_text(f->a, labels),
                     "`selector` does not match template `labels`");
}

/* While a job is suspended its pods may be told where to run. */
static struct tree *without_placing(struct arena *a, const struct tree *tmpl, const struct tree *was)
{
    static const char *const placing[] = {"nodeSelector", "affinity", "tolerations", "schedulingGates"};
    static const char *const meta[] = {"labels", "annotations"};
    struct tree *t = tree_copy(a, tmpl);

    for (size_t i = 0; i < ARRAY_LEN(placing); i++)
        keep(a, tree_sub(a, t, "spec"), tree_get(was, "spec"), placing[i]);
    for (size_t i = 0; i < ARRAY_LEN(meta); i++)
        keep(a, tree_sub(a, t, "metadata"), tree_get(was, "metadata"), meta[i]);
    return t;
}

static void check_job_stays(struct flaws *f, const struct tree *spec, const struct tree *was)
{
    const struct tree *completions = tree_get(spec, "completions"), *tmpl = tree_get(spec, "template");
    bool indexed = str_is(tree_str(tree_get(spec, "completionMode")), "Indexed");

    if (!same(completions, tree_get(was, "completions"))) {
        if (!indexed)
            flaw_invalid(f, AT(at_spec, "completions"), json_sorted_text(f->a, completions), "field is immutable");
        else if (!same(completions, tree_get(spec, "parallelism")))
            flaw_invalid(f, AT(at_spec, "completions"), json_sorted_text(f->a, completions),
                         "can only be modified in tandem with spec.parallelism");
    }
    if (!same(tree_get(spec, "selector"), tree_get(was, "selector")))
        flaw_invalid(f, AT(at_spec, "selector"), view_text(f->a, view_label_selector, tree_get(spec, "selector")),
                     "field is immutable");
    if (tree_is_true(tree_get(was, "suspend")))
        tmpl = without_placing(f->a, tmpl, tree_get(was, "template"));
    if (!same(tmpl, tree_get(was, "template")))
        flaw_invalid(f, AT(at_spec, "template"), view_text(f->a, view_pod_template, tree_get(spec, "template")),
                     "field is immutable");
    check_immutable(f, AT(at_spec, "completionMode"), tree_get(spec, "completionMode"),
                    tree_get(was, "completionMode"));
    check_immutable(f, AT(at_spec, "podFailurePolicy"), tree_get(spec, "podFailurePolicy"),
                    tree_get(was, "podFailurePolicy"));
}

static void job_validate(struct rule_context *c, const struct tree *obj, const struct tree *old, struct causes *out)
{
    struct flaws *f = FLAWS(c, out);

    if (c->sub)
        return;
    check_job_spec(f, at_spec, tree_get(obj, "spec"));
    if (old)
        check_job_stays(f, tree_get(obj, "spec"), tree_get(old, "spec"));
    else
        check_own_selector(f, obj);
}

static const char *const job_selectable[] = {"status.successful", NULL};

const struct kind_rules rules_job = {job_defaults, job_on_create, keep_other_half, job_validate, job_selectable};

static const struct column job_columns[] = {
    COLUMN_NAME,
    {"Status", "string", "", "How far it is", 0},
    {"Completions", "string", "", "Pods that succeeded, of those wanted", 0},
    {"Duration", "string", "", "How long it took, or has taken so far", 0},
    COLUMNS_OF_PODS,
};

static bool is_so(const struct tree *job, const char *type)
{
    return str_is(tree_str(tree_get(condition(job, str_c(type)), "status")), "True");
}

static const char *job_status(const struct tree *job)
{
    if (is_so(job, "Complete"))
        return "Complete";
    if (is_so(job, "Failed"))
        return "Failed";
    if (has(tree_get(job, "metadata"), "deletionTimestamp"))
        return "Terminating";
    if (is_so(job, "Suspended"))
        return "Suspended";
    if (is_so(job, "FailureTarget"))
        return "FailureTarget";
    if (is_so(job, "SuccessCriteriaMet"))
        return "SuccessCriteriaMet";
    return "Running";
}

static void cell_completions(struct cells *c, const struct tree *job)
{
    int64_t done = 0, wanted = 0, parallel = 0;

    (void)tree_to_i64(tree_at(job, "status", "succeeded", NULL), &done);
    (void)tree_to_i64(tree_at(job, "spec", "parallelism", NULL), &parallel);
    if (tree_to_i64(tree_at(job, "spec", "completions", NULL), &wanted))
        cell_str(c, arena_printf(c->a, "%lld/%lld", (long long)done, (long long)wanted));
    else if (parallel > 1)
        cell_str(c, arena_printf(c->a, "%lld/1 of %lld", (long long)done, (long long)parallel));
    else
        cell_str(c, arena_printf(c->a, "%lld/1", (long long)done));
}

static void job_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    const struct tree *status = tree_get(obj, "status");
    int64_t start, end = now_ms;

    cell_name(c, obj);
    cell_c(c, job_status(obj));
    cell_completions(c, obj);
    if (!time_of(tree_get(status, "startTime"), &start)) {
        cell_c(c, "");
    } else {
        if (!time_of(tree_get(status, "completionTime"), &end) && is_so(obj, "Failed"))
            (void)time_of(tree_get(condition(obj, STR("Failed")), "lastTransitionTime"), &end);
        cell_str(c, age_text(a, sat_sub(end, start)));
    }
    cell_of_pods(c, obj);
}

KIND_COLUMNS(job);

/* ---- CronJob ---- */

static void cron_job_defaults(struct arena *a, struct tree *obj)
{
    compact(a, obj);
    struct tree *spec = tree_sub(a, obj, "spec");
    if (!spec)
        return;
    default_str(a, spec, "concurrencyPolicy", "Allow");
    default_bool(a, spec, "suspend", false);
    default_i64(a, spec, "successfulJobsHistoryLimit", 3);
    default_i64(a, spec, "failedJobsHistoryLimit", 1);
    struct tree *job = tree_sub(a, spec, "jobTemplate");
    if (!job)
        return;
    tree_sub(a, job, "metadata");
    struct tree *job_spec = tree_sub(a, job, "spec");
    if (!job_spec)
        return;
    default_failure_policy(a, edit_map(job_spec, "podFailurePolicy"));
    template_defaults(a, tree_sub(a, job_spec, "template"));
    tree_sub(a, obj, "status");
}

/* The zones of the IANA data base have a region; a few have none. */
static bool is_zone(str s)
{
    static const char *const plain[] = {"UTC", "GMT", "EST", "MST", "HST", "CET", "EET", "MET", "WET", "Zulu", "UCT"};
    static const char *const regions[] = {"Africa/",    "America/", "Antarctica/", "Arctic/", "Asia/", "Atlantic/",
                                          "Australia/", "Brazil/",  "Canada/",     "Chile/",  "Etc/",  "Europe/",
                                          "Indian/",    "Mexico/",  "Pacific/",    "US/"};

    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        if (str_is(s, plain[i]))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(regions); i++)
        if (str_starts(s, str_c(regions[i])))
            return true;
    return false;
}

struct fields {
    str v[8];
    uint32_t n; /* of all, also those that found no room */
};

static struct fields split_fields(str s)
{
    struct fields f = {0};
    size_t from = 0;

    for (size_t i = 0; i <= s.n; i++)
        if (i == s.n || s.p[i] == ' ' || s.p[i] == '\t') {
            if (i > from && f.n++ < ARRAY_LEN(f.v))
                f.v[f.n - 1] = str_sub(s, from, i);
            from = i + 1;
        }
    return f;
}

/* What is wrong with one part of a field ("5", "1-10/2"), in the words of the server's own parser; empty when nothing is. */
static str part_flaw(struct arena *a, str part, int64_t least, int64_t most)
{
    str range, step, low, high;
    bool stepped = str_cut(part, '/', &range, &step), two = str_cut(range, '-', &low, &high);
    int64_t from = least, to = most, by = 1;

    if (str_is(low, "*") || str_is(low, "?"))
        two = true;
    else if (!str_to_i64(low, &from))
        return arena_printf(
            a, "failed to parse int from " STR_FMT ": strconv.Atoi: parsing \"" STR_FMT "\": invalid syntax",
            STR_ARG(low), STR_ARG(low));
    else if (two && !str_to_i64(high, &to))
        return arena_printf(
            a, "failed to parse int from " STR_FMT ": strconv.Atoi: parsing \"" STR_FMT "\": invalid syntax",
            STR_ARG(high), STR_ARG(high));
    if (!two && !stepped)
        to = from;
    if (from < least)
        return arena_printf(a, "beginning of range (%lld) below minimum (%lld): " STR_FMT, (long long)from,
                            (long long)least, STR_ARG(part));
    if (to > most)
        return arena_printf(a, "end of range (%lld) above maximum (%lld): " STR_FMT, (long long)to, (long long)most,
                            STR_ARG(part));
    if (from > to)
        return arena_printf(a, "beginning of range (%lld) beyond end of range (%lld): " STR_FMT, (long long)from,
                            (long long)to, STR_ARG(part));
    if (stepped && str_to_i64(step, &by) && by == 0)
        return arena_printf(a, "step of range should be a positive number: " STR_FMT, STR_ARG(part));
    return (str){0};
}

static str schedule_flaw(struct arena *a, str s, const struct err *e)
{
    static const int64_t bounds[][2] = {{0, 59}, {0, 23}, {1, 31}, {1, 12}, {0, 6}};
    struct fields f = split_fields(s);
    str part;

    if (s.p[0] == '@')
        return arena_printf(a, "unrecognized descriptor: " STR_FMT, STR_ARG(s));
    if (f.n != ARRAY_LEN(bounds)) {
        struct sb b = {0};

        for (uint32_t i = 0; i < MIN(f.n, (uint32_t)ARRAY_LEN(f.v)); i++)
            sb_printf(&b, "%s" STR_FMT, i ? " " : "", STR_ARG(f.v[i]));
        str list = arena_printf(a, "expected exactly 5 fields, found %u: [%s]", f.n, sb_cstr(&b));
        sb_fini(&b);
        return list;
    }
    for (size_t i = 0; i < ARRAY_LEN(bounds); i++)
        for (str rest = f.v[i]; rest.n;) {
            (void)str_cut(rest, ',', &part, &rest);
            str why = part_flaw(a, part, bounds[i][0], bounds[i][1]);
            if (why.n)
                return why;
        }
    return arena_printf(a, "%s", e->msg);
}

static void check_schedule(struct flaws *f, const struct at *at, str s)
{
    struct cron cron;
    struct err e;

    if (s.n == 0) {
        flaw_required(f, at, "%s", "");
    } else if (str_contains(s, STR("TZ"))) {
        flaw_invalid(f, at, json_quoted(f->a, s), "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
    } else if (!cron_parse(s, &cron, &e) && !str_starts(s, STR("@every "))) {
        str why = schedule_flaw(f->a, s, &e);

        flaw_invalid(f, at, json_quoted(f->a, s), STR_FMT, STR_ARG(why));
    }
}

static void cron_job_validate(struct rule_context *c, const struct tree *obj, const struct tree *old,
                              struct causes *out)
{
    static const char *const policies[] = {"Allow", "Forbid", "Replace", NULL};
    static const char *const counts[] = {"startingDeadlineSeconds", "successfulJobsHistoryLimit",
                                         "failedJobsHistoryLimit"};
    struct flaws *f = FLAWS(c, out);
    const struct tree *spec = tree_get(obj, "spec");
    str zone = tree_str(tree_get(spec, "timeZone"));

    (void)old;
    if (c->sub)
        return;
    check_schedule(f, AT(at_spec, "schedule"), tree_str(tree_get(spec, "schedule")));
    if (has(spec, "timeZone") && !is_zone(zone))
        flaw_invalid(f, AT(at_spec, "timeZone"), json_quoted(c->a, zone), "unknown time zone " STR_FMT, STR_ARG(zone));
    check_word(f, AT(at_spec, "concurrencyPolicy"), tree_get(spec, "concurrencyPolicy"), policies);
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        check_not_negative(f, AT_STR(at_spec, str_c(counts[i])), tree_get(spec, counts[i]));
    check_job_spec(f, AT(AT(at_spec, "jobTemplate"), "spec"), tree_at(spec, "jobTemplate", "spec", NULL));
}

const struct kind_rules rules_cron_job = {cron_job_defaults, status_empty, keep_other_half, cron_job_validate, NULL};

static const struct column cron_job_columns[] = {
    COLUMN_NAME,
    {"Schedule", "string", "", "When it runs", 0},
    {"Timezone", "string", "", "Time zone of the schedule", 0},
    {"Suspend", "boolean", "", "Whether it is suspended", 0},
    {"Active", "integer", "", "Jobs that run now", 0},
    {"Last Schedule", "string", "", "Time since it ran last", 0},
    COLUMNS_OF_PODS,
};

static void cron_job_cells(struct arena *a, const struct tree *obj, int64_t now_ms, struct tree *ret_cells)
{
    CELLS;
    const struct tree *spec = tree_get(obj, "spec"), *last = tree_at(obj, "status", "lastScheduleTime", NULL);
    const struct tree *job = tree_at(spec, "jobTemplate", "spec", NULL);

    cell_name(c, obj);
    cell_str(c, tree_str(tree_get(spec, "schedule")));
    cell_or(c, tree_str(tree_get(spec, "timeZone")), "<none>");
    cell_c(c, tree_is_true(tree_get(spec, "suspend")) ? "True" : "False");
    cell_i64(c, list_len(tree_at(obj, "status", "active", NULL)));
    if (last)
        cell_since(c, last);
    else
        cell_c(c, "<none>");
    cell_age(c, obj);
    cell_containers(c, tree_at(job, "template", "spec", NULL));
    if (has(job, "selector"))
        cell_selector(c, tree_get(job, "selector"));
    else
        cell_c(c, "<none>");
}

KIND_COLUMNS(cron_job);
