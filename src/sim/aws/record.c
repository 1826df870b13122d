/* record - a call as those who compare calls want to see it: what is encoded or repeated on the wire is plain here. */
#include "base/b64.h"
#include "sim/aws/call.h"

static bool is_tag_list(const struct tree *t)
{
    return t->kind == TREE_LIST && (t->n == 0 || tree_get(&t->items[0], "Key"));
}

static struct tree *tag_map(struct arena *a, const struct tree *list)
{
    struct tree *map = tree_new_map(a);

    for (uint32_t i = 0; list && i < list->n; i++) {
        str key = tree_str(tree_get(&list->items[i], "Key"));

        if (key.n)
            *tree_put(a, map, key) = tree_of_str(tree_str(tree_get(&list->items[i], "Value")));
    }
    return map;
}

static struct tree *specification_map(struct arena *a, const struct tree *list)
{
    struct tree *map = tree_new_map(a);

    for (uint32_t i = 0; i < list->n; i++) {
        str type = tree_str(tree_get(&list->items[i], "ResourceType"));

        if (type.n)
            *tree_put(a, map, type) = *tag_map(a, tree_get(&list->items[i], "Tags"));
    }
    return map;
}

static void plain(struct arena *a, struct tree *t)
{
    if (t->kind == TREE_MAP)
        (void)tree_drop(t, STR("ClientToken"));
    for (uint32_t i = 0; i < t->n; i++) {
        struct tree *v = &t->items[i];
        str key = t->kind == TREE_MAP ? t->keys[i] : STR("");
        struct sb text = {0};

        if (str_is(key, "UserData") && v->kind == TREE_STRING && b64url_decode(&text, v->text))
            *v = tree_of_str(sb_dup(&text, a));
        else if (str_is(key, "TagSpecifications") && v->kind == TREE_LIST)
            *v = *specification_map(a, v);
        else if (str_is(key, "Tags") && is_tag_list(v))
            *v = *tag_map(a, v);
        else
            plain(a, v);
        sb_fini(&text);
    }
}

void record_call(struct call *c, int status)
{
    if (!c->s->o.on_call)
        return;
    struct tree *input = tree_copy(c->a, c->in);

    plain(c->a, input);
    struct sim_aws_call r = {
        .service = service_name(c->action->service),
        .action = c->action->name,
        .input = input,
        .status = status,
        .error = c->code,
        .mutating = (c->action->flags & MUTATES) != 0,
    };
    c->s->o.on_call(c->s->o.ctx, &r);
}
