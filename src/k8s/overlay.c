/* NodeOverlays. */
#include "k8s/admission.h"
#include "k8s/kinds.h"

static bool dec_price(struct decoder *d, const struct tree *spec, struct price_change *ret, struct err *e)
{
    str price, adjustment;

    if (!dec_str(d, spec, "price", &price, e) || !dec_str(d, spec, "priceAdjustment", &adjustment, e))
        return false;
    if (price.n && adjustment.n)
        return dec_fail(d, spec, NULL, e, "cannot set both 'price' and 'priceAdjustment'");
    if (price.n && !price_parse(price, ret))
        return dec_fail(d, tree_get(spec, "price"), NULL, e, "must be a number without a sign, like 0.25");
    if (adjustment.n && !price_adjustment_parse(adjustment, ret))
        return dec_fail(d, tree_get(spec, "priceAdjustment"), NULL, e,
                        "must be a number or a percentage with a sign, like +0.1 or -10%%");
    return true;
}

bool dec_overlay(struct decoder *d, struct err *e)
{
    const struct tree *spec, *status, *list;
    struct overlay v = {0};
    int64_t weight = 0;
    struct meta m;

    if (!dec_object(d, /* namespaced= */ false, &m, &spec, &status, e) ||
        !dec_list(d, spec, "requirements", &list, e) ||
        !dec_reqs(d, spec, "requirements", REQ_POOL, &v.requirements, &v.n_requirements, e) ||
        (list && !admit_reqs(d, list, v.requirements, ADMIT_OVERLAY, e)) || !dec_price(d, spec, &v.price, e) ||
        !dec_resources(d, d->o->arena, spec, "capacity", &v.capacity, e) ||
        !dec_int(d, spec, "weight", 1, 10000, &weight, e) || !dec_take_id(d, OBJ_OVERLAY, &m, e))
        return false;
    v.name = dec_keep(d, m.name);
    v.uid = dec_keep(d, m.uid);
    v.weight = (int32_t)weight;
    vec_push(&d->o->overlays, v);
    return true;
}
