/* Everything goes over the wire, as it would with kubectl and aws. A step is a sentence, the command that a person would type, the call that does the same, and a
 * condition that has to come true within its time. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/demo/ask.h"
#include "cli/demo/aws.h"
#include "cli/demo/tour_int.h"
#include "data/reader.h"
#include "net/fiber.h"

static const struct api_kind api_ec2nodeclasses = {"karpenter.k8s.aws", "v1", "ec2nodeclasses", "EC2NodeClass", false};

PRINTF(1, 2) static void say(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)printf("\n-- ");
    (void)vprintf(fmt, ap);
    (void)printf("\n");
    va_end(ap);
}

PRINTF(1, 2) static void say_command(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    (void)printf("   $ ");
    (void)vprintf(fmt, ap);
    (void)printf("\n");
    va_end(ap);
    (void)fflush(stdout);
}

/* ---- what a person does ---- */

static bool scale(struct tour *t, const char *deployment, int64_t replicas)
{
    struct tree *patch = tree_new_map(t->a);

    say_command("kubectl scale deployment %s --replicas %lld", deployment, (long long)replicas);
    tree_set_i64(t->a, tree_sub(t->a, patch, "spec"), "replicas", replicas);
    return api_patch(t->api, t->a, &(struct api_ref){&api_deployments, STR("default"), str_c(deployment)}, NULL,
                     API_MERGE, patch, NULL, &t->e);
}

static bool patch(struct tour *t, const struct api_kind *kind, const char *short_name, const char *text)
{
    const struct tree *body;

    say_command("kubectl patch %s default --type merge -p '%s'", short_name, text);
    return tree_parse_json(t->a, "patch", str_c(text), &body, &t->e) &&
           api_patch(t->api, t->a, &(struct api_ref){kind, {0}, STR("default")}, NULL, API_MERGE, body, NULL, &t->e);
}

static bool delete_one(struct tour *t, const struct api_kind *kind, const char *short_name, str name)
{
    say_command("kubectl delete %s " STR_FMT, short_name, STR_ARG(name));
    return api_delete(t->api, t->a, &(struct api_ref){kind, {0}, name}, NULL, &t->e);
}

static bool delete_classes(struct tour *t)
{
    struct tree *l;
    const struct tree *items;

    say_command("kubectl delete ec2nodeclasses --all");
    if (!api_get(t->api, t->a, &(struct api_ref){&api_ec2nodeclasses, {0}, {0}}, &l, &t->e))
        return false;
    items = tree_get(l, "items");
    for (uint32_t i = 0; items && i < items->n; i++)
        if (!api_delete(t->api, t->a,
                        &(struct api_ref){&api_ec2nodeclasses, {0}, arena_strdup(t->a, claim_name(&items->items[i]))},
                        NULL, &t->e))
            return false;
    return true;
}

/* What `karpenter demo VERB` does; *ret is the answer. */
static bool ask(struct tour *t, const char *path, str *ret)
{
    return ask_door(t->s.world, t->a, t->s.aws->url, t->s.aws->secret, str_c(path), ret, &t->e);
}

/* ---- conditions ---- */

static bool all_run(const struct tour *t, const struct sight *s)
{
    return s->n_pods == t->want_pods && s->n_running == t->want_pods && s->n_claims > 0 && s->n_ready == s->n_claims &&
           s->n_nodes == s->n_claims && s->n_machines == s->n_claims && s->n_going == 0;
}

/* One of on-demand capacity is among them. */
static bool all_run_on_two(const struct tour *t, const struct sight *s)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < s->n_claims; i++)
        n += str_is(claim_label(&s->claims->items[i], "karpenter.sh/capacity-type"), "on-demand");
    return n == 1 && s->n_claims == 2 && all_run(t, s);
}

static bool one_is_lost(const struct tour *t, const struct sight *s)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < s->n_claims; i++)
        kept += was_there(t, claim_name(&s->claims->items[i]));
    return kept < t->n_before && all_run(t, s);
}

static bool all_are_new(const struct tour *t, const struct sight *s)
{
    for (uint32_t i = 0; i < s->n_claims; i++)
        if (was_there(t, claim_name(&s->claims->items[i])))
            return false;
    return all_run(t, s);
}

/* All pods run, and every node goes but a new one, which is smaller. That they are gone is seen at the end of the tour. */
static bool one_small_stays(const struct tour *t, const struct sight *s)
{
    uint32_t small = 0;

    for (uint32_t i = 0; i < s->n_claims; i++) {
        const struct tree *c = &s->claims->items[i];

        small += !was_there(t, claim_name(c)) && claim_cpus(c) < t->large_cpus;
    }
    return small == 1 && s->n_ready == s->n_claims && s->n_nodes == s->n_claims && s->n_leaving == s->n_claims - 1 &&
           s->n_pods == t->want_pods && s->n_running == t->want_pods;
}

static bool nothing_left(const struct tour *t, const struct sight *s)
{
    struct demo_leftovers n = t->s.aws ? demo_aws_leftovers(t->s.aws) : (struct demo_leftovers){0};

    return s->n_claims == 0 && s->n_nodes == 0 && s->n_pods == 0 && n.instances == 0 && n.templates == 0;
}

/* ---- steps ---- */

static const struct tree *claim_of(const struct sight *s, const char *capacity_type)
{
    for (uint32_t i = 0; i < s->n_claims; i++)
        if (str_is(claim_label(&s->claims->items[i], "karpenter.sh/capacity-type"), capacity_type))
            return &s->claims->items[i];
    return NULL;
}

static bool scale_up(struct tour *t, struct sight *s)
{
    say("Five pods that want a CPU each. No node has room: Karpenter picks one that has.");
    t->want_pods = 5;
    if (!scale(t, "inflate", 5) || !tour_wait(t, all_run, "five pods run", s))
        return false;
    tour_say_claims(s);
    say("Six more, of a deployment that must not be interrupted: they select on-demand capacity.");
    t->want_pods = 11;
    if (!scale(t, "critical", 6) || !tour_wait(t, all_run_on_two, "eleven pods run on two nodes", s))
        return false;
    tour_say_claims(s);
    return true;
}

static bool lose_a_node(struct tour *t, struct sight *s)
{
    const struct tree *lost = claim_of(s, "spot");
    char path[300];
    str words;

    if (!lost)
        return err_set(&t->e, ERR_INVALID, "no node is of spot capacity");
    tour_begin(t, s);
    str name = arena_strdup(t->keep, claim_name(lost));
    t->lost_node = arena_strdup(t->keep, tree_str(tree_at(lost, "status", "nodeName", NULL)));
    if (t->s.aws) {
        str id = tree_str(tree_at(lost, "status", "providerID", NULL));

        t->lost_id = arena_strdup(t->keep, str_sub(id, id.n > 19 ? id.n - 19 : 0, id.n)); /* i- and 17 digits */
        say("AWS wants its spot machine back, and gives two minutes' notice. Pods move as fast as a new node takes them and their\n"
            "   disruption budget allows, which is well before the machine would be gone.");
        say_command("karpenter demo interrupt " STR_FMT, STR_ARG(t->lost_node));
        (void)snprintf(path, sizeof(path), "interrupt?node=" STR_FMT, STR_ARG(t->lost_node));
        if (!ask(t, path, &words))
            return false;
    } else {
        say("One NodeClaim is deleted: its node is tainted and drained, a new one takes the pods, then the machine goes.");
        if (!delete_one(t, &api_nodeclaims, "nodeclaim", name))
            return false;
    }
    if (!tour_wait(t, one_is_lost, "it is gone, with its node; every pod runs", s))
        return false;
    return t->overlapped || err_set(&t->e, ERR_INVALID, "the node was gone before there was another");
}

/* From here on nodes may go as soon as they are not needed. */
#define DISRUPTION                                                                                                     \
    "\"disruption\":{\"consolidateAfter\":\"0s\",\"budgets\":[{\"nodes\":\"1\",\"reasons\":[\"Drifted\"]},{\"nodes\":" \
    "\"100%\"}]}"

static bool new_image(struct tour *t)
{
    str words, alias, rest;
    char path[100], text[300];

    say_command("karpenter demo publish-ami");
    if (!ask(t, "publish-ami?family=al2023", &words))
        return false;
    (void)str_cut(words, ' ', &alias, &rest); /* al2023@v20260702 ami-… ami-… */
    (void)str_cut(rest, ' ', &t->image, &rest);
    t->image = arena_strdup(t->keep, t->image); /* the first is for amd64 */
    (void)snprintf(path, sizeof(path), STR_FMT, STR_ARG(alias));
    (void)snprintf(text, sizeof(text), "{\"spec\":{\"amiSelectorTerms\":[{\"alias\":\"%s\"}]}}", path);
    return patch(t, &api_nodepools, "nodepool", "{\"spec\":{" DISRUPTION "}}") &&
           patch(t, &api_ec2nodeclasses, "ec2nodeclass", text);
}

static bool out_of_date(struct tour *t, struct sight *s)
{
    tour_begin(t, s);
    if (t->s.aws) {
        say("There is a new image of Amazon Linux, and the node class asks for it: the nodes have drifted. Each is replaced first and\n"
            "   drained then, one at a time, because the NodePool's budget says so.");
        if (!new_image(t))
            return false;
    } else {
        say("Nodes are to have another label: those that are there have drifted. Each is replaced first and drained then, one at a\n"
            "   time, because the NodePool's budget says so.");
        if (!patch(t, &api_nodepools, "nodepool",
                   "{\"spec\":{" DISRUPTION ",\"template\":{\"metadata\":{\"labels\":{\"team\":\"blue\"}}}}}"))
            return false;
    }
    if (!tour_wait(t, all_are_new, "every node is a new one, every pod runs", s))
        return false;
    tour_say_claims(s);
    return t->most_going <= 1 ||
           err_set(&t->e, ERR_INVALID, "the budget allows one node at a time, and %u went", t->most_going);
}

static bool scale_down(struct tour *t, struct sight *s)
{
    const struct tree *large = claim_of(s, "on-demand");
    double before = s->price;

    tour_begin(t, s);
    t->large_cpus = large ? claim_cpus(large) : 0;
    t->want_pods = 2;
    say("Nobody needs inflate any more, and of the others two are enough. Empty nodes go by themselves; one that is too large is\n"
        "   replaced by a cheaper one, which is ready before its pods move.");
    if (!scale(t, "inflate", 0) || !scale(t, "critical", 2) ||
        !tour_wait(t, one_small_stays, "two pods run on a smaller node, the others go", s))
        return false;
    if (before > 0)
        (void)printf("   $ %.2f an hour instead of $ %.2f\n", s->price, before);
    tour_say_claims(s);
    return true;
}

static bool clean_up(struct tour *t, struct sight *s)
{
    say("The end: no pods, and a NodePool that is deleted takes its nodes along%s.",
        t->s.aws ? ", node classes what they had in the account" : "");
    return scale(t, "critical", 0) && delete_one(t, &api_nodepools, "nodepool", STR("default")) &&
           (!t->s.aws || delete_classes(t)) &&
           tour_wait(
               t, nothing_left,
               t->s.aws
                   ? "no NodeClaims, no nodes but the bootstrap group; no instances and no launch templates in the account"
                   : "no NodeClaims, no nodes but the bootstrap group",
               s);
}

static bool steps(struct tour *t)
{
    struct sight s;

    return scale_up(t, &s) && lose_a_node(t, &s) && out_of_date(t, &s) && scale_down(t, &s) && clean_up(t, &s);
}

static void run(void *arg)
{
    struct tour *t = arg;
    int64_t began = world_mono_us(t->s.world);
    bool ok = steps(t);

    if (ok)
        (void)printf("\nEvery step happened, in %.0f s.\n", (double)(world_mono_us(t->s.world) - began) / 1e6);
    else
        (void)fprintf(stderr, "karpenter: tour: %s\n", t->e.msg);
    (void)fflush(stdout);
    t->s.on_end(t->s.ctx, ok);
    api_free(t->api);
    kube_config_free(t->config);
    arena_free(t->a);
    arena_free(t->keep);
    free(t);
}

void tour_go(const struct tour_setup *s)
{
    struct tour *t = xcalloc(1, sizeof(*t));

    t->s = *s;
    t->a = arena_new(0);
    t->keep = arena_new(0);
    t->config = kube_config_fixed(s->server, s->token, s->ca_pem);
    t->api = api_new(s->world, t->config, &(struct api_options){.user_agent = "karpenter-tour/" KARPENTER_VERSION});
    fiber_go(s->world, "tour", run, t);
}
