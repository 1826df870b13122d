/* ssm - parameters: names of images, mostly. */
#include "sim/aws/call.h"

void parameter_put(struct sim_aws *s, str name, str value)
{
    struct tree *p = tree_put(s->a, s->parameters, arena_strdup(s->a, name));
    int64_t version = 0;

    if (p->kind == TREE_MAP)
        (void)tree_to_i64(tree_get(p, "Version"), &version);
    else
        *p = *tree_new_map(s->a);
    tree_set_str(s->a, p, "Value", arena_strdup(s->a, value));
    tree_set_i64(s->a, p, "Version", version + 1);
    tree_set_i64(s->a, p, "LastModifiedDate", account_now_ms(s) / 1000);
}

static struct tree *parameter_doc(struct call *c, str name, const struct tree *p)
{
    struct tree *doc = tree_new_map(c->a);

    tree_set_str(c->a, doc, "Name", name);
    tree_set_str(c->a, doc, "Type", STR("String"));
    tree_set(c->a, doc, "Value", *tree_get(p, "Value"));
    tree_set(c->a, doc, "Version", *tree_get(p, "Version"));
    tree_set(c->a, doc, "LastModifiedDate", *tree_get(p, "LastModifiedDate"));
    tree_set_str(c->a, doc, "ARN", account_arn(c->s, c->a, "ssm", "parameter", name));
    tree_set_str(c->a, doc, "DataType", STR("text"));
    return doc;
}

void serve_get_parameter(struct call *c)
{
    str name;

    if (!in_required(c, "Name", &name))
        return;
    const struct tree *p = tree_get_str(c->s->parameters, name);

    if (p)
        tree_set(c->a, c->out, "Parameter", *parameter_doc(c, name, p));
    else
        (void)call_fail(c, "ParameterNotFound", "The parameter " STR_FMT " cannot be found.", STR_ARG(name));
}

void serve_get_parameters(struct call *c)
{
    const struct tree *names = in_list(c, "Names");
    struct tree *found = tree_new_list(c->a), *missing = tree_new_list(c->a);

    for (uint32_t i = 0; names && i < names->n; i++) {
        str name = tree_str(&names->items[i]);
        const struct tree *p = tree_get_str(c->s->parameters, name);

        (void)tree_push(c->a, p ? found : missing, p ? *parameter_doc(c, name, p) : tree_of_str(name));
    }
    tree_set(c->a, c->out, "Parameters", *found);
    tree_set(c->a, c->out, "InvalidParameters", *missing);
}

void serve_get_parameters_by_path(struct call *c)
{
    const struct tree *all = c->s->parameters;
    bool deep = tree_is_true(tree_get(c->in, "Recursive"));
    struct listing l = {0};
    str path, rest, head, tail;

    if (!in_required(c, "Path", &path))
        return;
    if (path.p[path.n - 1] != '/')
        path = arena_printf(c->a, STR_FMT "/", STR_ARG(path));
    for (uint32_t i = 0; i < all->n; i++) {
        rest = str_sub(all->keys[i], path.n, all->keys[i].n);
        if (str_starts(all->keys[i], path) && (deep || !str_cut(rest, '/', &head, &tail)))
            listing_add(&l, i + 1, parameter_doc(c, all->keys[i], &all->items[i]));
    }
    page_reply(c, &l, "Parameters", 10);
    listing_fini(&l);
}

void serve_put_parameter(struct call *c)
{
    str name, value;

    if (!in_required(c, "Name", &name) || !in_required(c, "Value", &value))
        return;
    if (str_starts(name, STR("/aws/")) || str_starts(name, STR("aws/"))) {
        (void)call_fail(c, "AccessDeniedException", "No access to reserved parameter name: " STR_FMT ".",
                        STR_ARG(name));
        return;
    }
    if (tree_get_str(c->s->parameters, name) && !tree_is_true(tree_get(c->in, "Overwrite"))) {
        (void)call_fail(c, "ParameterAlreadyExists",
                        "The parameter already exists. To overwrite this value, set the overwrite option to true.");
        return;
    }
    parameter_put(c->s, name, value);
    tree_set(c->a, c->out, "Version", *tree_get(tree_get_str(c->s->parameters, name), "Version"));
    tree_set_str(c->a, c->out, "Tier", STR("Standard"));
}
