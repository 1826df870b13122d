/* What is done to the cluster: every row of steps.md that begins with a verb. */
#include <stdio.h>
#include <string.h>

#include "data/edit.h"
#include "data/json.h"
#include "live_replay.h"
#include "model/duration.h"

#define HAND_S 0.02 /* nobody does two things at the same instant */

static const struct tree *find_object(const struct replay *p, str kind, str name)
{
    for (uint32_t i = 0; i < p->n_objects; i++)
        if (str_eq(tree_str(tree_get(p->objects[i], "kind")), kind) &&
            str_eq(tree_str(tree_at(p->objects[i], "metadata", "name", NULL)), name))
            return p->objects[i];
    return NULL;
}

struct of_claim {
    str claim, node;
};

static void on_node(void *ctx, const struct object *o)
{
    struct of_claim *f = ctx;

    if (str_contains(o->name, f->claim))
        f->node = o->name;
}

/* "<node-2>": the Node of the second claim. */
static void put_node_names(struct replay *p, struct sb *out, str text)
{
    const char *at;
    str number, rest;
    int64_t n;

    while ((at = memmem(text.p, text.n, "<node-", 6)) != NULL) {
        size_t before = (size_t)(at - text.p);
        struct of_claim f = {0};

        sb_str(out, str_sub(text, 0, before));
        text = str_sub(text, before + 6, text.n);
        if (str_cut(text, '>', &number, &rest) && str_to_i64(number, &n) && n > 0 && n <= p->claims.n) {
            f.claim = p->claims.v[n - 1];
            kube_each(p->r->l->s->k, server_kind(p->r->l->s, "nodes"), (str){0}, on_node, &f);
        }
        sb_str(out, f.node);
        text = rest;
    }
    sb_str(out, text);
}

static void apply(struct replay *p, const struct tree *obj)
{
    struct sb b = {0}, named = {0};
    struct jw w = {.out = &b};

    jw_tree(&w, obj);
    put_node_names(p, &named, sb_view(&b));
    lab_apply(p->r->l, sb_cstr(&named));
    sb_fini(&b);
    sb_fini(&named);
}

/* "Pod one, Deployment web"; what follows ", which" is said about the last one. */
static bool do_create(struct replay *p, str list)
{
    str one, kind, name;
    const char *remark = memmem(list.p, list.n, ", which ", 8);

    if (remark)
        list = str_sub(list, 0, (size_t)(remark - list.p));
    while (list.n) {
        (void)str_cut(list, ',', &one, &list);
        if (!str_cut(str_trim(one), ' ', &kind, &name) || !find_object(p, kind, name))
            return false;
        apply(p, find_object(p, kind, name));
        lab_run(p->r->l, HAND_S);
    }
    return true;
}

static const char *plural_of(str kind)
{
    static const char *const names[][2] = {{"CapacityBuffer", "capacitybuffers"},
                                           {"Deployment", "deployments"},
                                           {"KWOKNodeClass", "kwoknodeclasses"},
                                           {"Node", "nodes"},
                                           {"NodeClaim", "nodeclaims"},
                                           {"NodePool", "nodepools"},
                                           {"Pod", "pods"},
                                           {"PodDisruptionBudget", "poddisruptionbudgets"}};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(kind, names[i][0]))
            return names[i][1];
    return NULL;
}

static bool is_bound(struct rig *r, const void *pod)
{
    return lab_get(r->l, "pods", pod, "spec.nodeName").n > 2;
}

static const char *node_of_pod(struct replay *p, const char *pod)
{
    (void)rig_until(p->r, LIVE_PATIENCE_S, is_bound, pod);
    str text = lab_get(p->r->l, "pods", pod, "spec.nodeName"); /* as JSON */

    return text.n > 2 ? live_cstr(p->a, str_sub(text, 1, text.n - 1)) : NULL;
}

/* "the NodeClaim", "the replacement NodeClaim", "the Node", "the Node of pod web", "Pod one"; false: there is no such thing. */
static bool find_thing(struct replay *p, str what, const char **ret_plural, const char **ret_name)
{
    str kind, name, pod = {0};

    if (str_starts(what, STR("the Node of pod ")))
        pod = str_sub(what, 16, what.n);
    *ret_plural = str_ends(what, STR("NodeClaim")) ? "nodeclaims" : "nodes";
    if (pod.n)
        *ret_name = node_of_pod(p, live_cstr(p->a, pod));
    else if (str_is(what, "the NodeClaim"))
        *ret_name = live_find(p, "nodeclaims", NULL);
    else if (str_is(what, "the replacement NodeClaim"))
        *ret_name = live_find(p, "nodeclaims", live_is_new_claim);
    else if (str_is(what, "the Node"))
        *ret_name = live_find(p, "nodes", live_is_managed_node);
    else if (!str_cut(what, ' ', &kind, &name) || !(*ret_plural = plural_of(kind)))
        return false;
    else
        *ret_name = live_cstr(p->a, name);
    return *ret_name != NULL;
}

/* What has gone by itself meanwhile need not be deleted. */
static bool do_delete(struct replay *p, str what)
{
    struct server *s = p->r->l->s;
    const char *plural, *name;

    if (!find_thing(p, what, &plural, &name))
        return false;
    const struct kind *kind = server_kind(s, plural);
    if (kube_get(s->k, kind, kind->namespaced ? STR("default") : (str){0}, str_c(name)))
        lab_delete(p->r->l, plural, name);
    return true;
}

static bool do_patch(struct replay *p, str what)
{
    const char *plural, *name;
    str head, body;

    if (!str_cut(what, ':', &head, &body) || !find_thing(p, head, &plural, &name))
        return false;
    lab_patch(p->r->l, plural, name, live_cstr(p->a, str_trim(body)));
    return true;
}

/* "Deployment web to 0" */
static bool do_scale(struct replay *p, str what)
{
    const char *plural, *name;
    const char *to = memmem(what.p, what.n, " to ", 4);

    if (!to || !find_thing(p, str_sub(what, 0, (size_t)(to - what.p)), &plural, &name))
        return false;
    str n = str_sub(what, (size_t)(to - what.p) + 4, what.n);
    lab_patch(p->r->l, plural, name,
              live_cstr(p->a, arena_printf(p->a, "{spec: {replicas: " STR_FMT "}}", STR_ARG(n))));
    return true;
}

/* "the Node of pod web with key=value" */
static bool do_annotate(struct replay *p, str what)
{
    const char *plural, *name;
    const char *with = memmem(what.p, what.n, " with ", 6);
    str key, value;

    if (!with || !find_thing(p, str_sub(what, 0, (size_t)(with - what.p)), &plural, &name) ||
        !str_cut(str_sub(what, (size_t)(with - what.p) + 6, what.n), '=', &key, &value))
        return false;
    lab_patch(p->r->l, plural, name,
              live_cstr(p->a, arena_printf(p->a, "{metadata: {annotations: {" STR_FMT ": \"" STR_FMT "\"}}}",
                                           STR_ARG(key), STR_ARG(value))));
    return true;
}

/* ---- nodes that fall ill ---- */

static bool has_kubelet(UNUSED const struct replay *p, const struct object *o, const struct tree *node)
{
    return object_label(o, STR("karpenter.sh/nodepool")).n &&
           tree_at(node, "metadata", "annotations", "kwok.x-k8s.io/node", NULL) != NULL;
}

static bool is_left_alone(const struct replay *p, const struct object *o, const struct tree *node)
{
    const struct tree *ready = live_condition(node, STR("Ready"));

    return live_is_managed_node(p, o, node) && !has_kubelet(p, o, node) &&
           str_is(tree_str(tree_get(ready, "status")), "True");
}

static bool do_stop_kubelet(struct replay *p, UNUSED str rest)
{
    const char *name = live_find(p, "nodes", has_kubelet);

    if (!name)
        return false;
    cluster_power_off(p->r->l->c, str_c(name));
    lab_patch(p->r->l, "nodes", name, "{metadata: {annotations: {kwok.x-k8s.io/node: null}}}");
    return true;
}

/* "Ready=False, lastTransitionTime 9 min 50 s ago" */
static bool do_fall_ill(struct replay *p, str text)
{
    struct lab *l = p->r->l;
    int minutes, seconds;
    const char *name = live_find(p, "nodes", is_left_alone);
    struct sb b = {0};

    if (!name ||
        sscanf(live_cstr(p->a, text), "Ready=False, lastTransitionTime %d min %d s ago", &minutes, &seconds) != 2)
        return false;
    struct tree *list = server_tree(l->s, live_cstr(p->a, lab_get(l, "nodes", name, "status.conditions")));
    time_print_rfc3339(&b, world_now_ms(l->s->world) - (minutes * 60 + seconds) * 1000ll);
    for (uint32_t i = 0; i < list->n; i++) {
        struct tree *c = &list->items[i];

        if (!str_is(tree_str(tree_get(c, "type")), "Ready"))
            continue;
        tree_set_str(p->a, c, "status", STR("False"));
        tree_set_str(p->a, c, "reason", STR("KubeletNotReady"));
        tree_set_str(p->a, c, "message", STR("stopped"));
        tree_set_str(p->a, c, "lastTransitionTime", sb_dup(&b, p->a));
    }
    sb_reset(&b);
    struct jw w = {.out = &b};
    sb_c(&b, "{\"status\":{\"conditions\":");
    jw_tree(&w, list);
    sb_c(&b, "}}");
    lab_patch_status(l, "nodes", name, sb_cstr(&b));
    sb_fini(&b);
    return true;
}

/* ---- replicas ---- */

static bool start_and_lead(struct replay *p, uint32_t i)
{
    rig_start(p->r, i);
    return rig_until(p->r, LIVE_PATIENCE_S, live_leads, &i);
}

static bool do_replica(struct replay *p, str text, bool *ret_known)
{
    *ret_known = true;
    if (str_is(text, "controller gets SIGTERM and ends by the signal") ||
        str_is(text, "replica a gets SIGTERM and ends"))
        return rig_stop(p->r, 0), true;
    if (str_is(text, "controller started again and holds the lease") || str_is(text, "new controller holds the lease"))
        return start_and_lead(p, 0);
    if (str_is(text, "controller killed with SIGKILL"))
        return rig_kill(p->r, 0), true;
    if (str_is(text, "replica b started; replica a leads"))
        return rig_start(p->r, 1), true;
    if (str_is(text, "replica a started again; replica b leads"))
        return rig_start(p->r, 0), true;
    if (str_is(text, "replica b killed with SIGKILL"))
        return rig_kill(p->r, 1), true;
    *ret_known = false;
    return false;
}

static bool do_remove_taint(struct replay *p, UNUSED str rest)
{
    const char *name = live_find(p, "nodes", live_is_managed_node);

    if (!name)
        return false;
    lab_patch(p->r->l, "nodes", name, "{spec: {taints: null}}");
    return true;
}

static const struct {
    const char *verb;
    bool (*fn)(struct replay *p, str rest);
} verbs[] = {
    {"create ", do_create},
    {"delete ", do_delete},
    {"scale ", do_scale},
    {"annotate ", do_annotate},
    {"remove the annotation kwok.x-k8s.io/node from ", do_stop_kubelet},
    {"remove the startup taint from the Node", do_remove_taint},
    {"patch the Node's status: ", do_fall_ill},
    {"patch a Node's status: ", do_fall_ill},
    {"patch ", do_patch},
};

bool live_step(struct replay *p, str text, double took_s)
{
    double s = took_s;
    str number;
    bool known, ok = do_replica(p, text, &known);

    if (known)
        return ok;
    if (str_starts(text, STR("seen: ")))
        return live_see(p, str_sub(text, 6, text.n), took_s);
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (str_starts(text, str_c(verbs[i].verb))) {
            ok = verbs[i].fn(p, str_sub(text, strlen(verbs[i].verb), text.n));
            lab_run(p->r->l, HAND_S);
            return ok;
        }
    if (str_starts(text, STR("waited ")) && str_cut(str_sub(text, 7, text.n), ' ', &number, &text) &&
        !str_to_double(number, &s))
        return false;
    lab_run(p->r->l, s); /* anything else is time that passed */
    return true;
}
