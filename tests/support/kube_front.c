#include "support/kube_front.h"

#include <stdio.h>

#include "data/reader.h"
#include "support/check.h"

int front_setup(void **state)
{
    struct kube_bench *b = test_malloc(sizeof(*b));

    bench_init(b, 1, &(struct kube_options){.version = "v1.36.3"}, NULL);
    *state = b;
    return 0;
}

int front_teardown(void **state)
{
    bench_fini(*state);
    test_free(*state);
    return 0;
}

const struct tree *front_tree(struct kube_bench *b, const char *name, const struct stream *s)
{
    const struct tree *t = NULL;
    struct err e = {0};

    check_ok(name, tree_parse_json(b->a, "answer", sb_view(&s->body), &t, &e), &e);
    return t;
}

void front_make(struct kube_bench *b, const char *name, const char *label)
{
    char body[256];

    (void)snprintf(body, sizeof(body), "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"l\":\"%s\"}}}", name, label);
    check_i64(name, bench_call(b, "POST", CM, JSON_BODY, body)->status, 201);
}

void front_drop(struct kube_bench *b, const char *name)
{
    char path[128];

    (void)snprintf(path, sizeof(path), CM "/%s", name);
    check_i64(name, bench_call(b, "DELETE", path, NULL, NULL)->status, 200);
}
