/* Prices on demand. Every record of the price list is a JSON text inside the JSON answer, with many terms and dimensions of which few are prices (aws 5.9). */
#include <math.h>

#include "aws/services_int.h"
#include "data/json.h"
#include "data/reader.h"

/* One record, in the currencies that AWS has. NAN: it has no price in that one. */
struct record {
    str type;
    double usd, cny;
};

static void read_price(const struct tree *dimension, const char *currency, double *ret)
{
    double v;

    if (str_to_double(tree_scalar(tree_at(dimension, "pricePerUnit", currency, NULL)), &v) && isfinite(v) && v > 0)
        *ret = v;
}

static bool read_record(struct wire *w, const struct tree *t, void *ret)
{
    AUTO(arena) struct arena *tmp = arena_new(0);
    struct record *r = ret;
    const struct tree *record;
    struct err e;

    if (t->kind != TREE_STRING || !tree_parse_json(tmp, "record", t->text, &record, &e))
        return err_set(w->e, ERR_INVALID, "%s: a record of the price list is not JSON", w->action);
    r->type = wire_text(w, tree_str(tree_at(record, "product", "attributes", "instanceType", NULL)));
    r->usd = r->cny = NAN;
    const struct tree *terms = tree_at(record, "terms", "OnDemand", NULL);
    for (uint32_t i = 0; terms && i < terms->n; i++) {
        const struct tree *dimensions = tree_get(&terms->items[i], "priceDimensions");

        for (uint32_t k = 0; dimensions && k < dimensions->n; k++) {
            read_price(&dimensions->items[k], "USD", &r->usd);
            read_price(&dimensions->items[k], "CNY", &r->cny);
        }
    }
    return true;
}

static const struct wire_shape record_shape = {.size = sizeof(struct record), .more = read_record};
const struct aws_listing pricing_listing = {
    .service = AWS_PRICING,
    .action = "GetProducts",
    .path = "PriceList[]",
    .token = "NextToken",
    .token_as = "NextToken",
    .shape = &record_shape,
};

/* ---- the call ---- */

static void put_filter(struct jw *w, const char *field, str value)
{
    jw_map(w);
    jw_key(w, "Type");
    jw_c(w, "TERM_MATCH");
    jw_key(w, "Field");
    jw_c(w, field);
    jw_key(w, "Value");
    jw_str(w, value);
    jw_end(w);
}

static void put_query(struct sb *out, str region, bool metal)
{
    struct jw w = {.out = out};

    jw_map(&w);
    jw_key(&w, "ServiceCode");
    jw_c(&w, "AmazonEC2");
    jw_key(&w, "MaxResults");
    jw_i64(&w, 100);
    jw_key(&w, "Filters");
    jw_list(&w);
    put_filter(&w, "regionCode", region);
    put_filter(&w, "serviceCode", STR("AmazonEC2"));
    put_filter(&w, "preInstalledSw", STR("NA"));
    put_filter(&w, "operatingSystem", STR("Linux"));
    put_filter(&w, "capacitystatus", STR("Used"));
    put_filter(&w, "marketoption", STR("OnDemand"));
    put_filter(&w, "tenancy", metal ? STR("Dedicated") : STR("Shared"));
    put_filter(&w, "productFamily", metal ? STR("Compute Instance (bare metal)") : STR("Compute Instance"));
    jw_end(&w);
    jw_end(&w);
}

bool pricing_on_demand(struct aws *c, struct arena *a, bool metal, struct aws_price **ret, uint32_t *ret_n,
                       struct err *e)
{
    bool yuan = str_starts(aws_region(c), STR("cn-"));
    struct sb params = {0};
    uint32_t n, kept = 0;

    put_query(&params, aws_region(c), metal);
    const struct record *v = aws_list(c, a, &pricing_listing, &params, &n, NULL, e);
    if (!v)
        return false;
    struct aws_price *prices = arena_new_array(a, struct aws_price, n);
    for (uint32_t i = 0; i < n; i++) {
        double price = yuan ? v[i].cny : v[i].usd;

        if (v[i].type.n && !isnan(price))
            prices[kept++] = (struct aws_price){v[i].type, price};
    }
    *ret = prices;
    *ret_n = kept;
    return true;
}
