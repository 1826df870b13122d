/* Server-side apply, step by step. What is due was asked of a real server, with the kind that support/thing.yaml describes. */
#include "data/edit.h"
#include "sim/kube/patch.h"
#include "sim/kube/status.h"
#include "support/check.h"
#include "support/owners.h"
#include "support/thing.h"
#include "support/trees.h"

#define WRONG "failed to create typed patch object (/t; t.io/v1, Kind=Thing): "
#define REFUSED "refused by validation" /* the outcome is not kept */

/* who: a manager that applies; "!A" with force, "A*" by a merge patch, "A/status" on the status. config and want are the spec, or the
 * status; want may be the sentence of a refusal, without owners. Owners are managers with their fields, "A*" for updates. */
struct step {
    const char *who, *config, *want, *owners;
};

static struct apply_options options(str who, int64_t now_ms)
{
    struct apply_options o = {
        .api_version = STR("t.io/v1"), .kind = STR("Thing"), .has_status = true, .now_ms = now_ms};

    str_cut(who, '/', &o.manager, &o.subresource);
    o.force = str_starts(o.manager, STR("!"));
    if (o.force)
        o.manager = str_sub(o.manager, 1, o.manager.n);
    if (str_ends(o.manager, STR("*")))
        o.manager.n--;
    return o;
}

static bool updates_by_patch(const char *who)
{
    return strchr(who, '*') != NULL;
}

/* The object after the step, or NULL with a sentence. */
static struct tree *take(struct arena *a, const struct step *s, struct tree *live, int64_t now_ms, struct status *st)
{
    struct apply_options o = options(str_c(s->who), now_ms);
    const char *part = o.subresource.n ? "status" : "spec";
    struct tree *config = tree_yaml(a, "{apiVersion: t.io/v1, kind: Thing, metadata: {name: t}}");

    if (s->config)
        tree_set(a, config, part, *tree_yaml(a, s->config));
    if (!updates_by_patch(s->who)) {
        struct tree *obj = live ? tree_copy(a, live) : NULL;

        return apply_patch(a, &thing_schema, &obj, config, &o, st) ? obj : NULL;
    }
    struct tree *obj = tree_copy(a, live);
    check_true(s->who, patch_merge(a, obj, config, st));
    managed_after_update(a, &thing_schema, live, obj, &o);
    return obj;
}

static void run(const struct step *steps, size_t n)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree *live = NULL;

    for (size_t i = 0; i < n; i++) {
        struct status st = {0};
        const struct step *s = &steps[i];
        struct tree *obj = take(a, s, live, (int64_t)i * 1000, &st);
        const char *name = arena_printf(a, "step %zu, %s %s", i + 1, s->who, s->config ? s->config : "").p;

        if (!s->owners) {
            check_true(name, obj == NULL);
            check_str(name, st.message, s->want);
            continue;
        }
        check_true(name, obj != NULL);
        const struct tree *part = tree_find(obj, strchr(s->who, '/') ? STR("status") : STR("spec"));
        check_tree(name, part ? part : tree_yaml(a, "null"), s->want);
        if (strcmp(s->owners, REFUSED) == 0)
            continue;
        check_str(name, owners_text(a, obj), s->owners);
        live = obj;
    }
}

static const struct step conflicts_steps[] = {
    {"A", "{num: 1, s: a, map: {k: v}}", "{map: {k: v}, num: 1, s: a}", "A: .spec.num .spec.s .spec.map.k"},
    {"B", "{num: 2}", "Apply failed with 1 conflict: conflict with \"A\": .spec.num", NULL},
    {"!B", "{num: 2}", "{map: {k: v}, num: 2, s: a}", "A: .spec.s .spec.map.k; B: .spec.num"},
    {"C", "{num: 2, s: b, map: {k: w}}",
     "Apply failed with 2 conflicts: conflicts with \"A\":\n- .spec.s\n- .spec.map.k", NULL},
    {"A", "{s: a}", "{num: 2, s: a}", "B: .spec.num; A: .spec.s"},
    {"C", "{num: 3, s: q, map: {k: w}}",
     "Apply failed with 2 conflicts: conflicts with \"A\":\n- .spec.s\nconflicts with \"B\":\n- .spec.num", NULL},
    {"U*", "{num: 9}", "{num: 9, s: a}", "A: .spec.s; U*: .spec.num"},
    {"B", "{num: 2}", "Apply failed with 1 conflict: conflict with \"U\" using t.io/v1: .spec.num", NULL},
    {"B", "{num: 9}", "{num: 9, s: a}", "B: .spec.num; A: .spec.s; U*: .spec.num"},
};

static void conflicts(void **state)
{
    (void)state;
    run(conflicts_steps, ARRAY_LEN(conflicts_steps));
}

static const struct step removals_steps[] = {
    {"A",
     "{num: 1, obj: {a: '1', b: '2'}, map: {a: '1'}, items: [{name: a, v: '1'}, {name: b, v: '2'}], set: [a, b], list: [x]}",
     "{items: [{name: a, v: '1'}, {name: b, v: '2'}], list: [x], map: {a: '1'}, num: 1, obj: {a: '1', b: '2'}, set: [a, b]}",
     "A: .spec.list .spec.num .spec.items[name=\"a\"] .spec.items[name=\"b\"] .spec.items[name=\"a\"].name .spec.items[name=\"a\"].v .spec.items[name=\"b\"].name .spec.items[name=\"b\"].v .spec.map.a .spec.obj.a .spec.obj.b .spec.set[=\"a\"] .spec.set[=\"b\"]"},
    {"A", "{obj: {b: '2'}, items: [{name: b, v: '2'}], set: [b]}",
     "{items: [{name: b, v: '2'}], obj: {b: '2'}, set: [b]}",
     "A: .spec.items[name=\"b\"] .spec.items[name=\"b\"].name .spec.items[name=\"b\"].v .spec.obj.b .spec.set[=\"b\"]"},
    {"A", "{}", "null", REFUSED},
    {"A", NULL, "null", ""},
};

static void removals(void **state)
{
    (void)state;
    run(removals_steps, ARRAY_LEN(removals_steps));
}

static const struct step shared_steps[] = {
    {"A", "{items: [{name: a, v: '1'}], set: [a], map: {a: '1'}, objs: {o: {a: '1'}}}",
     "{items: [{name: a, v: '1'}], map: {a: '1'}, objs: {o: {a: '1'}}, set: [a]}",
     "A: .spec.items[name=\"a\"] .spec.items[name=\"a\"].name .spec.items[name=\"a\"].v .spec.map.a .spec.objs.o .spec.objs.o.a .spec.set[=\"a\"]"},
    {"B", "{items: [{name: a, w: '1'}], set: [a, b], map: {a: '1'}, objs: {o: {b: '1'}}}",
     "{items: [{name: a, v: '1', w: '1'}], map: {a: '1'}, objs: {o: {a: '1', b: '1'}}, set: [a, b]}",
     "A: .spec.items[name=\"a\"] .spec.items[name=\"a\"].name .spec.items[name=\"a\"].v .spec.map.a .spec.objs.o .spec.objs.o.a .spec.set[=\"a\"]; B: .spec.items[name=\"a\"] .spec.items[name=\"a\"].name .spec.items[name=\"a\"].w .spec.map.a .spec.objs.o .spec.objs.o.b .spec.set[=\"a\"] .spec.set[=\"b\"]"},
    {"A", "{}", "{items: [{name: a, w: '1'}], map: {a: '1'}, objs: {o: {b: '1'}}, set: [a, b]}",
     "B: .spec.items[name=\"a\"] .spec.items[name=\"a\"].name .spec.items[name=\"a\"].w .spec.map.a .spec.objs.o .spec.objs.o.b .spec.set[=\"a\"] .spec.set[=\"b\"]; A: .spec"},
    {"B", "{}", "null", REFUSED},
};

static void shared(void **state)
{
    (void)state;
    run(shared_steps, ARRAY_LEN(shared_steps));
}

static const struct step updates_steps[] = {
    {"A", "{num: 1, map: {a: '1'}, items: [{name: a, v: '1'}], ports: [{port: 80, proto: TCP}]}",
     "{items: [{name: a, v: '1'}], map: {a: '1'}, num: 1, ports: [{port: 80, proto: TCP}]}",
     "A: .spec.num .spec.items[name=\"a\"] .spec.items[name=\"a\"].name .spec.items[name=\"a\"].v .spec.map.a .spec.ports[port=80,proto=\"TCP\"] .spec.ports[port=80,proto=\"TCP\"].port .spec.ports[port=80,proto=\"TCP\"].proto"},
    {"U*", "{num: 2, map: {b: '1'}}",
     "{items: [{name: a, v: '1'}], map: {a: '1', b: '1'}, num: 2, ports: [{port: 80, proto: TCP}]}",
     "A: .spec.items[name=\"a\"] .spec.items[name=\"a\"].name .spec.items[name=\"a\"].v .spec.map.a .spec.ports[port=80,proto=\"TCP\"] .spec.ports[port=80,proto=\"TCP\"].port .spec.ports[port=80,proto=\"TCP\"].proto; U*: .spec.num .spec.map.b"},
    {"U*", "{map: null}", "{items: [{name: a, v: '1'}], num: 2, ports: [{port: 80, proto: TCP}]}",
     "A: .spec.items[name=\"a\"] .spec.items[name=\"a\"].name .spec.items[name=\"a\"].v .spec.ports[port=80,proto=\"TCP\"] .spec.ports[port=80,proto=\"TCP\"].port .spec.ports[port=80,proto=\"TCP\"].proto; U*: .spec.num"},
    {"U*", "{free: {a: [1, 2], b: {c: {}}}}",
     "{free: {a: [1, 2], b: {c: {}}}, items: [{name: a, v: '1'}], num: 2, ports: [{port: 80, proto: TCP}]}",
     "A: .spec.items[name=\"a\"] .spec.items[name=\"a\"].name .spec.items[name=\"a\"].v .spec.ports[port=80,proto=\"TCP\"] .spec.ports[port=80,proto=\"TCP\"].port .spec.ports[port=80,proto=\"TCP\"].proto; U*: .spec.free .spec.num .spec.free.a .spec.free.b .spec.free.b.c"},
    {"V*",
     "{ports: [{port: 80, proto: TCP, v: q}, {port: 9, proto: TCP}], numbers: [10, 9], list: [], set: [], obj: {}, objs: {q: {}}}",
     "{free: {a: [1, 2], b: {c: {}}}, items: [{name: a, v: '1'}], list: [], num: 2, numbers: [10, 9], obj: {}, objs: {q: {}}, ports: [{port: 80, proto: TCP, v: q}, {port: 9, proto: TCP}], set: []}",
     "A: .spec.items[name=\"a\"] .spec.items[name=\"a\"].name .spec.items[name=\"a\"].v .spec.ports[port=80,proto=\"TCP\"] .spec.ports[port=80,proto=\"TCP\"].port .spec.ports[port=80,proto=\"TCP\"].proto; U*: .spec.free .spec.num .spec.free.a .spec.free.b .spec.free.b.c; V*: .spec.list .spec.numbers .spec.obj .spec.objs .spec.set .spec.numbers[=9] .spec.numbers[=10] .spec.objs.q .spec.ports[port=9,proto=\"TCP\"] .spec.ports[port=9,proto=\"TCP\"].port .spec.ports[port=9,proto=\"TCP\"].proto .spec.ports[port=80,proto=\"TCP\"].v"},
    {"V*",
     "{items: [{name: a, v: '2'}], free: {a: [1], b: 5}}", "{free: {a: [1], b: 5}, items: [{name: a, v: '2'}], list: [], num: 2, numbers: [10, 9], obj: {}, objs: {q: {}}, ports: [{port: 80, proto: TCP, v: q}, {port: 9, proto: TCP}], set: []}", "A: .spec.items[name=\"a\"] .spec.items[name=\"a\"].name .spec.ports[port=80,proto=\"TCP\"] .spec.ports[port=80,proto=\"TCP\"].port .spec.ports[port=80,proto=\"TCP\"].proto; U*: .spec.free .spec.num; V*: .spec.list .spec.numbers .spec.obj .spec.objs .spec.set .spec.free.a .spec.free.b .spec.items[name=\"a\"].v .spec.numbers[=9] .spec.numbers[=10] .spec.objs.q .spec.ports[port=9,proto=\"TCP\"] .spec.ports[port=9,proto=\"TCP\"].port .spec.ports[port=9,proto=\"TCP\"].proto .spec.ports[port=80,proto=\"TCP\"].v"},
    {"A", "{num: 2, items: [{name: a, v: '1'}]}",
     "Apply failed with 1 conflict: conflict with \"V\" using t.io/v1: .spec.items[name=\"a\"].v", NULL},
    {"!A", "{num: 2, items: [{name: a, v: '1'}]}",
     "{free: {a: [1], b: 5}, items: [{name: a, v: '1'}], list: [], num: 2, numbers: [10, 9], obj: {}, objs: {q: {}}, ports: [{port: 9, proto: TCP}], set: []}",
     "A: .spec.num .spec.items[name=\"a\"] .spec.items[name=\"a\"].name .spec.items[name=\"a\"].v; U*: .spec.free .spec.num; V*: .spec.list .spec.numbers .spec.obj .spec.objs .spec.set .spec.free.a .spec.free.b .spec.numbers[=9] .spec.numbers[=10] .spec.objs.q .spec.ports[port=9,proto=\"TCP\"] .spec.ports[port=9,proto=\"TCP\"].port .spec.ports[port=9,proto=\"TCP\"].proto"},
};

static void updates(void **state)
{
    (void)state;
    run(updates_steps, ARRAY_LEN(updates_steps));
}

static const struct
    step
        orders_steps
            [] =
                {
                    {"A", "{items: [{name: a}, {name: b}, {name: c}], set: [a, b, c]}",
                     "{items: [{name: a}, {name: b}, {name: c}], set: [a, b, c]}",
                     "A: .spec.items[name=\"a\"] .spec.items[name=\"b\"] .spec.items[name=\"c\"] .spec.items[name=\"a\"].name .spec.items[name=\"b\"].name .spec.items[name=\"c\"].name .spec.set[=\"a\"] .spec.set[=\"b\"] .spec.set[=\"c\"]"},
                    {"B", "{items: [{name: d}, {name: b}], set: [d, b]}",
                     "{items: [{name: a}, {name: d}, {name: b}, {name: c}], set: [a, d, b, c]}",
                     "A: .spec.items[name=\"a\"] .spec.items[name=\"b\"] .spec.items[name=\"c\"] .spec.items[name=\"a\"].name .spec.items[name=\"b\"].name .spec.items[name=\"c\"].name .spec.set[=\"a\"] .spec.set[=\"b\"] .spec.set[=\"c\"]; B: .spec.items[name=\"b\"] .spec.items[name=\"d\"] .spec.items[name=\"b\"].name .spec.items[name=\"d\"].name .spec.set[=\"b\"] .spec.set[=\"d\"]"},
                    {"B", "{items: [{name: c}, {name: a}], set: [c, a]}",
                     "{items: [{name: b}, {name: c}, {name: a}], set: [b, c, a]}",
                     "A: .spec.items[name=\"a\"] .spec.items[name=\"b\"] .spec.items[name=\"c\"] .spec.items[name=\"a\"].name .spec.items[name=\"b\"].name .spec.items[name=\"c\"].name .spec.set[=\"a\"] .spec.set[=\"b\"] .spec.set[=\"c\"]; B: .spec.items[name=\"a\"] .spec.items[name=\"c\"] .spec.items[name=\"a\"].name .spec.items[name=\"c\"].name .spec.set[=\"a\"] .spec.set[=\"c\"]"},
                    {"C", "{items: [{name: x}, {name: c}, {name: z}], set: [x, c, z]}",
                     "{items: [{name: b}, {name: x}, {name: c}, {name: a}, {name: z}], set: [b, x, c, a, z]}",
                     "A: .spec.items[name=\"a\"] .spec.items[name=\"b\"] .spec.items[name=\"c\"] .spec.items[name=\"a\"].name .spec.items[name=\"b\"].name .spec.items[name=\"c\"].name .spec.set[=\"a\"] .spec.set[=\"b\"] .spec.set[=\"c\"]; B: .spec.items[name=\"a\"] .spec.items[name=\"c\"] .spec.items[name=\"a\"].name .spec.items[name=\"c\"].name .spec.set[=\"a\"] .spec.set[=\"c\"]; C: .spec.items[name=\"c\"] .spec.items[name=\"x\"] .spec.items[name=\"z\"] .spec.items[name=\"c\"].name .spec.items[name=\"x\"].name .spec.items[name=\"z\"].name .spec.set[=\"c\"] .spec.set[=\"x\"] .spec.set[=\"z\"]"},
                    {"A",
                     "{items: [{name: c}], set: [c]}", "{items: [{name: x}, {name: c}, {name: a}, {name: z}], set: [x, c, a, z]}", "B: .spec.items[name=\"a\"] .spec.items[name=\"c\"] .spec.items[name=\"a\"].name .spec.items[name=\"c\"].name .spec.set[=\"a\"] .spec.set[=\"c\"]; C: .spec.items[name=\"c\"] .spec.items[name=\"x\"] .spec.items[name=\"z\"] .spec.items[name=\"c\"].name .spec.items[name=\"x\"].name .spec.items[name=\"z\"].name .spec.set[=\"c\"] .spec.set[=\"x\"] .spec.set[=\"z\"]; A: .spec.items[name=\"c\"] .spec.items[name=\"c\"].name .spec.set[=\"c\"]"},
};

static void orders(void **state)
{
    (void)state;
    run(orders_steps, ARRAY_LEN(orders_steps));
}

static const struct step whole_values_steps[] = {
    {"A", "{whole: {a: '1'}, list: [a], free: {a: {b: [1]}}}", "{free: {a: {b: [1]}}, list: [a], whole: {a: '1'}}",
     "A: .spec.list .spec.whole .spec.free.a .spec.free.a.b"},
    {"B", "{whole: {a: '1', b: '2'}}", "Apply failed with 1 conflict: conflict with \"A\": .spec.whole", NULL},
    {"B", "{list: [a, b]}", "Apply failed with 1 conflict: conflict with \"A\": .spec.list", NULL},
    {"B", "{free: {a: {b: [2]}}}", "Apply failed with 1 conflict: conflict with \"A\": .spec.free.a.b", NULL},
    {"B", "{free: {a: {c: 1}}}", "{free: {a: {b: [1], c: 1}}, list: [a], whole: {a: '1'}}",
     "A: .spec.list .spec.whole .spec.free.a .spec.free.a.b; B: .spec.free.a .spec.free.a.c"},
    {"!B", "{whole: {b: '2'}}", "{free: {a: {b: [1]}}, list: [a], whole: {b: '2'}}",
     "A: .spec.list .spec.free.a .spec.free.a.b; B: .spec.whole"},
    {"A", "{free: {}}", "{free: null, whole: {b: '2'}}", REFUSED},
    {"B", "{}", "{free: {a: {b: [1]}}, list: [a]}", "A: .spec.list .spec.free.a .spec.free.a.b; B: .spec"},
};

static void whole_values(void **state)
{
    (void)state;
    run(whole_values_steps, ARRAY_LEN(whole_values_steps));
}

static const struct step hollow_values_steps[] = {
    {"A", "{obj: {}, map: {}, set: [], items: [], whole: {}, list: [], free: {}}",
     "{free: {}, items: [], list: [], map: {}, obj: {}, set: [], whole: {}}",
     "A: .spec.free .spec.list .spec.map .spec.obj .spec.whole"},
    {"B", "{obj: {a: '1'}, map: {a: '1'}, set: [a], items: [{name: a}]}",
     "{free: {}, items: [{name: a}], list: [], map: {a: '1'}, obj: {a: '1'}, set: [a], whole: {}}",
     "A: .spec.free .spec.list .spec.map .spec.obj .spec.whole; B: .spec.items[name=\"a\"] .spec.items[name=\"a\"].name .spec.map.a .spec.obj.a .spec.set[=\"a\"]"},
    {"B", "{}", "{free: {}, list: [], map: null, obj: null, whole: {}}", REFUSED},
    {"A", "{map: null, items: null}", "{items: [{name: a}], map: {a: '1'}, obj: {a: '1'}, set: [a]}",
     "B: .spec.items[name=\"a\"] .spec.items[name=\"a\"].name .spec.map.a .spec.obj.a .spec.set[=\"a\"]; A: .spec.items .spec.map"},
};

static void hollow_values(void **state)
{
    (void)state;
    run(hollow_values_steps, ARRAY_LEN(hollow_values_steps));
}

static const struct step statuses_steps[] = {
    {"A", "{num: 1}", "{num: 1}", "A: .spec.num"},
    {"S/status", "{c: 1}", "{c: 1}", "A: .spec.num; S/status: .status.c"},
    {"K*/status", "{c: 2, s: x}", "{c: 2, s: x}", "A: .spec.num; K*/status: .status.c .status.s"},
    {"S/status", "{c: 3}",
     "Apply failed with 1 conflict: conflict with \"K\" with subresource \"status\" using t.io/v1: .status.c", NULL},
    {"A", "{num: 1, s: x}", "{num: 1, s: x}", "A: .spec.num .spec.s; K*/status: .status.c .status.s"},
};

static void statuses(void **state)
{
    (void)state;
    run(statuses_steps, ARRAY_LEN(statuses_steps));
}

static const struct step misfits_steps[] = {
    {"A", "{zork: 1}", WRONG ".spec.zork: field not declared in schema", NULL},
    {"A", "{num: x}", WRONG ".spec.num: expected numeric (int or float), got string", NULL},
    {"A", "{s: 5}", WRONG ".spec.s: expected string, got &value.valueUnstructured{Value:5}", NULL},
    {"A", "{s: {a: [1, x]}}",
     WRONG
     ".spec.s: expected string, got &value.valueUnstructured{Value:map[string]interface {}{\"a\":[]interface {}{1, \"x\"}}}",
     NULL},
    {"A", "{b: x}", WRONG ".spec.b: expected boolean, got &{x}", NULL},
    {"A", "{items: [{v: x}]}",
     WRONG
     ".spec.items: element 0: associative list with keys has an element that omits all key fields [\"name\"] (and doesn't have default values for any key fields)",
     NULL},
    {"A", "{items: [{name: a}, {name: a}]}", WRONG ".spec.items: duplicate entries for key [name=\"a\"]", NULL},
    {"A", "{set: [a, a]}", WRONG ".spec.set: duplicate entries for key [=\"a\"]", NULL},
    {"A", "{set: a}", WRONG ".spec.set: expected list, got &{a}", NULL},
    {"A", "{items: {a: b}}", WRONG ".spec.items: expected list, got &{map[a:b]}", NULL},
    {"A", "{obj: x}", WRONG ".spec.obj: expected map, got &{x}", NULL},
    {"A", "{set: [null]}",
     WRONG ".spec.set: element 0: associative list without keys has an element that's an explicit null", NULL},
    {"A", "{set: [{}]}", WRONG ".spec.set: element 0: associative list without keys has an element that's a map type",
     NULL},
    {"A", "{items: [null]}", WRONG ".spec.items: element 0: associative list with keys may not have a null element",
     NULL},
    {"A", "{items: [q]}", WRONG ".spec.items: element 0: associative list with keys may not have non-map elements",
     NULL},
    {"A", "{items: [{name: a, v: 5}]}",
     WRONG ".spec.items[name=\"a\"].v: expected string, got &value.valueUnstructured{Value:5}", NULL},
    {"A", "{list: [a, 5]}", WRONG ".spec.list[1]: expected string, got &value.valueUnstructured{Value:5}", NULL},
    {"A", "{ports: [{port: 1, v: 5}]}",
     WRONG ".spec.ports[port=1,proto=\"TCP\"].v: expected string, got &value.valueUnstructured{Value:5}", NULL},
    {"A", "{numbers: [x]}", WRONG ".spec.numbers[=\"x\"]: expected numeric (int or float), got string", NULL},
    {"A", "{whole: {q: 1}}", WRONG ".spec.whole.q: field not declared in schema", NULL},
    {"A", "{num: true}", WRONG ".spec.num: expected numeric (int or float), got bool", NULL},
};

static void misfits(void **state)
{
    (void)state;
    run(misfits_steps, ARRAY_LEN(misfits_steps));
}

/* ---- what holds for any configuration ---- */

static const char *const configs[] = {
    "{num: 1, s: a}",
    "{obj: {a: '1', sub: {x: 1}}, map: {a: '1'}}",
    "{items: [{name: a, v: '1', tags: [x, z]}, {name: b}], set: [a, b]}",
    "{ports: [{port: 80}, {port: 80, proto: UDP}], numbers: [3, 1]}",
    "{whole: {a: '1'}, list: [b, a], free: {a: {b: [1]}}, objs: {p: {a: '1'}, q: {}}}",
};

static void twice_changes_nothing(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(configs); i++)
        for (size_t j = 0; j < ARRAY_LEN(configs); j++) {
            const struct step first = {.who = "A", .config = configs[i]}, second = {.who = "!B", .config = configs[j]};
            struct status st;
            struct tree *one = take(a, &first, NULL, 1000, &st), *two = take(a, &second, one, 2000, &st);
            struct tree *again = take(a, &second, two, 9000, &st);

            check_true(configs[j], again && tree_equal(two, again));
            check_true("not even the order", str_eq(tree_text(a, two), tree_text(a, again)));
        }
}

static void leaving_leaves_what_others_have(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(configs); i++)
        for (size_t j = 0; j < ARRAY_LEN(configs); j++) {
            const struct step a1 = {.who = "A", .config = configs[i]}, b1 = {.who = "!B", .config = configs[j]};
            const struct step gone = {.who = "A"};
            struct status st;
            struct tree *both = take(a, &b1, take(a, &a1, NULL, 1000, &st), 2000, &st);
            struct tree *left = take(a, &gone, both, 3000, &st), *alone = take(a, &b1, NULL, 2000, &st);

            check_true(configs[i], tree_equal(tree_find(left, STR("spec")), tree_find(alone, STR("spec"))));
            check_true(configs[i], str_eq(owners_text(a, left), owners_text(a, alone)));
        }
}

/* ---- the rest ---- */

static void no_entries_before_the_first_apply(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree *live = tree_yaml(a, "{apiVersion: t.io/v1, kind: Thing, metadata: {name: t, uid: u, generation: 3},"
                                     " spec: {num: 4, set: [a]}, status: {c: 1}}");
    const struct step other = {.who = "A", .config = "{num: 1}"}, fine = {.who = "A", .config = "{s: x}"};
    struct status st;

    (void)state;
    check_true("a conflict with nobody", !take(a, &other, live, 0, &st));
    check_str("a conflict with nobody", st.message,
              "Apply failed with 1 conflict: conflict with \"before-first-apply\" using t.io/v1: .spec.num");
    check_u64("code", (uint64_t)st.code, 409);
    check_str("reason", str_c(st.reason), "Conflict");
    check_u64("causes", st.n_causes, 1);
    check_str("cause", st.causes[0].message, "conflict with \"before-first-apply\" using t.io/v1");
    check_str("cause", st.causes[0].reason, "FieldManagerConflict");
    check_str("cause", st.causes[0].field, ".spec.num");
    check_str("owners", owners_text(a, take(a, &fine, live, 0, &st)),
              "A: .spec.s; before-first-apply*: .spec .spec.num .spec.set .spec.set[=\"a\"]");
}

static void entries_cannot_be_applied(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree *live = NULL;
    struct apply_options o = options(STR("A"), 0);
    struct status st;

    (void)state;
    check_true("refused", !apply_patch(a, &thing_schema, &live,
                                       tree_yaml(a, "{metadata: {name: t, managedFields: []}}"), &o, &st));
    check_u64("code", (uint64_t)st.code, 400);
    check_str("why", st.message, "metadata.managedFields must be nil");
}

#define LAST "kubectl.kubernetes.io/last-applied-configuration"

/* kubectl takes over what it applied on its own side, as long as nobody has changed it, and the annotation goes along. */
static void kubectl_takes_over(void **state)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct tree *live = tree_yaml(a, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, annotations: {" LAST ": "
                                     "'{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"},"
                                     "\"data\":{\"a\":\"1\",\"b\":\"2\"}}'}}, data: {a: '1', b: '5'}}");
    const struct schema *s = schema_builtin(STR(""), STR("v1"), STR("ConfigMap"));
    struct apply_options csa = {.manager = STR("kubectl-client-side-apply"), .api_version = STR("v1")}, o = csa;
    struct tree *obj;
    struct status st;

    (void)state;
    managed_after_update(a, s, NULL, live, &csa);
    o.manager = STR("kubectl");
    obj = live;
    check_true("as it was applied", apply_patch(a, s, &obj,
                                                tree_yaml(a, "{apiVersion: v1, kind: ConfigMap, metadata: {name: c},"
                                                             " data: {a: '3'}}"),
                                                &o, &st));
    check_tree("data", tree_get(obj, "data"), "{a: '3', b: '5'}");
    check_str("annotation", tree_str(tree_at(obj, "metadata", "annotations", LAST, NULL)),
              "{\"apiVersion\":\"v1\",\"data\":{\"a\":\"3\"},\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"}}\n");
    check_str("owners", owners_text(a, obj),
              "kubectl: .data.a; kubectl-client-side-apply*: .data .data.b .metadata.annotations "
              ".metadata.annotations." LAST);
    obj = live;
    check_true("changed since",
               !apply_patch(a, s, &obj, tree_yaml(a, "{metadata: {name: c}, data: {b: '3'}}"), &o, &st));
    check_str("changed since", st.message,
              "Apply failed with 1 conflict: conflict with \"kubectl-client-side-apply\" using v1: .data.b");
    o.manager = STR("other");
    check_true("others do not",
               !apply_patch(a, s, &obj, tree_yaml(a, "{metadata: {name: c}, data: {a: '3'}}"), &o, &st));
}

static void several_errors(void **state)
{
    const struct step s = {.who = "A", .config = "{obj: {zork: 1, a: 5}, num: x}"};
    AUTO(arena) struct arena *a = arena_new(0);
    struct status st;

    (void)state;
    check_true("refused", !take(a, &s, NULL, 0, &st));
    check_u64("code", (uint64_t)st.code, 500);
    check_str("all of them", st.message,
              WRONG "errors:\n  .spec.obj.zork: field not declared in schema\n  .spec.obj.a: expected string, got "
                    "&value.valueUnstructured{Value:5}\n  .spec.num: expected numeric (int or float), got string");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conflicts),
        cmocka_unit_test(removals),
        cmocka_unit_test(shared),
        cmocka_unit_test(updates),
        cmocka_unit_test(orders),
        cmocka_unit_test(whole_values),
        cmocka_unit_test(hollow_values),
        cmocka_unit_test(statuses),
        cmocka_unit_test(misfits),
        cmocka_unit_test(twice_changes_nothing),
        cmocka_unit_test(leaving_leaves_what_others_have),
        cmocka_unit_test(no_entries_before_the_first_apply),
        cmocka_unit_test(entries_cannot_be_applied),
        cmocka_unit_test(kubectl_takes_over),
        cmocka_unit_test(several_errors),
    };

    return cmocka_run_group_tests_name("sim/kube/apply", tests, NULL, NULL);
}
