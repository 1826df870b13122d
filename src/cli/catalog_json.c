/* A catalogue as an instance types file: what k8s/itypes.c reads back, so that a built-in list can be the start of an
 * own one and other programs can know what a plan was made from.
 *
 * What follows from other fields (the type's name, architecture, systems, zones and capacity types as requirements) is
 * left out, since the reader derives it. One line per requirement and per offering: a list is edited by hand, and its
 * versions are compared line by line. */
#include "cli/plan_view.h"
#include "data/json.h"

struct out {
    struct jw w;
    const struct syms *t;
};

#define INDENT 1 /* ten thousands of lines: the margin is a good part of the file */

/* What is written until the matching end stands on one line. */
static void line_map(struct out *o)
{
    jw_map(&o->w);
    o->w.indent = 0;
}

static void line_end(struct out *o)
{
    jw_end(&o->w);
    o->w.indent = INDENT;
}

static void print_values(struct out *o, const struct req_expr *x)
{
    jw_list(&o->w);
    for (uint32_t i = 0; i < x->n_vals; i++)
        jw_str(&o->w, sym_str(o->t, x->vals[i]));
    jw_end(&o->w);
}

static void print_requirement(struct out *o, const struct req_expr *x)
{
    jw_key(&o->w, "key");
    jw_str(&o->w, sym_str(o->t, x->key));
    jw_key(&o->w, "operator");
    jw_c(&o->w, req_op_name(x->op));
    if (x->n_vals) {
        jw_key(&o->w, "values");
        print_values(o, x);
    }
}

static const struct req_expr *requirement_on(const struct itype *it, sym key)
{
    for (uint32_t i = 0; i < it->n_requirements; i++)
        if (sym_eq(it->requirements[i].key, key))
            return &it->requirements[i];
    return NULL;
}

static bool is_derived(sym key)
{
    return sym_eq(key, SYM(ITYPE)) || sym_eq(key, SYM(ARCH)) || sym_eq(key, SYM(OS)) || sym_eq(key, SYM(ZONE)) ||
           sym_eq(key, SYM(CT));
}

static void print_requirements(struct out *o, const struct itype *it)
{
    jw_key(&o->w, "requirements");
    jw_list(&o->w);
    for (uint32_t i = 0; i < it->n_requirements; i++) {
        if (is_derived(it->requirements[i].key))
            continue;
        line_map(o);
        print_requirement(o, &it->requirements[i]);
        line_end(o);
    }
    jw_end(&o->w);
}

static void print_amounts(struct out *o, const char *key, const struct reslist *l)
{
    unsigned before = o->w.indent;

    jw_key(&o->w, key);
    o->w.indent = 0;
    print_resources(&o->w, o->t, l);
    o->w.indent = before;
}

static void print_offering(struct out *o, const struct offering *f)
{
    line_map(o);
    jw_key(&o->w, "Price");
    jw_double(&o->w, f->price_usd_per_h);
    jw_key(&o->w, "Available");
    jw_bool(&o->w, f->available);
    if (f->reservation_capacity) {
        jw_key(&o->w, "ReservationCapacity");
        jw_i64(&o->w, f->reservation_capacity);
    }
    if (f->capacity_override.n)
        print_amounts(o, "CapacityOverride", &f->capacity_override);
    if (f->overhead_override.n)
        print_amounts(o, "OverheadOverride", &f->overhead_override);
    jw_key(&o->w, "Requirements");
    jw_list(&o->w);
    for (uint32_t i = 0; i < f->n_requirements; i++) {
        jw_map(&o->w);
        print_requirement(o, &f->requirements[i]);
        jw_end(&o->w);
    }
    jw_end(&o->w);
    line_end(o);
}

static void print_type(struct out *o, const struct itype *it)
{
    const struct req_expr *arch = requirement_on(it, SYM(ARCH)), *os = requirement_on(it, SYM(OS));

    assert(arch && arch->n_vals == 1 && os && os->n_vals); /* every loader sees to it */
    jw_map(&o->w);
    jw_key(&o->w, "name");
    jw_str(&o->w, sym_str(o->t, it->name));
    jw_key(&o->w, "architecture");
    jw_str(&o->w, sym_str(o->t, arch->vals[0]));
    jw_key(&o->w, "operatingSystems");
    o->w.indent = 0;
    print_values(o, os);
    o->w.indent = INDENT;
    print_amounts(o, "resources", &it->capacity);
    print_amounts(o, "overhead", &it->overhead);
    print_requirements(o, it);
    jw_key(&o->w, "offerings");
    jw_list(&o->w);
    for (uint32_t i = 0; i < it->n_offerings; i++)
        print_offering(o, &it->offerings[i]);
    jw_end(&o->w);
    jw_end(&o->w);
}

void catalog_print_json(struct sb *b, const struct catalog *c, const struct syms *t)
{
    struct out o = {.w = {.out = b, .indent = INDENT}, .t = t};

    jw_list(&o.w);
    for (uint32_t i = 0; i < c->n; i++)
        print_type(&o, &c->types[i]);
    jw_end(&o.w);
    sb_char(b, '\n');
}
