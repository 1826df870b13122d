#include "sim/kube/protobuf.h"

#include "base/sb.h"
#include "data/json.h"
#include "support/check.h"

/* Messages are put together by hand: a number, then bytes of less than 128. */
static void bytes(struct sb *b, unsigned number, str s)
{
    assert(number < 16 && s.n < 128);
    sb_char(b, (char)(number << 3 | 2));
    sb_char(b, (char)s.n);
    sb_str(b, s);
}

static void text(struct sb *b, unsigned number, const char *s)
{
    bytes(b, number, str_c(s));
}

static void sub(struct sb *b, unsigned number, struct sb *inner)
{
    bytes(b, number, sb_view(inner));
    sb_fini(inner);
}

static void number(struct sb *b, unsigned n, unsigned v)
{
    assert(n < 16 && v < 128);
    sb_char(b, (char)(n << 3));
    sb_char(b, (char)v);
}

/* The envelope round an object; `object` is finished. */
static str decoded(struct arena *a, const char *api_version, const char *kind, struct sb *object)
{
    struct sb meta = {0}, all = {0}, out = {0};
    struct err e = {0};
    struct tree *t;

    text(&meta, 1, api_version);
    text(&meta, 2, kind);
    sb_bytes(&all, "k8s", 4);
    sub(&all, 1, &meta);
    sub(&all, 2, object);
    str got;
    if (protobuf_decode(a, sb_dup(&all, a), &t, &e)) {
        struct jw w = {.out = &out};

        jw_tree(&w, t);
        got = sb_dup(&out, a);
    } else {
        got = arena_strdup(a, str_c(e.msg));
    }
    sb_fini(&all);
    sb_fini(&out);
    return got;
}

static void metadata_named(struct sb *obj, const char *name)
{
    struct sb m = {0}, label = {0};

    text(&m, 1, name);
    text(&m, 2, ""); /* generateName: empty ones are always on the wire */
    number(&m, 7, 0);
    text(&label, 1, "app");
    text(&label, 2, "web");
    sub(&m, 11, &label);
    sub(obj, 1, &m);
}

static void empty_fields_are_left_out(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sb obj = {0};

    (void)state;
    metadata_named(&obj, "one");
    check_str(
        "namespace", decoded(a, "v1", "Namespace", &obj),
        "{\"kind\":\"Namespace\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"one\",\"labels\":{\"app\":\"web\"}}}");
}

static void pointers_keep_their_zero(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sb obj = {0}, spec = {0};

    (void)state;
    number(&spec, 1, 0); /* replicas, a pointer */
    number(&spec, 5, 0); /* minReadySeconds, none */
    sub(&obj, 2, &spec);
    check_str("deployment", decoded(a, "apps/v1", "Deployment", &obj),
              "{\"kind\":\"Deployment\",\"apiVersion\":\"apps/v1\",\"spec\":{\"replicas\":0}}");
}

static void values_of_their_own_kind(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sb obj = {0}, spec = {0}, min = {0}, lease = {0}, lspec = {0}, when = {0}, data = {0}, entry = {0};

    (void)state;
    number(&min, 1, 1);
    number(&min, 2, 0);
    text(&min, 3, "50%");
    sub(&spec, 1, &min);
    sub(&obj, 2, &spec);
    check_str("int or string", decoded(a, "policy/v1", "PodDisruptionBudget", &obj),
              "{\"kind\":\"PodDisruptionBudget\",\"apiVersion\":\"policy/v1\",\"spec\":{\"minAvailable\":\"50%\"}}");

    number(&when, 1, 90);
    number(&when, 2, 0);
    sub(&lspec, 4, &when);
    sub(&lease, 2, &lspec);
    check_str(
        "micro time", decoded(a, "coordination.k8s.io/v1", "Lease", &lease),
        "{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\",\"spec\":{\"renewTime\":\"1970-01-01T00:01:30.000000Z\"}}");

    text(&entry, 1, "word");
    bytes(&entry, 2, STR("\1\2\3"));
    sub(&data, 2, &entry);
    check_str("bytes are base64", decoded(a, "v1", "Secret", &data),
              "{\"kind\":\"Secret\",\"apiVersion\":\"v1\",\"data\":{\"word\":\"AQID\"}}");
}

static void embedded_structs_melt(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sb obj = {0}, spec = {0}, volume = {0}, source = {0}, path = {0};

    (void)state;
    text(&path, 1, "/tmp");
    sub(&source, 1, &path);
    text(&volume, 1, "v");
    sub(&volume, 2, &source);
    sub(&spec, 1, &volume);
    sub(&obj, 2, &spec);
    check_str(
        "volume", decoded(a, "v1", "Pod", &obj),
        "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"spec\":{\"volumes\":[{\"name\":\"v\",\"hostPath\":{\"path\":\"/tmp\"}}]}}");
}

static void nonsense_is_refused(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sb obj = {0}, broken = {0};
    struct err e = {0};
    struct tree *t;

    (void)state;
    check_str("unknown kind", decoded(a, "v1", "Nonsense", &obj),
              "no kind \"Nonsense\" is registered for version \"v1\"");
    sb_c(&broken, "\x0a\x7fshort");
    check_str("a length beyond the end", decoded(a, "v1", "Pod", &broken),
              "the body is no protobuf message of kind \"Pod\"");
    check_true("no magic", !protobuf_decode(a, STR("{}"), &t, &e));
    check_true("nothing", !protobuf_decode(a, STR(""), &t, &e));
    check_true("magic alone", !protobuf_decode(a, STR("k8s\0"), &t, &e));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_fields_are_left_out), cmocka_unit_test(pointers_keep_their_zero),
        cmocka_unit_test(values_of_their_own_kind),  cmocka_unit_test(embedded_structs_melt),
        cmocka_unit_test(nonsense_is_refused),
    };

    return cmocka_run_group_tests_name("sim/kube/protobuf", tests, NULL, NULL);
}
