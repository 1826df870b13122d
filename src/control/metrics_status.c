/* Conditions of objects: the same six families for each kind, whose names carry the kind and whose labels depend on it (lifecycle 10.4). */
#include "base/vec.h"
#include "control/metrics_int.h"

#define MAX_LABELS 16u

static const double status_buckets[] = {0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192};

static const struct family {
    size_t at;
    enum metric_kind kind;
    const char *name;    /* after "operator_<kind>_" */
    const char *help[2]; /* before and after the kind */
    const char *labels[6];
} table[] = {
    {offsetof(struct status_metrics, transition),
     METRIC_HISTOGRAM,
     "status_condition_transition_seconds",
     {"How long a condition of a ", " had a status before it changed."},
     {"type", "status"}},
    {offsetof(struct status_metrics, transitions_total),
     METRIC_COUNTER,
     "status_condition_transitions_total",
     {"How often a condition of a ", " took a status."},
     {"type", "status", "reason"}},
    {offsetof(struct status_metrics, count),
     METRIC_GAUGE,
     "status_condition_count",
     {"1 for every condition of every ", "."},
     {"namespace", "name", "type", "status", "reason"}},
    {offsetof(struct status_metrics, current_status),
     METRIC_GAUGE,
     "status_condition_current_status_seconds",
     {"For how long a condition of a ", " has had its status."},
     {"namespace", "name", "type", "status", "reason"}},
    {offsetof(struct status_metrics, termination_current),
     METRIC_GAUGE,
     "termination_current_time_seconds",
     {"For how long a ", " has been on its way out."},
     {"namespace", "name"}},
    {offsetof(struct status_metrics, termination_duration),
     METRIC_HISTOGRAM,
     "termination_duration_seconds",
     {"From the deletion of a ", " until it was gone."},
     {NULL}},
};

/* Key of a label as these families name it: whatever a name cannot have becomes an underscore. */
static const char *label_name(struct arena *a, str key)
{
    char *p = arena_new_array(a, char, key.n + 1);

    for (size_t i = 0; i < key.n; i++)
        p[i] = memchr("/.-", key.p[i], 3) ? '_' : key.p[i];
    return p;
}

/* The key of the label that says which node class: "karpenter.kwok.sh/kwoknodeclass". */
static const char *class_label(struct arena *a, const struct cloud_class *k)
{
    str kind = metrics_short_name(a, str_c(k->kind));

    return label_name(a, arena_printf(a, "%s/" STR_FMT, k->group, STR_ARG(kind)));
}

/* kind NULL: the families that all kinds share. */
static void add_kind(struct control_metrics *c, struct metrics *m, struct status_metrics *s, const char *kind,
                     const char *const *extra, uint32_t n_extra)
{
    const char *in_words = kind ? kind : "object";

    s->n_extra = n_extra;
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        const struct family *f = &table[i];
        const char **labels = arena_new_array(c->arena, const char *, ARRAY_LEN(f->labels) + n_extra + 1);
        struct metric_spec *spec = arena_new_one(c->arena, struct metric_spec);
        uint32_t n = 0;

        for (; f->labels[n]; n++)
            labels[n] = f->labels[n];
        for (uint32_t k = 0; k < n_extra; k++)
            labels[n++] = extra[k];
        *spec = (struct metric_spec){.kind = f->kind, .labels = labels};
        if (f->kind == METRIC_HISTOGRAM) {
            spec->buckets = kind ? status_buckets : metrics_default_buckets;
            spec->n_buckets = kind ? ARRAY_LEN(status_buckets) : METRICS_DEFAULT_BUCKETS;
        }
        spec->name = arena_printf(c->arena, "operator_%s%s%s", kind ? kind : "", kind ? "_" : "", f->name).p;
        spec->help = arena_printf(c->arena, "%s%s%s", f->help[0], in_words, f->help[1]).p;
        struct metric *made = metrics_add(m, spec);
        memcpy((char *)s + f->at, &made, sizeof(struct metric *));
    }
}

void status_metrics_add(struct control_metrics *c, struct metrics *m, const struct control_metrics_options *o)
{
    static const char *const any[] = {"group", "kind"};
    const char *extra[MAX_LABELS];
    uint32_t n = 0;

    assert(o->n_classes + 2 <= MAX_LABELS);
    for (; n < o->n_classes; n++)
        extra[n] = class_label(c->arena, &o->classes[n]);
    extra[n++] = "karpenter_sh_nodepool";
    add_kind(c, m, &c->nodeclaim_status, "nodeclaim", extra, n);
    extra[n++] = "karpenter_sh_initialized";
    add_kind(c, m, &c->node_status, "node", extra, n);
    add_kind(c, m, &c->nodepool_status, "nodepool", NULL, 0);
    add_kind(c, m, &c->capacitybuffer_status, "capacitybuffer", NULL, 0);
    add_kind(c, m, &c->ec2nodeclass_status, "ec2nodeclass", NULL, 0);
    add_kind(c, m, &c->any_status, NULL, any, ARRAY_LEN(any));
}
