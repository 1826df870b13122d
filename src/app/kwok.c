/* kwok with the controller around it: the Nodes that are there are those of the store. */
#include "cloud/kwok/kwok.h"

#include "app/providers.h"
#include "control/control.h"
#include "data/json_own.h"

static struct tree *tree_of(struct control *c, struct arena *a, str name)
{
    const struct kept *kept = store_kept(c->store, OBJ_NODE, name);

    return kept ? json_read_own(a, arena_strdup(a, kept->text)) : NULL;
}

static struct tree *get_node(void *ctx, struct arena *a, str name)
{
    return tree_of(ctx, a, name);
}

/* Of a Node that cannot be decoded the text still says which machine it is. */
static void each_node(void *ctx, kwok_each_fn fn, void *arg)
{
    struct control *c = ctx;
    struct names names = store_names(c->store, OBJ_NODE);

    for (uint32_t i = 0; i < names.n; i++) {
        const struct node *n = store_node(c->store, names.v[i]);

        if (n) {
            fn(arg, n->provider_id, n->deleting);
        } else {
            AUTO(arena) struct arena *a = arena_new(0);
            const struct tree *t = tree_of(c, a, names.v[i]);

            fn(arg, tree_str(tree_at(t, "spec", "providerID", NULL)),
               tree_at(t, "metadata", "deletionTimestamp", NULL) != NULL);
        }
    }
}

static void on_error(void *ctx, str node, bool given_up, const struct err *e)
{
    struct control *c = ctx;

    log_error(c->log, given_up ? "giving up on creating node" : "creating node", e, LOG_OBJ("Node", STR(""), node));
}

struct cloud *provider_kwok(struct control *c, struct err *e)
{
    const char *path = c->options->instance_types_path;

    return kwok_new(&(struct kwok_options){.api = c->api,
                                           .syms = c->syms,
                                           .instance_types_path = path && path[0] ? path : NULL,
                                           .nodes = {c, get_node, each_node},
                                           .on_error = on_error,
                                           .ctx = c},
                    e);
}
