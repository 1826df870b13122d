#include "sim/kube/cluster/amounts.h"

#include "model/quantity.h"

static int64_t value(str s)
{
    struct err e;
    bool binary;
    int64_t v;

    return quantity_parse(s, SYM(MEMORY), &v, &binary, &e) ? v : 0;
}

int amount_cmp(str a, str b)
{
    int64_t x = value(a), y = value(b);

    return x < y ? -1 : x > y;
}
