/* The hash that says whether a NodePool's template has changed since a NodeClaim was made from it (scheduling 2.11).
 *
 * It must agree to the bit with what clusters already carry in their annotations, or every node would count as drifted
 * on the day the controller is exchanged. The names of the Go types and of their fields are part of it (base/gohash.h),
 * so they are spelled out here.
 */
#include "base/gohash.h"
#include "model/nodepool.h"

static uint64_t hash_labels(lset_id labels, const struct syms *syms)
{
    uint32_t n;
    const struct label *v = lset_get(syms, labels, &n);
    uint64_t h = 0;

    for (uint32_t i = 0; i < n; i++)
        h ^= gohash_entry(gohash_str(sym_str(syms, v[i].key)), gohash_str(sym_str(syms, v[i].val)));
    return gohash_map(h);
}

static uint64_t hash_annotations(const struct annotation *v, uint32_t n)
{
    uint64_t h = 0;

    for (uint32_t i = 0; i < n; i++)
        h ^= gohash_entry(gohash_str(v[i].key), gohash_str(v[i].val));
    return gohash_map(h);
}

/* A list is a set here: order does not count, and two equal taints cancel out. */
static uint64_t hash_taints(const struct taints *t, const struct syms *syms)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < t->n; i++) {
        uint64_t h = gohash_struct("Taint");

        gohash_text(&h, "Key", sym_str(syms, t->v[i].key));
        gohash_text(&h, "Value", sym_str(syms, t->v[i].value));
        gohash_text(&h, "Effect", str_c(taint_effect_name(t->v[i].effect)));
        all ^= h;
    }
    return all;
}

static uint64_t hash_class_ref(const struct nodeclass_ref *r)
{
    uint64_t h = gohash_struct("NodeClassReference");

    gohash_text(&h, "Kind", r->kind);
    gohash_text(&h, "Name", r->name);
    gohash_text(&h, "Group", r->group);
    return h;
}

static uint64_t hash_duration(const char *type, int64_t ns)
{
    uint64_t h = gohash_struct(type);

    if (ns != 0)
        gohash_field(&h, "Duration", gohash_i64(ns));
    return h;
}

/* False when there is nothing in it, and the field is left out. */
static bool hash_meta(const struct claim_template *t, const struct syms *syms, uint64_t *ret)
{
    bool labels = t->has_labels || t->labels.v != 0;
    bool annotations = t->has_annotations || t->n_annotations != 0;

    *ret = gohash_struct("ObjectMeta");
    if (labels)
        gohash_field(ret, "Labels", hash_labels(t->labels, syms));
    if (annotations)
        gohash_field(ret, "Annotations", hash_annotations(t->annotations, t->n_annotations));
    return labels || annotations;
}

static bool hash_spec(const struct claim_template *t, const struct syms *syms, uint64_t *ret)
{
    bool taints = t->has_taints || t->taints.n != 0;
    bool startup = t->has_startup_taints || t->startup_taints.n != 0;
    bool ref = t->class_ref.group.n || t->class_ref.kind.n || t->class_ref.name.n;
    bool expires = t->expire_after_ns != DURATION_NEVER;

    *ret = gohash_struct("NodeClaimTemplateSpec");
    if (taints)
        gohash_field(ret, "Taints", hash_taints(&t->taints, syms));
    if (startup)
        gohash_field(ret, "StartupTaints", hash_taints(&t->startup_taints, syms));
    if (ref)
        gohash_field(ret, "NodeClassRef", hash_class_ref(&t->class_ref));
    if (t->has_termination_grace) /* a pointer in Go: 0s is not the same as absent */
        gohash_field(ret, "TerminationGracePeriod", hash_duration("Duration", t->termination_grace_ns));
    if (expires)
        gohash_field(ret, "ExpireAfter", hash_duration("NillableDuration", t->expire_after_ns));
    return taints || startup || ref || t->has_termination_grace || expires;
}

uint64_t nodepool_hash(const struct claim_template *t, const struct syms *syms)
{
    uint64_t h = gohash_struct("NodeClaimTemplate"), part;

    if (hash_meta(t, syms, &part))
        gohash_field(&h, "ObjectMeta", part);
    if (hash_spec(t, syms, &part))
        gohash_field(&h, "Spec", part);
    return h;
}
