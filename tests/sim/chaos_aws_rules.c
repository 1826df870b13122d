/* What may never happen on AWS, and what must be so in the end.
 *
 * No machine without an owner: one that no NodeClaim knows of is ended within the period of the garbage collection of instances (aws 7.5): it is looked for every 10 s at first and then every two minutes,
 * among machines older than 30 s. A machine that AWS takes back has its NodeClaim deleted within seconds, and what ran there is on order elsewhere before it is gone. Messages do not stay in the queue.
 * All of that holds while nothing is badly broken, and again when whoever failed for a while has had as much time as that: a controller that fails waits twice as long before it tries again, up to 1,000 s
 * (lifecycle 9). While a few calls go wrong, a message may come up to three times before it is dealt with, and it is hidden for 20 s in between.
 * In the end, with pools and node class gone, the account is as it was given. */
#include "sim/chaos_aws.h"

#include <stdio.h>
#include <string.h>

#include "data/edit.h"

#define LOOK_S 20.0
#define GC_S (30 + 120)   /* a machine's youth, and from one collection to the next */
#define CALLS_S 15.0      /* for windows, retries and the way */
#define DELETE_S 10.0     /* from AWS's warning to a NodeClaim that goes */
#define WARNING_S 120.0   /* from there to the end of the machine */
#define WAITING_S 45.0    /* a pod that waits for longer has something on order */
#define BACK_OFF_S 1000.0 /* the longest */
#define MILD 3000u        /* calls that go wrong, per 65,536: most of what is done in three attempts succeeds */
#define PATIENCE_S 60.0   /* while that is so */
#define MESSAGE_S 60.0    /* two times invisible, and the looks in between */
#define TAKE_DOWN_S (40 * 60)

/* ---- whether anything is broken ---- */

static bool somebody_leads(struct chaos *c)
{
    for (uint32_t i = 0; i < RIG_REPLICAS; i++)
        if (c->r->replicas[i] && replica_leads(c->r->replicas[i]) && replica_synced(c->r->replicas[i]))
            return true;
    return false;
}

static void look_for_trouble(struct chaos *c)
{
    struct chaos_aws *w = c->aws;
    double now = rig_now(c->r);
    bool trouble = c->worst_rate > MILD || w->worst_rate > MILD || now < c->disturbed_s || !somebody_leads(c);

    if (c->worst_rate || w->worst_rate)
        w->mild_s = now;

    if (trouble && w->untroubled_s >= 0) {
        w->trouble_s = MAX(w->untroubled_s, 0);
        w->untroubled_s = -1;
    } else if (!trouble && w->untroubled_s < 0) {
        w->untroubled_s = now;
    }
}

/* Since when all that was promised has to be kept; beyond now: it does not have to. */
static double promised_s(const struct chaos *c)
{
    const struct chaos_aws *w = c->aws;

    if (w->untroubled_s < 0)
        return 1e12;
    return w->untroubled_s + MIN(BACK_OFF_S, w->untroubled_s - w->trouble_s) + CALLS_S;
}

static double patience_s(const struct chaos *c)
{
    return c->aws->mild_s > 0 && rig_now(c->r) - c->aws->mild_s < PATIENCE_S + LOOK_S ? PATIENCE_S : 0;
}

/* ---- machines without an owner ---- */

struct round {
    struct chaos *c;
    struct sky_owners owners;
};

static struct chaos_orphan *orphan_of(struct chaos_aws *w, str id)
{
    for (uint32_t i = 0; i < w->orphans.n; i++)
        if (str_is(id, w->orphans.v[i].id))
            return &w->orphans.v[i];
    return NULL;
}

static void check_machine(void *ctx, const struct sim_aws_resource *r)
{
    struct round *t = ctx;
    struct chaos *c = t->c;
    struct chaos_orphan o = {.since_s = rig_now(c->r), .seen = true};
    bool there = strcmp(r->state, "pending") == 0 || strcmp(r->state, "running") == 0;

    if (strcmp(r->kind, "instance") != 0 || !there || sky_owned(&t->owners, r->id))
        return;
    struct chaos_orphan *was = orphan_of(c->aws, r->id);

    if (!was) {
        (void)snprintf(o.id, sizeof(o.id), STR_FMT, STR_ARG(r->id));
        vec_push(&c->aws->orphans, o);
        return;
    }
    was->seen = true;
    if (is_shifted(c, sim_aws_machine(c->aws->sky->aws, r->id)->zone_id))
        was->since_s = rig_now(c->r); /* nothing is ended there */
    double since = MAX(was->since_s, promised_s(c));
    if (rig_now(c->r) - since > GC_S + LOOK_S + CALLS_S)
        bad(c, "machine %s runs for %.0f s, and no NodeClaim knows of it", was->id, rig_now(c->r) - was->since_s);
}

/* One that was found again, or is gone, was on its way, or an orphan, for so long. */
static void forget_orphans(struct chaos *c)
{
    struct chaos_aws *w = c->aws;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < w->orphans.n; i++) {
        struct chaos_orphan *o = &w->orphans.v[i];

        if (o->seen) {
            o->seen = false;
            w->orphans.v[kept++] = *o;
        } else if (rig_now(c->r) - o->since_s > 30) {
            c->tally.n_orphans++;
            c->tally.orphan_s += rig_now(c->r) - o->since_s;
        }
    }
    w->orphans.n = kept;
}

/* ---- machines that AWS takes back ---- */

void aws_warned(struct chaos *c, str instance)
{
    struct chaos_warning g = {.at_s = rig_now(c->r)};

    (void)snprintf(g.id, sizeof(g.id), STR_FMT, STR_ARG(instance));
    vec_push(&c->aws->warnings, g);
    c->tally.n_warned++;
}

struct waiting {
    struct chaos *c;
    str pod;         /* that waits, with nothing on order */
    uint32_t n_open; /* NodeClaims whose machine is not there yet */
};

static void note_waiting(void *ctx, const struct object *o)
{
    struct waiting *w = ctx;
    int64_t now_ms = world_now_ms(w->c->r->l->s->world);

    if (!o->deleted_ms && object_field(o, "spec.nodeName").n == 0 && object_label(o, STR("daemon")).n == 0 &&
        str_is(object_field(o, "status.phase"), "Pending") && now_ms - o->created_ms > (int64_t)(WAITING_S * 1000))
        w->pod = o->name;
}

static void note_open(void *ctx, const struct object *o)
{
    struct waiting *w = ctx;
    AUTO(arena) struct arena *a = arena_new(0);
    const struct tree *conds = tree_get(kube_part(a, o, "status"), "conditions");

    if (o->deleted_ms)
        return;
    for (uint32_t i = 0; conds && i < conds->n; i++)
        if (str_is(tree_str(tree_get(&conds->items[i], "type")), "Initialized") &&
            str_is(tree_str(tree_get(&conds->items[i], "status")), "True"))
            return;
    w->n_open++;
}

/* It is gone now, or will be within a look. Whoever ran there has been given another place, or one has been ordered. */
static void check_replaced(struct chaos *c, const struct chaos_warning *g)
{
    struct waiting w = {.c = c};

    /* Nothing can be ordered. */
    if (has_part(c, CHAOS_LIMITS) || c->pools[0].tainted || c->aws->sold_out || c->aws->worst_rate || c->worst_rate ||
        is_shifted(c, (str){0}) ||
        !str_starts(lab_condition(c->r->l, "nodepools", c->pools[0].name, "Ready"), STR("True")))
        return;
    kube_each(chaos_kube(c), server_kind(c->r->l->s, "pods"), STR("default"), note_waiting, &w);
    kube_each(chaos_kube(c), server_kind(c->r->l->s, "nodeclaims"), (str){0}, note_open, &w);
    if (w.pod.n && w.n_open == 0)
        bad(c, "machine %s is gone, pod " STR_FMT " waits, and nothing is on order", g->id, STR_ARG(w.pod));
}

static void check_warnings(struct chaos *c, const struct sky_owners *owners)
{
    struct chaos_aws *w = c->aws;
    double now = rig_now(c->r);
    uint32_t kept = 0;

    for (uint32_t i = 0; i < w->warnings.n; i++) {
        struct chaos_warning g = w->warnings.v[i];
        bool promised = promised_s(c) < g.at_s;

        if (promised && now - g.at_s > DELETE_S + LOOK_S + patience_s(c) &&
            strmap_get(&owners->by_instance, str_c(g.id)) == 0)
            bad(c, "machine %s was warned %.0f s ago, and its NodeClaim stays", g.id, now - g.at_s);
        if (now - g.at_s < WARNING_S - LOOK_S)
            w->warnings.v[kept++] = g;
        else if (promised)
            check_replaced(c, &g);
    }
    w->warnings.n = kept;
}

static void on_claim(void *ctx, const struct change *ch)
{
    struct chaos *c = ctx;

    if (!ch->old || !ch->new || ch->old->deleted_ms || !ch->new->deleted_ms)
        return;
    AUTO(arena) struct arena *a = arena_new(0);
    str id = tree_str(tree_get(kube_part(a, ch->new, "status"), "providerID"));
    for (uint32_t i = 0; i < c->aws->warnings.n; i++) {
        const struct chaos_warning *g = &c->aws->warnings.v[i];

        if (str_ends(id, str_c(g->id)) && promised_s(c) < g->at_s && rig_now(c->r) - g->at_s > DELETE_S + patience_s(c))
            bad(c, "machine %s was warned %.1f s before its NodeClaim was deleted", g->id, rig_now(c->r) - g->at_s);
    }
}

void aws_watch(struct chaos *c)
{
    kube_subscribe(chaos_kube(c), server_kind(c->r->l->s, "nodeclaims"), on_claim, c);
}

/* ---- all of it ---- */

static void check_queue(struct chaos *c)
{
    int64_t oldest_ms;
    uint32_t n = sim_aws_messages(c->aws->sky->aws, STR(SKY_CLUSTER), &oldest_ms);
    double since = MAX(rig_now(c->r) - (double)oldest_ms / 1000, promised_s(c));

    if (n && rig_now(c->r) - since > MESSAGE_S + LOOK_S + patience_s(c))
        bad(c, "%u messages are in the queue, one of them for %.0f s", n, (double)oldest_ms / 1000);
}

void aws_check(struct chaos *c)
{
    struct round t = {.c = c};

    look_for_trouble(c);
    sky_owners_init(&t.owners, c->aws->sky);
    sim_aws_each(c->aws->sky->aws, check_machine, &t);
    forget_orphans(c);
    check_warnings(c, &t.owners);
    check_queue(c);
    sky_owners_fini(&t.owners);
}

/* ---- the end ---- */

static bool is_empty(struct chaos *c)
{
    struct sky_stock left;

    sky_look(c->aws->sky, &left);
    return left.n_machines + left.n_templates + left.n_profiles == 0 && !exists(c, class_plural(c), "default") &&
           sim_aws_messages(c->aws->sky->aws, STR(SKY_CLUSTER), NULL) == 0;
}

static void take_down(struct chaos *c)
{
    static const char *const plurals[] = {"poddisruptionbudgets", "deployments", "jobs", "daemonsets", "nodepools"};

    for (size_t i = 0; i < ARRAY_LEN(plurals); i++)
        delete_all(c, plurals[i], is_any);
    delete_all(c, "nodeclaims", is_any);
    delete_all(c, class_plural(c), is_any);
}

void aws_check_end(struct chaos *c)
{
    struct sky_stock left;

    if (!c->aws)
        return;
    take_down(c);
    for (double end = rig_now(c->r) + TAKE_DOWN_S; rig_now(c->r) < end && c->bad.n == 0 && !is_empty(c);) {
        lab_run(c->r->l, LOOK_S);
        tend(c);
    }
    sky_look(c->aws->sky, &left);
    if (!is_empty(c) && c->bad.n == 0)
        bad(c,
            "left behind: %u machines (%u of them without an owner), %u launch templates, %u instance profiles, "
            "%u messages%s",
            left.n_machines, left.n_unowned, left.n_templates, left.n_profiles,
            sim_aws_messages(c->aws->sky->aws, STR(SKY_CLUSTER), NULL),
            exists(c, class_plural(c), "default") ? ", the node class" : "");
    c->tally.n_machines = sim_aws_bill(c->aws->sky->aws).launched;
    c->tally.n_aws_calls = sim_aws_calls(c->aws->sky->aws, "ec2") + sim_aws_calls(c->aws->sky->aws, "sqs");
}
