/* tags - CreateTags, DeleteTags, DescribeTags: of machines, templates, and whatever else has tags. */
#include "sim/aws/call.h"

#define MAX_TAGS 50u

struct tagged {
    struct arena *a;
    struct tree *doc;
};

static bool in_docs(struct sim_aws *s, const struct docs *d, const char *key, str id, struct tagged *ret)
{
    *ret = (struct tagged){s->a, docs_find(d, key, id)};
    return ret->doc != NULL;
}

/* Whatever has this id. */
static bool tagged_find(struct sim_aws *s, str id, struct tagged *ret)
{
    const struct machine *m = machine_find(s, id);
    const struct launch_template *t = account_template(s, id, STR(""));
    const struct subnet *n = account_subnet(s, id);
    const struct reservation *r = account_reservation(s, id);

    if (m)
        *ret = (struct tagged){m->a, m->doc};
    else if (id.n && t)
        *ret = (struct tagged){t->a, t->doc};
    else if (n)
        *ret = (struct tagged){s->a, n->doc};
    else if (r)
        *ret = (struct tagged){s->a, r->doc};
    else
        return in_docs(s, &s->groups, "GroupId", id, ret) || in_docs(s, &s->images, "ImageId", id, ret) ||
               in_docs(s, &s->vpcs, "VpcId", id, ret) || in_docs(s, &s->placement_groups, "GroupId", id, ret);
    return true;
}

static const char *kind_of(str id)
{
    static const char *const kinds[][2] = {
        {"i-", "instance"},  {"lt-", "launch-template"},      {"subnet-", "subnet"},      {"sg-", "security-group"},
        {"ami-", "image"},   {"cr-", "capacity-reservation"}, {"pg-", "placement-group"}, {"vpc-", "vpc"},
        {"fleet-", "fleet"},
    };

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_starts(id, str_c(kinds[i][0])))
            return kinds[i][1];
    return "";
}

static bool resources_known(struct call *c, const struct tree *ids)
{
    struct tagged t;

    if (!ids)
        return call_fail(c, "MissingParameter", "The request must contain the parameter ResourceId");
    for (uint32_t i = 0; i < ids->n; i++) {
        str id = tree_str(&ids->items[i]);

        if (tagged_find(c->s, id, &t))
            continue;
        if (str_starts(id, STR("i-")))
            return call_fail(c, "InvalidInstanceID.NotFound", "The instance ID '" STR_FMT "' does not exist",
                             STR_ARG(id));
        return call_fail(c, "InvalidID", "The ID '" STR_FMT "' is not valid", STR_ARG(id));
    }
    return true;
}

static bool tags_check(struct call *c, const struct tree *tags)
{
    if (!tags)
        return call_fail(c, "MissingParameter", "The request must contain the parameter Tag");
    for (uint32_t i = 0; i < tags->n; i++) {
        str key = tree_str(tree_get(&tags->items[i], "Key")), value = tree_str(tree_get(&tags->items[i], "Value"));

        if (key.n == 0 || key.n > 128 || value.n > 256)
            return call_fail(c, "InvalidParameterValue", "A tag's key has 1 to 128 characters, its value up to 256");
        if (str_starts(key, STR("aws:")))
            return call_fail(c, "InvalidParameterValue", "Tag keys starting with 'aws:' are reserved for internal use");
    }
    return true;
}

/* How many it would have; AWS's own do not count. */
static uint32_t tags_then(const struct tree *have, const struct tree *more)
{
    uint32_t n = 0;
    bool found;

    for (uint32_t i = 0; have && i < have->n; i++)
        n += !str_starts(tree_str(tree_get(&have->items[i], "Key")), STR("aws:"));
    for (uint32_t i = 0; i < more->n; i++) {
        (void)tags_get(have, tree_str(tree_get(&more->items[i], "Key")), &found);
        n += !found;
    }
    return n;
}

void serve_create_tags(struct call *c)
{
    const struct tree *ids = in_list(c, "Resources"), *tags = in_list(c, "Tags");
    struct tagged t;

    if (!resources_known(c, ids) || !tags_check(c, tags))
        return;
    for (uint32_t i = 0; i < ids->n; i++) {
        (void)tagged_find(c->s, tree_str(&ids->items[i]), &t);
        if (tags_then(tree_get(t.doc, "Tags"), tags) > MAX_TAGS) {
            (void)call_fail(c, "TagLimitExceeded", "More than %u tags", MAX_TAGS);
            return;
        }
    }
    for (uint32_t i = 0; i < ids->n; i++) {
        (void)tagged_find(c->s, tree_str(&ids->items[i]), &t);
        struct tree *have = tree_sublist(t.a, t.doc, "Tags");

        for (uint32_t j = 0; j < tags->n; j++)
            tags_set(t.a, have, tree_str(tree_get(&tags->items[j], "Key")),
                     tree_str(tree_get(&tags->items[j], "Value")));
    }
    tree_set_bool(c->a, c->out, "Return", true);
}

static void untag(struct tree *have, const struct tree *tag)
{
    const struct tree *value = tree_get(tag, "Value");

    for (uint32_t i = 0; i < have->n; i++)
        if (str_eq(tree_str(tree_get(&have->items[i], "Key")), tree_str(tree_get(tag, "Key"))) &&
            (!value || str_eq(tree_str(tree_get(&have->items[i], "Value")), tree_str(value)))) {
            tree_remove(have, i);
            return;
        }
}

void serve_delete_tags(struct call *c)
{
    const struct tree *ids = in_list(c, "Resources"), *tags = in_list(c, "Tags");
    struct tagged t;

    if (!resources_known(c, ids))
        return;
    for (uint32_t i = 0; i < ids->n; i++) {
        (void)tagged_find(c->s, tree_str(&ids->items[i]), &t);
        struct tree *have = tree_sublist(t.a, t.doc, "Tags");

        for (uint32_t j = 0; tags && j < tags->n; j++)
            untag(have, &tags->items[j]);
        for (uint32_t j = have->n; !tags && j-- > 0;)
            if (!str_starts(tree_str(tree_get(&have->items[j], "Key")), STR("aws:")))
                tree_remove(have, j);
    }
    tree_set_bool(c->a, c->out, "Return", true);
}

static void list_tags(struct call *c, struct listing *l, str id, const struct tree *doc)
{
    const struct tree *tags = tree_get(doc, "Tags");

    for (uint32_t i = 0; tags && i < tags->n; i++) {
        struct tree *d = tree_new_map(c->a);

        tree_set_str(c->a, d, "ResourceId", id);
        tree_set_str(c->a, d, "ResourceType", str_c(kind_of(id)));
        tree_set_str(c->a, d, "Key", tree_str(tree_get(&tags->items[i], "Key")));
        tree_set_str(c->a, d, "Value", tree_str(tree_get(&tags->items[i], "Value")));
        if (filters_match(c, d))
            listing_add(l, l->docs.n + 1, d);
    }
}

void serve_describe_tags(struct call *c)
{
    static const char *const filters[] = {"key", "resource-id", "resource-type", "value", NULL};
    struct listing l = {0};
    struct sim_aws *s = c->s;
    const struct docs *docs[] = {&s->groups, &s->images, &s->vpcs, &s->placement_groups};
    static const char *const keys[] = {"GroupId", "ImageId", "VpcId", "GroupId"};

    if (!filters_check(c, filters))
        return;
    for (uint32_t i = 0; i < s->machine_list.n; i++)
        list_tags(c, &l, s->machine_list.v[i]->m.id, s->machine_list.v[i]->doc);
    for (uint32_t i = 0; i < s->templates.n; i++)
        list_tags(c, &l, s->templates.v[i]->id, s->templates.v[i]->doc);
    for (uint32_t i = 0; i < s->subnets.n; i++)
        list_tags(c, &l, tree_str(tree_get(s->subnets.v[i]->doc, "SubnetId")), s->subnets.v[i]->doc);
    for (uint32_t i = 0; i < s->reservations.n; i++)
        list_tags(c, &l, tree_str(tree_get(s->reservations.v[i]->doc, "CapacityReservationId")),
                  s->reservations.v[i]->doc);
    for (size_t k = 0; k < ARRAY_LEN(docs); k++)
        for (uint32_t i = 0; i < docs[k]->v.n; i++)
            list_tags(c, &l, tree_str(tree_get(docs[k]->v.v[i], keys[k])), docs[k]->v.v[i]);
    page_reply(c, &l, "Tags", 1000);
    listing_fini(&l);
}
