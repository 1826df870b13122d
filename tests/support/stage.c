#include "support/stage.h"

#include <stdio.h>
#include <stdlib.h>

#include "data/edit.h"
#include "support/check.h"

static const char *const usual[] = {"LOG_LEVEL", "debug", "DISABLE_LEADER_ELECTION", "true"};

/* ---- the diary ---- */

static uint32_t number_of(struct stage *s, str claim)
{
    for (uint32_t i = 0; i < s->claims.n; i++)
        if (str_eq(s->claims.v[i], claim))
            return i + 1;
    vec_push(&s->claims, arena_strdup(s->r->l->a, claim));
    return s->claims.n;
}

/* Of a Node: kwok-CLAIM-… */
static uint32_t number_of_node(const struct stage *s, str node)
{
    for (uint32_t i = 0; i < s->claims.n; i++)
        if (str_contains(node, s->claims.v[i]))
            return i + 1;
    return 0;
}

static void write_line(struct stage *s, char kind, uint32_t number, const char *what, str more)
{
    sb_printf(&s->diary, "%.1f %c%u %s", rig_now(s->r), kind, number, what);
    if (more.n) {
        sb_char(&s->diary, ' ');
        sb_str(&s->diary, more);
    }
    sb_char(&s->diary, '\n');
}

static str reason_of(const struct tree *obj, const char *type, bool only_true)
{
    const struct tree *list = tree_at(obj, "status", "conditions", NULL);

    for (uint32_t i = 0; list && i < list->n; i++)
        if (str_is(tree_str(tree_get(&list->items[i], "type")), type) &&
            (!only_true || str_is(tree_str(tree_get(&list->items[i], "status")), "True")))
            return tree_str(tree_get(&list->items[i], "reason"));
    return (str){0};
}

static void on_claim(void *ctx, const struct change *c)
{
    struct stage *s = ctx;
    const struct tree *was = c->old ? change_old(c) : NULL, *is = c->new ? change_new(c) : NULL;
    uint32_t n = number_of(s, c->new ? c->new->name : c->old->name);
    str had = was ? reason_of(was, "DisruptionReason", true) : (str){0},
        has = is ? reason_of(is, "DisruptionReason", true) : (str){0};

    if (!was)
        write_line(s, 'c', n, "made", (str){0});
    if (!is)
        write_line(s, 'c', n, "gone", (str){0});
    if (is && !str_eq(had, has))
        write_line(s, 'c', n, has.n ? "goes:" : "stays", has);
    if (was && is && reason_of(was, "Initialized", true).n == 0 && reason_of(is, "Initialized", true).n)
        write_line(s, 'c', n, "initialized", (str){0});
    if (is && c->new->deleted_ms && !(was && c->old->deleted_ms))
        write_line(s, 'c', n, "deleted", (str){0});
}

static bool is_tainted(const struct tree *node)
{
    const struct tree *l = node ? tree_at(node, "spec", "taints", NULL) : NULL;

    for (uint32_t i = 0; l && i < l->n; i++)
        if (str_is(tree_str(tree_get(&l->items[i], "key")), "karpenter.sh/disrupted"))
            return true;
    return false;
}

static void on_node(void *ctx, const struct change *c)
{
    struct stage *s = ctx;
    const struct tree *was = c->old ? change_old(c) : NULL, *is = c->new ? change_new(c) : NULL;
    uint32_t n = number_of_node(s, c->new ? c->new->name : c->old->name);

    if (n == 0)
        return;
    s->n_nodes += !was;
    s->n_nodes -= !is;
    if (is && is_tainted(was) != is_tainted(is))
        write_line(s, 'n', n, is_tainted(is) ? "tainted" : "untainted", (str){0});
    s->n_going += is && (is_tainted(is) || c->new->deleted_ms);
    s->n_going -= was && (is_tainted(was) || c->old->deleted_ms);
    s->max_going = MAX(s->max_going, s->n_going);
}

bool stage_saw(const struct stage *s, const char *line)
{
    str want = str_c(line), rest = sb_view(&s->diary), one;

    while (str_cut(rest, '\n', &one, &rest))
        if (str_ends(one, want) && one.p[one.n - want.n - 1] == ' ')
            return true;
    return false;
}

str stage_story(struct stage *s)
{
    str rest = sb_view(&s->diary), line, time;
    struct sb b = {0};

    while (str_cut(rest, '\n', &line, &rest)) {
        (void)str_cut(line, ' ', &time, &line);
        sb_printf(&b, STR_FMT "\n", STR_ARG(line));
    }
    str story = sb_dup(&b, s->r->l->a);
    sb_fini(&b);
    sb_reset(&s->diary);
    return story;
}

/* ---- the rig ---- */

struct stage *stage_new(const char *const *env)
{
    struct stage *s = xcalloc(1, sizeof(*s));
    const char *all[32] = {0};
    size_t n = 0;

    for (; n < ARRAY_LEN(usual); n++)
        all[n] = usual[n];
    for (size_t i = 0; env && env[i]; i++)
        all[n++] = env[i];
    s->r = rig_new(1, all, NULL);
    kube_subscribe(s->r->l->s->k, server_kind(s->r->l->s, "nodeclaims"), on_claim, s);
    kube_subscribe(s->r->l->s->k, server_kind(s->r->l->s, "nodes"), on_node, s);
    fleet_class(s->r);
    rig_start(s->r, 0);
    lab_run(s->r->l, 2);
    return s;
}

void stage_free(struct stage *s)
{
    rig_free(s->r);
    vec_fini(&s->claims);
    sb_fini(&s->diary);
    free(s);
}

void stage_pool(struct stage *s, const char *disruption, const char *more)
{
    AUTO(arena) struct arena *a = arena_new(0);

    lab_apply(s->r->l,
              arena_printf(a,
                           "apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: default}\nspec:\n"
                           "  disruption: {%s}\n"
                           "  %s\n"
                           "  template: {spec: {expireAfter: Never,\n"
                           "    nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default},\n"
                           "    requirements: [\n"
                           "    {key: kubernetes.io/os, operator: In, values: [linux]},\n"
                           "    {key: kubernetes.io/arch, operator: In, values: [amd64]},\n"
                           "    {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]},\n"
                           "    {key: karpenter.kwok.sh/instance-size, operator: Lt, values: ['32']}]}}\n%c",
                           disruption, more, 0)
                  .p);
    lab_run(s->r->l, 1);
}

void stage_deploy_with(struct stage *s, const char *name, uint32_t replicas, const char *cpu, const char *more)
{
    AUTO(arena) struct arena *a = arena_new(0);

    lab_apply(s->r->l,
              arena_printf(
                  a,
                  "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: %s}\nspec:\n"
                  "  replicas: %u\n  selector: {matchLabels: {app: %s}}\n"
                  "  template: {metadata: {labels: {app: %s}}, spec: {terminationGracePeriodSeconds: 0, %s\n"
                  "    containers: [{name: app, image: app, resources: {requests: {cpu: '%s', memory: 256Mi}}}]}}\n%c",
                  name, replicas, name, name, more, cpu, 0)
                  .p);
}

void stage_deploy(struct stage *s, const char *name, uint32_t replicas, const char *cpu)
{
    stage_deploy_with(s, name, replicas, cpu, "");
}

struct wish {
    struct stage *s;
    uint32_t pods, nodes;
    const char *line;
};

static bool has_come(struct rig *r, const void *arg)
{
    const struct wish *w = arg;
    struct fleet f;

    fleet_look(r, &f);
    return f.n_running == w->pods && f.n_pods == w->pods && f.n_nodes == w->nodes && f.n_claims == w->nodes &&
           f.n_ready == w->nodes && f.n_leaving == 0;
}

static bool has_seen(struct rig *r, const void *arg)
{
    const struct wish *w = arg;

    (void)r;
    return stage_saw(w->s, w->line);
}

static void give_up(struct stage *s, const char *what)
{
    (void)fprintf(stderr, STR_FMT "\n" STR_FMT "\n" STR_FMT "\n", STR_ARG(sb_view(&s->r->logs[0])),
                  STR_ARG(sb_view(&s->diary)), STR_ARG(lab_pods(s->r->l, "")));
    fail_msg("at %.1f s: %s", rig_now(s->r), what);
}

void stage_wait(struct stage *s, double seconds, uint32_t pods, uint32_t nodes)
{
    struct wish w = {.s = s, .pods = pods, .nodes = nodes};
    char what[80];

    (void)snprintf(what, sizeof(what), "%u pods on %u nodes are not there", pods, nodes);
    if (!rig_until(s->r, seconds, has_come, &w))
        give_up(s, what);
}

void stage_until(struct stage *s, double seconds, const char *line)
{
    struct wish w = {.s = s, .line = line};

    if (!rig_until(s->r, seconds, has_seen, &w))
        give_up(s, line);
}

str stage_claim(const struct stage *s, uint32_t i)
{
    return i <= s->claims.n ? s->claims.v[i - 1] : (str){0};
}

struct find_node {
    struct stage *s;
    uint32_t i;
    str name;
};

static void find_node(void *ctx, const struct object *o)
{
    struct find_node *f = ctx;

    if (number_of_node(f->s, o->name) == f->i)
        f->name = arena_strdup(f->s->r->l->a, o->name);
}

str stage_node(struct stage *s, uint32_t i)
{
    struct find_node f = {.s = s, .i = i};

    kube_each(s->r->l->s->k, server_kind(s->r->l->s, "nodes"), (str){0}, find_node, &f);
    return f.name;
}

/* ---- what was said ---- */

/* "kwok-default-4phx2-proud-tern-1483830592" becomes n1, "default-4phx2" c1. */
static void print_plain(struct stage *s, struct sb *out, str text)
{
    while (text.n) {
        uint32_t found = 0;
        size_t skip = 0;
        char kind = 'c';

        for (uint32_t i = 0; i < s->claims.n && !found; i++) {
            str claim = s->claims.v[i];
            str rest = text;

            if (str_starts(text, STR("kwok-")))
                rest = str_sub(text, 5, text.n);
            if (!str_starts(rest, claim))
                continue;
            found = i + 1;
            skip = (size_t)(rest.p - text.p) + claim.n;
            if (rest.p == text.p)
                continue;
            kind = 'n';
            while (skip < text.n && (text.p[skip] == '-' || (text.p[skip] >= 'a' && text.p[skip] <= 'z') ||
                                     (text.p[skip] >= '0' && text.p[skip] <= '9')))
                skip++;
        }
        if (found)
            sb_printf(out, "%c%u", kind, found);
        else
            sb_char(out, text.p[0]);
        text = str_sub(text, found ? skip : 1, text.n);
    }
}

static bool has_message(str line, const char *message)
{
    AUTO(arena) struct arena *a = arena_new(256);

    return str_contains(line, arena_printf(a, "\"message\":\"%s\"", message));
}

uint32_t stage_log_count(const struct stage *s, const char *message)
{
    str rest = sb_view(&s->r->logs[0]), line;
    uint32_t n = 0;

    while (str_cut(rest, '\n', &line, &rest))
        n += has_message(line, message);
    return n;
}

str stage_logged(struct stage *s, const char *message, const char *from)
{
    AUTO(arena) struct arena *a = arena_new(256);
    str rest = sb_view(&s->r->logs[0]), line, key = arena_printf(a, "\"%s\":", from);
    struct sb b = {0};

    while (str_cut(rest, '\n', &line, &rest)) {
        const char *at = has_message(line, message) ? memmem(line.p, line.n, key.p, key.n) : NULL;

        if (!at)
            continue;
        print_plain(s, &b, str_sub(line, (size_t)(at - line.p), line.n));
        sb_char(&b, '\n');
    }
    str text = sb_dup(&b, s->r->l->a);
    sb_fini(&b);
    return text;
}

struct find_events {
    struct stage *s;
    const char *reason;
    VEC(str) lines;
};

static void find_event(void *ctx, const struct object *o)
{
    struct find_events *f = ctx;
    const struct tree *t = kube_tree(f->s->r->l->a, o);
    struct sb b = {0};

    if (!str_is(tree_str(tree_get(t, "reason")), f->reason))
        return;
    print_plain(f->s, &b, tree_str(tree_at(t, "involvedObject", "name", NULL)));
    sb_c(&b, ": ");
    print_plain(f->s, &b, tree_str(tree_get(t, "message")));
    vec_push(&f->lines, sb_dup(&b, f->s->r->l->a));
    sb_fini(&b);
}

static int by_text(const void *a, const void *b, void *ctx UNUSED)
{
    return str_cmp(*(const str *)a, *(const str *)b);
}

str stage_events(struct stage *s, const char *reason)
{
    struct find_events f = {.s = s, .reason = reason};
    struct sb b = {0};

    kube_each(s->r->l->s->k, server_kind(s->r->l->s, "events"), (str){0}, find_event, &f);
    sort_stable(f.lines.v, f.lines.n, sizeof(*f.lines.v), by_text, NULL);
    for (uint32_t i = 0; i < f.lines.n; i++)
        sb_printf(&b, STR_FMT "\n", STR_ARG(f.lines.v[i]));
    str text = sb_dup(&b, s->r->l->a);
    vec_fini(&f.lines);
    sb_fini(&b);
    return text;
}

double stage_metric(struct stage *s, const char *series)
{
    struct sb text = {0};
    str rest, line, want = str_c(series);
    double v = -1;

    replica_metrics(s->r->replicas[0], &text);
    rest = sb_view(&text);
    while (str_cut(rest, '\n', &line, &rest))
        if (str_starts(line, want) && line.n > want.n && line.p[want.n] == ' ')
            v = strtod(line.p + want.n, NULL);
    sb_fini(&text);
    return v;
}
