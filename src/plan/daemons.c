/* Room that DaemonSets will take on every node (scheduling 16). */
#include "plan/problem.h"

static uint32_t daemon_rs(struct problem *p, const struct daemon *d)
{
    if (d->first_required >= d->n_required)
        return d->base_rs;
    const struct req_term *t = &d->required[d->first_required];
    return rs_union(&p->space, d->base_rs, rs_of_exprs(&p->space, t->exprs, t->n));
}

static void compile_daemon(struct problem *p, uint32_t i)
{
    const struct snapshot *s = p->snap;
    struct daemon *d = &p->daemons[i];
    const struct podspec *tmpl = s->daemons[i].spec;
    const struct podspec *spec = s->daemon_pods[i] ? s->daemon_pods[i]->spec : tmpl;
    struct tolerations prefer = tolerations_with_prefer(p, &spec->tolerations);

    d->spec = spec;
    d->required = tmpl->n_required ? tmpl->required : spec->required;
    d->n_required = tmpl->n_required ? tmpl->n_required : spec->n_required;
    d->base_rs = rs_of_exprs(&p->space, spec->node_selector, spec->n_node_selector);
    d->tol_set = problem_tol_set(p, &spec->tolerations);
    d->tol_set_prefer = problem_tol_set(p, &prefer);
    d->requests = problem_vector(p, &spec->requests);
    d->requests[DIM_PODS] = 1000;
}

static bool daemon_takes_part(const struct problem *p, const struct daemon *d)
{
    return !(d->spec->uses_dra && p->snap->settings.ignore_dra);
}

/* Types of the template on which the daemon runs. A term that fits nowhere is dropped for good. */
static void daemon_rows(struct problem *p, struct daemon *d, const struct tmpl *t, uint64_t *out)
{
    bits_zero(out, p->row_words);
    if (!daemon_takes_part(p, d) || !problem_tolerates(p, d->tol_set_prefer, t->taint_set))
        return;
    for (BITS_EACH(r, t->rows, p->row_words)) {
        for (;;) {
            uint32_t rs = daemon_rs(p, d);

            if (rs_compatible(&p->space, t->rs, rs, COMPAT_LENIENT) &&
                rs_compatible(&p->space, p->type_rs[p->rows.v[r].type], rs, COMPAT_INTERSECTS)) {
                bit_set(out, r);
                break;
            }
            if (d->first_required + 1 >= d->n_required)
                break;
            d->first_required++;
        }
    }
}

/* The usual daemon has at most one term: then a few set operations answer for all types at once. */
static void daemon_rows_quick(struct problem *p, struct daemon *d, const struct tmpl *t, uint64_t *out)
{
    uint32_t rs = daemon_rs(p, d);

    if (d->first_required + 1 < d->n_required) {
        daemon_rows(p, d, t, out);
        return;
    }
    bits_zero(out, p->row_words);
    if (!daemon_takes_part(p, d) || !problem_tolerates(p, d->tol_set_prefer, t->taint_set) ||
        !rs_compatible(&p->space, t->rs, rs, COMPAT_LENIENT))
        return;
    bits_copy(out, t->rows, p->row_words);
    for (uint32_t i = 0; i < p->space.sets.v[rs].n; i++)
        bits_and(out, rows_of_req(p, p->space.sets.v[rs].e[i].req), p->row_words);
}

struct split {
    uint64_t *rows;
    VEC(uint32_t) daemons;
};

static int cmp_groups(const void *a, const void *b, void *ctx)
{
    const struct problem *p = ctx;
    uint32_t x = bits_next(((const struct daemon_group *)a)->rows, p->row_words, 0);
    uint32_t y = bits_next(((const struct daemon_group *)b)->rows, p->row_words, 0);

    return x < y ? -1 : x > y;
}

static struct daemon_group finish_group(struct problem *p, const struct split *s)
{
    struct daemon_group g = {.rows = s->rows, .overhead = arena_new_array(p->arena, int64_t, p->n_dims)};
    VEC(struct host_port) ports = {0};

    for (uint32_t i = 0; i < s->daemons.n; i++) {
        const struct daemon *d = &p->daemons[s->daemons.v[i]];

        for (uint32_t k = 0; k < p->n_dims; k++)
            g.overhead[k] = sat_add(g.overhead[k], d->requests[k]);
        reslist_add(p->arena, &g.requests, &d->spec->requests);
        for (uint32_t k = 0; k < d->spec->n_ports; k++)
            vec_push(&ports, d->spec->ports[k]);
    }
    if (s->daemons.n)
        reslist_set(p->arena, &g.requests, SYM(PODS), (int64_t)s->daemons.n * 1000, false);
    g.ports = arena_dup_array(p->arena, struct host_port, ports.v, ports.n);
    g.n_ports = ports.n;
    vec_fini(&ports);
    return g;
}

static void build_groups(struct problem *p, struct tmpl *t)
{
    VEC(struct split) splits = {0};
    uint64_t *on = arena_new_array(p->arena, uint64_t, p->row_words);

    vec_push(&splits, (struct split){.rows = arena_dup_array(p->arena, uint64_t, t->rows, p->row_words)});
    for (uint32_t d = 0; d < p->snap->n_daemons; d++) {
        daemon_rows_quick(p, &p->daemons[d], t, on);
        for (uint32_t i = 0, n = splits.n; i < n; i++) {
            uint64_t *with = arena_dup_array(p->arena, uint64_t, splits.v[i].rows, p->row_words);

            bits_and(with, on, p->row_words);
            if (!bits_any(with, p->row_words))
                continue;
            if (bits_equal(with, splits.v[i].rows, p->row_words)) {
                vec_push(&splits.v[i].daemons, d);
                continue;
            }
            struct split s = {.rows = with};
            for (uint32_t k = 0; k < splits.v[i].daemons.n; k++)
                vec_push(&s.daemons, splits.v[i].daemons.v[k]);
            vec_push(&s.daemons, d);
            for (uint32_t w = 0; w < p->row_words; w++)
                splits.v[i].rows[w] &= ~with[w];
            vec_push(&splits, s);
        }
    }
    t->groups = arena_new_array(p->arena, struct daemon_group, splits.n);
    for (uint32_t i = 0; i < splits.n; i++) {
        t->groups[t->n_groups++] = finish_group(p, &splits.v[i]);
        vec_fini(&splits.v[i].daemons);
    }
    vec_fini(&splits);
    sort_stable(t->groups, t->n_groups, sizeof(*t->groups), cmp_groups, p);
}

void daemons_build(struct problem *p)
{
    p->daemons = arena_new_array(p->arena, struct daemon, p->snap->n_daemons);
    for (uint32_t i = 0; i < p->snap->n_daemons; i++)
        compile_daemon(p, i);
    for (uint32_t i = 0; i < p->n_tmpls; i++)
        if (p->tmpls[i].usable) {
            build_groups(p, &p->tmpls[i]);
            p->daemons_tolerate_prefer = true; /* quirk: the toleration added for templates stays */
        }
}

/* What daemons will still need on an existing node: all that belong there, whether they run already or not. */
int64_t *daemons_on_node(struct problem *p, uint32_t label_rs, uint32_t taint_set)
{
    uint32_t known = u64map_get(&p->daemon_memo, u64_pair(label_rs, taint_set));

    if (known != MAP_NONE)
        return p->daemon_sums.v[known];
    int64_t *sum = arena_new_array(p->arena, int64_t, p->n_dims);
    for (uint32_t i = 0; i < p->snap->n_daemons; i++) {
        const struct daemon *d = &p->daemons[i];
        uint32_t tol = p->daemons_tolerate_prefer ? d->tol_set_prefer : d->tol_set;

        if (!daemon_takes_part(p, d) || !problem_tolerates(p, tol, taint_set) ||
            !rs_compatible(&p->space, label_rs, daemon_rs(p, d), COMPAT_STRICT))
            continue;
        for (uint32_t k = 0; k < p->n_dims; k++)
            sum[k] = sat_add(sum[k], d->requests[k]);
    }
    u64map_put(&p->daemon_memo, u64_pair(label_rs, taint_set), p->daemon_sums.n);
    vec_push(&p->daemon_sums, sum);
    return sum;
}
