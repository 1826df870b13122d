/* What there is to say about removals, fact by fact, and what has to hold for all of them. */
#include "cli/disrupt_text.h"
#include "disrupt/candidate.h"
#include "support/check.h"
#include "support/scenario_int.h"

struct removals {
    struct facts f; /* of a plan that has the claims of all commands */
    const struct disruption *d;
};

static str node_name(const struct facts *f, uint32_t node)
{
    return node_title(&f->s->snap->nodes[node]);
}

static void put_nodes(const struct facts *f, struct sb *out, const uint32_t *nodes, uint32_t n)
{
    strs names = {0};

    for (uint32_t i = 0; i < n; i++)
        vec_push(&names, node_name(f, nodes[i]));
    put_joined(out, &names, ',', /* sorted= */ true);
}

/* "n1,n2>big": what goes, and what would be launched instead. */
static str command_line(const struct facts *f, const struct disrupt_command *c)
{
    struct sb b = {0};

    put_nodes(f, &b, c->nodes, c->n_nodes);
    for (uint32_t i = 0; i < c->n_claims; i++)
        sb_printf(&b, "%s" STR_FMT, i ? "+" : ">",
                  STR_ARG(short_type(sym_str(f->s->t, f->s->catalog->types[c->claims[i].type].name))));
    str text = sb_dup(&b, f->a);
    sb_fini(&b);
    return text;
}

static void put_commands(const struct removals *r, struct sb *out, str key)
{
    strs v = {0};

    for (uint32_t i = 0; i < r->d->n_commands; i++) {
        const struct disrupt_command *c = &r->d->commands[i];

        if (str_is(key, "by"))
            vec_push(&v, str_c(disrupt_method_name(c->method)));
        else if (str_is(key, "saves"))
            vec_push(&v, arena_printf(r->f.a, "%.4f", c->savings));
        else if (str_is(key, "moves"))
            vec_push(&v, arena_printf(r->f.a, "%u", c->n_pods));
        else if (str_is(key, "removed"))
            vec_push(&v, arena_printf(r->f.a, "%u", c->n_nodes));
        else if ((c->n_claims == 0) == str_is(key, "deletes"))
            vec_push(&v, command_line(&r->f, c));
    }
    put_joined(out, &v, '|', /* sorted= */ false);
}

static void put_candidates(const struct removals *r, struct sb *out)
{
    strs v = {0};

    for (uint32_t i = 0; i < r->f.s->snap->n_nodes; i++)
        if (r->d->nodes[i].eligible)
            vec_push(&v, node_name(&r->f, i));
    put_joined(out, &v, ',', /* sorted= */ true);
}

static const struct disrupt_node *node_by_name(const struct removals *r, str name)
{
    for (uint32_t i = 0; i < r->f.s->snap->n_nodes; i++)
        if (str_eq(node_name(&r->f, i), name))
            return &r->d->nodes[i];
    return NULL;
}

static void put_sentence(struct sb *out, str text)
{
    for (size_t i = 0; i < text.n; i++)
        sb_char(out, text.p[i] == ' ' ? '_' : text.p[i]);
    if (!text.n)
        sb_char(out, '-');
}

/* why.n1, text.n1, fix.n1, object.n1 */
static void put_reason(const struct removals *r, struct sb *out, str what, str node)
{
    const struct disrupt_node *n = node_by_name(r, node);

    if (!n)
        sb_c(out, "(no such node)");
    else if (n->command != UINT32_MAX)
        sb_c(out, "goes");
    else if (str_is(what, "why"))
        sb_c(out, blocker_name(n->why.kind));
    else if (str_is(what, "text"))
        put_sentence(out, n->why.text);
    else if (str_is(what, "fix"))
        put_sentence(out, n->why.fix);
    else
        put_sentence(out, n->why.object);
}

static bool is_one_of(str key, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(key, words[i]))
            return true;
    return false;
}

static void put_removal(const void *ctx, struct sb *out, str key)
{
    static const char *const of_commands[] = {"by", "saves", "moves", "removed", "deletes", "replaces"};
    static const char *const of_nodes[] = {"why", "text", "fix", "object"};
    const struct removals *r = ctx;
    str what, node;

    (void)str_cut(key, '.', &what, &node);
    if (str_is(key, "commands"))
        sb_u64(out, r->d->n_commands);
    else if (str_is(key, "candidates"))
        put_candidates(r, out);
    else if (is_one_of(key, of_commands, ARRAY_LEN(of_commands)))
        put_commands(r, out, key);
    else if (is_one_of(what, of_nodes, ARRAY_LEN(of_nodes)))
        put_reason(r, out, what, node);
    else
        put_fact(&r->f, out, key);
}

str scene_removals(const struct scene *s, const struct disruption *d, str want, struct arena *a)
{
    VEC(struct plan_claim) claims = {0};

    for (uint32_t i = 0; i < d->n_commands; i++)
        for (uint32_t k = 0; k < d->commands[i].n_claims; k++)
            vec_push(&claims, d->commands[i].claims[k]);
    struct plan p = {.claims = claims.v, .n_claims = claims.n};
    struct removals r = {.f = {.s = s, .p = &p, .a = a}, .d = d};
    str text = facts_text(want, a, put_removal, &r);
    vec_fini(&claims);
    return text;
}

/* --- what always holds ------------------------------------------------------------------------------------------------ */

/* Whatever the commands were, no budget of their reasons is exceeded by what went up to them. */
static void check_budgets(const char *name, const struct scene *s, const struct disruption *d)
{
    int64_t *gone = arena_new_array(s->a, int64_t, s->snap->n_pools);

    for (uint32_t i = 0; i < d->n_commands; i++) {
        const struct disrupt_command *c = &d->commands[i];
        const struct pool_budget *left = budgets_of(s->a, s->snap, method_budget(c->method));

        for (uint32_t k = 0; k < c->n_nodes; k++)
            for (uint32_t pool = 0; pool < s->snap->n_pools; pool++)
                if (sym_eq(s->snap->pools[pool].name_sym, s->snap->nodes[c->nodes[k]].pool))
                    check_true(name, ++gone[pool] <= left[pool].left);
    }
}

void check_removals(const char *name, const struct scene *s, const struct disruption *d)
{
    uint32_t gone = 0, due = 0;

    for (uint32_t i = 0; i < d->n_commands; i++) {
        check_true(name, d->commands[i].n_nodes > 0);
        due += d->commands[i].n_nodes;
        for (uint32_t k = 0; k < d->commands[i].n_nodes; k++)
            check_u64(name, d->nodes[d->commands[i].nodes[k]].command, i);
    }
    for (uint32_t i = 0; i < s->snap->n_nodes; i++) {
        gone += d->nodes[i].command != UINT32_MAX;
        check_true(name, (d->nodes[i].command != UINT32_MAX) == (d->nodes[i].why.kind == BLOCK_NONE));
    }
    check_u64(name, gone, due);
    check_budgets(name, s, d);
}
