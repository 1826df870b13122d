/* Replays a recorded scenario in the simulated world: does what its steps.md says with the objects of its objects.yaml, and prints what the controller did, a JSON object a line:
 *
 *     {"t": 4.05, "what": "condition", "kind": …, "name": …, "type": …, "status": …, "reason": …, "message": …}      also "removed": true
 *     {"t": 4.05, "what": "event", "verb": …, "reason": …, "type": …, "message": …, "kind": …, "name": …}
 *     {"t": 4.05, "what": "made" | "gone", "kind": …, "name": …, "owner": …}
 *     {"t": 4.05, "what": "write", "method": …, "path": …, "body": …, "changed": true}
 *
 * Steps that wait ("waited 3 s") let time pass; steps that saw something wait until it is there. Status 1: it never was.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/edit.h"
#include "data/json.h"
#include "data/reader.h"
#include "model/duration.h"
#include "sim/kube/work.h"
#include "support/check.h"
#include "support/rig.h"

#define PATIENCE_S 40.0
#define FORGET_STARTUP_S 2.0 /* before the scenario: a replica leads */

static const char *const settings[] = {
    "LOG_LEVEL",
    "debug",
    "FEATURE_GATES",
    "StaticCapacity=true,SpotToSpotConsolidation=false,NodeRepair=true,CapacityBuffer=true",
    NULL,
};

struct replay {
    struct rig *r;
    struct arena *a;
    const struct tree **objects;
    uint32_t n_objects;
    double t0;
    uint32_t n_written; /* of rig.writes: printed */
    uint32_t n_claims_seen;
    bool failed;
};

/* ---- what is printed ---- */

static double now(const struct replay *p)
{
    return rig_now(p->r) - p->t0;
}

static void line_begin(const struct replay *p, struct sb *b, struct jw *w, const char *what)
{
    *w = (struct jw){.out = b};
    jw_map(w);
    jw_key(w, "t");
    jw_double(w, now(p));
    jw_key(w, "what");
    jw_c(w, what);
}

static void line_end(struct sb *b, struct jw *w)
{
    jw_end(w);
    (void)printf(STR_FMT "\n", STR_ARG(sb_view(b)));
    sb_fini(b);
}

static void field(struct jw *w, const char *key, str value)
{
    jw_key(w, key);
    jw_str(w, value);
}

static const struct tree *condition(const struct tree *obj, str type)
{
    const struct tree *list = tree_at(obj, "status", "conditions", NULL);

    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_eq(tree_str(tree_get(&list->items[i], "type")), type))
            return &list->items[i];
    return NULL;
}

static void print_condition(const struct replay *p, const struct object *o, const struct tree *c, bool removed)
{
    static const char *const keys[] = {"type", "status", "reason", "message"};
    struct sb b = {0};
    struct jw w;

    line_begin(p, &b, &w, "condition");
    field(&w, "kind", o->kind->name);
    field(&w, "name", o->name);
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        field(&w, keys[i], tree_str(tree_get(c, keys[i])));
    if (removed) {
        jw_key(&w, "removed");
        jw_bool(&w, true);
    }
    line_end(&b, &w);
}

static bool same(const struct tree *a, const struct tree *b)
{
    static const char *const keys[] = {"status", "reason", "message"};

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        if (!str_eq(tree_str(tree_get(a, keys[i])), tree_str(tree_get(b, keys[i]))))
            return false;
    return true;
}

static void on_conditions(const struct replay *p, const struct change *c)
{
    const struct tree *is = c->new ? tree_at(change_new(c), "status", "conditions", NULL) : NULL;
    const struct tree *was = c->old ? tree_at(change_old(c), "status", "conditions", NULL) : NULL;
    bool node = c->new &&str_is(c->new->kind->name, "Node");

    for (uint32_t i = 0; is && i < is->n; i++) {
        str type = tree_str(tree_get(&is->items[i], "type"));
        const struct tree *old = c->old ? condition(change_old(c), type) : NULL;

        if ((!node || str_is(type, "Ready")) && !(old && same(old, &is->items[i])))
            print_condition(p, c->new, &is->items[i], /* removed= */ false);
    }
    for (uint32_t i = 0; c->new &&was &&i < was->n; i++)
        if (!condition(change_new(c), tree_str(tree_get(&was->items[i], "type"))))
            print_condition(p, c->new, &was->items[i], /* removed= */ true);
}

static void on_object(void *ctx, const struct change *c)
{
    const struct replay *p = ctx;
    const struct object *o = c->new ? c->new : c->old;
    struct sb b = {0};
    struct jw w;

    on_conditions(p, c);
    if (c->old && c->new)
        return;
    line_begin(p, &b, &w, c->new ? "made" : "gone");
    field(&w, "kind", o->kind->name);
    field(&w, "name", o->name);
    field(&w, "uid", o->uid);
    field(&w, "owner", o->n_owners ? o->owners[0].name : (str){0});
    line_end(&b, &w);
}

static void on_event(void *ctx, const struct change *c)
{
    const struct replay *p = ctx;
    const struct tree *ev = c->new ? change_new(c) : NULL;
    struct sb b = {0};
    struct jw w;

    if (!ev || !str_is(tree_str(tree_at(ev, "source", "component", NULL)), "karpenter"))
        return;
    line_begin(p, &b, &w, "event");
    field(&w, "verb", c->old ? STR("patch") : STR("create"));
    field(&w, "reason", tree_str(tree_get(ev, "reason")));
    field(&w, "type", tree_str(tree_get(ev, "type")));
    field(&w, "message", tree_str(tree_get(ev, "message")));
    field(&w, "kind", tree_str(tree_at(ev, "involvedObject", "kind", NULL)));
    field(&w, "name", tree_str(tree_at(ev, "involvedObject", "name", NULL)));
    field(&w, "namespace", tree_str(tree_at(ev, "metadata", "namespace", NULL)));
    line_end(&b, &w);
}

static void print_writes(struct replay *p)
{
    for (; p->n_written < p->r->writes.n; p->n_written++) {
        const struct rig_write *x = &p->r->writes.v[p->n_written];
        struct sb b = {0};
        struct jw w;

        if (str_contains(x->path, STR("/leases/")) || str_contains(x->path, STR("/events")))
            continue;
        line_begin(p, &b, &w, "write");
        jw_key(&w, "at");
        jw_double(&w, x->t - p->t0);
        field(&w, "method", x->method);
        field(&w, "path", x->path);
        field(&w, "body", x->body);
        jw_key(&w, "changed");
        jw_bool(&w, x->changed);
        line_end(&b, &w);
    }
}

/* ---- what can be seen ---- */

struct count {
    struct replay *p;
    str prefix;       /* of names */
    const char *cond; /* of NodeClaims; NULL: any */
    uint32_t n, n_running, n_with;
    char name[256]; /* of the last one */
};

static void count_pod(void *ctx, const struct object *o)
{
    struct count *c = ctx;
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree *t = kube_tree(a, o);

    if (o->deleted_ms || !str_starts(o->name, c->prefix))
        return;
    c->n++;
    c->n_running += str_is(tree_str(tree_at(t, "status", "phase", NULL)), "Running");
}

static void count_claim(void *ctx, const struct object *o)
{
    struct count *c = ctx;
    AUTO(arena) struct arena *a = arena_new(0);
    const struct tree *t = kube_tree(a, o);

    c->n++;
    (void)snprintf(c->name, sizeof(c->name), STR_FMT, STR_ARG(o->name));
    if (c->cond)
        c->n_with += str_is(tree_str(tree_get(condition(t, str_c(c->cond)), "status")), "True");
}

static void count_managed_node(void *ctx, const struct object *o)
{
    struct count *c = ctx;

    if (object_label(o, STR("karpenter.sh/nodepool")).n == 0)
        return;
    c->n++;
    (void)snprintf(c->name, sizeof(c->name), STR_FMT, STR_ARG(o->name));
}

static void count_event(void *ctx, const struct object *o)
{
    struct count *c = ctx;
    AUTO(arena) struct arena *a = arena_new(0);

    c->n += str_eq(tree_str(tree_get(kube_tree(a, o), "reason")), c->prefix);
}

static struct count count(struct replay *p, const char *plural, void (*fn)(void *ctx, const struct object *o),
                          str prefix, const char *cond)
{
    struct count c = {.p = p, .prefix = prefix, .cond = cond};

    kube_each(p->r->l->s->k, server_kind(p->r->l->s, plural), (str){0}, fn, &c);
    return c;
}

struct wanted {
    struct replay *p;
    str text; /* after "seen: " */
    uint32_t n_claims;
    char claim[256]; /* there was, when the wait began */
};

static bool claim_is_gone(const struct wanted *s)
{
    const struct kind *k = server_kind(s->p->r->l->s, "nodeclaims");

    return s->claim[0] == 0 || !kube_get(s->p->r->l->s->k, k, (str){0}, str_c(s->claim));
}

static bool is_seen(struct rig *r, const void *arg)
{
    const struct wanted *s = arg;
    struct replay *p = s->p;
    str head, tail;
    int64_t n;
    struct count c;

    if (str_is(s->text, "FailedScheduling"))
        return count(p, "events", count_event, STR("FailedScheduling"), NULL).n > 0;
    if (str_is(s->text, "no NodeClaims"))
        return count(p, "nodeclaims", count_claim, STR(""), NULL).n == 0;
    if (str_is(s->text, "NodeClaim and Node gone") || str_is(s->text, "NodeClaim gone") ||
        str_is(s->text, "first NodeClaim gone"))
        return claim_is_gone(s);
    if (str_is(s->text, "another holder"))
        return (r->replicas[0] && replica_leads(r->replicas[0])) || (r->replicas[1] && replica_leads(r->replicas[1]));
    if (str_starts(s->text, STR("NodeClaim "))) {
        char cond[64];

        (void)snprintf(cond, sizeof(cond), STR_FMT, STR_ARG(str_sub(s->text, 10, s->text.n)));
        c = count(p, "nodeclaims", count_claim, STR(""), cond);
        return c.n > 0 && c.n_with == c.n;
    }
    if (str_cut(s->text, ' ', &head, &tail) && str_to_i64(head, &n) && str_starts(tail, STR("NodeClaims "))) {
        c = count(p, "nodeclaims", count_claim, STR(""),
                  arena_printf(p->a, STR_FMT "%c", STR_ARG(str_sub(tail, 11, tail.n)), 0).p);
        return c.n == (uint32_t)n && c.n_with == c.n;
    }
    if (str_cut(s->text, ' ', &head, &tail) && str_to_i64(head, &n)) {
        c = count(p, "pods", count_pod, STR(""), NULL);
        return c.n_running == (uint32_t)n;
    }
    c = count(p, "pods", count_pod, str_is(head, "pod") ? STR("") : head, NULL);
    return c.n > 0 && c.n_running == c.n;
}

/* ---- what is done ---- */

static const struct tree *find_object(const struct replay *p, str kind, str name)
{
    for (uint32_t i = 0; i < p->n_objects; i++)
        if (str_eq(tree_str(tree_get(p->objects[i], "kind")), kind) &&
            str_eq(tree_str(tree_at(p->objects[i], "metadata", "name", NULL)), name))
            return p->objects[i];
    return NULL;
}

static void apply(struct replay *p, const struct tree *obj)
{
    struct sb b = {0};
    struct jw w = {.out = &b};

    jw_tree(&w, obj);
    lab_apply(p->r->l, sb_cstr(&b));
    sb_fini(&b);
}

static bool do_create(struct replay *p, str list)
{
    str one, kind, name;

    while (list.n) {
        (void)str_cut(list, ',', &one, &list);
        if (str_starts(str_trim(one), STR("which ")))
            break; /* for the reader */
        if (!str_cut(str_trim(one), ' ', &kind, &name) || !find_object(p, kind, name))
            return false;
        apply(p, find_object(p, kind, name));
    }
    return true;
}

static const char *plural_of(str kind)
{
    static const char *const names[][2] = {{"NodeClaim", "nodeclaims"},
                                           {"NodePool", "nodepools"},
                                           {"Pod", "pods"},
                                           {"PodDisruptionBudget", "poddisruptionbudgets"},
                                           {"Node", "nodes"},
                                           {"Deployment", "deployments"},
                                           {"CapacityBuffer", "capacitybuffers"}};

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_is(kind, names[i][0]))
            return names[i][1];
    return NULL;
}

static bool do_delete(struct replay *p, str what)
{
    char name[256];
    str kind, rest;

    if (str_is(what, "the NodeClaim")) {
        (void)snprintf(name, sizeof(name), "%s", count(p, "nodeclaims", count_claim, STR(""), NULL).name);
        lab_delete(p->r->l, "nodeclaims", name);
        return true;
    }
    if (str_is(what, "the Node")) {
        (void)snprintf(name, sizeof(name), "%s", count(p, "nodes", count_managed_node, STR(""), NULL).name);
        lab_delete(p->r->l, "nodes", name);
        return true;
    }
    if (!str_cut(what, ' ', &kind, &rest) || !plural_of(kind))
        return false;
    (void)snprintf(name, sizeof(name), STR_FMT, STR_ARG(rest));
    lab_delete(p->r->l, plural_of(kind), name);
    return true;
}

static bool do_patch(struct replay *p, str what)
{
    str head, body, kind, name;
    char n[256];

    if (!str_cut(what, ':', &head, &body) || !str_cut(head, ' ', &kind, &name) || !plural_of(kind))
        return false;
    (void)snprintf(n, sizeof(n), STR_FMT, STR_ARG(name));
    lab_patch(p->r->l, plural_of(kind), n, arena_printf(p->a, STR_FMT "%c", STR_ARG(str_trim(body)), 0).p);
    return true;
}

/* ---- nodes that fall ill ---- */

struct find_node {
    struct replay *p;
    bool (*fits)(const struct tree *node);
    char name[256];
};

static bool has_kubelet(const struct tree *node)
{
    return tree_at(node, "metadata", "annotations", "kwok.x-k8s.io/node", NULL) != NULL;
}

static bool is_left_alone(const struct tree *node)
{
    const struct tree *list = tree_at(node, "status", "conditions", NULL);

    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "type")), "Ready"))
            return !has_kubelet(node) && str_is(tree_str(tree_get(&list->items[i], "status")), "True");
    return false;
}

static void find_fitting(void *ctx, const struct object *o)
{
    struct find_node *f = ctx;
    const struct tree *node = kube_tree(f->p->a, o);

    if (!f->name[0] && tree_at(node, "metadata", "labels", "karpenter.sh/nodepool", NULL) && f->fits(node))
        (void)snprintf(f->name, sizeof(f->name), STR_FMT, STR_ARG(o->name));
}

/* The first of Karpenter's Nodes that is like this; false: there is none. */
static bool find_node(struct replay *p, bool (*fits)(const struct tree *node), char *name, size_t size)
{
    struct find_node f = {.p = p, .fits = fits};
    struct lab *l = p->r->l;

    kube_each(l->s->k, server_kind(l->s, "nodes"), (str){0}, find_fitting, &f);
    (void)snprintf(name, size, "%s", f.name);
    return f.name[0] != 0;
}

static bool do_stop_kubelet(struct replay *p)
{
    char name[256];

    if (!find_node(p, has_kubelet, name, sizeof(name)))
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
    char name[256];
    struct sb b = {0};

    if (sscanf(arena_printf(p->a, STR_FMT "%c", STR_ARG(text), 0).p, "Ready=False, lastTransitionTime %d min %d s ago",
               &minutes, &seconds) != 2 ||
        !find_node(p, is_left_alone, name, sizeof(name)))
        return false;
    struct tree *list = server_tree(
        l->s, arena_printf(p->a, STR_FMT "%c", STR_ARG(lab_get(l, "nodes", name, "status.conditions")), 0).p);
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

static bool leads(struct rig *r, const void *arg)
{
    uint32_t i = *(const uint32_t *)arg;

    return r->replicas[i] && replica_leads(r->replicas[i]);
}

static bool start_and_lead(struct replay *p, uint32_t i)
{
    rig_start(p->r, i);
    return rig_until(p->r, PATIENCE_S, leads, &i);
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

static bool do_see(struct replay *p, str text, double recorded_s)
{
    struct wanted s = {.p = p, .text = text};
    struct count c = count(p, "nodeclaims", count_claim, STR(""), NULL);

    (void)snprintf(s.claim, sizeof(s.claim), "%s", c.name);
    return rig_until(p->r, PATIENCE_S + 3 * recorded_s, is_seen, &s);
}

static bool do_step(struct replay *p, str text, double took_s)
{
    double s;
    str number;
    bool known, ok = do_replica(p, text, &known);

    if (known)
        return ok;
    if (str_starts(text, STR("create ")))
        return do_create(p, str_sub(text, 7, text.n));
    if (str_starts(text, STR("seen: ")))
        return do_see(p, str_sub(text, 6, text.n), took_s);
    if (str_starts(text, STR("delete ")))
        return do_delete(p, str_sub(text, 7, text.n));
    if (str_starts(text, STR("remove the annotation kwok.x-k8s.io/node from ")))
        return do_stop_kubelet(p);
    if (str_starts(text, STR("patch the Node's status: ")) || str_starts(text, STR("patch a Node's status: ")))
        return str_cut(text, ':', &number, &text) && do_fall_ill(p, str_trim(text));
    if (str_starts(text, STR("patch ")))
        return do_patch(p, str_sub(text, 6, text.n));
    if (str_is(text, "remove the startup taint from the Node")) {
        struct count c = count(p, "nodes", count_managed_node, STR(""), NULL);

        lab_patch(p->r->l, "nodes", c.name, "{spec: {taints: null}}");
        return true;
    }
    s = took_s; /* anything else is time that passed */
    if (str_starts(text, STR("waited ")) && str_cut(str_sub(text, 7, text.n), ' ', &number, &text) &&
        !str_to_double(number, &s))
        return false;
    lab_run(p->r->l, s);
    return true;
}

/* Rows of the table: | t | text | */
static bool replay(struct replay *p, str steps)
{
    double before = 0, at;
    str line, rest, time, text;

    while (steps.n) {
        (void)str_cut(steps, '\n', &line, &steps);
        if (!str_starts(line, STR("| ")) || !str_cut(str_sub(line, 2, line.n), '|', &time, &rest) ||
            !str_to_double(str_trim(time), &at))
            continue;
        text = str_trim(rest);
        text = str_trim(str_sub(text, 0, text.n - 1)); /* the last bar */
        if (!do_step(p, text, at - before)) {
            (void)fprintf(stderr, "live_replay: at %.1f s (recorded %.1f s): " STR_FMT "\n", now(p), at, STR_ARG(text));
            return false;
        }
        before = at;
        print_writes(p);
    }
    return true;
}

/* ---- files ---- */

static str read_whole(struct arena *a, const char *dir, const char *name)
{
    char path[1024];
    struct sb b = {0};
    char buf[4096];
    size_t n;
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    f = fopen(path, "r");
    if (!f) {
        perror(path);
        exit(2);
    }
    while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
        sb_bytes(&b, buf, n);
    (void)fclose(f);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static void read_objects(struct replay *p, str text)
{
    VEC(const struct tree *) v = {0};
    str doc, rest = text;

    while (rest.n) {
        const char *at = memmem(rest.p, rest.n, "\n---\n", 5);
        const struct tree *t = NULL;
        struct err e = {0};

        doc = at ? str_sub(rest, 0, (size_t)(at - rest.p) + 1) : rest;
        rest = at ? str_sub(rest, doc.n + 4, rest.n) : (str){0};
        if (tree_parse_yaml(p->a, "objects.yaml", doc, &t, &e) && t && t->kind == TREE_MAP)
            vec_push(&v, t);
    }
    p->objects = vec_to_arena(&v, p->a);
    p->n_objects = v.n;
    vec_fini(&v);
}

int main(int argc, char **argv)
{
    static const char *const kinds[] = {"nodeclaims", "nodepools", "nodes", "pods", "capacitybuffers"};
    struct replay p = {.a = arena_new(0)};
    uint32_t first = 0;
    bool ok;

    if (argc < 2 || argc > 3) {
        (void)fprintf(stderr, "usage: live_replay DIRECTORY [SEED]\n");
        return 2;
    }
    /* kwok is quicker than machines are */
    p.r = rig_new(argc > 2 ? strtoull(argv[2], NULL, 10) : 1, settings,
                  &(struct cluster_options){.node_ready = {10, 30}, .pod_start = {100, 300}});
    read_objects(&p, read_whole(p.a, argv[1], "objects.yaml"));
    rig_start(p.r, 0);
    ok = rig_until(p.r, PATIENCE_S, leads, &first);
    lab_run(p.r->l, FORGET_STARTUP_S);
    p.t0 = rig_now(p.r);
    p.n_written = p.r->writes.n;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        kube_subscribe(p.r->l->s->k, server_kind(p.r->l->s, kinds[i]), on_object, &p);
    kube_subscribe(p.r->l->s->k, server_kind(p.r->l->s, "events"), on_event, &p);
    ok = ok && replay(&p, read_whole(p.a, argv[1], "steps.md"));
    print_writes(&p);
    if (!ok || getenv("LIVE_LOGS"))
        for (uint32_t i = 0; i < RIG_REPLICAS; i++)
            (void)fprintf(stderr, STR_FMT, STR_ARG(sb_view(&p.r->logs[i])));
    rig_free(p.r);
    arena_free(p.a);
    return ok ? 0 : 1;
}
