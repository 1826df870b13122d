/* Reasons as Karpenter words them (scheduling 12.2, 24.3, 24.4; recorded from v1.14.1).
 *
 * People search for these sentences and tools match them, so they are kept to the letter, oddities included. */
#include "plan/explain.h"

#define COUNTS_MAX 25 /* domains that are listed */

void explain_taint(struct explainer *x, const struct taint *t)
{
    const struct syms *syms = x->k->p.snap->syms;

    sb_str(&x->b, sym_str(syms, t->key));
    if (sym_some(t->value)) {
        sb_char(&x->b, '=');
        sb_str(&x->b, sym_str(syms, t->value));
    }
    sb_char(&x->b, ':');
    sb_c(&x->b, taint_effect_name(t->effect));
}

static bool tolerated(const struct problem *p, const struct tolerations *o, const struct taint *t)
{
    for (uint32_t i = 0; i < o->n; i++)
        if (toleration_tolerates(&o->v[i], t, p->snap->syms))
            return true;
    return false;
}

static void put_taints(struct explainer *x, const struct trial *t)
{
    const struct problem *p = &x->k->p;
    const struct taints *taints = &p->taint_sets.v[p->tmpls[t->tmpl].taint_set].taints;
    bool any = false;

    for (uint32_t i = 0; i < taints->n; i++) {
        if (tolerated(p, &p->variants.v[t->variant].tolerations, &taints->v[i]))
            continue;
        sb_c(&x->b, any ? "; did not tolerate taint (taint=" : "did not tolerate taint (taint=");
        explain_taint(x, &taints->v[i]);
        sb_char(&x->b, ')');
        any = true;
    }
}

/* --- requirements ---------------------------------------------------------------------------------------------------- */

static bool resembles(str candidate, str key)
{
    str domain, name;

    if (!str_cut(key, '/', &domain, &name))
        name = key;
    return str_contains(candidate, key) || str_ends(candidate, name);
}

/* A key that may have been meant: a well-known one, else one that the node has (scheduling 3.5). */
sym explain_similar_key(struct explainer *x, uint32_t have, uint32_t key)
{
    const struct reqspace *s = &x->k->p.space;
    str text = sym_str(s->syms, s->keys.v[key].name);
    sym best = SYM(NONE);

    for (uint32_t i = 0; i < s->rules->n_well_known; i++) {
        sym w = s->rules->well_known[i];

        if (resembles(sym_str(s->syms, w), text) &&
            (!sym_some(best) || str_cmp(sym_str(s->syms, w), sym_str(s->syms, best)) < 0))
            best = w;
    }
    for (uint32_t i = 0; i < s->sets.v[have].n && !sym_some(best); i++) {
        sym w = s->keys.v[s->sets.v[have].e[i].key].name;

        if (resembles(sym_str(s->syms, w), text))
            best = w;
    }
    return best;
}

static void put_incompatible(struct explainer *x, uint32_t have, uint32_t want)
{
    struct reqspace *s = &x->k->p.space;
    bool undefined;
    uint32_t key = rs_incompatible_key(s, have, want, COMPAT_LENIENT, &undefined);
    str name = sym_str(s->syms, s->keys.v[key].name);

    if (undefined) {
        sym similar = explain_similar_key(x, have, key);

        sb_printf(&x->b, "label \"" STR_FMT "\" does not have known values", STR_ARG(name));
        if (sym_some(similar))
            sb_printf(&x->b, " (typo of \"" STR_FMT "\"?)", STR_ARG(sym_str(s->syms, similar)));
        return;
    }
    sb_printf(&x->b, "key " STR_FMT ", ", STR_ARG(name));
    req_print(&x->b, s, rs_get(s, want, key));
    sb_c(&x->b, " not in ");
    req_print(&x->b, s, rs_get(s, have, key));
}

/* --- topology -------------------------------------------------------------------------------------------------------- */

/* Claims have no name yet; as upstream does, they get one for printing. */
static str host_name(struct explainer *x, uint32_t host)
{
    const struct problem *p = &x->k->p;
    sym name = x->k->topo.hosts.v[host].name;

    if (sym_some(name))
        return sym_str(p->snap->syms, name);
    return arena_printf(x->a, "hostname-placeholder-%04u", host + 1); /* any number will do that is unique */
}

static int cmp_hosts(const void *a, const void *b, void *ctx)
{
    return str_cmp(host_name(ctx, *(const uint32_t *)a), host_name(ctx, *(const uint32_t *)b));
}

/* Hosts by name, without the one that a next claim would get. */
static void sort_hosts(struct explainer *x)
{
    const struct topology *t = &x->k->topo;

    x->hosts = arena_new_array(x->a, uint32_t, t->hosts.n);
    for (uint32_t i = 0; i < t->hosts.n; i++)
        if (i != x->k->spare_host)
            x->hosts[x->n_hosts++] = i;
    struct arena_mark m = arena_mark(x->a);
    sort_stable(x->hosts, x->n_hosts, sizeof(*x->hosts), cmp_hosts, x);
    arena_rewind(x->a, m);
}

static void put_count(struct explainer *x, uint32_t n, str name, int32_t count)
{
    sb_printf(&x->b, "%s" STR_FMT ": %d", n ? ", " : "", STR_ARG(name), count);
}

void explain_counts(struct explainer *x, uint32_t group)
{
    const struct topology *t = &x->k->topo;
    const struct topo_group *g = &t->groups.v[group];
    const struct label_key *key = &x->k->p.space.keys.v[g->key];
    uint32_t n = 0, all;

    if (g->is_host) {
        if (!x->hosts)
            sort_hosts(x);
        all = x->n_hosts;
        for (; n < MIN(all, (uint32_t)COUNTS_MAX); n++)
            put_count(x, n, host_name(x, x->hosts[n]), topology_host_count(t, group, x->hosts[n]));
    } else {
        all = bits_count(g->known, key->n_words);
        for (BITS_EACH(v, g->known, key->n_words)) {
            if (n == COUNTS_MAX)
                break;
            put_count(x, n++, sym_str(x->k->p.snap->syms, key->vals[v]), g->counts[v]);
        }
    }
    if (n < all)
        sb_printf(&x->b, " and %u other(s)", all - n);
}

static void put_domains(struct explainer *x, uint32_t rs, uint32_t key)
{
    const struct reqspace *s = &x->k->p.space;
    uint32_t req = rs_get(s, rs, key);

    if (req != REQ_NONE)
        req_print(&x->b, s, req);
    else
        sb_printf(&x->b, STR_FMT " Exists", STR_ARG(sym_str(s->syms, s->keys.v[key].name)));
}

static void put_topology(struct explainer *x, const struct trial *t)
{
    static const char *const kinds[] = {
        [TOPO_SPREAD] = "topology spread", [TOPO_AFFINITY] = "pod affinity", [TOPO_ANTI] = "pod anti-affinity"};
    const struct problem *p = &x->k->p;
    const struct topo_group *g = &x->k->topo.groups.v[t->group];
    str key = sym_str(p->snap->syms, p->space.keys.v[g->key].name);

    sb_printf(&x->b, "unsatisfiable topology constraint for %s, key=" STR_FMT " (counts = ", kinds[g->kind],
              STR_ARG(key));
    explain_counts(x, t->group);
    sb_c(&x->b, ", podDomains = ");
    put_domains(x, p->variants.v[t->variant].strict, g->key);
    sb_c(&x->b, ", nodeDomains = "); /* quirk: the bracket stays open */
    if (g->is_host)
        sb_printf(&x->b, STR_FMT " In [" STR_FMT "]", STR_ARG(key), STR_ARG(host_name(x, x->k->spare_host)));
    else
        put_domains(x, t->rs, g->key);
}

/* --- instance types ---------------------------------------------------------------------------------------------------- */

/* Key-wise minimum; keys that both have. */
static struct reslist min_lists(struct explainer *x, const struct reslist *a, const struct reslist *b)
{
    struct arena *arena = x->a;
    struct reslist out = {0};

    for (uint32_t i = 0; i < a->n; i++) {
        const struct resq *o = reslist_get(b, a->q[i].name);

        if (o)
            reslist_set(arena, &out, o->name, MIN(o->v, a->q[i].v), o->v < a->q[i].v ? o->binary : a->q[i].binary);
    }
    return out;
}

/* What the pod and the daemons next to it ask for; daemons differ by type. */
static void put_resources(struct explainer *x, const struct trial *t)
{
    struct problem *p = &x->k->p;
    const struct tmpl *tmpl = &p->tmpls[t->tmpl];
    const struct shape *sh = &p->shapes.v[p->variants.v[t->variant].shape];
    struct reslist least = {0}, most = {0};
    size_t at = x->b.n;

    for (uint32_t i = 0; i < tmpl->n_groups; i++) {
        const struct reslist *r = &tmpl->groups[i].requests;

        if (trial_ports_clash(x, sh, &tmpl->groups[i]))
            continue;
        if (most.n == 0) {
            least = reslist_dup(x->a, r);
            most = reslist_dup(x->a, r);
            continue;
        }
        least = min_lists(x, &least, r);
        reslist_max(x->a, &most, r);
    }
    struct reslist own = reslist_dup(x->a, &sh->spec->requests);
    reslist_set(x->a, &own, SYM(PODS), 1000, false);
    if (least.n == 0) {
        reslist_print_json(&x->b, p->snap->syms, &own);
        return;
    }
    struct reslist low = reslist_dup(x->a, &least), high = reslist_dup(x->a, &most);
    struct sb text = {0};
    reslist_add(x->a, &low, &own);
    reslist_add(x->a, &high, &own);
    reslist_print_json(&x->b, p->snap->syms, &low);
    reslist_print_json(&text, p->snap->syms, &high);
    if (!str_eq(str_sub(sb_view(&x->b), at, x->b.n), sb_view(&text))) {
        x->b.n = at;
        sb_c(&x->b, "min=");
        reslist_print_json(&x->b, p->snap->syms, &low);
        sb_c(&x->b, ", max=");
        sb_str(&x->b, sb_view(&text));
    }
    sb_fini(&text);
}

static void put_details(struct explainer *x, const struct trial *t)
{
    sb_c(&x->b, ", requirements=");
    rs_print(&x->b, &x->k->p.space, t->rs);
    sb_c(&x->b, ", resources=");
    put_resources(x, t);
}

/* First what nobody met, alone or together; then which two were met while the third was not. */
static const char *filter_text(const struct trial *t)
{
    if (!t->met && !t->fits && !t->offered)
        return "no instance type met the scheduling requirements or had enough resources or had a required offering";
    if (!t->met && !t->fits)
        return "no instance type met the scheduling requirements or had enough resources";
    if (!t->met && !t->offered)
        return "no instance type met the scheduling requirements or had a required offering";
    if (!t->fits && !t->offered)
        return "no instance type had enough resources or had a required offering";
    if (!t->met)
        return "no instance type met all requirements";
    if (!t->fits)
        return "no instance type has enough resources";
    if (!t->offered)
        return "no instance type has the required offering";
    if (t->only_not_met)
        return "no instance type which had enough resources and the required offering met the scheduling requirements";
    if (t->only_no_room)
        return "no instance type which met the scheduling requirements and the required offering had the required "
               "resources";
    return "no instance type met the requirements/resources/offering tuple";
}

static void put_types(struct explainer *x, const struct trial *t)
{
    const struct problem *p = &x->k->p;
    const struct shape *sh = &p->shapes.v[p->variants.v[t->variant].shape];

    sb_c(&x->b, filter_text(t));
    put_details(x, t);
    if (t->met && t->offered && !t->fits && sh->requests[DIM_CPU] >= 1000000 * 1000000000ll)
        sb_c(&x->b, " (CPU request >= 1 Million, m vs M typo?)");
}

void explain_min_values(struct explainer *x, uint32_t rs, uint32_t lowered)
{
    const struct reqspace *s = &x->k->p.space;
    bool any = false;

    sb_c(&x->b, "minValues requirement is not met for label(s) (label(s)=[");
    for (uint32_t i = 0; i < s->sets.v[rs].n; i++) {
        const struct rs_entry *e = &s->sets.v[rs].e[i];

        if (lowered == rs ? s->reqs.v[e->req].min_values == 0 : rs_get(s, lowered, e->key) == e->req)
            continue;
        if (any)
            sb_char(&x->b, ' ');
        sb_str(&x->b, sym_str(s->syms, s->keys.v[e->key].name));
        any = true;
    }
    sb_c(&x->b, "])");
}

/* --- a template -------------------------------------------------------------------------------------------------------- */

static void put_trial(struct explainer *x, const struct trial *t)
{
    switch (t->failed) {
    case STEP_NONE:
        sb_c(&x->b, "no place was found");
        break;
    case STEP_TAINTS:
        put_taints(x, t);
        break;
    case STEP_REQUIREMENTS:
        sb_c(&x->b, "incompatible requirements, ");
        put_incompatible(x, t->rs, t->want);
        break;
    case STEP_VOLUMES:
        sb_c(&x->b, "incompatible volume requirements, ");
        put_incompatible(x, t->rs, t->want);
        break;
    case STEP_TOPOLOGY:
        put_topology(x, t);
        break;
    case STEP_DOMAINS:
        put_incompatible(x, t->rs, t->want);
        break;
    case STEP_TYPES:
        put_types(x, t);
        break;
    case STEP_MIN_VALUES:
        explain_min_values(x, t->rs, t->lowered);
        put_details(x, t);
        break;
    case STEP_RESERVATION:
        sb_c(&x->b, "one or more instance types with compatible reserved offerings are available, but could not be "
                    "reserved");
        break;
    }
}

bool explain_template(struct explainer *x, uint32_t tmpl, uint32_t variant)
{
    struct packer *k = x->k;
    struct tmpl *t = &k->p.tmpls[tmpl];
    str pool = k->p.snap->pools[t->pool].name;
    struct trial trial = {.tmpl = tmpl, .variant = variant, .from = limits_rows(k, t)};

    if (t->nodes_exhausted) {
        sb_printf(&x->b, "node limits have been exhausted for nodepool (NodePool=" STR_FMT ")", STR_ARG(pool));
        return false;
    }
    if (!bits_any(trial.from, k->p.row_words)) {
        sb_printf(&x->b, "all available instance types exceed limits for nodepool (NodePool=" STR_FMT ")",
                  STR_ARG(pool));
        return false;
    }
    trial.rows = arena_new_array(x->a, uint64_t, k->p.row_words);
    uint32_t n = trial_alternatives(x, variant);
    for (uint32_t i = 0; i < n; i++) { /* volumes: the last alternative speaks for all */
        trial_run(x, &trial, i);
        if (trial.failed == STEP_NONE)
            break;
    }
    put_trial(x, &trial);
    return trial.failed == STEP_RESERVATION;
}
