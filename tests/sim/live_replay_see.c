/* What can be seen of the cluster: every phrase of steps.md after "seen: " is a question that is asked again until it holds. */
#include <stdio.h>

#include "data/json.h"
#include "live_replay.h"

/* ---- objects ---- */

const struct tree *live_condition(const struct tree *obj, str type)
{
    const struct tree *list = tree_at(obj, "status", "conditions", NULL);

    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_eq(tree_str(tree_get(&list->items[i], "type")), type))
            return &list->items[i];
    return NULL;
}

struct search {
    struct replay *p;
    live_fits_fn fits;
    uint32_t n;
    str first;
};

static void on_object(void *ctx, const struct object *o)
{
    struct search *s = ctx;
    AUTO(arena) struct arena *a = arena_new(0);

    if (s->fits && !s->fits(s->p, o, kube_tree(a, o)))
        return;
    if (s->n++ == 0)
        s->first = o->name;
}

static struct search search(struct replay *p, const char *plural, live_fits_fn fits)
{
    struct search s = {.p = p, .fits = fits};

    kube_each(p->r->l->s->k, server_kind(p->r->l->s, plural), (str){0}, on_object, &s);
    return s;
}

uint32_t live_count(struct replay *p, const char *plural, live_fits_fn fits)
{
    return search(p, plural, fits).n;
}

const char *live_find(struct replay *p, const char *plural, live_fits_fn fits)
{
    struct search s = search(p, plural, fits);

    return s.n ? live_cstr(p->a, s.first) : NULL;
}

bool live_is_new_claim(const struct replay *p, const struct object *o, UNUSED const struct tree *t)
{
    for (uint32_t i = 0; i < p->old.n; i++)
        if (str_eq(p->old.v[i], o->name))
            return false;
    return true;
}

bool live_is_managed_node(UNUSED const struct replay *p, const struct object *o, UNUSED const struct tree *t)
{
    return object_label(o, STR("karpenter.sh/nodepool")).n != 0;
}

static bool is_old_claim(const struct replay *p, const struct object *o, const struct tree *t)
{
    return !live_is_new_claim(p, o, t);
}

bool live_leads(struct rig *r, const void *arg)
{
    uint32_t i = *(const uint32_t *)arg;

    return r->replicas[i] && replica_leads(r->replicas[i]);
}

/* ---- questions ---- */

struct question {
    struct replay *p;
    str text;          /* after "seen: " */
    const char *claim; /* there was, when the wait began */
};

struct tally {
    str word; /* what names of pods begin with, a condition of claims, a reason of events */
    uint32_t n, n_right;
};

static void tally_pod(void *ctx, const struct object *o)
{
    struct tally *c = ctx;
    AUTO(arena) struct arena *a = arena_new(0);

    if (o->deleted_ms || !str_starts(o->name, c->word))
        return;
    c->n++;
    c->n_right += str_is(tree_str(tree_at(kube_tree(a, o), "status", "phase", NULL)), "Running");
}

static void tally_claim(void *ctx, const struct object *o)
{
    struct tally *c = ctx;
    AUTO(arena) struct arena *a = arena_new(0);

    c->n++;
    c->n_right += str_is(tree_str(tree_get(live_condition(kube_tree(a, o), c->word), "status")), "True");
}

static void tally_event(void *ctx, const struct object *o)
{
    struct tally *c = ctx;
    AUTO(arena) struct arena *a = arena_new(0);

    c->n += str_eq(tree_str(tree_get(kube_tree(a, o), "reason")), c->word);
}

static struct tally tally(struct replay *p, const char *plural, void (*fn)(void *ctx, const struct object *o), str word)
{
    struct tally c = {.word = word};

    kube_each(p->r->l->s->k, server_kind(p->r->l->s, plural), (str){0}, fn, &c);
    return c;
}

static bool claim_is_gone(const struct question *q)
{
    const struct kind *k = server_kind(q->p->r->l->s, "nodeclaims");

    return !q->claim || !kube_get(q->p->r->l->s->k, k, (str){0}, str_c(q->claim));
}

static bool another_leads(struct rig *r)
{
    for (uint32_t i = 0; i < RIG_REPLICAS; i++)
        if (live_leads(r, &i))
            return true;
    return false;
}

/* "pod Running", "web Running", "3 pods Running", "NodeClaim Initialized", "3 NodeClaims Initialized" */
static bool is_count_seen(struct replay *p, str text)
{
    int64_t wanted = 0;
    struct tally c;
    str what, is;

    if (str_cut(text, ' ', &what, &is) && str_to_i64(what, &wanted))
        (void)str_cut(is, ' ', &what, &is);
    if (str_starts(what, STR("NodeClaim")))
        c = tally(p, "nodeclaims", tally_claim, is);
    else if (str_is(what, "pod") || str_is(what, "pods"))
        c = tally(p, "pods", tally_pod, STR(""));
    else
        c = tally(p, "pods", tally_pod, what);
    return c.n > 0 && (wanted ? c.n_right == (uint32_t)wanted : c.n_right == c.n);
}

static bool is_seen(struct rig *r, const void *arg)
{
    const struct question *q = arg;
    struct replay *p = q->p;

    if (str_is(q->text, "FailedScheduling"))
        return tally(p, "events", tally_event, q->text).n > 0;
    if (str_starts(q->text, STR("event ")))
        return tally(p, "events", tally_event, str_sub(q->text, 6, q->text.n)).n > 0;
    if (str_is(q->text, "no NodeClaims"))
        return live_count(p, "nodeclaims", NULL) == 0;
    if (str_is(q->text, "one NodeClaim left"))
        return live_count(p, "nodeclaims", NULL) == 1;
    if (str_is(q->text, "replacement NodeClaim"))
        return live_find(p, "nodeclaims", live_is_new_claim) != NULL;
    if (str_starts(q->text, STR("old NodeClaim")))
        return live_count(p, "nodeclaims", is_old_claim) == 0;
    if (str_is(q->text, "NodeClaim and Node gone") || str_is(q->text, "NodeClaim gone") ||
        str_is(q->text, "first NodeClaim gone"))
        return claim_is_gone(q);
    if (str_is(q->text, "another holder"))
        return another_leads(r);
    return is_count_seen(p, q->text);
}

static void remember(void *ctx, const struct object *o)
{
    struct replay *p = ctx;

    vec_push(&p->old, arena_strdup(p->a, o->name));
}

bool live_see(struct replay *p, str text, double took_s)
{
    struct question q = {p, text, live_find(p, "nodeclaims", NULL)};

    if (!rig_until(p->r, LIVE_PATIENCE_S + 3 * took_s, is_seen, &q))
        return false;
    if (str_ends(text, STR("Initialized"))) {
        p->old.n = 0;
        kube_each(p->r->l->s->k, server_kind(p->r->l->s, "nodeclaims"), (str){0}, remember, p);
    }
    return true;
}
