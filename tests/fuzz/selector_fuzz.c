/* A selector that was read is well-formed, and reads back from its own text as the same one. */
#include "base/sb.h"
#include "model/labels.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print_vals(struct sb *b, const struct syms *t, const struct req_expr *x)
{
    sb_char(b, '(');
    for (uint32_t i = 0; i < x->n_vals; i++) {
        if (i || sym_str(t, x->vals[i]).n == 0) /* "(,a)" starts with the empty value, "(" alone would not */
            sb_char(b, ',');
        sb_str(b, sym_str(t, x->vals[i]));
    }
    sb_char(b, ')');
}

static void print_expr(struct sb *b, const struct syms *t, const struct req_expr *x)
{
    if (x->op == OP_DOES_NOT_EXIST)
        sb_char(b, '!');
    sb_str(b, sym_str(t, x->key));
    if (x->op == OP_IN || x->op == OP_NOT_IN) {
        sb_c(b, x->op == OP_IN ? " in " : " notin ");
        print_vals(b, t, x);
    } else if (x->op == OP_GT || x->op == OP_LT) {
        sb_c(b, x->op == OP_GT ? ">" : "<");
        sb_str(b, sym_str(t, x->vals[0]));
    }
}

static bool has_empty_value(const struct req_expr *x)
{
    for (uint32_t i = 0; i < x->n_vals; i++)
        if (!sym_some(x->vals[i]))
            return true;
    return false;
}

static void same_expr(const struct req_expr *a, const struct req_expr *b)
{
    assert(sym_eq(a->key, b->key) && a->op == b->op);
    assert(has_empty_value(a) == has_empty_value(b));
    if (has_empty_value(a)) /* commas around the empty value may say it twice */
        return;
    assert(a->n_vals == b->n_vals);
    for (uint32_t i = 0; i < a->n_vals; i++)
        assert(sym_eq(a->vals[i], b->vals[i]));
}

/* Labels made from the selector itself, so that there is something to match: all first values. */
static lset_id labels_for(struct arena *a, struct syms *t, const struct selector *s)
{
    struct label *v = arena_new_array(a, struct label, s->n_exprs);

    for (uint32_t i = 0; i < s->n_exprs; i++)
        v[i] = (struct label){s->exprs[i].key, s->exprs[i].n_vals ? s->exprs[i].vals[0] : SYM(TRUE)};
    return lset_of(t, v, s->n_exprs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena *a = arena_new(0);
    AUTO(syms) struct syms *t = syms_new();
    struct selector s, again;
    struct err e = {0};
    struct sb b = {0};

    if (!selector_parse(a, t, (str){(const char *)data, size}, &s, &e)) {
        assert(e.kind == ERR_INVALID && e.msg[0]);
        return 0;
    }
    assert(s.present);
    for (uint32_t i = 0; i < s.n_exprs; i++) {
        assert(label_is_qualified_name(sym_str(t, s.exprs[i].key)));
        for (uint32_t k = 0; k < s.exprs[i].n_vals; k++)
            assert(label_is_value(sym_str(t, s.exprs[i].vals[k])));
        if (i)
            sb_char(&b, ',');
        print_expr(&b, t, &s.exprs[i]);
    }
    assert(selector_parse(a, t, sb_view(&b), &again, &e));
    assert(again.n_exprs == s.n_exprs);
    for (uint32_t i = 0; i < s.n_exprs; i++)
        same_expr(&s.exprs[i], &again.exprs[i]);

    lset_id labels = labels_for(a, t, &s);
    assert(selector_matches(&s, t, labels) == selector_matches(&again, t, labels));
    assert(s.n_exprs != 0 || selector_matches(&s, t, (lset_id){0}));
    sb_fini(&b);
    return 0;
}
