/* Requests to an API server with a few objects in it. A file holds one or more, separated by lines of "%%": a method and a path,
 * header lines, an empty line, a body. Whatever they ask: there is an answer, JSON where it says so, and a refusal changes
 * nothing. */
#include <string.h>

#include "data/reader.h"
#include "support/kube_bench.h"

#define MAX_REQUESTS 4
#define MAX_HEADERS 512u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char objects[] =
    "{\"apiVersion\":\"v1\",\"kind\":\"List\",\"items\":["
    "{\"apiVersion\":\"v1\",\"kind\":\"ServiceAccount\",\"metadata\":{\"name\":\"default\",\"namespace\":\"default\"}},"
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"a\",\"namespace\":\"default\","
    "\"labels\":{\"l\":\"x\"},\"finalizers\":[\"x.y/z\"]},\"data\":{\"k\":\"v\"}},"
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"b\",\"namespace\":\"default\"}},"
    "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"}},"
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"default\"},"
    "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}},"
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"d\",\"namespace\":\"default\"},\"spec\":"
    "{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":"
    "{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}},"
    "{\"apiVersion\":\"apiextensions.k8s.io/v1\",\"kind\":\"CustomResourceDefinition\",\"metadata\":{\"name\":\"ws.e.com\"},"
    "\"spec\":{\"group\":\"e.com\",\"names\":{\"kind\":\"W\",\"plural\":\"ws\",\"singular\":\"w\"},\"scope\":\"Namespaced\","
    "\"versions\":[{\"name\":\"v1\",\"served\":true,\"storage\":true,\"subresources\":{\"status\":{}},"
    "\"additionalPrinterColumns\":[{\"name\":\"N\",\"type\":\"integer\",\"jsonPath\":\".spec.n\"}],"
    "\"schema\":{\"openAPIV3Schema\":{\"type\":\"object\",\"properties\":{\"spec\":{\"type\":\"object\",\"properties\":"
    "{\"n\":{\"type\":\"integer\"}}}}}}}]}}]}";

/* The next text up to `mark`, and what follows it. */
static str cut_at(str *rest, str mark)
{
    for (size_t i = 0; i + mark.n <= rest->n; i++) {
        if (memcmp(rest->p + i, mark.p, mark.n) != 0)
            continue;
        str head = str_sub(*rest, 0, i);
        *rest = str_sub(*rest, i + mark.n, rest->n);
        return head;
    }
    str all = *rest;
    *rest = (str){0};
    return all;
}

static bool is_method(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < 'A' || s.p[i] > 'Z')
            return false;
    return s.n >= 3 && s.n <= 7;
}

/* What can be sent in the first line. */
static bool is_path(str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] > '~' || s.p[i] == '#')
            return false;
    return s.n && s.p[0] == '/';
}

/* "Name: value" lines; a network would refuse others. */
static bool are_headers(str head)
{
    str line, name, value;

    while (head.n) {
        (void)str_cut(head, '\n', &line, &head);
        if (!str_cut(line, ':', &name, &value) || name.n == 0)
            return false;
        for (size_t i = 0; i < name.n; i++)
            if (!(name.p[i] == '-' || ((name.p[i] | 0x20) >= 'a' && (name.p[i] | 0x20) <= 'z')))
                return false;
        for (size_t i = 0; i < value.n; i++)
            if ((unsigned char)value.p[i] < ' ' || value.p[i] == 0x7f)
                return false;
    }
    return true;
}

static void ask(struct kube_bench *b, str text)
{
    str body = text, head = cut_at(&body, STR("\n\n")), line = cut_at(&head, STR("\n")), method, path;
    uint64_t rv = kube_rv(b->kube);

    if (!str_cut(line, ' ', &method, &path) || !is_method(method) || !is_path(path) || head.n > MAX_HEADERS ||
        !are_headers(head))
        return;
    struct stream *s = bench_open(b, arena_printf(b->a, STR_FMT "%c", STR_ARG(method), 0).p,
                                  arena_printf(b->a, STR_FMT "%c", STR_ARG(path), 0).p,
                                  arena_printf(b->a, STR_FMT "%c", STR_ARG(head), 0).p, body);
    bench_run(b, 5000);
    assert(s->status >= 200 && s->status < 600);
    assert(s->status < 400 || kube_rv(b->kube) == rv);
    if (s->body.n && str_is(stream_header(s, "Content-Type"), "application/json") &&
        !str_contains(path, STR("watch"))) {
        const struct tree *t;
        struct err e;
        bool ok = tree_parse_json(b->a, "answer", sb_view(&s->body), &t, &e);

        assert(ok);
    }
    bench_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct kube_options options = {.version = "v1.36.3"};
    struct kube_bench b;
    struct err e;
    str rest = {(const char *)data, size};

    bench_init(&b, 1, &options, NULL);
    bool ok = kube_load(b.kube, "objects", STR(objects), &e);
    assert(ok);
    for (int i = 0; i < MAX_REQUESTS && rest.n; i++)
        ask(&b, cut_at(&rest, STR("\n%%\n")));
    bench_fini(&b);
    return 0;
}
