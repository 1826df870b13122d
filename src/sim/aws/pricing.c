/* pricing - the price list of on-demand machines, as GetProducts hands it out: one JSON text per product. */
#include <math.h>

#include "data/json.h"
#include "sim/aws/call.h"

static bool is_metal(const struct sim_aws *s, str type)
{
    return tree_is_true(tree_get(docs_find(&s->types, "InstanceType", type), "BareMetal"));
}

static struct tree *attributes(struct call *c, const struct pool *p, bool metal)
{
    struct tree *t = tree_new_map(c->a);

    tree_set_str(c->a, t, "instanceType", p->type);
    tree_set_str(c->a, t, "regionCode", c->s->region);
    tree_set_str(c->a, t, "servicecode", STR("AmazonEC2"));
    tree_set_str(c->a, t, "operatingSystem", STR("Linux"));
    tree_set_str(c->a, t, "preInstalledSw", STR("NA"));
    tree_set_str(c->a, t, "capacitystatus", STR("Used"));
    tree_set_str(c->a, t, "marketoption", STR("OnDemand"));
    tree_set_str(c->a, t, "tenancy", metal ? STR("Dedicated") : STR("Shared"));
    tree_set_str(c->a, t, "locationType", STR("AWS Region"));
    return t;
}

static bool product_wanted(const struct call *c, const struct tree *attrs, str family)
{
    const struct tree *filters = in_list(c, "Filters");

    for (uint32_t i = 0; filters && i < filters->n; i++) {
        str field = tree_str(tree_get(&filters->items[i], "Field")),
            value = tree_str(tree_get(&filters->items[i], "Value"));
        str have = str_is(field, "productFamily") ? family
                   : str_is(field, "serviceCode") ? STR("AmazonEC2")
                                                  : tree_str(tree_get_str(attrs, field));

        if (!str_eq(have, value))
            return false;
    }
    return true;
}

static void price_terms(struct call *c, struct tree *product, str sku, double usd)
{
    str offer = arena_printf(c->a, STR_FMT ".JRTCKXETXF", STR_ARG(sku));
    str rate = arena_printf(c->a, STR_FMT ".6YS6EN2CT7", STR_ARG(offer));
    struct tree *by_offer = tree_path(c->a, product, "terms", "OnDemand", NULL);
    struct tree *term = tree_put(c->a, by_offer, offer);

    *term = *tree_new_map(c->a);
    tree_set_str(c->a, term, "sku", sku);
    tree_set_str(c->a, term, "offerTermCode", STR("JRTCKXETXF"));
    struct tree *dimensions = tree_sub(c->a, term, "priceDimensions");
    struct tree *d = tree_put(c->a, dimensions, rate);

    *d = *tree_new_map(c->a);
    tree_set_str(c->a, d, "rateCode", rate);
    tree_set_str(c->a, d, "unit", STR("Hrs"));
    bool china = str_starts(c->s->region, STR("cn-"));
    tree_set_str(c->a, tree_sub(c->a, d, "pricePerUnit"), china ? "CNY" : "USD", arena_printf(c->a, "%.10f", usd));
}

/* The product's text, as a string in a tree. */
static struct tree *product_text(struct call *c, const struct tree *attrs, str family, uint32_t ix, double usd)
{
    struct tree *t = tree_new_map(c->a), *text = arena_new_one(c->a, struct tree);
    struct tree *product = tree_sub(c->a, t, "product");
    str sku = arena_printf(c->a, "SKU%012u", ix);

    tree_set_str(c->a, product, "productFamily", family);
    tree_set(c->a, product, "attributes", *attrs);
    tree_set_str(c->a, product, "sku", sku);
    tree_set_str(c->a, t, "serviceCode", STR("AmazonEC2"));
    price_terms(c, t, sku, usd);
    tree_set_str(c->a, t, "version", STR("1"));
    tree_set_str(c->a, t, "publicationDate", account_time(c->a, account_now_ms(c->s)));
    *text = tree_of_str(json_text(c->a, t));
    return text;
}

void serve_get_products(struct call *c)
{
    struct listing l = {0};
    str code;

    if (!in_required(c, "ServiceCode", &code))
        return;
    if (!str_is(code, "AmazonEC2")) {
        (void)call_fail(c, "InvalidParameterException", "Input Parameters are invalid: ServiceCode");
        return;
    }
    for (uint32_t i = 0; i < c->s->pools.n; i++) {
        const struct pool *p = &c->s->pools.v[i];

        if (isnan(p->on_demand) || (i > 0 && str_eq(p->type, c->s->pools.v[i - 1].type)))
            continue;
        bool metal = is_metal(c->s, p->type);
        str family = metal ? STR("Compute Instance (bare metal)") : STR("Compute Instance");
        const struct tree *attrs = attributes(c, p, metal);

        if (product_wanted(c, attrs, family))
            listing_add(&l, i + 1, product_text(c, attrs, family, i, p->on_demand));
    }
    tree_set_str(c->a, c->out, "FormatVersion", STR("aws_v1"));
    page_reply(c, &l, "PriceList", 100);
    listing_fini(&l);
}
