/* Reads lines, and writes the fragments that kinds share. */
#include <stdio.h>
#include <stdlib.h>

#include "support/builder_int.h"

static const struct {
    const char *word, *key;
} keys[] = {
    {"zone", "topology.kubernetes.io/zone"},
    {"region", "topology.kubernetes.io/region"},
    {"itype", "node.kubernetes.io/instance-type"},
    {"arch", "kubernetes.io/arch"},
    {"os", "kubernetes.io/os"},
    {"host", "kubernetes.io/hostname"},
    {"ct", "karpenter.sh/capacity-type"},
    {"np", "karpenter.sh/nodepool"},
};

/* Annotations, where they are named in note= and claimnote=. */
static const struct {
    const char *word, *key;
} notes[] = {
    {"dnd", "karpenter.sh/do-not-disrupt"},
    {"cost", "controller.kubernetes.io/pod-deletion-cost"},
    {"hash", "karpenter.sh/nodepool-hash"},
    {"hashversion", "karpenter.sh/nodepool-hash-version"},
    {"classhash", "karpenter.k8s.aws/ec2nodeclass-hash"},
    {"classversion", "karpenter.k8s.aws/ec2nodeclass-hash-version"},
};

_Noreturn void builder_wrong(const char *what, str where)
{
    (void)fprintf(stderr, "builder: %s: " STR_FMT "\n", what, STR_ARG(where));
    abort();
}

str builder_key(str key)
{
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (str_is(key, keys[i].word))
            return str_c(keys[i].key);
    return key;
}

/* ---- reading a line ---------------------------------------------------------------------------------------------- */

bool part(str *rest, char sep, str *ret)
{
    if (!rest->n)
        return false;
    (void)str_cut(*rest, sep, ret, rest);
    *ret = str_trim(*ret);
    return true;
}

/* A word, or key='…' up to the closing quote. */
static bool word(str *rest, str *ret_key, str *ret_val)
{
    *rest = str_trim(*rest);
    if (!rest->n)
        return false;
    size_t n = 0;
    bool quoted = false;
    while (n < rest->n && (quoted || rest->p[n] != ' '))
        quoted ^= rest->p[n++] == '\'';
    if (quoted)
        builder_wrong("a quote is open", *rest);
    (void)str_cut(str_sub(*rest, 0, n), '=', ret_key, ret_val);
    if (ret_val->n >= 2 && ret_val->p[0] == '\'')
        *ret_val = str_sub(*ret_val, 1, ret_val->n - 1);
    *rest = str_sub(*rest, n, rest->n);
    return true;
}

static void parse_line(str text, struct line *l)
{
    str key, val, none;
    int64_t n;

    *l = (struct line){.copies = UINT32_MAX};
    if (!word(&text, &l->kind, &none) || !word(&text, &l->name, &none))
        builder_wrong("KIND NAME", text);
    while (word(&text, &key, &val)) {
        if (key.n > 1 && key.p[0] == 'x' && val.n == 0 && str_to_i64(str_sub(key, 1, key.n), &n)) {
            l->copies = (uint32_t)n;
        } else {
            if (l->n == ARRAY_LEN(l->attrs))
                builder_wrong("too many attributes", key);
            l->attrs[l->n++] = (struct attr){key, val};
        }
    }
}

bool has(const struct emit *e, const char *key)
{
    for (uint32_t i = 0; i < e->l->n; i++)
        if (str_is(e->l->attrs[i].key, key))
            return true;
    return false;
}

str get(const struct emit *e, const char *key)
{
    for (uint32_t i = 0; i < e->l->n; i++)
        if (str_is(e->l->attrs[i].key, key))
            return e->l->attrs[i].val;
    return STR("");
}

/* ---- fragments --------------------------------------------------------------------------------------------------- */

void open_map(struct emit *e, const char *key)
{
    jw_key(&e->w, key);
    jw_map(&e->w);
}

void open_list(struct emit *e, const char *key)
{
    jw_key(&e->w, key);
    jw_list(&e->w);
}

void member(struct emit *e, const char *key, str val)
{
    jw_key(&e->w, key);
    jw_str(&e->w, val);
}

void count(struct emit *e, const char *key, str val)
{
    jw_key(&e->w, key);
    jw_number(&e->w, val);
}

str value_of(struct emit *e, str v)
{
    return v.n == 2 && v.p[0] == 'z' ? arena_printf(e->b->a, "test-zone-%c", v.p[1]) : v;
}

/* "a=1,b=2" as a map; a value may contain = but no comma. */
void map_of(struct emit *e, const char *name, str text, bool labels)
{
    str one, key, val;

    open_map(e, name);
    while (part(&text, ',', &one)) {
        (void)str_cut(one, '=', &key, &val);
        jw_key_str(&e->w, labels ? builder_key(key) : key);
        jw_str(&e->w, labels ? value_of(e, val) : val);
    }
    jw_end(&e->w);
}

static str note_key(str word)
{
    for (size_t i = 0; i < ARRAY_LEN(notes); i++)
        if (str_is(word, notes[i].word))
            return str_c(notes[i].key);
    return word;
}

void notes_of(struct emit *e, str text)
{
    str one, key, val;

    if (!text.n)
        return;
    open_map(e, "annotations");
    while (part(&text, ',', &one)) {
        (void)str_cut(one, '=', &key, &val);
        jw_key_str(&e->w, note_key(key));
        jw_str(&e->w, val);
    }
    jw_end(&e->w);
}

str time_of(struct emit *e, str text)
{
    return text.n > 8 ? text : arena_printf(e->b->a, "2026-01-15T" STR_FMT "Z", STR_ARG(text));
}

void condition(struct emit *e, const char *type, str status, str since)
{
    jw_map(&e->w);
    member(e, "type", str_c(type));
    member(e, "status", status);
    member(e, "reason", str_c(type));
    member(e, "lastTransitionTime", time_of(e, since));
    jw_end(&e->w);
}

void values_of(struct emit *e, str vals)
{
    str one;

    open_list(e, "values");
    while (part(&vals, ',', &one))
        jw_str(&e->w, value_of(e, one));
    jw_end(&e->w);
}

/* "zone In z1,z2; integer Gt 3 min 2" as a list of requirements. */
void exprs_of(struct emit *e, str text)
{
    str one, w;

    jw_list(&e->w);
    while (part(&text, ';', &one)) {
        jw_map(&e->w);
        if (!part(&one, ' ', &w))
            builder_wrong("an expression without a key", text);
        member(e, "key", builder_key(w));
        if (!part(&one, ' ', &w))
            builder_wrong("an expression without an operator", text);
        member(e, "operator", w);
        if (one.n && !str_starts(one, STR("min "))) {
            (void)part(&one, ' ', &w);
            values_of(e, w);
        }
        if (str_starts(one, STR("min ")))
            count(e, "minValues", str_sub(one, 4, one.n));
        jw_end(&e->w);
    }
    jw_end(&e->w);
}

void selector_of(struct emit *e, const char *name, str text)
{
    if (str_is(text, "nil") || !text.n)
        return;
    open_map(e, name);
    if (text.p[0] == '?') {
        text = arena_strdup(e->b->a, str_sub(text, 1, text.n));
        for (size_t i = 0; i < text.n; i++) /* ours: nobody else has seen the copy */
            if (text.p[i] == ':')
                ((char *)(uintptr_t)text.p)[i] = ' ';
        jw_key(&e->w, "matchExpressions");
        exprs_of(e, text);
    } else if (!str_is(text, "all")) {
        map_of(e, "matchLabels", text, /* labels= */ true);
    }
    jw_end(&e->w);
}

/* "key=value:Effect,key:Effect" */
void taints_of(struct emit *e, const char *name, str text)
{
    str one, key, val, effect;

    open_list(e, name);
    while (part(&text, ',', &one)) {
        (void)str_cut(one, ':', &key, &effect);
        jw_map(&e->w);
        if (str_cut(key, '=', &key, &val))
            member(e, "value", val);
        member(e, "key", key);
        member(e, "effect", effect);
        jw_end(&e->w);
    }
    jw_end(&e->w);
}

void terms_of(struct emit *e, const char *name, str text)
{
    str term;

    open_list(e, name);
    while (part(&text, '|', &term)) {
        jw_map(&e->w);
        jw_key(&e->w, str_starts(term, STR("fields ")) ? "matchFields" : "matchExpressions");
        exprs_of(e, str_starts(term, STR("fields ")) ? str_sub(term, 7, term.n) : term);
        jw_end(&e->w);
    }
    jw_end(&e->w);
}

void sizes(struct emit *e, const char *name, str cpu, str mem, str more)
{
    str one, key, val;

    open_map(e, name);
    if (cpu.n)
        member(e, "cpu", cpu);
    if (mem.n)
        member(e, "memory", mem);
    while (part(&more, ',', &one)) {
        (void)str_cut(one, '=', &key, &val);
        jw_key_str(&e->w, key);
        jw_str(&e->w, val);
    }
    jw_end(&e->w);
}

/* ---- whole objects ------------------------------------------------------------------------------------------------- */

/* owner=apps/v1/ReplicaSet/web */
static void owner_of(struct emit *e)
{
    str text = get(e, "owner"), kind, name;

    if (!text.n)
        return;
    size_t last = text.n;
    while (last > 0 && text.p[last - 1] != '/')
        last--;
    name = str_sub(text, last, text.n);
    text = str_sub(text, 0, last ? last - 1 : 0);
    for (last = text.n; last > 0 && text.p[last - 1] != '/';)
        last--;
    kind = str_sub(text, last, text.n);
    open_list(e, "ownerReferences");
    jw_map(&e->w);
    member(e, "apiVersion", str_sub(text, 0, last ? last - 1 : 0));
    member(e, "kind", kind);
    member(e, "name", name);
    member(e, "uid", name);
    jw_key(&e->w, "controller");
    jw_bool(&e->w, !has(e, "loose"));
    jw_end(&e->w);
    jw_end(&e->w);
}

void metadata(struct emit *e, str ns, str name)
{
    uint32_t s = e->b->n_pods++;

    open_map(e, "metadata");
    member(e, "name", name);
    if (ns.n)
        member(e, "namespace", ns);
    member(e, "uid",
           arena_printf(e->b->a, STR_FMT "-" STR_FMT "-" STR_FMT, STR_ARG(e->l->kind), STR_ARG(ns), STR_ARG(name)));
    member(e, "creationTimestamp",
           arena_printf(e->b->a, "2026-01-15T%02u:%02u:%02uZ", s / 3600 % 12, s / 60 % 60, s % 60));
    if (has(e, "label"))
        map_of(e, "labels", get(e, "label"), /* labels= */ true);
    notes_of(e, get(e, "note"));
    if (has(e, "deleting"))
        member(e, "deletionTimestamp", STR("2026-01-15T11:59:00Z"));
    owner_of(e);
    jw_end(&e->w);
}

void head(struct emit *e, const char *api, const char *kind)
{
    jw_map(&e->w);
    member(e, "apiVersion", str_c(api));
    member(e, "kind", str_c(kind));
}

str ns_of(const struct emit *e)
{
    return has(e, "ns") ? get(e, "ns") : STR("default");
}

void tail(struct emit *e)
{
    jw_end(&e->w);
    sb_char(e->b->out, '\n');
    e->w = (struct jw){.out = e->b->out};
}

void builder_lines(struct builder *b, str text)
{
    str one;

    while (part(&text, '\n', &one)) {
        struct line l;

        if (!one.n || one.p[0] == '#')
            continue;
        parse_line(one, &l);
        struct emit e = {.b = b, .w = {.out = str_is(l.kind, "type") ? b->types : b->out}, .l = &l};
        if (!builder_pod_kind(&e) && !builder_other_kind(&e))
            builder_wrong("no such kind", l.kind);
    }
}
