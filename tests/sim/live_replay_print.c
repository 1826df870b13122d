/* What the controller did, a JSON object a line. Changes are printed as the API server makes them; writes and log lines at the end, when every answer is known. */
#include <stdio.h>

#include "data/json.h"
#include "live_replay.h"

double live_now(const struct replay *p)
{
    return rig_now(p->r) - p->t0;
}

static void line_begin(double t, struct sb *b, struct jw *w, const char *what)
{
    *w = (struct jw){.out = b};
    jw_map(w);
    jw_key(w, "t");
    jw_double(w, t);
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

static void print_condition(const struct replay *p, const struct object *o, const struct tree *c, bool removed)
{
    static const char *const keys[] = {"type", "status", "reason", "message"};
    struct sb b = {0};
    struct jw w;

    line_begin(live_now(p), &b, &w, "condition");
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
        const struct tree *old = c->old ? live_condition(change_old(c), type) : NULL;

        if ((!node || str_is(type, "Ready")) && !(old && same(old, &is->items[i])))
            print_condition(p, c->new, &is->items[i], /* removed= */ false);
    }
    for (uint32_t i = 0; c->new &&was &&i < was->n; i++)
        if (!live_condition(change_new(c), tree_str(tree_get(&was->items[i], "type"))))
            print_condition(p, c->new, &was->items[i], /* removed= */ true);
}

static void on_object(void *ctx, const struct change *c)
{
    struct replay *p = ctx;
    const struct object *o = c->new ? c->new : c->old;
    struct sb b = {0};
    struct jw w;

    on_conditions(p, c);
    if (c->old && c->new)
        return;
    if (c->new &&str_is(o->kind->name, "NodeClaim") && o->n_owners)
        vec_push(&p->claims, arena_strdup(p->a, o->name));
    line_begin(live_now(p), &b, &w, c->new ? "made" : "gone");
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
    line_begin(live_now(p), &b, &w, "event");
    field(&w, "verb", c->old ? STR("patch") : STR("create"));
    field(&w, "reason", tree_str(tree_get(ev, "reason")));
    field(&w, "type", tree_str(tree_get(ev, "type")));
    field(&w, "message", tree_str(tree_get(ev, "message")));
    field(&w, "kind", tree_str(tree_at(ev, "involvedObject", "kind", NULL)));
    field(&w, "name", tree_str(tree_at(ev, "involvedObject", "name", NULL)));
    field(&w, "namespace", tree_str(tree_at(ev, "metadata", "namespace", NULL)));
    line_end(&b, &w);
}

static void print_write(const struct replay *p, const struct rig_write *x)
{
    struct sb b = {0};
    struct jw w;

    if (str_contains(x->path, STR("/leases/")) || str_contains(x->path, STR("/events")))
        return;
    line_begin(x->t - p->t0, &b, &w, "write");
    field(&w, "method", x->method);
    field(&w, "path", x->path);
    field(&w, "type", x->type);
    field(&w, "body", x->body);
    jw_key(&w, "status");
    jw_i64(&w, x->status);
    line_end(&b, &w);
}

static void print_log(uint32_t replica, str line)
{
    struct sb b = {0};
    struct jw w = {.out = &b};

    jw_map(&w);
    field(&w, "what", STR("log"));
    jw_key(&w, "replica");
    jw_i64(&w, replica);
    jw_key(&w, "line");
    jw_raw(&w, line);
    line_end(&b, &w);
}

static void print_metrics(struct replica *r)
{
    struct sb b = {0}, text = {0};
    struct jw w = {.out = &b};

    replica_metrics(r, &text);
    jw_map(&w);
    field(&w, "what", STR("metrics"));
    field(&w, "text", sb_view(&text));
    line_end(&b, &w);
    sb_fini(&text);
}

void live_print_rest(struct replay *p)
{
    for (; p->n_written < p->r->writes.n; p->n_written++)
        print_write(p, &p->r->writes.v[p->n_written]);
    for (uint32_t i = 0; i < RIG_REPLICAS; i++) {
        str text = sb_view(&p->r->logs[i]), line;

        text = str_sub(text, p->n_logged[i], text.n);
        while (str_cut(text, '\n', &line, &text))
            print_log(i, line);
        if (p->r->replicas[i])
            print_metrics(p->r->replicas[i]);
    }
}

void live_watch(struct replay *p)
{
    static const char *const kinds[] = {"capacitybuffers", "nodeclaims", "nodepools", "nodes", "pods"};

    p->t0 = rig_now(p->r);
    p->n_written = p->r->writes.n;
    for (uint32_t i = 0; i < RIG_REPLICAS; i++)
        p->n_logged[i] = sb_view(&p->r->logs[i]).n;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        kube_subscribe(p->r->l->s->k, server_kind(p->r->l->s, kinds[i]), on_object, p);
    kube_subscribe(p->r->l->s->k, server_kind(p->r->l->s, "events"), on_event, p);
}
