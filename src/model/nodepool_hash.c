/* The hash that says whether a NodePool's template has changed since a NodeClaim was made from it (scheduling 2.11).
 *
 * It must agree to the bit with what clusters already carry in their annotations, or every node would count as drifted
 * on the day the controller is exchanged. It is a structural hash over type names, field names and values of the Go
 * types, so those names are spelled out here; zero-valued fields do not take part.
 */
#include "model/nodepool.h"

#define FNV_OFFSET 14695981039346656037ull
#define FNV_PRIME 1099511628211ull

/* FNV-1: multiply, then xor. */
static uint64_t fnv(uint64_t h, const void *p, size_t n)
{
    const unsigned char *b = p;

    for (size_t i = 0; i < n; i++)
        h = h * FNV_PRIME ^ b[i];
    return h;
}

static uint64_t fnv_u64(uint64_t h, uint64_t v)
{
    for (int i = 0; i < 64; i += 8)
        h = (h * FNV_PRIME) ^ (v >> i & 0xff);
    return h;
}

static uint64_t hash_str(str s)
{
    return fnv(FNV_OFFSET, s.p, s.n);
}

static uint64_t hash_number(uint64_t v)
{
    return fnv_u64(FNV_OFFSET, v);
}

static uint64_t hash_pair(uint64_t a, uint64_t b)
{
    return fnv_u64(fnv_u64(FNV_OFFSET, a), b);
}

static void struct_begin(uint64_t *h, const char *type)
{
    *h = hash_str(str_c(type));
}

static void struct_field(uint64_t *h, const char *name, uint64_t value)
{
    *h = hash_number(*h ^ hash_pair(hash_str(str_c(name)), value));
}

static void struct_text(uint64_t *h, const char *name, str value)
{
    if (value.n)
        struct_field(h, name, hash_str(value));
}

static uint64_t hash_labels(lset_id labels, const struct syms *syms)
{
    uint32_t n;
    const struct label *v = lset_get(syms, labels, &n);
    uint64_t h = 0;

    for (uint32_t i = 0; i < n; i++)
        h ^= hash_pair(hash_str(sym_str(syms, v[i].key)), hash_str(sym_str(syms, v[i].val)));
    return hash_number(h);
}

static uint64_t hash_annotations(const struct annotation *v, uint32_t n)
{
    uint64_t h = 0;

    for (uint32_t i = 0; i < n; i++)
        h ^= hash_pair(hash_str(v[i].key), hash_str(v[i].val));
    return hash_number(h);
}

/* A list is a set here: order does not count, and two equal taints cancel out. */
static uint64_t hash_taints(const struct taints *t, const struct syms *syms)
{
    uint64_t all = 0, h;

    for (uint32_t i = 0; i < t->n; i++) {
        struct_begin(&h, "Taint");
        struct_text(&h, "Key", sym_str(syms, t->v[i].key));
        struct_text(&h, "Value", sym_str(syms, t->v[i].value));
        struct_text(&h, "Effect", str_c(taint_effect_name(t->v[i].effect)));
        all ^= h;
    }
    return all;
}

static uint64_t hash_class_ref(const struct nodeclass_ref *r)
{
    uint64_t h;

    struct_begin(&h, "NodeClassReference");
    struct_text(&h, "Kind", r->kind);
    struct_text(&h, "Name", r->name);
    struct_text(&h, "Group", r->group);
    return h;
}

static uint64_t hash_duration(const char *type, int64_t ns)
{
    uint64_t h;

    struct_begin(&h, type);
    if (ns != 0)
        struct_field(&h, "Duration", hash_number((uint64_t)ns));
    return h;
}

/* False when there is nothing in it, and the field is left out. */
static bool hash_meta(const struct claim_template *t, const struct syms *syms, uint64_t *ret)
{
    bool labels = t->has_labels || t->labels.v != 0;
    bool annotations = t->has_annotations || t->n_annotations != 0;

    struct_begin(ret, "ObjectMeta");
    if (labels)
        struct_field(ret, "Labels", hash_labels(t->labels, syms));
    if (annotations)
        struct_field(ret, "Annotations", hash_annotations(t->annotations, t->n_annotations));
    return labels || annotations;
}

static bool hash_spec(const struct claim_template *t, const struct syms *syms, uint64_t *ret)
{
    bool taints = t->has_taints || t->taints.n != 0;
    bool startup = t->has_startup_taints || t->startup_taints.n != 0;
    bool ref = t->class_ref.group.n || t->class_ref.kind.n || t->class_ref.name.n;
    bool expires = t->expire_after_ns != DURATION_NEVER;

    struct_begin(ret, "NodeClaimTemplateSpec");
    if (taints)
        struct_field(ret, "Taints", hash_taints(&t->taints, syms));
    if (startup)
        struct_field(ret, "StartupTaints", hash_taints(&t->startup_taints, syms));
    if (ref)
        struct_field(ret, "NodeClassRef", hash_class_ref(&t->class_ref));
    if (t->has_termination_grace) /* a pointer in Go: 0s is not the same as absent */
        struct_field(ret, "TerminationGracePeriod", hash_duration("Duration", t->termination_grace_ns));
    if (expires)
        struct_field(ret, "ExpireAfter", hash_duration("NillableDuration", t->expire_after_ns));
    return taints || startup || ref || t->has_termination_grace || expires;
}

uint64_t nodepool_hash(const struct claim_template *t, const struct syms *syms)
{
    uint64_t h, part;

    struct_begin(&h, "NodeClaimTemplate");
    if (hash_meta(t, syms, &part))
        struct_field(&h, "ObjectMeta", part);
    if (hash_spec(t, syms, &part))
        struct_field(&h, "Spec", part);
    return h;
}
