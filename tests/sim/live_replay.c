/* Replays a recorded scenario in the simulated world: does what its steps.md says with the objects of its objects.yaml, and prints what the controller did, a JSON object a line:
 *
 *     {"t": 4.05, "what": "condition", "kind": …, "name": …, "type": …, "status": …, "reason": …, "message": …}      also "removed": true
 *     {"t": 4.05, "what": "event", "verb": …, "reason": …, "type": …, "message": …, "kind": …, "name": …}
 *     {"t": 4.05, "what": "made" | "gone", "kind": …, "name": …, "owner": …}
 *     {"t": 4.05, "what": "write", "method": …, "path": …, "type": …, "body": …, "status": 200}
 *     {"what": "log", "replica": 0, "line": {…}}
 *     {"what": "metrics", "text": …}                       /metrics of a replica at the end
 *
 * PHASE: how many seconds into the scenario the first pass of disruption comes, less than ten. Steps that wait ("waited 3 s") let time pass; steps that saw something wait until it is there. Status 1: it never was.
 */
#include "live_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/reader.h"

#define PASS_S                                                                                                         \
    10.0 /* between passes of disruption; the first when a replica begins to lead, which is before the scenario begins */

static const char *const settings[] = {
    "CONSOLIDATION",
    "compat", /* Karpenter's way of looking, not ours */
    "LEADER_ELECTION_NAMESPACE",
    "kube-system",
    "LOG_LEVEL",
    "debug",
    "FEATURE_GATES",
    "StaticCapacity=true,SpotToSpotConsolidation=false,NodeRepair=true,CapacityBuffer=true",
    NULL,
};

/* Rows of the table: | t | text | */
static bool replay(struct replay *p, str steps)
{
    double before = 0, at;
    str line, rest, time, text;

    while (steps.n) {
        (void)str_cut(steps, '\n', &line, &steps);
        if (!str_starts(line, STR("| ")) || !str_cut(str_sub(line, 2, line.n), '|', &time, &rest) ||
            !str_to_double(str_trim(time), &at))
            continue;
        text = str_trim(rest);
        text = str_trim(str_sub(text, 0, text.n - 1)); /* the last bar */
        if (!live_step(p, text, at - before)) {
            (void)fprintf(stderr, "live_replay: at %.1f s (recorded %.1f s): " STR_FMT "\n", live_now(p), at,
                          STR_ARG(text));
            return false;
        }
        before = at;
        if (live_now(p) < at) /* we may be quicker; the world is not */
            lab_run(p->r->l, at - live_now(p));
    }
    return true;
}

/* ---- files ---- */

static str read_whole(struct arena *a, const char *dir, const char *name)
{
    char path[1024];
    struct sb b = {0};
    char buf[4096];
    size_t n;
    FILE *f;

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    f = fopen(path, "r");
    if (!f) {
        perror(path);
        exit(2);
    }
    while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
        sb_bytes(&b, buf, n);
    (void)fclose(f);
    str s = sb_dup(&b, a);
    sb_fini(&b);
    return s;
}

static void read_objects(struct replay *p, str text)
{
    VEC(const struct tree *) v = {0};
    str doc, rest = text;

    while (rest.n) {
        const char *at = memmem(rest.p, rest.n, "\n---\n", 5);
        const struct tree *t = NULL;
        struct err e = {0};

        doc = at ? str_sub(rest, 0, (size_t)(at - rest.p) + 1) : rest;
        rest = at ? str_sub(rest, doc.n + 4, rest.n) : (str){0};
        if (tree_parse_yaml(p->a, "objects.yaml", doc, &t, &e) && t && t->kind == TREE_MAP)
            vec_push(&v, t);
    }
    p->objects = vec_to_arena(&v, p->a);
    p->n_objects = v.n;
    vec_fini(&v);
}

int main(int argc, char **argv)
{
    struct replay p = {.a = arena_new(0)};
    uint32_t first = 0;
    bool ok;

    if (argc < 2 || argc > 4) {
        (void)fprintf(stderr, "usage: live_replay DIRECTORY [PHASE [SEED]]\n");
        return 2;
    }
    /* kwok is quicker than machines are. Its Nodes are Ready at once, and Karpenter looks at a claim again a second after its launch; here it is the Node that takes the second, so that
     * claims are initialized, and pods run, when they did. */
    p.r = rig_new(argc > 3 ? strtoull(argv[3], NULL, 10) : 1, settings,
                  &(struct cluster_options){.node_ready = {1040, 1040}, .pod_start = {100, 300}});
    rig_net_faults(p.r,
                   &(struct sim_faults){.delay_us = {3000, 3000}}); /* as it was recorded: a write takes some 5 ms */
    read_objects(&p, read_whole(p.a, argv[1], "objects.yaml"));
    rig_start(p.r, 0);
    ok = rig_until(p.r, LIVE_PATIENCE_S, live_leads, &first);
    lab_run(p.r->l, PASS_S - (argc > 2 ? strtod(argv[2], NULL) : 0));
    live_watch(&p);
    ok = ok && replay(&p, read_whole(p.a, argv[1], "steps.md"));
    live_print_rest(&p);
    if (!ok)
        for (uint32_t i = 0; i < RIG_REPLICAS; i++)
            (void)fprintf(stderr, STR_FMT, STR_ARG(sb_view(&p.r->logs[i])));
    vec_fini(&p.claims);
    vec_fini(&p.old);
    rig_free(p.r);
    arena_free(p.a);
    return ok ? 0 : 1;
}
