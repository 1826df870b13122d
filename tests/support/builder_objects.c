/* Pools, nodes, storage, instance types and the rest: each kind is a function that reads the attributes of its line
 * and writes one object. */
#include <stdlib.h>

#include "support/builder_int.h"

/* ---- pools and nodes --------------------------------------------------------------------------------------------- */

static void class_ref(struct emit *e)
{
    bool ec2 = has(e, "ec2");

    open_map(e, "nodeClassRef");
    member(e, "group", ec2 ? STR("karpenter.k8s.aws") : STR("karpenter.test.sh"));
    member(e, "kind", ec2 ? STR("EC2NodeClass") : STR("TestNodeClass"));
    member(e, "name", STR("default"));
    jw_end(&e->w);
}

/* The time at which everything was well, unless the line says otherwise. */
static str since(const struct emit *e, const char *key)
{
    return get(e, key).n ? get(e, key) : STR("00:00:00");
}

/* "30% | 3 reasons=Empty,Drifted | 0 for=10m at=0 9 * * *": nodes, reasons (none: an empty list), schedule. */
static void budgets_of_pool(struct emit *e, str text)
{
    str one, w, reason;

    open_list(e, "budgets");
    while (part(&text, '|', &one)) {
        jw_map(&e->w);
        (void)part(&one, ' ', &w);
        member(e, "nodes", w);
        while (one.n && !str_starts(one, STR("at=")) && part(&one, ' ', &w)) {
            if (str_starts(w, STR("for="))) {
                member(e, "duration", str_sub(w, 4, w.n));
                continue;
            }
            open_list(e, "reasons");
            for (str r = str_sub(w, 8, w.n); part(&r, ',', &reason);)
                jw_str(&e->w, reason);
            jw_end(&e->w);
        }
        if (one.n)
            member(e, "schedule", str_sub(one, 3, one.n));
        jw_end(&e->w);
    }
    jw_end(&e->w);
}

static void disruption_of(struct emit *e)
{
    open_map(e, "disruption");
    if (has(e, "after"))
        member(e, "consolidateAfter", get(e, "after"));
    if (has(e, "policy"))
        member(e, "consolidationPolicy", get(e, "policy"));
    if (has(e, "budget"))
        budgets_of_pool(e, get(e, "budget"));
    jw_end(&e->w);
}

/* expireAfter and terminationGracePeriod of pools and claims. */
static void lifetime_of(struct emit *e)
{
    if (has(e, "expire"))
        member(e, "expireAfter", get(e, "expire"));
    if (has(e, "grace"))
        member(e, "terminationGracePeriod", get(e, "grace"));
}

static void kind_pool(struct emit *e)
{
    head(e, "karpenter.sh/v1", "NodePool");
    open_map(e, "metadata");
    member(e, "name", e->l->name);
    notes_of(e, get(e, "note"));
    if (has(e, "deleting"))
        member(e, "deletionTimestamp", STR("2026-01-15T11:59:00Z"));
    jw_end(&e->w);
    open_map(e, "spec");
    disruption_of(e);
    if (has(e, "weight"))
        count(e, "weight", get(e, "weight"));
    if (has(e, "replicas"))
        count(e, "replicas", get(e, "replicas"));
    if (has(e, "limit"))
        map_of(e, "limits", get(e, "limit"), /* labels= */ false);
    open_map(e, "template");
    open_map(e, "metadata");
    map_of(e, "labels", get(e, "label"), /* labels= */ true);
    jw_end(&e->w);
    open_map(e, "spec");
    class_ref(e);
    jw_key(&e->w, "requirements");
    exprs_of(e, get(e, "req"));
    taints_of(e, "taints", get(e, "taint"));
    taints_of(e, "startupTaints", get(e, "startup"));
    lifetime_of(e);
    jw_end(&e->w);
    jw_end(&e->w);
    jw_end(&e->w);
    if (has(e, "ready")) {
        open_map(e, "status");
        open_list(e, "conditions");
        condition(e, "Ready", get(e, "ready"), STR("00:00:00"));
        jw_end(&e->w);
        jw_end(&e->w);
    }
    tail(e);
}

static void machine_labels(struct emit *e, bool node)
{
    str text = get(e, "label"), one, key, val;

    open_map(e, "labels");
    if (!has(e, "unmanaged")) {
        if (!has(e, "nopool"))
            member(e, "karpenter.sh/nodepool", has(e, "pool") ? get(e, "pool") : STR("default"));
        if (!has(e, "notype") && !str_contains(text, STR("itype=")) &&
            !str_contains(text, STR("/instance-type="))) /* or it is not seen */
            member(e, "node.kubernetes.io/instance-type", STR("default-instance-type"));
        if (node && !has(e, "unregistered"))
            member(e, "karpenter.sh/registered", STR("true"));
        if (node && !has(e, "unregistered") && !has(e, "registered"))
            member(e, "karpenter.sh/initialized", STR("true"));
    }
    if (node)
        member(e, "kubernetes.io/hostname", e->l->name);
    while (part(&text, ',', &one)) {
        (void)str_cut(one, '=', &key, &val);
        jw_key_str(&e->w, builder_key(key));
        jw_str(&e->w, value_of(e, val));
    }
    jw_end(&e->w);
}

/* cpu, mem, pods and res; or capacity= and allocatable= in full. */
static void machine_sizes(struct emit *e, str more)
{
    if (has(e, "capacity")) {
        map_of(e, "capacity", get(e, "capacity"), /* labels= */ false);
        map_of(e, "allocatable", get(e, "allocatable"), /* labels= */ false);
        return;
    }
    str pods = has(e, "pods") ? get(e, "pods") : STR("110");

    if (!more.n)
        more = arena_printf(e->b->a, "pods=" STR_FMT, STR_ARG(pods));
    else
        more = arena_printf(e->b->a, "pods=" STR_FMT "," STR_FMT, STR_ARG(pods), STR_ARG(more));
    sizes(e, "capacity", get(e, "cpu"), get(e, "mem"), more);
    sizes(e, "allocatable", get(e, "cpu"), get(e, "mem"), more);
}

/* Launched, registered and initialized as the line says, and nothing happened since. */
static void claim_conditions(struct emit *e)
{
    bool registered = !has(e, "inflight") && !has(e, "unregistered"), initialized = registered && !has(e, "registered");

    open_list(e, "conditions");
    condition(e, "Launched", has(e, "unlaunched") ? STR("Unknown") : STR("True"), STR("00:00:00"));
    condition(e, "Registered", registered ? STR("True") : STR("Unknown"), STR("00:00:00"));
    condition(e, "Initialized", initialized ? STR("True") : STR("Unknown"), since(e, "initialized"));
    if (initialized && !has(e, "unsettled"))
        condition(e, "Consolidatable", has(e, "consolidatable") ? get(e, "consolidatable") : STR("True"),
                  STR("00:00:00"));
    if (has(e, "drifted"))
        condition(e, "Drifted", str_is(get(e, "drifted"), "False") ? STR("False") : STR("True"),
                  str_is(get(e, "drifted"), "False") ? STR("00:00:00") : since(e, "drifted"));
    if (has(e, "terminating"))
        condition(e, "InstanceTerminating", STR("True"), STR("00:00:00"));
    jw_end(&e->w);
    if (has(e, "lastpod"))
        member(e, "lastPodEventTime", time_of(e, get(e, "lastpod")));
}

static void emit_claim(struct emit *e)
{
    head(e, "karpenter.sh/v1", "NodeClaim");
    open_map(e, "metadata");
    member(e, "name", arena_printf(e->b->a, STR_FMT "%s", STR_ARG(e->l->name), has(e, "inflight") ? "" : "-claim"));
    machine_labels(e, /* node= */ false);
    notes_of(e, get(e, "claimnote"));
    if (has(e, "created"))
        member(e, "creationTimestamp", time_of(e, get(e, "created")));
    if (has(e, "deleting"))
        member(e, "deletionTimestamp", STR("2026-01-15T11:59:00Z"));
    jw_end(&e->w);
    open_map(e, "spec");
    class_ref(e);
    jw_key(&e->w, "requirements");
    exprs_of(e, STR(""));
    taints_of(e, "taints", get(e, "claimtaint"));
    taints_of(e, "startupTaints", get(e, "startup"));
    lifetime_of(e);
    jw_end(&e->w);
    open_map(e, "status");
    claim_conditions(e);
    member(e, "providerID", arena_printf(e->b->a, "fake://" STR_FMT, STR_ARG(e->l->name)));
    if (!has(e, "inflight"))
        member(e, "nodeName", e->l->name);
    machine_sizes(e, has(e, "claimres") ? get(e, "claimres") : get(e, "res"));
    jw_end(&e->w);
    tail(e);
}

/* States: initialized; `registered`, not initialized; `unregistered`; `inflight`: a NodeClaim without a Node;
 * `unmanaged`: a Node without a NodeClaim. */
static void emit_node(struct emit *e)
{
    if (!has(e, "unmanaged"))
        emit_claim(e);
    if (has(e, "inflight"))
        return;
    head(e, "v1", "Node");
    open_map(e, "metadata");
    member(e, "name", e->l->name);
    machine_labels(e, /* node= */ true);
    notes_of(e, get(e, "note"));
    jw_end(&e->w);
    open_map(e, "spec");
    member(e, "providerID", arena_printf(e->b->a, "fake://" STR_FMT, STR_ARG(e->l->name)));
    taints_of(e, "taints", get(e, "taint"));
    jw_end(&e->w);
    open_map(e, "status");
    machine_sizes(e, get(e, "res"));
    open_list(e, "conditions");
    condition(e, "Ready", has(e, "notready") ? STR("False") : STR("True"), STR("00:00:00"));
    jw_end(&e->w);
    jw_end(&e->w);
    tail(e);
}

static void kind_node(struct emit *e)
{
    const struct line *all = e->l;
    struct line one = *all;

    if (all->copies == UINT32_MAX) {
        emit_node(e);
        return;
    }
    e->l = &one;
    for (uint32_t i = 0; i < all->copies; i++) {
        one.name = arena_printf(e->b->a, STR_FMT "-%u", STR_ARG(all->name), i);
        emit_node(e);
    }
    e->l = all;
}

static void kind_nodeclass(struct emit *e)
{
    head(e, "karpenter.k8s.aws/v1", "EC2NodeClass");
    metadata(e, STR(""), e->l->name);
    tail(e);
}

/* ---- storage and the rest ---------------------------------------------------------------------------------------- */

static void kind_pvc(struct emit *e)
{
    head(e, "v1", "PersistentVolumeClaim");
    open_map(e, "metadata");
    member(e, "name", e->l->name);
    member(e, "namespace", ns_of(e));
    if (has(e, "deleting"))
        member(e, "deletionTimestamp", STR("2026-01-15T11:59:00Z"));
    if (has(e, "pv") && !has(e, "unbound"))
        map_of(e, "annotations", STR("pv.kubernetes.io/bind-completed=yes"), /* labels= */ false);
    jw_end(&e->w);
    open_map(e, "spec");
    if (has(e, "class"))
        member(e, "storageClassName", get(e, "class"));
    if (has(e, "pv"))
        member(e, "volumeName", get(e, "pv"));
    jw_end(&e->w);
    open_map(e, "status");
    member(e, "phase", has(e, "lost") ? STR("Lost") : has(e, "pv") ? STR("Bound") : STR("Pending"));
    jw_end(&e->w);
    tail(e);
}

/* The source is csi=DRIVER, local, hostPath, nfs or awsElasticBlockStore. */
static void kind_pv(struct emit *e)
{
    static const char *const sources[] = {"local", "hostPath", "nfs", "awsElasticBlockStore"};

    head(e, "v1", "PersistentVolume");
    open_map(e, "metadata");
    member(e, "name", e->l->name);
    if (has(e, "deleting"))
        member(e, "deletionTimestamp", STR("2026-01-15T11:59:00Z"));
    jw_end(&e->w);
    open_map(e, "spec");
    if (!has(e, "unclaimed")) {
        open_map(e, "claimRef");
        member(e, "name", e->l->name);
        jw_end(&e->w);
    }
    if (has(e, "csi")) {
        open_map(e, "csi");
        member(e, "driver", get(e, "csi"));
        jw_end(&e->w);
    }
    for (size_t i = 0; i < ARRAY_LEN(sources); i++)
        if (has(e, sources[i])) {
            open_map(e, sources[i]);
            jw_end(&e->w);
        }
    if (has(e, "need")) {
        open_map(e, "nodeAffinity");
        open_map(e, "required");
        terms_of(e, "nodeSelectorTerms", get(e, "need"));
        jw_end(&e->w);
        jw_end(&e->w);
    }
    jw_end(&e->w);
    tail(e);
}

static void kind_class(struct emit *e)
{
    str text = get(e, "zones"), term;

    head(e, "storage.k8s.io/v1", "StorageClass");
    open_map(e, "metadata");
    member(e, "name", e->l->name);
    if (has(e, "default"))
        map_of(e, "annotations", STR("storageclass.kubernetes.io/is-default-class=true"), /* labels= */ false);
    jw_end(&e->w);
    member(e, "provisioner", has(e, "driver") ? get(e, "driver") : STR("ebs.csi.aws.com"));
    member(e, "volumeBindingMode", has(e, "mode") ? get(e, "mode") : STR("WaitForFirstConsumer"));
    open_list(e, "allowedTopologies");
    while (part(&text, '|', &term)) {
        jw_map(&e->w);
        open_list(e, "matchLabelExpressions");
        jw_map(&e->w);
        member(e, "key", builder_key(STR("zone")));
        values_of(e, term);
        jw_end(&e->w);
        jw_end(&e->w);
        jw_end(&e->w);
    }
    jw_end(&e->w);
    tail(e);
}

static void kind_csinode(struct emit *e)
{
    head(e, "storage.k8s.io/v1", "CSINode");
    open_map(e, "metadata");
    member(e, "name", e->l->name);
    jw_end(&e->w);
    open_map(e, "spec");
    open_list(e, "drivers");
    for (uint32_t i = 0; i < e->l->n; i++) {
        jw_map(&e->w);
        member(e, "name", e->l->attrs[i].key);
        member(e, "nodeID", e->l->name);
        open_map(e, "allocatable");
        count(e, "count", e->l->attrs[i].val);
        jw_end(&e->w);
        jw_end(&e->w);
    }
    jw_end(&e->w);
    jw_end(&e->w);
    tail(e);
}

static void kind_ns(struct emit *e)
{
    head(e, "v1", "Namespace");
    metadata(e, STR(""), e->l->name);
    tail(e);
}

static void kind_service(struct emit *e)
{
    head(e, "v1", "Service");
    metadata(e, ns_of(e), e->l->name);
    open_map(e, "spec");
    if (has(e, "sel"))
        map_of(e, "selector", get(e, "sel"), /* labels= */ true);
    jw_end(&e->w);
    tail(e);
}

static void kind_pdb(struct emit *e)
{
    head(e, "policy/v1", "PodDisruptionBudget");
    metadata(e, ns_of(e), e->l->name);
    open_map(e, "spec");
    if (has(e, "max"))
        member(e, "maxUnavailable", get(e, "max"));
    if (has(e, "min"))
        member(e, "minAvailable", get(e, "min"));
    if (has(e, "policy"))
        member(e, "unhealthyPodEvictionPolicy", get(e, "policy"));
    selector_of(e, "selector", get(e, "sel"));
    jw_end(&e->w);
    if (has(e, "allowed")) {
        open_map(e, "status");
        count(e, "disruptionsAllowed", get(e, "allowed"));
        jw_end(&e->w);
    }
    tail(e);
}

/* An owner without pods of its own. */
static void kind_replicaset(struct emit *e)
{
    head(e, "apps/v1", "ReplicaSet");
    metadata(e, ns_of(e), e->l->name);
    open_map(e, "spec");
    count(e, "replicas", STR("0"));
    selector_of(e, "selector", get(e, "sel"));
    open_map(e, "template");
    open_map(e, "metadata");
    map_of(e, "labels", get(e, "label").n ? get(e, "label") : get(e, "sel"), /* labels= */ true);
    jw_end(&e->w);
    open_map(e, "spec");
    containers_of(e);
    jw_end(&e->w);
    jw_end(&e->w);
    jw_end(&e->w);
    tail(e);
}

/* ---- instance types ---------------------------------------------------------------------------------------------- */

static void offering_req(struct emit *e, const char *key, str val)
{
    jw_map(&e->w);
    member(e, "key", builder_key(str_c(key)));
    member(e, "operator", STR("In"));
    values_of(e, val);
    jw_end(&e->w);
}

/* "spot z1 0.5 id=r1 left=2 gone over=res=1": capacity type, zone, price; a reservation; sold out; more capacity. */
static void offering(struct emit *e, str text, double price)
{
    str ct, zone, w, id = STR("");

    jw_map(&e->w);
    (void)part(&text, ' ', &ct);
    (void)part(&text, ' ', &zone);
    jw_key(&e->w, "Price");
    if (part(&text, ' ', &w) && w.n && !str_is(w, "-"))
        jw_number(&e->w, w);
    else
        jw_double(&e->w, price);
    while (part(&text, ' ', &w))
        if (str_is(w, "gone")) {
            jw_key(&e->w, "Available");
            jw_bool(&e->w, false);
        } else if (str_starts(w, STR("left="))) {
            count(e, "ReservationCapacity", str_sub(w, 5, w.n));
        } else if (str_starts(w, STR("over="))) {
            sizes(e, "CapacityOverride", STR(""), STR(""), str_sub(w, 5, w.n));
        } else if (str_starts(w, STR("id="))) {
            id = str_sub(w, 3, w.n);
        }
    open_list(e, "Requirements");
    offering_req(e, "ct", ct);
    offering_req(e, "zone", zone);
    if (id.n)
        offering_req(e, "karpenter.kwok.sh/reservation-id", id);
    jw_end(&e->w);
    jw_end(&e->w);
}

static void own_label(struct emit *e, const char *key, str val)
{
    jw_map(&e->w);
    member(e, "key", str_c(key));
    member(e, "operator", val.n ? STR("In") : STR("DoesNotExist"));
    if (val.n)
        values_of(e, val);
    jw_end(&e->w);
}

static double number_of(str s)
{
    char text[32];

    assert(s.n < sizeof(text));
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    return strtod(text, NULL);
}

/* The fake provider's defaults (scheduling 28.1); memory in Gi. */
static void kind_type(struct emit *e)
{
    str cpu = has(e, "cpu") ? get(e, "cpu") : STR("4"), mem = has(e, "mem") ? get(e, "mem") : STR("4Gi");
    str pods = has(e, "pods") ? get(e, "pods") : STR("5"), res = get(e, "res"), one;
    str offers = has(e, "offer") ? get(e, "offer") : STR("spot z1|spot z2|on-demand z1|on-demand z2|on-demand z3");
    double gib = number_of(str_sub(mem, 0, mem.n - 2)), price = 0.1 * number_of(cpu) + 0.1 * gib * 1.073741824;
    bool large = number_of(cpu) > 4 && gib > 8;

    if (e->b->types->n > 1)
        sb_char(e->b->types, ',');
    for (str r = res; part(&r, ',', &one);)
        price += 1;
    jw_map(&e->w);
    member(e, "name", e->l->name);
    member(e, "architecture", has(e, "arch") ? get(e, "arch") : STR("amd64"));
    open_list(e, "operatingSystems");
    for (str r = has(e, "os") ? get(e, "os") : STR("linux,windows,darwin"); part(&r, ',', &one);)
        jw_str(&e->w, one);
    jw_end(&e->w);
    sizes(e, "resources", cpu, mem,
          arena_printf(e->b->a, "pods=" STR_FMT "%s" STR_FMT, STR_ARG(pods), res.n ? "," : "", STR_ARG(res)));
    open_list(e, "requirements");
    own_label(e, "integer", cpu);
    own_label(e, "size", large ? STR("large") : STR("small"));
    own_label(e, "special", large ? STR("optional") : STR(""));
    jw_end(&e->w);
    open_list(e, "offerings");
    while (part(&offers, '|', &one))
        offering(e, one, has(e, "price") ? number_of(get(e, "price")) : price);
    jw_end(&e->w);
    jw_end(&e->w);
}

bool builder_other_kind(struct emit *e)
{
    static const struct {
        const char *kind;
        void (*fn)(struct emit *e);
    } kinds[] = {
        {"pool", kind_pool},   {"node", kind_node},
        {"pvc", kind_pvc},     {"pv", kind_pv},
        {"class", kind_class}, {"csinode", kind_csinode},
        {"ns", kind_ns},       {"service", kind_service},
        {"pdb", kind_pdb},     {"replicaset", kind_replicaset},
        {"type", kind_type},   {"nodeclass", kind_nodeclass},
    };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_is(e->l->kind, kinds[i].kind)) {
            kinds[i].fn(e);
            return true;
        }
    return false;
}
