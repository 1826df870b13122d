/* A scenario is built anew for every round: the lines so far, and lines for the nodes that earlier rounds made. */
#include "support/scenario.h"

#include "cloud/catalog.h"
#include "data/reader.h"
#include "k8s/decode.h"
#include "k8s/itypes.h"
#include "k8s/settings.h"
#include "state/state.h"
#include "support/builder.h"
#include "support/check.h"

#define NOW_MS 1768478400000 /* 2026-01-15T12:00:00Z */

/* scheduling 28.1 */
static const char *const fake_types = "type default-instance-type\n"
                                      "type small-instance-type cpu=2 mem=2Gi\n"
                                      "type gpu-vendor-instance-type res=fake.com/vendor-a=2\n"
                                      "type gpu-vendor-b-instance-type res=fake.com/vendor-b=2\n"
                                      "type arm-instance-type cpu=16 mem=128Gi arch=arm64 os=ios,linux,windows,darwin\n"
                                      "type single-pod-instance-type pods=1\n";

struct run {
    const char *name;
    struct arena *a; /* of all rounds */
    struct sb lines, nodes, types, set;
    VEC(struct binding) bound;
    str catalog, method; /* method: none: a plan for pending pods */
    bool nobind;
    uint32_t round;
};

static void run_fini(struct run *r)
{
    sb_fini(&r->lines);
    sb_fini(&r->nodes);
    sb_fini(&r->types);
    sb_fini(&r->set);
    vec_fini(&r->bound);
    arena_free(r->a);
}

/* Takes the lines of one round; false at the end of the text. */
static bool run_take(struct run *r, str *text)
{
    str line, head, tail;

    if (!text->n)
        return false;
    while (text->n) {
        (void)str_cut(*text, '\n', &line, text);
        line = str_trim(line);
        (void)str_cut(line, ' ', &head, &tail);
        if (str_is(line, "next"))
            return true;
        if (str_is(line, "nobind"))
            r->nobind = true;
        else if (str_is(line, "clear types"))
            sb_reset(&r->types);
        else if (str_is(head, "catalog"))
            r->catalog = tail;
        else if (str_is(head, "method"))
            r->method = tail;
        else if (str_is(head, "type") || str_is(head, "set"))
            sb_printf(str_is(head, "type") ? &r->types : &r->set, STR_FMT "\n", STR_ARG(line));
        else
            sb_printf(&r->lines, STR_FMT "\n", STR_ARG(line));
    }
    return true;
}

static struct catalog *catalog_of(const struct run *r, struct scene *s, struct err *e)
{
    struct sb json = {0}, unused = {0};
    struct builder b = {.a = s->a, .out = &unused, .types = &json};

    if (str_is(r->catalog, "none"))
        return itypes_parse(s->a, s->t, "types", STR("[]"), e);
    if (r->catalog.n)
        return catalog_builtin(s->a, s->t, r->catalog, e);
    sb_char(&json, '[');
    builder_lines(&b, r->types.n ? sb_view(&r->types) : str_c(fake_types));
    sb_char(&json, ']');
    struct catalog *c = itypes_parse(s->a, s->t, "types", arena_strdup(s->a, sb_view(&json)), e);
    sb_fini(&json);
    sb_fini(&unused);
    return c;
}

static bool read_objects(struct scene *s, str json, struct err *e)
{
    const struct tree *t = NULL;

    AUTO(decoder) struct decoder *d = decoder_new(s->objects);
    AUTO(reader) struct reader *r = reader_open_bytes("scenario.json", json, e);
    if (!r)
        return false;
    do
        if (!reader_next(r, &t, e) || (t && !k8s_decode(d, t, e)))
            return false;
    while (t);
    return true;
}

static bool apply_settings(const struct run *r, struct scene *s, struct err *e)
{
    str text = sb_view(&r->set), line, key, val;

    settings_defaults(&s->settings);
    while (text.n) {
        (void)str_cut(text, '\n', &line, &text);
        (void)str_cut(str_sub(line, 4, line.n), '=', &key, &val);
        if (!settings_set(&s->settings, s->a, s->t, arena_strdup(s->a, key), arena_strdup(s->a, val), e))
            return false;
    }
    return true;
}

static void run_open(const struct run *r, struct scene *s)
{
    struct sb json = {0};
    struct err e = {0};

    *s = (struct scene){.a = arena_new(0), .t = syms_new()};
    s->objects = objects_new(s->t);
    struct builder b = {.a = s->a, .out = &json};
    for (uint32_t i = 0; i < r->bound.n; i++)
        vec_push(&b.bound, r->bound.v[i]);
    builder_lines(&b, sb_view(&r->lines));
    builder_lines(&b, sb_view(&r->nodes));
    vec_fini(&b.bound);
    s->catalog = catalog_of(r, s, &e);
    check_ok(r->name, s->catalog != NULL, &e);
    check_ok(r->name, apply_settings(r, s, &e), &e);
    check_ok(r->name, read_objects(s, sb_view(&json), &e), &e);
    s->snap = state_build(s->a, s->objects, s->catalog, &s->settings, NOW_MS, &e);
    check_ok(r->name, s->snap != NULL, &e);
    sb_fini(&json);
}

void scene_open(struct scene *s, const char *text)
{
    struct run r = {.name = "scene", .a = arena_new(0)};
    str rest = str_c(text);

    (void)run_take(&r, &rest);
    run_open(&r, s);
    run_fini(&r);
}

void scene_close(struct scene *s)
{
    objects_free(s->objects);
    syms_free(s->t);
    arena_free(s->a);
}

/* ---- the next round ---------------------------------------------------------------------------------------------- */

static void put_amounts(struct run *r, const struct scene *s, const struct itype *it, bool allocatable)
{
    struct sb q = {0};

    for (uint32_t i = 0; i < it->capacity.n; i++) {
        const struct resq *c = &it->capacity.q[i];
        int64_t v = allocatable ? sat_sub(c->v, reslist_value(&it->overhead, c->name)) : c->v;

        sb_reset(&q);
        quantity_print(&q, c->name, v, c->binary);
        sb_printf(&r->nodes, "%s" STR_FMT "=" STR_FMT, i ? "," : "", STR_ARG(sym_str(s->t, c->name)),
                  STR_ARG(sb_view(&q)));
    }
    sb_fini(&q);
}

static bool is_one_of(sym k, const sym *v, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (sym_eq(v[i], k))
            return true;
    return false;
}

/* Labels of the machine that the claim becomes: zone and capacity type, the type's own, then the claim's. */
static void put_labels(struct run *r, const struct scene *s, const struct plan_claim *c)
{
    const struct itype *it = &s->catalog->types[c->type];
    sym seen[64] = {SYM(ZONE), SYM(CT), SYM(NP), SYM(HOST)};
    uint32_t n = 4;

    sb_printf(&r->nodes, " label=zone=" STR_FMT ",ct=" STR_FMT, STR_ARG(sym_str(s->t, c->zone)),
              STR_ARG(sym_str(s->t, c->capacity_type)));
    for (uint32_t i = 0; i < it->n_requirements; i++) {
        const struct req_expr *x = &it->requirements[i];

        if (x->op == OP_IN && x->n_vals == 1 && !is_one_of(x->key, seen, n) && n < ARRAY_LEN(seen)) {
            sb_printf(&r->nodes, "," STR_FMT "=" STR_FMT, STR_ARG(sym_str(s->t, x->key)),
                      STR_ARG(sym_str(s->t, x->vals[0])));
            seen[n++] = x->key;
        }
    }
    for (uint32_t i = 0; i < c->n_reqs; i++)
        if (c->reqs[i].op == OP_IN && !is_one_of(c->reqs[i].key, seen, n))
            sb_printf(&r->nodes, "," STR_FMT "=" STR_FMT, STR_ARG(sym_str(s->t, c->reqs[i].key)),
                      STR_ARG(c->reqs[i].vals[0]));
}

static void put_taints(struct run *r, const struct scene *s, const struct taints *t, const char *more)
{
    for (uint32_t i = 0; i < t->n; i++) {
        sb_printf(&r->nodes, "%s" STR_FMT, i ? "," : more, STR_ARG(sym_str(s->t, t->v[i].key)));
        if (sym_some(t->v[i].value))
            sb_printf(&r->nodes, "=" STR_FMT, STR_ARG(sym_str(s->t, t->v[i].value)));
        sb_printf(&r->nodes, ":%s", taint_effect_name(t->v[i].effect));
    }
}

static void bind(struct run *r, const struct scene *s, const uint32_t *pods, uint32_t n, str node)
{
    for (uint32_t i = 0; i < n && !r->nobind; i++)
        vec_push(&r->bound, (struct binding){arena_strdup(r->a, s->snap->pods[pods[i]].name), node});
}

static void run_apply(struct run *r, const struct scene *s, const struct plan *p)
{
    for (uint32_t i = 0; i < p->n_claims; i++) {
        const struct plan_claim *c = &p->claims[i];
        const struct nodepool *pool = &s->snap->pools[c->pool];
        str node = arena_printf(r->a, "made-%u-%02u", r->round, i);

        sb_printf(&r->nodes, "node " STR_FMT " pool=" STR_FMT, STR_ARG(node), STR_ARG(pool->name));
        put_labels(r, s, c);
        sb_c(&r->nodes, " capacity=");
        put_amounts(r, s, &s->catalog->types[c->type], /* allocatable= */ false);
        sb_c(&r->nodes, " allocatable=");
        put_amounts(r, s, &s->catalog->types[c->type], /* allocatable= */ true);
        put_taints(r, s, &pool->tmpl.taints, " taint=");
        put_taints(r, s, &pool->tmpl.taints, " claimtaint=");
        sb_c(&r->nodes, " registered\n");
        bind(r, s, c->pods, c->n_pods, node);
    }
    for (uint32_t i = 0; i < p->n_nodes; i++)
        bind(r, s, p->nodes[i].pods, p->nodes[i].n_pods,
             arena_strdup(r->a, s->snap->nodes[p->nodes[i].node].node ? s->snap->nodes[p->nodes[i].node].node->name
                                                                      : s->snap->nodes[p->nodes[i].node].name));
    r->round++;
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

/* Every pending pod has one place or one reason. */
static void check_complete(const char *name, const struct scene *s, const struct plan *p)
{
    uint8_t *seen = arena_new_array(s->a, uint8_t, s->snap->n_pods);
    uint32_t n = 0;

    for (uint32_t i = 0; i < p->n_claims; i++)
        for (uint32_t k = 0; k < p->claims[i].n_pods; k++, n++)
            check_true(name, seen[p->claims[i].pods[k]]++ == 0);
    for (uint32_t i = 0; i < p->n_nodes; i++)
        for (uint32_t k = 0; k < p->nodes[i].n_pods; k++, n++)
            check_true(name, seen[p->nodes[i].pods[k]]++ == 0);
    for (uint32_t i = 0; i < p->n_failures; i++, n++)
        check_true(name, seen[p->failures[i].pod]++ == 0);
    check_u64(name, n, s->snap->n_pending + s->snap->n_refused);
}

static struct disrupt_options options_of(const char *name, str words)
{
    struct disrupt_options o = {.compat = true, .explain = true};
    str word;

    while (words.n) {
        (void)str_cut(words, ' ', &word, &words);
        bool known = str_is(word, "all") || str_is(word, "thorough");

        o.compat &= !str_is(word, "thorough");
        for (unsigned m = 0; m < N_METHODS; m++)
            if (str_is(word, disrupt_method_name((enum disrupt_method)m))) {
                o.methods |= 1u << m;
                known = true;
            }
        check_true(name, known);
    }
    return o;
}

/* The facts of one round, whose outcome is there in the next. */
static str run_round(struct run *r, struct scene *s, str want)
{
    if (r->method.n) {
        struct disrupt_options o = options_of(r->name, r->method);
        const struct disruption *d = disrupt_plan(s->a, s->snap, &o);

        check_removals(r->name, s, d);
        return scene_removals(s, d, want, r->a);
    }
    const struct plan *p = plan_make(s->a, s->snap);
    check_complete(r->name, s, p);
    str got = scene_facts(s, p, want, r->a);
    run_apply(r, s, p);
    return got;
}

/* What is wanted of the next round. */
static str next_want(str *want)
{
    size_t at = 0;

    while (at < want->n && !str_starts(str_sub(*want, at, want->n), STR(" / ")))
        at++;
    str one = str_trim(str_sub(*want, 0, at));
    *want = str_sub(*want, MIN(at + 3, want->n), want->n);
    return str_is(one, "?") ? STR("") : one;
}

static bool scenario_check(const struct scenario *x)
{
    struct run r = {.name = x->name, .a = arena_new(0)};
    str text = str_c(x->text), want = str_c(x->want);
    bool ok = true;

    for (uint32_t round = 0; run_take(&r, &text); round++) {
        str one = next_want(&want);
        struct scene s;

        run_open(&r, &s);
        str got = run_round(&r, &s, one);
        if (!str_eq(got, one)) {
            print_error("%s (round %u):\n  got  \"" STR_FMT "\"\n  want \"" STR_FMT "\"\n", x->name, round,
                        STR_ARG(got), STR_ARG(one));
            ok = false;
        }
        scene_close(&s);
    }
    check_true(x->name, want.n == 0);
    run_fini(&r);
    return ok;
}

void scenarios_check(const struct scenario *v, size_t n)
{
    uint32_t failed = 0;

    for (size_t i = 0; i < n; i++)
        failed += !scenario_check(&v[i]);
    if (failed)
        fail_msg("%u of %zu scenarios failed", failed, n);
}

static void one_scenario(void **state)
{
    if (!scenario_check(*state))
        fail();
}

int scenarios_main(const struct scenarios *tables, size_t n)
{
    VEC(struct CMUnitTest) tests = {0};

    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < tables[i].n; k++)
            vec_push(&tests, (struct CMUnitTest){.name = tables[i].v[k].name,
                                                 .test_func = one_scenario,
                                                 .initial_state = (void *)(uintptr_t)&tables[i].v[k]});
    int failed = _cmocka_run_group_tests("scenarios", tests.v, tests.n, NULL, NULL);
    vec_fini(&tests);
    return failed;
}
