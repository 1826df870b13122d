#include "support/node_lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/edit.h"
#include "support/check.h"
#include "support/trees.h"

static const struct repair_policy repairs[] = {{"Ready", "False", 10 * 60 * 1000},
                                               {"Ready", "Unknown", 10 * 60 * 1000}};

int node_lab_setup(void **state)
{
    struct node_lab *x = xcalloc(1, sizeof(*x));
    void *lab;

    (void)claim_lab_setup(&lab);
    x->l = lab;
    x->f = x->l->far;
    x->l->options.gate_node_repair = true;
    x->l->c.cloud->repairs = repairs;
    x->l->c.cloud->n_repairs = ARRAY_LEN(repairs);
    x->nodes = nodes_new(&x->l->c);
    x->status = status_watch_new(&x->l->c);
    x->book = podbook_new();
    x->objects = object_metrics_new(&x->l->c, x->book);
    *state = x;
    return 0;
}

int node_lab_teardown(void **state)
{
    struct node_lab *x = *state;
    void *lab = x->l;

    (void)claim_lab_teardown(&lab);
    nodes_free(x->nodes);
    status_watch_free(x->status);
    object_metrics_free(x->objects);
    podbook_free(x->book);
    free(x);
    return 0;
}

void node_lab_up(struct node_lab *x, const char *name, const char *spec)
{
    char text[1200];

    snprintf(
        text, sizeof(text),
        "apiVersion: karpenter.sh/v1\nkind: NodeClaim\nmetadata: {name: %s, labels: {karpenter.sh/nodepool: default, "
        "karpenter.kwok.sh/kwoknodeclass: default}}\nspec: {nodeClassRef: {group: karpenter.kwok.sh, kind: "
        "KWOKNodeClass, name: default}, expireAfter: Never, requirements: [{key: node.kubernetes.io/instance-type, "
        "operator: In, values: [c-4x-amd64-linux]}]%s%s}\n",
        name, spec[0] ? ", " : "", spec);
    far_apply(x->f, text);
    far_run(x->f, 1);
    claim_lab_join(x->l, name);
    far_run(x->f, 4);
    check_str(name, claim_lab_cond(x->l, name, "Initialized"), "True Initialized");
}

void node_lab_pod(struct node_lab *x, const char *name, const char *node, const char *meta, const char *spec)
{
    char text[1200];

    snprintf(text, sizeof(text),
             "apiVersion: v1\nkind: Pod\nmetadata: {name: %s%s%s}\nspec: {nodeName: %s, containers: [{name: c, image: "
             "i}]%s%s}\n",
             name, meta[0] ? ", " : "", meta, node, spec[0] ? ", " : "", spec);
    far_apply(x->f, text);
}

/* ---- what was written ---- */

static void print_conditions(struct sb *b, const struct tree *list)
{
    for (uint32_t i = 0; i < list->n; i++) {
        const struct tree *c = &list->items[i];

        sb_printf(b, " " STR_FMT "=" STR_FMT "/" STR_FMT, STR_ARG(tree_str(tree_get(c, "type"))),
                  STR_ARG(tree_str(tree_get(c, "status"))), STR_ARG(tree_str(tree_get(c, "reason"))));
    }
}

static void print_write(struct node_lab *x, struct sb *b, str line)
{
    str method, path, rest;
    struct arena *a = x->f->a;

    (void)str_cut(line, ' ', &method, &rest);
    (void)str_cut(rest, ' ', &path, &rest);
    if (str_is(path, "kwoknodeclasses"))
        return;
    sb_printf(b, STR_FMT " " STR_FMT, STR_ARG(method), STR_ARG(path));
    struct tree *t = rest.n ? tree_yaml(a, arena_printf(a, STR_FMT "%c", STR_ARG(rest), 0).p) : tree_new_map(a);
    struct tree *meta = tree_find(t, STR("metadata")), *rv = meta ? tree_find(meta, STR("resourceVersion")) : NULL;
    const struct tree *conditions = tree_at(t, "status", "conditions", NULL);
    if (conditions) {
        sb_c(b, rv ? " locked" : " unlocked");
        print_conditions(b, conditions);
    } else if (t->n) {
        if (rv)
            *rv = tree_of_str(STR("<rv>"));
        struct tree *o = tree_find(t, STR("deleteOptions"));
        if (o)
            tree_set_str(a, tree_sub(a, o, "preconditions"), "uid", STR("<uid>"));
        sb_printf(b, " " STR_FMT, STR_ARG(tree_text(a, t)));
    }
    sb_char(b, '\n');
}

str node_lab_writes(struct node_lab *x)
{
    str rest = far_writes(x->f), line;
    struct sb b = {0};

    while (rest.n) {
        (void)str_cut(rest, '\n', &line, &rest);
        print_write(x, &b, line);
    }
    str text = sb_dup(&b, x->f->a);
    sb_fini(&b);
    return text;
}

str node_lab_told(struct node_lab *x, const char *message)
{
    str rest = sb_view(&x->l->log), line, field = arena_printf(x->f->a, "\"message\":\"%s\"", message);
    struct sb b = {0};

    while (rest.n) {
        (void)str_cut(rest, '\n', &line, &rest);
        const char *id = str_contains(line, field) ? memmem(line.p, line.n, "\"reconcileID\":", 14) : NULL;
        if (id)
            sb_printf(&b, "%s" STR_FMT, b.n ? "\n" : "",
                      STR_ARG(((str){id + 53, line.n - (size_t)(id + 53 - line.p)})));
    }
    str text = sb_dup(&b, x->f->a);
    sb_fini(&b);
    return text;
}
