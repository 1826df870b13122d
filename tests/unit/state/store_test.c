/* The store: what is there, what is told, what machines, pools and lists look like while objects come and go. */
#include <stdio.h>

#include "support/check.h"
#include "support/cluster_feed.h"

#define NODE                                                                                                           \
    "{apiVersion: v1, kind: Node, metadata: {name: %s, labels: {%s}}, spec: {%s}, status: {capacity: {cpu: '4', "      \
    "memory: 8Gi, pods: '10'}, allocatable: {cpu: '4', memory: 8Gi, pods: '10'}, conditions: [{type: Ready, status: "  \
    "'True'}]}}"
#define OURS "karpenter.sh/nodepool: a, node.kubernetes.io/instance-type: m, karpenter.kwok.sh/kwoknodeclass: default"
#define LIVE OURS ", karpenter.sh/registered: 'true', karpenter.sh/initialized: 'true'"
#define CLAIM                                                                                                          \
    "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: %s, labels: {karpenter.sh/nodepool: a}}, spec: "  \
    "{requirements: [], nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}, status: {%s}}"
#define POD                                                                                                            \
    "{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {%s containers: [{name: c, resources: {requests: {cpu: "  \
    "'1'}}}]}, status: {phase: %s}}"

static struct reslist usage(struct cluster_feed *w, const char *pool)
{
    return store_pool_usage(w->s, str_c(pool));
}

static int64_t usage_of(struct cluster_feed *w, const char *pool, sym name)
{
    struct reslist l = usage(w, pool);

    return reslist_value(&l, name) / (sym_eq(name, SYM(CPU)) ? 1000000000 : 1000);
}

static uint32_t count_pods(struct cluster_feed *w, const char *node)
{
    return store_pods_on(w->s, str_c(node)).n;
}

static void newer_versions_win(void **state)
{
    struct cluster_feed *w = *state;
    const char *at5 = "{apiVersion: v1, kind: Node, metadata: {name: n1, resourceVersion: '5', labels: {a: new}}}";

    cluster_put(w, at5);
    cluster_put(w, "{apiVersion: v1, kind: Node, metadata: {name: n1, resourceVersion: '4', labels: {a: old}}}");
    cluster_put(w, at5);
    check_str("once", cluster_events(w), "+Node n1");
    check_true("new", str_contains(store_kept(w->s, OBJ_NODE, STR("n1"))->text, STR("\"new\"")));
    cluster_gone(w, "{apiVersion: v1, kind: Node, metadata: {name: n1, resourceVersion: '4'}}");
    check_str("an old end", cluster_events(w), "");
    cluster_gone(w, "{apiVersion: v1, kind: Node, metadata: {name: n1, resourceVersion: '7'}}");
    check_str("gone", cluster_events(w), "-Node n1");
    cluster_answer(w, "{apiVersion: v1, kind: Node, metadata: {name: n1, resourceVersion: '6', labels: {a: late}}}");
    check_str("a late answer", cluster_events(w), "");
    cluster_put(w, "{apiVersion: v1, kind: Node, metadata: {name: n1, uid: other, resourceVersion: '8'}}");
    cluster_put(w, "{apiVersion: v1, kind: Node, metadata: {name: n1, uid: third, resourceVersion: '9'}}");
    check_str("another of the same name", cluster_events(w), "+Node n1 -Node n1 +Node n1");
}

static void versions_that_are_no_numbers_are_taken(void **state)
{
    struct cluster_feed *w = *state;

    cluster_put(w, "{apiVersion: v1, kind: Node, metadata: {name: n1, resourceVersion: abc}}");
    cluster_put(w, "{apiVersion: v1, kind: Node, metadata: {name: n1, resourceVersion: abb}}");
    check_str("both", cluster_events(w), "+Node n1 ~Node n1");
}

static void lists_forget_what_they_do_not_mention(void **state)
{
    struct cluster_feed *w = *state;

    cluster_putf(w, POD, "a", "", "Pending");
    cluster_putf(w, POD, "b", "", "Pending");
    cluster_putf(w, NODE, "n1", "", "");
    store_list_begin(w->s, OBJ_POD, (str){0}); /* one that breaks off */
    cluster_putf(w, POD, "a", "", "Running");
    store_list_begin(w->s, OBJ_POD, (str){0});
    cluster_putf(w, POD, "b", "", "Running");
    cluster_putf(w, POD, "c", "", "Running");
    (void)cluster_events(w);
    store_list_end(w->s, OBJ_POD, (str){0});
    check_str("a is gone", cluster_events(w), "-Pod default/a");
    store_list_begin(w->s, OBJ_NODE, (str){0});
    store_list_end(w->s, OBJ_NODE, (str){0});
    check_str("so is the node", cluster_events(w), "-Node n1");
    cluster_put(w, "{apiVersion: karpenter.kwok.sh/v1alpha1, kind: KWOKNodeClass, metadata: {name: x}}\n---\n"
                   "{apiVersion: karpenter.k8s.aws/v1, kind: EC2NodeClass, metadata: {name: x}}");
    (void)cluster_events(w);
    store_list_begin(w->s, OBJ_NODECLASS, STR("karpenter.k8s.aws/EC2NodeClass/"));
    store_list_end(w->s, OBJ_NODECLASS, STR("karpenter.k8s.aws/EC2NodeClass/"));
    check_str("one kind of classes", cluster_events(w), "-NodeClass karpenter.k8s.aws/EC2NodeClass/x");
}

static void a_deleted_object_without_finalizers_is_gone(void **state)
{
    struct cluster_feed *w = *state;

    cluster_putf(w, CLAIM, "c", "");
    cluster_answer(w, "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: c, deletionTimestamp: "
                      "'2026-01-15T12:00:00Z', finalizers: [x]}}");
    check_true("it waits", store_kept(w->s, OBJ_NODECLAIM, STR("c"))->deleted_ms == FEED_NOW_MS);
    cluster_answer(w, "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: c, deletionTimestamp: "
                      "'2026-01-15T12:00:00Z'}}");
    check_true("gone", !store_kept(w->s, OBJ_NODECLAIM, STR("c")));
}

static void what_is_managed(void **state)
{
    struct cluster_feed *w = *state;

    cluster_putf(w, NODE, "mine", LIVE, "providerID: p");
    cluster_putf(w, NODE, "other", "karpenter.k8s.aws/ec2nodeclass: default", "");
    cluster_putf(w, CLAIM, "c", "");
    check_true("node", store_kept(w->s, OBJ_NODE, STR("mine"))->managed);
    check_true("node of another provider", !store_kept(w->s, OBJ_NODE, STR("other"))->managed);
    check_true("claim", store_kept(w->s, OBJ_NODECLAIM, STR("c"))->managed);
}

#define BAD_POOL                                                                                                       \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: p, resourceVersion: '%d'}, spec: "                 \
    "{weight: 1000, template: {spec: {requirements: [], nodeClassRef: {group: karpenter.kwok.sh, "                     \
    "kind: KWOKNodeClass, name: default}}}}}"

static void what_cannot_be_read_is_kept_as_text(void **state)
{
    struct cluster_feed *w = *state;

    cluster_putf(w, BAD_POOL, 1);
    cluster_putf(w, BAD_POOL, 2);
    check_str("reported once", sb_view(&w->errors), "NodePool p: 1:105: spec.weight: must be between 1 and 100\n");
    check_true("no pool", !store_pool(w->s, STR("p")));
    check_true("but text", store_kept(w->s, OBJ_NODEPOOL, STR("p"))->managed);
    check_i64("nor in plans", cluster_snapshot(w)->n_pools, 0);
    cluster_putf(w, POD, "x", "terminationGracePeriodSeconds: no,", "Pending");
    check_true("no pod", !store_pod(w->s, STR("default"), STR("x")));
    cluster_putf(w, POD, "x", "", "Pending");
    check_true("pod", store_pod(w->s, STR("default"), STR("x")));
    cluster_putf(w, POD, "x", "nodeName: 5,", "Pending");
    check_true("pod went wrong", !store_pod(w->s, STR("default"), STR("x")));
}

static void a_node_and_its_claim_are_one(void **state) /* ST-15, ST-21, ST-26, ST-28 */
{
    struct cluster_feed *w = *state;

    cluster_putf(w, CLAIM, "c", "providerID: p");
    check_i64("in flight", cluster_snapshot(w)->n_nodes, 1);
    cluster_putf(w, NODE, "n1", OURS, "providerID: p");
    struct snapshot *s = cluster_snapshot(w);
    check_i64("one", s->n_nodes, 1);
    check_str("not registered", s->nodes[0].name, "c");
    cluster_putf(w, NODE, "n1", LIVE, "providerID: p");
    check_str("registered", cluster_snapshot(w)->nodes[0].name, "n1");
    cluster_gone(w, "{kind: NodeClaim, metadata: {name: c}}");
    check_true("without a claim", !cluster_snapshot(w)->nodes[0].claim);
    cluster_gone(w, "{kind: Node, metadata: {name: n1}}");
    check_i64("none", cluster_snapshot(w)->n_nodes, 0);
    cluster_putf(w, NODE, "m1", "", "");
    cluster_putf(w, NODE, "m1", "", "providerID: q");
    check_i64("an id that comes later", cluster_snapshot(w)->n_nodes, 1);
    cluster_putf(w, CLAIM, "d", "providerID: q");
    cluster_put(w, "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: d, deletionTimestamp: "
                   "'2026-01-15T12:00:00Z', finalizers: [x]}, spec: {requirements: [], nodeClassRef: {group: "
                   "karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}, status: {providerID: q}}");
    check_true("deleting", cluster_snapshot(w)->nodes[0].deleting && store_is_marked(w->s, STR("q")));
}

static void pods_are_counted_where_they_run(void **state) /* ST-16 to ST-23, ST-32 */
{
    struct cluster_feed *w = *state;

    cluster_putf(w, POD, "early", "nodeName: n1,", "Running");
    cluster_putf(w, POD, "unbound", "", "Pending");
    cluster_putf(w, NODE, "n1", "", "");
    struct snapshot *s = cluster_snapshot(w);
    check_i64("bound before the node", reslist_value(&s->nodes[0].requests, SYM(CPU)), 1000000000);
    cluster_putf(w, POD, "late", "nodeName: n1,", "Running");
    cluster_putf(w, POD, "done", "nodeName: n1,", "Succeeded");
    s = cluster_snapshot(w);
    check_i64("two", reslist_value(&s->nodes[0].requests, SYM(CPU)), 2000000000);
    check_i64("pods", s->nodes[0].n_pods, 2);
    check_i64("on it with those that ended", count_pods(w, "n1"), 3);
    cluster_putf(w, POD, "late", "nodeName: n1,", "Failed");
    cluster_gone(w, "{kind: Pod, metadata: {name: early}}");
    s = cluster_snapshot(w);
    check_i64("none", s->nodes[0].n_pods, 0);
    check_i64("nothing", reslist_value(&s->nodes[0].requests, SYM(CPU)), 0);
    cluster_putf(w, NODE, "m1", "", "");
    cluster_putf(w, POD, "moved", "nodeName: n1,", "Running");
    cluster_put(w, "{apiVersion: v1, kind: Pod, metadata: {name: moved, uid: again}, spec: {nodeName: m1, containers: "
                   "[]}, status: {phase: Running}}");
    check_i64("not here", cluster_snapshot(w)->nodes[0].n_pods, 0);
    check_i64("but there", cluster_snapshot(w)->nodes[1].n_pods, 1);
    check_i64("nowhere", count_pods(w, ""), 0);
}

static void the_only_user_of_a_spec_is_replaced(void **state)
{
    struct cluster_feed *w = *state;

    for (int i = 0; i < 3; i++) {
        cluster_putf(
            w,
            "{apiVersion: v1, kind: Pod, metadata: {name: a, uid: u%d}, spec: {containers: [{name: c, resources: "
            "{requests: {cpu: '2'}}}], volumes: [{name: v, persistentVolumeClaim: {claimName: c}}]}}",
            i);
        cluster_putf(w,
                     "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d, uid: u%d}, spec: {template: {spec: "
                     "{containers: [{name: c, resources: {requests: {cpu: '3'}}}]}}}}",
                     i);
    }
    check_i64("pod", reslist_value(&store_pod(w->s, STR("default"), STR("a"))->spec->requests, SYM(CPU)), 2000000000);
    check_i64("daemon", reslist_value(&cluster_snapshot(w)->daemons[0].spec->requests, SYM(CPU)), 3000000000);
    check_i64("specs", podspecs_count(store_specs(w->s)), 3); /* with and without its volumes */
    cluster_gone(w, "{kind: Pod, metadata: {name: a}}\n---\n{kind: DaemonSet, metadata: {name: d}}");
    check_i64("none", podspecs_count(store_specs(w->s)), 0);
}

static void when_it_is_synced(void **state) /* ST-33 to ST-45 */
{
    struct cluster_feed *w = *state;

    check_true("nothing listed", !store_synced(w->s));
    store_set_listed(w->s);
    cluster_putf(w, NODE, "n1", OURS, "");
    check_true("a node of ours without an id", !store_synced(w->s));
    cluster_putf(w, NODE, "n1", OURS, "providerID: p");
    cluster_putf(w, NODE, "foreign", "", "");
    check_true("synced", store_synced(w->s));
    cluster_putf(w, NODE, "m1", OURS, "");
    check_true("a new node does not unsync", store_synced(w->s));
    cluster_answer(w, "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: c}, spec: {requirements: [], "
                      "nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}}}");
    check_true("a claim without an id does", !store_synced(w->s));
    cluster_put(w, "{apiVersion: karpenter.sh/v1, kind: NodeClaim, metadata: {name: x}, spec: {requirements: [], "
                   "nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}}}");
    cluster_gone(w, "{kind: NodeClaim, metadata: {name: c}}");
    check_true("claims of others do not", store_synced(w->s));
}

static void what_pools_use(void **state) /* ST-55 to ST-61, ST-67 */
{
    struct cluster_feed *w = *state;

    cluster_putf(w, NODE, "n1", LIVE, "providerID: p");
    cluster_putf(w, NODE, "m1", LIVE, "providerID: q");
    check_i64("cpu", usage_of(w, "a", SYM(CPU)), 8);
    check_i64("nodes", usage_of(w, "a", SYM(NODES)), 2);
    store_mark(w->s, STR("p"), true);
    store_mark(w->s, STR("p"), true);
    check_i64("marked", usage_of(w, "a", SYM(NODES)), 1);
    check_true("and so it is", store_is_marked(w->s, STR("p")) && !store_is_marked(w->s, STR("q")));
    cluster_gone(w, "{kind: Node, metadata: {name: n1}}");
    check_i64("marked, then gone", usage_of(w, "a", SYM(NODES)), 1);
    store_mark(w->s, STR("q"), true);
    check_i64("all", usage(w, "a").n, 0);
    store_mark(w->s, STR("q"), false);
    check_i64("undone", usage_of(w, "a", SYM(CPU)), 4);
    cluster_putf(w, NODE, "m1", "karpenter.sh/nodepool: b, node.kubernetes.io/instance-type: m", "providerID: q");
    check_i64("another pool", usage_of(w, "b", SYM(CPU)), 4);
    check_i64("left this one", usage(w, "a").n, 0);
    check_i64("unknown", usage(w, "zzz").n, 0);
}

static void claims_are_made_by_one_plan_at_a_time(void **state)
{
    struct cluster_feed *w = *state;
    str a = STR("a"), b = STR("b");

    cluster_put(w, "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: a}, spec: {template: {spec: {}}}}");
    uint64_t first = store_plan_number(w->s), second = store_plan_number(w->s);
    check_true("they rise", first && second > first);
    store_make_begin(w->s, a, second);
    check_true("the same plan", store_may_make(w->s, a, second, 0));
    check_true("others not",
               !store_may_make(w->s, a, first, 0) && !store_may_make(w->s, a, store_plan_number(w->s), 0));
    check_true("another pool", store_may_make(w->s, b, first, 0));
    uint64_t between = store_plan_number(w->s);
    store_make_end(w->s, a, INT64_MIN);
    check_true("older ones not", !store_may_make(w->s, a, first, 0));
    check_true("nor one that could not see it", !store_may_make(w->s, a, between, 0));
    check_true("its own, on", store_may_make(w->s, a, second, 0));
    uint64_t third = store_plan_number(w->s);
    check_true("newer ones", store_may_make(w->s, a, third, 0));
    store_make_begin(w->s, a, third);
    check_true("not its own either", !store_may_make(w->s, a, second, 0));
    store_make_end(w->s, a, /* closed_until_us= */ 50);
    uint64_t fourth = store_plan_number(w->s);
    check_true("closed", !store_may_make(w->s, a, fourth, 49));
    check_true("and open", store_may_make(w->s, a, fourth, 50));
    /* b is nobody's pool: what is known of it goes when the next one comes, but for how new a plan has to be. */
    store_make_begin(w->s, b, fourth);
    store_make_end(w->s, b, INT64_MIN);
    store_make_begin(w->s, STR("c"), fourth);
    check_true("older than what is forgotten", !store_may_make(w->s, b, fourth, 0));
    check_true("newer", store_may_make(w->s, b, store_plan_number(w->s), 0));
}

static void nominations_lapse(void **state) /* ST-27 */
{
    struct cluster_feed *w = *state;

    store_nominate(w->s, STR("p"), FEED_NOW_MS);
    check_true("unknown machine", !store_is_nominated(w->s, STR("p"), FEED_NOW_MS));
    cluster_putf(w, NODE, "n1", LIVE, "providerID: p");
    store_nominate(w->s, STR("p"), FEED_NOW_MS - 10000);
    check_true("holds", store_is_nominated(w->s, STR("p"), FEED_NOW_MS) && cluster_snapshot(w)->nodes[0].nominated);
    cluster_putf(w, NODE, "n1", LIVE ", x: z1", "providerID: p");
    check_true("through updates", store_is_nominated(w->s, STR("p"), FEED_NOW_MS));
    store_nominate(w->s, STR("p"), FEED_NOW_MS - 20000);
    check_true("lapsed", !store_is_nominated(w->s, STR("p"), FEED_NOW_MS) && !cluster_snapshot(w)->nodes[0].nominated);
    store_nominate(w->s, STR("p"), FEED_NOW_MS);
    check_true("again", cluster_snapshot(w)->nodes[0].nominated);
    check_true("but not for an hour when the clock is set back",
               !store_is_nominated(w->s, STR("p"), FEED_NOW_MS - 3600 * 1000));
}

static void buffer_pods_are_counted_anew_by_every_round(void **state) /* ST-68 */
{
    struct cluster_feed *w = *state;
    const struct buffer_count two[] = {{STR("p"), 2}, {STR("nobody"), 1}}, none[] = {{STR("p"), 0}};
    const struct buffer_count other[] = {{STR("q"), 1}};
    uint64_t had;

    store_count_buffers(w->s, two, 2);
    cluster_putf(w, NODE, "n1", LIVE, "providerID: p");
    cluster_putf(w, NODE, "n2", LIVE, "providerID: q");
    check_i64("unknown then", cluster_snapshot(w)->nodes[0].n_buffer_pods, 0);
    store_count_buffers(w->s, two, 2);
    check_i64("set", cluster_snapshot(w)->nodes[0].n_buffer_pods, 2);
    cluster_putf(w, NODE, "n1", LIVE ", x: z1", "providerID: p");
    check_i64("through updates", cluster_snapshot(w)->nodes[0].n_buffer_pods, 2);
    store_count_buffers(w->s, other, 1);
    check_i64("replaced", cluster_snapshot(w)->nodes[0].n_buffer_pods, 0);
    check_i64("by another", cluster_snapshot(w)->nodes[1].n_buffer_pods, 1);
    store_count_buffers(w->s, none, 1);
    check_i64("none is none", cluster_snapshot(w)->nodes[0].n_buffer_pods, 0);
    store_count_buffers(w->s, two, 2);
    had = store_consolidation_epoch(w->s);
    store_count_buffers(w->s, NULL, 0);
    check_i64("cleared", cluster_snapshot(w)->nodes[0].n_buffer_pods, 0);
    check_true("and looked at again", store_consolidation_epoch(w->s) > had);
}

static bool epoch_rises(struct cluster_feed *w, uint64_t *had)
{
    uint64_t now = store_consolidation_epoch(w->s);
    bool rises = now > *had;

    *had = now;
    return rises;
}

#define POOL                                                                                                           \
    "{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: p, generation: %d}, spec: "                        \
    "{template: {spec: {requirements: [], nodeClassRef: {group: karpenter.kwok.sh, kind: "                             \
    "KWOKNodeClass, name: default}}}}}"

static void what_makes_consolidation_look_again(void **state) /* ST-47, ST-49 */
{
    struct cluster_feed *w = *state;
    uint64_t had = store_consolidation_epoch(w->s);

    cluster_putf(w, NODE, "n1", "", "");
    check_true("a new machine", epoch_rises(w, &had));
    cluster_putf(w, NODE, "n1", "x: z1", "");
    check_true("not a label", !epoch_rises(w, &had));
    cluster_putf(w, POD, "a", "", "Pending");
    check_true("not a pod without a place", !epoch_rises(w, &had));
    cluster_putf(w, POD, "a", "nodeName: n1,", "Pending");
    check_true("a binding", epoch_rises(w, &had));
    cluster_putf(w, POD, "a", "nodeName: n1,", "Running");
    check_true("not a phase", !epoch_rises(w, &had));
    cluster_gone(w, "{kind: Pod, metadata: {name: a}}");
    check_true("a pod that goes", epoch_rises(w, &had));
    store_mark(w->s, STR("n1"), true);
    check_true("a mark", epoch_rises(w, &had));
    cluster_putf(w, POOL, 1);
    check_true("a pool", epoch_rises(w, &had));
    cluster_putf(w, POOL, 1);
    check_true("not its status", !epoch_rises(w, &had));
    cluster_putf(w, POOL, 2);
    check_true("its spec", epoch_rises(w, &had));
    cluster_gone(w, "{kind: Node, metadata: {name: n1}}");
    check_true("a machine that goes", epoch_rises(w, &had));
}

#define DAEMON                                                                                                         \
    "{apiVersion: v1, kind: Pod, metadata: {name: %s, creationTimestamp: '2026-01-15T1%d:00:00Z', ownerReferences: "   \
    "[{apiVersion: apps/v1, kind: DaemonSet, name: %s, controller: true}]}, spec: {containers: []}}"

static void the_newest_pod_stands_for_its_daemonset(void **state) /* ST-24, ST-46 */
{
    struct cluster_feed *w = *state;

    check_true("none", !store_daemon_pod(w->s, STR("default"), STR("d")));
    cluster_putf(w, DAEMON, "old", 0, "d");
    cluster_putf(w, DAEMON, "new", 2, "d");
    cluster_putf(w, DAEMON, "mid", 1, "d");
    cluster_putf(w, DAEMON, "newer", 3, "e");
    check_str("newest", store_daemon_pod(w->s, STR("default"), STR("d"))->name, "new");
    cluster_gone(w, "{kind: Pod, metadata: {name: new}}");
    check_str("next", store_daemon_pod(w->s, STR("default"), STR("d"))->name, "mid");
    cluster_put(w, "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}, spec: {template: {spec: {containers: "
                   "[]}}}}");
    check_str("in plans", cluster_snapshot(w)->daemon_pods[0]->name, "mid");
    cluster_gone(w, "{kind: DaemonSet, metadata: {name: d}}");
    check_i64("gone", cluster_snapshot(w)->n_daemons, 0);
}

#define APART                                                                                                          \
    "{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: {containers: [], affinity: "                              \
    "{podAntiAffinity: {%s}}}}"

static void pods_that_want_to_be_apart(void **state) /* ST-29 to ST-31 */
{
    struct cluster_feed *w = *state;

    cluster_putf(w, APART, "a",
                 "requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname}]");
    cluster_putf(w, APART, "b",
                 "preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: "
                 "kubernetes.io/hostname}}]");
    struct pod_list l = store_pods_apart(w->s);
    check_i64("one", l.n, 1);
    check_str("a", store_pods(w->s)[l.v[0]].name, "a");
    cluster_gone(w, "{kind: Pod, metadata: {name: a}}");
    check_i64("none", store_pods_apart(w->s).n, 0);
}

static void lookups(void **state)
{
    struct cluster_feed *w = *state;

    cluster_putf(w, NODE, "n1", "", "providerID: p");
    cluster_putf(w, NODE, "m1", "", "providerID: p");
    cluster_putf(w, NODE, "none", "", "");
    cluster_putf(w, CLAIM, "c", "providerID: p");
    cluster_putf(w, CLAIM, "d", "");
    check_i64("nodes", store_nodes_by_id(w->s, STR("p")).n, 2);
    check_i64("no id", store_nodes_by_id(w->s, STR("")).n, 0);
    check_str("claim", store_claims_by_id(w->s, STR("p")).v[0], "c");
    check_i64("no id", store_claims_by_id(w->s, STR("")).n, 0);
    check_i64("pool", store_claims_of_pool(w->s, STR("a")).n, 2);
    check_i64("names", store_names(w->s, OBJ_NODE).n, 3);
    cluster_gone(w, "{kind: Node, metadata: {name: m1}}");
    check_str("the other one", store_nodes_by_id(w->s, STR("p")).v[0], "n1");
    check_str("is the machine", store_machine(w->s, STR("p"))->node->name, "n1");
    cluster_put(w, "{apiVersion: storage.k8s.io/v1, kind: VolumeAttachment, metadata: {name: va}, spec: {attacher: x, "
                   "nodeName: n1, source: {persistentVolumeName: pv}}}");
    struct attachments at = store_attachments(w->s, STR("n1"));
    check_i64("attached", at.n, 1);
    check_str("volume", at.v[0]->volume, "pv");
    cluster_gone(w, "{kind: VolumeAttachment, metadata: {name: va}}");
    check_i64("detached", store_attachments(w->s, STR("n1")).n, 0);
}

static const struct kept *node_numbered(struct cluster_feed *w, uint32_t i)
{
    char name[16];

    (void)snprintf(name, sizeof(name), "n%u", i);
    return store_kept(w->s, OBJ_NODE, str_c(name));
}

/* Texts are unpacked when they are asked for, and the oldest are given up; whoever asks for two has both, however long ago the first was last asked for. */
static void a_text_outlives_the_next(void **state)
{
    struct cluster_feed *w = *state;
    const uint32_t n = 400;

    for (uint32_t i = 0; i < n; i++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "n%u", i);
        cluster_putf(w, NODE, name, LIVE, "providerID: p");
    }
    for (uint32_t others = 0; others < 300; others++) {
        (void)node_numbered(w, 0);
        for (uint32_t i = 0; i < others; i++)
            (void)node_numbered(w, 1 + i);
        const struct kept *first = node_numbered(w, 0), *second = node_numbered(w, n - 1 - others % 90);
        check_true("the first is there", first->text.p && str_contains(first->text, STR("\"n0\"")));
        check_true("the second, too", second->text.p && str_contains(second->text, second->name));
    }
}

static void heartbeats_are_no_news(void **state)
{
    static const char node[] =
        "{apiVersion: v1, kind: Node, metadata: {name: n1, uid: u, resourceVersion: '%u', labels: {a: %s}}, "
        "status: {conditions: [{type: Ready, status: '%s', lastHeartbeatTime: '2026-01-15T12:0%u:00Z'}]}}";
    struct cluster_feed *w = *state;

    cluster_putf(w, node, 5u, "one", "True", 0u);
    uint64_t first = store_changes(w->s);
    cluster_putf(w, node, 6u, "one", "True", 1u);
    check_true("alive", store_changes(w->s) == first && store_version(w->s, OBJ_NODE, (str){0}, STR("n1")) == 6);
    cluster_putf(w, node, 7u, "two", "True", 1u);
    uint64_t second = store_changes(w->s);
    check_true("a label", second > first);
    cluster_putf(w, node, 8u, "two", "False", 1u);
    check_true("a condition", store_changes(w->s) > second);
}

#define ON(f) cmocka_unit_test_setup_teardown(f, cluster_feed_setup, cluster_feed_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        ON(newer_versions_win),
        ON(versions_that_are_no_numbers_are_taken),
        ON(lists_forget_what_they_do_not_mention),
        ON(a_deleted_object_without_finalizers_is_gone),
        ON(what_is_managed),
        ON(what_cannot_be_read_is_kept_as_text),
        ON(a_node_and_its_claim_are_one),
        ON(pods_are_counted_where_they_run),
        ON(the_only_user_of_a_spec_is_replaced),
        ON(when_it_is_synced),
        ON(what_pools_use),
        ON(claims_are_made_by_one_plan_at_a_time),
        ON(nominations_lapse),
        ON(buffer_pods_are_counted_anew_by_every_round),
        ON(what_makes_consolidation_look_again),
        ON(the_newest_pod_stands_for_its_daemonset),
        ON(pods_that_want_to_be_apart),
        ON(lookups),
        ON(a_text_outlives_the_next),
        ON(heartbeats_are_no_news),
    };

    return cmocka_run_group_tests_name("state/store", tests, NULL, NULL);
}
