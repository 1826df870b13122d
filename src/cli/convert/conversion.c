/* What the conversions share: notes, metadata, and what moves from pools to node classes. */
#include "cli/convert/convert_int.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/sb.h"
#include "data/edit.h"
#include "data/json.h"

PRINTF(2, 0) static str formatted(struct arena *a, const char *fmt, va_list ap)
{
    va_list again;

    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    assert(n >= 0);
    char *text = arena_alloc(a, (size_t)n + 1, 1);
    (void)vsnprintf(text, (size_t)n + 1, fmt, ap);
    for (char *p = text; *p; p++)
        if (*p == '\n' || *p == '\r') /* it is a comment, whatever a name or a tag has in it */
            *p = ' ';
    return (str){text, (size_t)n};
}

void convert_note(struct conversion *c, struct converted *o, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vec_push(&o->notes, formatted(c->a, fmt, ap));
    va_end(ap);
}

void convert_lost(struct conversion *c, struct converted *o, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    str what = formatted(c->a, fmt, ap);
    va_end(ap);
    vec_push(&o->notes, arena_printf(c->a, "no equal: " STR_FMT, STR_ARG(what)));
    o->lossy = true;
}

bool convert_bad(const struct conversion *c, uint32_t in, struct err *e, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    str what = formatted(c->a, fmt, ap);
    va_end(ap);
    return err_set(e, ERR_INVALID, "%s:%u: " STR_FMT, c->in.v[in].file, c->in.v[in].object->line, STR_ARG(what));
}

void convert_rest(struct conversion *c, struct converted *o, const char *where, const struct tree *map,
                  const char *const *known)
{
    for (uint32_t i = 0; map && map->kind == TREE_MAP && i < map->n; i++) {
        bool found = map->items[i].kind == TREE_NULL;

        for (const char *const *k = known; *k && !found; k++)
            found = str_is(map->keys[i], *k);
        if (!found)
            convert_lost(c, o, "%s" STR_FMT, where, STR_ARG(map->keys[i]));
    }
}

static void copy_kept(struct arena *a, struct tree *to, const struct tree *meta, const char *key)
{
    static const char *const dropped[] = {"kubectl.kubernetes.io/last-applied-configuration",
                                          "karpenter.sh/provisioner-hash",
                                          "karpenter.sh/nodepool-hash",
                                          "karpenter.sh/nodepool-hash-version",
                                          "karpenter.k8s.aws/ec2nodeclass-hash",
                                          "karpenter.k8s.aws/ec2nodeclass-hash-version",
                                          "karpenter.k8s.aws/nodetemplate-hash"};
    const struct tree *from = tree_get(meta, key);
    struct tree *copy = from && from->kind == TREE_MAP ? tree_copy(a, from) : NULL;

    for (size_t i = 0; copy && i < ARRAY_LEN(dropped); i++)
        (void)tree_drop(copy, str_c(dropped[i]));
    if (copy && copy->n)
        tree_set(a, to, key, *copy);
}

struct converted *convert_new(struct conversion *c, uint32_t from, const char *version, const char *kind,
                              const struct tree *meta)
{
    struct converted *o = arena_new_one(c->a, struct converted);

    *o = (struct converted){.object = tree_new_map(c->a), .from = from, .changed = true};
    tree_set_str(c->a, o->object, "apiVersion", str_c(version));
    tree_set_str(c->a, o->object, "kind", str_c(kind));
    struct tree *to = tree_sub(c->a, o->object, "metadata");
    if (meta) {
        tree_set_str(c->a, to, "name", tree_scalar(tree_get(meta, "name")));
        copy_kept(c->a, to, meta, "labels");
        copy_kept(c->a, to, meta, "annotations");
    }
    (void)tree_sub(c->a, o->object, "spec");
    vec_push(&c->out, o);
    return o;
}

str convert_name(const struct converted *o)
{
    return tree_str(tree_at(o->object, "metadata", "name", NULL));
}

struct converted *convert_find(const struct conversion *c, const char *kind, str name)
{
    for (uint32_t i = 0; i < c->out.n; i++)
        if (str_is(tree_str(tree_get(c->out.v[i]->object, "kind")), kind) && str_eq(convert_name(c->out.v[i]), name))
            return c->out.v[i];
    return NULL;
}

str convert_free_name(const struct conversion *c, str name, const char *const *kinds)
{
    str free = name;
    unsigned n = 1;

    for (const char *const *k = kinds; *k; k++)
        if (convert_find(c, *k, free)) {
            free = arena_printf(c->a, STR_FMT "-%u", STR_ARG(name), ++n);
            k = kinds - 1; /* all of them again */
        }
    return free;
}

void convert_hops(struct conversion *c, struct converted *class)
{
    struct tree *options = tree_path(c->a, class->object, "spec", "metadataOptions", NULL);

    if (!options || tree_get(options, "httpPutResponseHopLimit"))
        return;
    tree_set_i64(c->a, options, "httpPutResponseHopLimit", 2);
    convert_note(
        c, class,
        "httpPutResponseHopLimit: 2 was the default then; now it is 1, which keeps pods from the machine's credentials");
}

void convert_ref(struct conversion *c, struct converted *pool, str class_name)
{
    struct tree *ref = tree_path(c->a, pool->object, "spec", "template", "spec", "nodeClassRef", NULL);

    tree_set_str(c->a, ref, "group", STR(CLASS_GROUP));
    tree_set_str(c->a, ref, "kind", STR("EC2NodeClass"));
    tree_set_str(c->a, ref, "name", class_name);
}

static void set_kubelet(struct conversion *c, struct converted *class, const struct tree *kubelet)
{
    struct tree *spec = tree_sub(c->a, class->object, "spec");

    class->claimed = true;
    class->kubelet = kubelet;
    (void)tree_drop(spec, STR("kubelet"));
    if (!kubelet)
        return;
    tree_set(c->a, spec, "kubelet", *tree_copy(c->a, kubelet));
    class->changed = true;
}

/* Two pools of one class tell their kubelets different things: the second gets a copy of the class. */
static void own_class(struct conversion *c, struct converted *pool, struct converted *class, const struct tree *kubelet)
{
    struct converted *own = arena_new_one(c->a, struct converted);
    str pool_name = convert_name(pool), class_name = convert_name(class);
    str name = arena_printf(c->a, STR_FMT "-" STR_FMT, STR_ARG(class_name), STR_ARG(pool_name));

    *own = (struct converted){
        .object = tree_copy(c->a, class->object), .from = pool->from, .changed = true, .lossy = class->lossy};
    tree_set_str(c->a, tree_sub(c->a, own->object, "metadata"), "name", name);
    set_kubelet(c, own, kubelet);
    convert_note(c, own,
                 "a copy of EC2NodeClass " STR_FMT " for NodePool " STR_FMT ", whose kubelets are told something else",
                 STR_ARG(class_name), STR_ARG(pool_name));
    convert_ref(c, pool, name);
    vec_push(&c->out, own);
}

void convert_kubelet(struct conversion *c, struct converted *pool, const struct tree *kubelet)
{
    str name = tree_str(tree_at(pool->object, "spec", "template", "spec", "nodeClassRef", "name", NULL));
    struct converted *class = convert_find(c, "EC2NodeClass", name);
    struct tree *told = kubelet && kubelet->kind == TREE_MAP ? tree_copy(c->a, kubelet) : NULL;

    if (told && tree_drop(told, STR("containerRuntime")))
        convert_lost(c, pool, "containerRuntime of kubelets: images have containerd");
    if (told && told->n == 0)
        told = NULL;
    if (told)
        convert_note(c, pool, "settings of kubelets are in spec.kubelet of the EC2NodeClass");
    if (!class && told) {
        str text = json_text(c->a, told);

        convert_lost(c, pool, "EC2NodeClass " STR_FMT " is not among the files; it needs spec.kubelet: " STR_FMT,
                     STR_ARG(name), STR_ARG(text));
    }
    if (!class)
        return;
    if (!class->claimed)
        set_kubelet(c, class, told);
    else if (told ? !class->kubelet || !tree_equal(told, class->kubelet) : class->kubelet != NULL)
        own_class(c, pool, class, told);
}

static const struct {
    const char *family, *alias;
} aliases[] = {
    {"AL2", "al2@latest"},
    {"AL2023", "al2023@latest"},
    {"Bottlerocket", "bottlerocket@latest"},
    {"Windows2019", "windows2019@latest"},
    {"Windows2022", "windows2022@latest"},
    {"Windows2025", "windows2025@latest"},
};

void convert_images(struct conversion *c, struct converted *class, str family, struct tree *terms)
{
    struct tree *spec = tree_sub(c->a, class->object, "spec");
    const char *alias = NULL;

    for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
        if (str_is(family, aliases[i].family))
            alias = aliases[i].alias;
    if (!alias && !str_is(family, "Custom")) {
        convert_lost(c, class,
                     "amiFamily " STR_FMT
                     ": its images have to be selected by amiSelectorTerms, with the family Custom and "
                     "user data that joins the cluster",
                     STR_ARG(family));
        family = STR("Custom");
    }
    if (str_is(family, "AL2"))
        convert_note(c, class, "AL2 has no images for Kubernetes 1.33 and later; AL2023 is its successor");
    if (terms && terms->n) {
        tree_set_str(c->a, spec, "amiFamily", family);
        tree_set(c->a, spec, "amiSelectorTerms", *terms);
        return;
    }
    struct tree *list = tree_sublist(c->a, spec, "amiSelectorTerms");
    struct tree *term = tree_push(c->a, list, *tree_new_map(c->a));
    if (alias) {
        tree_set_str(c->a, term, "alias", str_c(alias));
        convert_note(c, class,
                     "images: the latest, as before; a version instead of @latest rolls nodes when you say so");
        return;
    }
    tree_set_str(c->a, spec, "amiFamily", family);
    tree_set_str(c->a, term, "id", STR("ami-00000000000000000"));
    convert_lost(c, class, "there is no image to select: put yours in the place of ami-00000000000000000");
}

bool convert_identity(struct conversion *c, struct converted *class, uint32_t in, str profile, str role, struct err *e)
{
    struct tree *spec = tree_sub(c->a, class->object, "spec");

    if (!profile.n && !role.n) {
        profile = c->set->profile;
        role = c->set->role;
    }
    if (!profile.n && !role.n)
        return convert_bad(c, in, e,
                           "EC2NodeClass " STR_FMT
                           " needs the role of its nodes: say --role NAME or --instance-profile "
                           "NAME",
                           STR_ARG(convert_name(class)));
    if (role.n)
        tree_set_str(c->a, spec, "role", role);
    else
        tree_set_str(c->a, spec, "instanceProfile", profile);
    return true;
}

struct tree *convert_requirement(struct arena *a, struct tree *list, const char *key, const char *op)
{
    struct tree *r = tree_push(a, list, *tree_new_map(a));

    tree_set_str(a, r, "key", str_c(key));
    tree_set_str(a, r, "operator", str_c(op));
    return tree_sublist(a, r, "values");
}

void convert_in(struct arena *a, struct tree *list, const char *key, const char *value)
{
    (void)tree_push(a, convert_requirement(a, list, key, "In"), tree_of_str(str_c(value)));
}

/* ---- all of it ---- */

void conversion_add(struct conversion *c, const char *file, const struct tree *object)
{
    vec_push(&c->in, ((struct convert_input){arena_printf(c->a, "%s%c", file, 0).p, tree_copy(c->a, object)}));
}

struct known {
    const char *version, *kind;
    bool (*convert)(struct conversion *c, uint32_t in, struct err *e);
    bool late; /* after the node classes */
};

static const struct known kinds[] = {
    {"karpenter.k8s.aws/v1alpha1", "AWSNodeTemplate", convert_template, false},
    {"karpenter.k8s.aws/v1beta1", "EC2NodeClass", convert_beta_class, false},
    {"karpenter.sh/v1alpha5", "Provisioner", convert_provisioner, true},
    {"karpenter.sh/v1beta1", "NodePool", convert_beta_pool, true},
    {"eksctl.io/v1alpha5", "ClusterConfig", convert_eksctl, true},
};

static const struct known *kind_of(const struct tree *t)
{
    static const struct known groups = {NULL, NULL, convert_asgs, true};
    str version = tree_str(tree_get(t, "apiVersion")), kind = tree_str(tree_get(t, "kind"));

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_is(version, kinds[i].version) && str_is(kind, kinds[i].kind))
            return &kinds[i];
    return tree_get(t, "AutoScalingGroups") ? &groups : NULL;
}

/* Machines are made by the controller, and a group that nobody knows any more is not passed on as if it were good. */
static bool cannot_be(struct conversion *c, uint32_t in, struct err *e)
{
    const struct tree *t = c->in.v[in].object;
    str version = tree_str(tree_get(t, "apiVersion")), kind = tree_str(tree_get(t, "kind"));
    bool ours = str_starts(version, STR("karpenter.sh/")) || str_starts(version, STR("karpenter.k8s.aws/"));

    if (!version.n || !kind.n)
        return convert_bad(c, in, e, "this is no Kubernetes object: apiVersion or kind is missing");
    if (ours && !str_ends(version, STR("/v1")) && !str_is(kind, "NodeOverlay"))
        return convert_bad(c, in, e,
                           STR_FMT " " STR_FMT " cannot be converted: known are Provisioner, AWSNodeTemplate, "
                                   "NodePool and EC2NodeClass",
                           STR_ARG(version), STR_ARG(kind));
    return true;
}

static bool pass_on(struct conversion *c, uint32_t in, struct err *e)
{
    struct converted *o = arena_new_one(c->a, struct converted);

    if (!cannot_be(c, in, e))
        return false;
    *o = (struct converted){.object = c->in.v[in].object, .from = in};
    if (str_is(tree_str(tree_get(o->object, "kind")), "EC2NodeClass")) {
        o->kubelet = tree_at(o->object, "spec", "kubelet", NULL);
        o->claimed = o->kubelet != NULL;
    }
    vec_push(&c->out, o);
    return true;
}

static int by_input(const void *a, const void *b, void *ctx)
{
    const struct converted *const *x = a, *const *y = b;

    (void)ctx;
    return (*x)->from < (*y)->from ? -1 : (*x)->from > (*y)->from;
}

bool conversion_run(struct conversion *c, struct err *e)
{
    for (int late = 0; late < 2; late++)
        for (uint32_t i = 0; i < c->in.n; i++) {
            const struct known *k = kind_of(c->in.v[i].object);

            if ((k ? k->late : false) == (late == 1) && !(k ? k->convert(c, i, e) : pass_on(c, i, e)))
                return false;
        }
    for (uint32_t i = 0; i < c->out.n; i++)
        convert_words(c, c->out.v[i]);
    sort_stable(c->out.v, c->out.n, sizeof(*c->out.v), by_input, NULL);
    return true;
}

void conversion_fini(struct conversion *c)
{
    for (uint32_t i = 0; i < c->out.n; i++)
        vec_fini(&c->out.v[i]->notes);
    vec_fini(&c->out);
    vec_fini(&c->in);
}
