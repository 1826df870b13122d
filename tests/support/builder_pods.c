/* Pods and DaemonSets: their specs, of which most attributes of a line are parts. */
#include "support/builder_int.h"

/* ---- where a pod may go -------------------------------------------------------------------------------------------- */

/* "key=value:Effect" equals, "key:Effect" exists, "*" everything; without ":Effect" every effect. */
static void tolerations_of(struct emit *e, str text)
{
    str one, key, val, effect;

    open_list(e, "tolerations");
    while (part(&text, ',', &one)) {
        (void)str_cut(one, ':', &key, &effect);
        bool equal = str_cut(key, '=', &key, &val);

        jw_map(&e->w);
        if (!str_is(key, "*"))
            member(e, "key", key);
        member(e, "operator", equal ? STR("Equal") : STR("Exists"));
        if (equal)
            member(e, "value", val);
        if (effect.n)
            member(e, "effect", effect);
        jw_end(&e->w);
    }
    jw_end(&e->w);
}

static void words_of(struct emit *e, const char *name, str text)
{
    str one;

    open_list(e, name);
    while (part(&text, ',', &one))
        jw_str(&e->w, one);
    jw_end(&e->w);
}

static void required_terms(struct emit *e, str text)
{
    open_map(e, "requiredDuringSchedulingIgnoredDuringExecution");
    terms_of(e, "nodeSelectorTerms", text);
    jw_end(&e->w);
}

static void preferred_terms(struct emit *e, str text)
{
    str term, weight;

    open_list(e, "preferredDuringSchedulingIgnoredDuringExecution");
    while (part(&text, '|', &term)) {
        (void)part(&term, ' ', &weight);
        jw_map(&e->w);
        count(e, "weight", weight);
        open_map(e, "preference");
        jw_key(&e->w, "matchExpressions");
        exprs_of(e, term);
        jw_end(&e->w);
        jw_end(&e->w);
    }
    jw_end(&e->w);
}

/* "host app=web ns=a,b": key, selector, namespaces (ns=* for all of them, nsel=a=b by label). */
static void pod_term(struct emit *e, str text)
{
    str w;

    jw_map(&e->w);
    (void)part(&text, ' ', &w);
    member(e, "topologyKey", builder_key(w));
    while (part(&text, ' ', &w)) {
        if (str_is(w, "ns=*")) {
            selector_of(e, "namespaceSelector", STR("all"));
        } else if (str_starts(w, STR("nsel="))) {
            selector_of(e, "namespaceSelector", str_sub(w, 5, w.n));
        } else if (str_starts(w, STR("ns="))) {
            words_of(e, "namespaces", str_sub(w, 3, w.n));
        } else {
            selector_of(e, "labelSelector", w);
        }
    }
    jw_end(&e->w);
}

static void pod_terms(struct emit *e, const char *name, const char *required, const char *preferred)
{
    str text, term, weight;

    open_map(e, name);
    open_list(e, "requiredDuringSchedulingIgnoredDuringExecution");
    for (text = get(e, required); part(&text, '|', &term);)
        pod_term(e, term);
    jw_end(&e->w);
    open_list(e, "preferredDuringSchedulingIgnoredDuringExecution");
    for (text = get(e, preferred); part(&text, '|', &term);) {
        (void)part(&term, ' ', &weight);
        jw_map(&e->w);
        count(e, "weight", weight);
        jw_key(&e->w, "podAffinityTerm");
        pod_term(e, term);
        jw_end(&e->w);
    }
    jw_end(&e->w);
    jw_end(&e->w);
}

static void affinity_of(struct emit *e)
{
    open_map(e, "affinity");
    if (has(e, "need") || has(e, "want")) {
        open_map(e, "nodeAffinity");
        if (has(e, "need"))
            required_terms(e, get(e, "need"));
        if (has(e, "want"))
            preferred_terms(e, get(e, "want"));
        jw_end(&e->w);
    }
    if (has(e, "aff") || has(e, "paff"))
        pod_terms(e, "podAffinity", "aff", "paff");
    if (has(e, "anti") || has(e, "panti"))
        pod_terms(e, "podAntiAffinity", "anti", "panti");
    jw_end(&e->w);
}

static void spread_word(struct emit *e, str w)
{
    if (str_starts(w, STR("min="))) {
        count(e, "minDomains", str_sub(w, 4, w.n));
    } else if (str_starts(w, STR("taints="))) {
        member(e, "nodeTaintsPolicy", str_sub(w, 7, w.n));
    } else if (str_starts(w, STR("affinity="))) {
        member(e, "nodeAffinityPolicy", str_sub(w, 9, w.n));
    } else if (str_starts(w, STR("keys="))) {
        words_of(e, "matchLabelKeys", str_sub(w, 5, w.n));
    } else {
        selector_of(e, "labelSelector", w);
    }
}

/* "zone 1 app=web any min=3 | …": key, skew, selector; any: ScheduleAnyway. */
static void spreads_of(struct emit *e, str text)
{
    str term, w;

    open_list(e, "topologySpreadConstraints");
    while (part(&text, '|', &term)) {
        bool any = false;

        jw_map(&e->w);
        (void)part(&term, ' ', &w);
        member(e, "topologyKey", builder_key(w));
        (void)part(&term, ' ', &w);
        count(e, "maxSkew", w);
        while (part(&term, ' ', &w))
            if (str_is(w, "any"))
                any = true;
            else
                spread_word(e, w);
        member(e, "whenUnsatisfiable", any ? STR("ScheduleAnyway") : STR("DoNotSchedule"));
        jw_end(&e->w);
    }
    jw_end(&e->w);
}

/* ---- pods -------------------------------------------------------------------------------------------------------- */

/* "80,udp:53,10.0.0.1/80" */
static void ports_of(struct emit *e, str text)
{
    str one, head, tail;

    open_list(e, "ports");
    while (part(&text, ',', &one)) {
        jw_map(&e->w);
        if (str_starts(one, STR("udp:"))) {
            member(e, "protocol", STR("UDP"));
            one = str_sub(one, 4, one.n);
        }
        if (str_cut(one, '/', &head, &tail)) {
            member(e, "hostIP", head);
            one = tail;
        }
        count(e, "hostPort", one);
        count(e, "containerPort", one);
        jw_end(&e->w);
    }
    jw_end(&e->w);
}

void containers_of(struct emit *e)
{
    str init = get(e, "init"), one;

    open_list(e, "containers");
    if (!has(e, "bare")) {
        jw_map(&e->w);
        member(e, "name", STR("main"));
        open_map(e, "resources");
        sizes(e, "requests", get(e, "cpu"), get(e, "mem"), get(e, "res"));
        if (has(e, "lim"))
            sizes(e, "limits", STR(""), STR(""), get(e, "lim"));
        jw_end(&e->w);
        ports_of(e, get(e, "port"));
        jw_end(&e->w);
    }
    jw_end(&e->w);
    open_list(e, "initContainers");
    for (uint32_t i = 0; part(&init, '|', &one); i++) {
        bool sidecar = str_starts(one, STR("always "));

        jw_map(&e->w);
        member(e, "name", arena_printf(e->b->a, "init-%u", i));
        if (sidecar)
            member(e, "restartPolicy", STR("Always"));
        open_map(e, "resources");
        sizes(e, "requests", STR(""), STR(""), str_trim(sidecar ? str_sub(one, 7, one.n) : one));
        jw_end(&e->w);
        jw_end(&e->w);
    }
    jw_end(&e->w);
}

static void volumes_of(struct emit *e)
{
    str pvc = get(e, "pvc"), eph = get(e, "eph"), one;

    open_list(e, "volumes");
    while (part(&pvc, ',', &one)) {
        jw_map(&e->w);
        member(e, "name", one);
        open_map(e, "persistentVolumeClaim");
        member(e, "claimName", one);
        jw_end(&e->w);
        jw_end(&e->w);
    }
    while (part(&eph, ',', &one)) {
        jw_map(&e->w);
        member(e, "name", one);
        open_map(e, "ephemeral");
        jw_end(&e->w);
        jw_end(&e->w);
    }
    jw_end(&e->w);
}

static void pod_spec(struct emit *e, str node)
{
    open_map(e, "spec");
    if (node.n)
        member(e, "nodeName", node);
    if (has(e, "sel"))
        map_of(e, "nodeSelector", get(e, "sel"), /* labels= */ true);
    if (has(e, "prio"))
        count(e, "priority", get(e, "prio"));
    if (has(e, "scheduler"))
        member(e, "schedulerName", get(e, "scheduler"));
    tolerations_of(e, get(e, "tol"));
    affinity_of(e);
    spreads_of(e, get(e, "spread"));
    containers_of(e);
    volumes_of(e);
    if (has(e, "overhead"))
        sizes(e, "overhead", STR(""), STR(""), get(e, "overhead"));
    if (has(e, "whole")) {
        open_map(e, "resources");
        sizes(e, "requests", STR(""), STR(""), get(e, "whole"));
        jw_end(&e->w);
    }
    if (has(e, "dra")) {
        open_list(e, "resourceClaims");
        jw_map(&e->w);
        member(e, "name", STR("gpu"));
        member(e, "resourceClaimName", get(e, "dra"));
        jw_end(&e->w);
        jw_end(&e->w);
    }
    jw_end(&e->w);
}

static void emit_pod(struct emit *e, str name, uint32_t nth)
{
    str node = get(e, "node"), before;

    if (str_cut(node, '#', &before, &(str){0}))
        node = arena_printf(e->b->a, STR_FMT "%u", STR_ARG(before), nth);
    for (uint32_t i = 0; i < e->b->bound.n; i++)
        if (str_eq(e->b->bound.v[i].pod, name))
            node = e->b->bound.v[i].node;
    head(e, "v1", "Pod");
    metadata(e, ns_of(e), name);
    pod_spec(e, node);
    open_map(e, "status");
    member(e, "phase", has(e, "phase") ? get(e, "phase") : node.n ? STR("Running") : STR("Pending"));
    if (has(e, "nominated"))
        member(e, "nominatedNodeName", get(e, "nominated"));
    if (has(e, "start"))
        member(e, "startTime", time_of(e, get(e, "start")));
    if (has(e, "notready")) {
        open_list(e, "conditions");
        condition(e, "Ready", STR("False"), STR("11:00:00"));
        jw_end(&e->w);
    }
    jw_end(&e->w);
    tail(e);
}

static void kind_pod(struct emit *e)
{
    if (e->l->copies == UINT32_MAX)
        emit_pod(e, e->l->name, 0);
    else
        for (uint32_t i = 0; i < e->l->copies; i++)
            emit_pod(e, arena_printf(e->b->a, STR_FMT "-%u", STR_ARG(e->l->name), i), i);
}

static void kind_daemon(struct emit *e)
{
    head(e, "apps/v1", "DaemonSet");
    metadata(e, ns_of(e), e->l->name);
    open_map(e, "spec");
    open_map(e, "template");
    pod_spec(e, STR(""));
    jw_end(&e->w);
    jw_end(&e->w);
    tail(e);
}

bool builder_pod_kind(struct emit *e)
{
    if (str_is(e->l->kind, "pod"))
        kind_pod(e);
    else if (str_is(e->l->kind, "daemon"))
        kind_daemon(e);
    else
        return false;
    return true;
}
