#include "control/metrics_objects.h"

#include <stdlib.h>

#include "control/metrics_objects_int.h"

double metric_amount(sym resource, int64_t v)
{
    int64_t unit = sym_eq(resource, SYM(CPU)) ? 1000000 : 1000; /* nano to milli; milli to one */
    int64_t n = v / unit + (v % unit > 0);

    return sym_eq(resource, SYM(CPU)) ? (double)n / 1000 : (double)n;
}

str metric_resource(struct object_metrics *m, sym resource)
{
    return metrics_short_name(m->tmp, sym_str(m->c->syms, resource));
}

str metric_label(const struct object_metrics *m, lset_id labels, sym key)
{
    sym v;

    return lset_value(m->c->syms, labels, key, &v) ? sym_str(m->c->syms, v) : STR("");
}

struct object_metrics *object_metrics_new(struct control *c, const struct podbook *book)
{
    struct object_metrics *m = xcalloc(1, sizeof(*m));

    m->c = c;
    m->book = book;
    m->tmp = arena_new(0);
    m->node_keys = xcalloc(c->metrics->n_node_keys + 1, sizeof(*m->node_keys));
    for (uint32_t i = 0; i < c->metrics->n_node_keys; i++)
        m->node_keys[i] = sym_of(c->syms, str_c(c->metrics->node_keys[i]));
    node_metrics_register(m);
    pod_metrics_register(m);
    nodepool_metrics_register(m);
    return m;
}

void object_metrics_free(struct object_metrics *m)
{
    if (!m)
        return;
    pod_metrics_forget(m);
    free(m->node_keys);
    arena_free(m->tmp);
    free(m);
}
