/* What is done about which notice, and when; who has to leave a node; what is written on it. */
#include "handler/decide.h"

#include <stdio.h>

#include "data/json.h"
#include "data/json_own.h"
#include "data/reader.h"
#include "handler/drain.h"
#include "handler/marks.h"
#include "support/check.h"

#define NOW INT64_C(1700000000000)
#define S INT64_C(1000)

static const char *deed_name(enum deed d)
{
    static const char *const names[] = {"none", "cordon", "drain", "release", "keep"};

    return names[d];
}

static struct notice notice(enum notice_kind k, const char *id, int64_t start_ms)
{
    return (struct notice){
        .kind = k, .id = str_c(id), .start_ms = start_ms, .end_ms = start_ms, .restarts = k == NOTICE_SCHEDULED};
}

static const struct {
    const char *name;
    enum notice_kind kind;
    int64_t in_s; /* until it happens */
    bool cordon_only, rebalance_drain;
    const char *want;
} singles[] = {
    {"a spot machine", NOTICE_SPOT, 120, false, false, "drain"},
    {"not that soon", NOTICE_SPOT, 121, false, false, "none"},
    {"it has happened", NOTICE_SPOT, -5, false, false, "drain"},
    {"cordon only", NOTICE_SPOT, 60, true, false, "cordon"},
    {"maintenance", NOTICE_SCHEDULED, 0, false, false, "drain"},
    {"a recommendation", NOTICE_REBALANCE, -1, false, false, "cordon"},
    {"one that is taken seriously", NOTICE_REBALANCE, -1, false, true, "drain"},
    {"both", NOTICE_REBALANCE, -1, true, true, "cordon"},
    {"a group shrinks", NOTICE_ASG, 0, false, false, "drain"},
};

static void single_notices(void **state UNUSED)
{
    for (size_t i = 0; i < ARRAY_LEN(singles); i++) {
        struct handler_settings s = {
            .node_grace_s = 120, .cordon_only = singles[i].cordon_only, .rebalance_drain = singles[i].rebalance_drain};
        struct notice n = notice(singles[i].kind, "e", NOW + singles[i].in_s * S);
        struct book b;

        book_init(&b);
        check_true(singles[i].name, book_hear(&b, &n));
        check_true("once", !book_hear(&b, &n));
        check_str(singles[i].name, str_c(deed_name(handler_decide(&s, &b, NOW).deed)), singles[i].want);
        book_fini(&b);
    }
}

static void check_deed(const struct handler_settings *s, const struct book *b, int64_t now_ms, const char *want,
                       uint32_t entry)
{
    struct decision d = handler_decide(s, b, now_ms);

    check_str(want, str_c(deed_name(d.deed)), want);
    check_u64(want, d.entry, entry);
}

static void several(void **state UNUSED)
{
    struct handler_settings s = {.node_grace_s = 120};
    struct notice rebalance = notice(NOTICE_REBALANCE, "r", NOW), spot = notice(NOTICE_SPOT, "s", NOW + 60 * S),
                  reboot = notice(NOTICE_SCHEDULED, "m", NOW);
    struct book b;

    book_init(&b);
    (void)book_hear(&b, &rebalance);
    (void)book_hear(&b, &spot);
    check_deed(&s, &b, NOW, "drain", 1); /* before the one that only cordons */
    b.v[1].not_before_ms = NOW + 10 * S;
    check_deed(&s, &b, NOW, "cordon", 0); /* a failure is given time */
    check_deed(&s, &b, NOW + 10 * S, "drain", 1);
    b.v[1].marked = true;
    book_drained(&b, NOW, 120);
    check_deed(&s, &b, NOW + 10 * S, "none", 0); /* the other is done as well */

    (void)book_hear(&b, &reboot);
    check_deed(&s, &b, NOW + 10 * S, "drain", 2);
    b.v[2].marked = b.v[2].done = true;
    reboot.over = true;
    check_true("news", book_hear(&b, &reboot));
    check_true("no news", !book_hear(&b, &reboot));
    check_deed(&s, &b, NOW + 10 * S, "keep", 2);
    b.v[0].over = b.v[1].ignored = true;
    check_deed(&s, &b, NOW + 10 * S, "release", 2);
    b.v[2].released = true;
    check_deed(&s, &b, NOW + 10 * S, "none", 0);
    book_fini(&b);
}

static void what_is_passed_over(void **state UNUSED)
{
    struct handler_settings s = {.node_grace_s = 120};
    struct notice n = notice(NOTICE_SCHEDULED, "m", NOW);
    struct book b;
    char id[16];

    book_init(&b);
    book_ignore(&b, STR("m"));
    check_true("dealt with before the reboot", !book_hear(&b, &n));
    check_deed(&s, &b, NOW, "none", 0);
    n.id = STR("x");
    n.over = true;
    check_true("over before it was heard of", !book_hear(&b, &n) && b.n == 1);
    n.over = false;
    check_true("cancelled before it was acted on", book_hear(&b, &n));
    n.over = true;
    check_true("news", book_hear(&b, &n));
    check_deed(&s, &b, NOW, "none", 0);
    for (int i = 0; i < 100; i++) {
        (void)snprintf(id, sizeof(id), "e%d", i);
        n = notice(NOTICE_SPOT, id, NOW);
        (void)book_hear(&b, &n);
    }
    check_u64("there is an end", b.n, BOOK_MAX);
    check_u64("and a count", b.n_lost, 100 - (BOOK_MAX - 2));
    book_fini(&b);
}

/* ---- who has to go ---- */

#define POD(name, meta, spec, phase)                                                                                   \
    "{\"metadata\":{\"namespace\":\"ns\",\"name\":\"" name "\",\"uid\":\"u-" name "\"" meta "},\"spec\":{" spec        \
    "},\"status\":{\"phase\":\"" phase "\"}}"
#define OWNER(kind) ",\"ownerReferences\":[{\"kind\":\"" kind "\",\"name\":\"o\",\"controller\":true}]"
#define EMPTY "\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}]"

static struct tree *json(struct arena *a, const char *text)
{
    return json_read_own(a, arena_strdup(a, str_c(text)));
}

static str leaving(struct arena *a, const struct handler_settings *s)
{
    struct tree *pods = json(
        a,
        "{\"items\":[" POD("plain", "", "", "Running") "," POD("set", OWNER("ReplicaSet"), "", "Running") "," POD(
            "daemon", OWNER("DaemonSet"), "",
            "Running") "," POD("old-daemon", OWNER("DaemonSet"), "",
                               "Failed") "," POD("mirror", ",\"annotations\":{\"kubernetes.io/config.mirror\":\"x\"}",
                                                 "",
                                                 "Running") "," POD("local", "", EMPTY,
                                                                    "Running") "," POD("done", "", EMPTY,
                                                                                       "Succeeded") "," POD("going",
                                                                                                            ",\"deletionTimestamp\":\"2023-11-14T22:13:20Z\"",
                                                                                                            "",
                                                                                                            "Running") "]}");
    struct leavers l = leavers_of(a, pods, s);
    struct sb b = {0};

    for (uint32_t i = 0; i < l.n; i++)
        sb_printf(&b, STR_FMT "%s ", STR_ARG(l.v[i].name), l.v[i].leaving ? "!" : "");
    sb_str(&b, l.refusal);
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

static void who_goes(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct handler_settings s = {.ignore_daemon_sets = true, .delete_local_data = true};

    check_str("as usual", leaving(a, &s), "plain set old-daemon local done going! ");
    s.delete_local_data = false;
    check_str(
        "data", leaving(a, &s),
        "plain set old-daemon local done going! pod ns/local has an emptyDir volume (delete-local-data is false)");
    s.ignore_daemon_sets = false;
    check_str("daemons", leaving(a, &s),
              "plain set daemon old-daemon local done going! pod ns/daemon belongs to a DaemonSet (ignore-daemon-sets "
              "is false)");
    check_u64("no list", leavers_of(a, json(a, "{}"), &s).n, 0);
}

/* ---- marks ---- */

static str marked(struct arena *a, const char *node, const struct handler_settings *s, const struct notice *n)
{
    struct tree *t = json(a, node);

    marks_put(a, t, s, n, NOW);
    return json_text(a, t);
}

static void marks(void **state UNUSED)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct handler_settings s = {.taint_effect = "NoSchedule"};
    struct notice spot = notice(NOTICE_SPOT, "s", NOW), reboot = notice(NOTICE_SCHEDULED, "m", NOW);
    const char *bare = "{\"metadata\":{\"name\":\"n\"},\"spec\":{}}";
    struct tree *t;

    check_str("a plain one", marked(a, bare, &s, &spot),
              "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"unschedulable\":true}}");
    check_str("a reboot", marked(a, bare, &s, &reboot),
              "{\"metadata\":{\"name\":\"n\",\"labels\":{\"aws-node-termination-handler/event-id\":\"m\","
              "\"aws-node-termination-handler/action\":\"UncordonAfterReboot\","
              "\"aws-node-termination-handler/action-time\":\"1700000000\"}},\"spec\":{\"unschedulable\":true}}");
    check_str("of a node that somebody has cordoned", marked(a, "{\"spec\":{\"unschedulable\":true}}", &s, &reboot),
              "{\"spec\":{\"unschedulable\":true},\"metadata\":{\"labels\":{"
              "\"aws-node-termination-handler/event-id\":\"m\"}}}");
    s.taint_node = s.exclude_from_load_balancers = true;
    str all = marked(a, bare, &s, &spot);
    check_str("with everything", all,
              "{\"metadata\":{\"name\":\"n\",\"labels\":{\"node.kubernetes.io/exclude-from-external-load-balancers\":"
              "\"aws-node-termination-handler\"}},\"spec\":{\"taints\":[{\"key\":"
              "\"aws-node-termination-handler/spot-itn\",\"value\":\"s\",\"effect\":\"NoSchedule\"}],"
              "\"unschedulable\":true}}");
    check_str("twice is once", marked(a, arena_printf(a, STR_FMT "%c", STR_ARG(all), 0).p, &s, &spot),
              arena_printf(a, STR_FMT "%c", STR_ARG(all), 0).p);
    t = json(a, arena_printf(a, STR_FMT "%c", STR_ARG(all), 0).p);
    marks_out_of_service(a, t);
    check_true("out of service", str_contains(json_text(a, t), STR("\"node.kubernetes.io/out-of-service\"")));
    marks_take(t, /* uncordon= */ true);
    check_str("all of it off", json_text(a, t),
              "{\"metadata\":{\"name\":\"n\",\"labels\":{}},\"spec\":{\"taints\":[]}}");
    t = json(a, "{\"metadata\":{\"labels\":{\"node.kubernetes.io/exclude-from-external-load-balancers\":\"\"}},"
                "\"spec\":{\"unschedulable\":true,\"taints\":[{\"key\":\"mine\"}]}}");
    marks_take(t, /* uncordon= */ false);
    check_str("what others have put there stays", json_text(a, t),
              "{\"metadata\":{\"labels\":{\"node.kubernetes.io/exclude-from-external-load-balancers\":\"\"}},"
              "\"spec\":{\"unschedulable\":true,\"taints\":[{\"key\":\"mine\"}]}}");
}

#define LABELS(action, time)                                                                                           \
    "{\"metadata\":{\"labels\":{\"aws-node-termination-handler/event-id\":\"m\","                                      \
    "\"aws-node-termination-handler/action\":\"" action "\",\"aws-node-termination-handler/action-time\":\"" time      \
    "\"}}}"

static void reboots(void **state UNUSED)
{
    static const struct {
        const char *name, *node;
        int64_t uptime_s;
        enum reboot want;
    } rows[] = {
        {"no labels", "{}", 10, REBOOT_NONE},
        {"a hundred seconds ago, up for ten", LABELS("UncordonAfterReboot", "1699999900"), 10, REBOOT_DONE},
        {"up for a day", LABELS("UncordonAfterReboot", "1699999900"), 86400, REBOOT_AWAITED},
        {"another action", LABELS("Dance", "1699999900"), 10, REBOOT_NONE},
        {"no time", LABELS("UncordonAfterReboot", "yesterday"), 10, REBOOT_NONE},
        {"in the future", LABELS("UncordonAfterReboot", "1800000000"), 10, REBOOT_NONE},
    };
    AUTO(arena) struct arena *a = arena_new(0);
    int64_t s;
    str event;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        check_i64(rows[i].name, marks_reboot(json(a, rows[i].node), NOW, rows[i].uptime_s, &event), rows[i].want);
        check_str(rows[i].name, event, rows[i].want == REBOOT_NONE ? "" : "m");
    }
    check_true("uptime", uptime_parse(STR("350735.47 234388.90\n"), &s) && s == 350735);
    check_true("whole", uptime_parse(STR("7"), &s) && s == 7);
    check_true("none", !uptime_parse(STR("-7"), &s) && !uptime_parse(STR(""), &s) && !uptime_parse(STR("x 1"), &s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_notices), cmocka_unit_test(several), cmocka_unit_test(what_is_passed_over),
        cmocka_unit_test(who_goes),       cmocka_unit_test(marks),   cmocka_unit_test(reboots),
    };

    return cmocka_run_group_tests_name("handler/decide", tests, NULL, NULL);
}
