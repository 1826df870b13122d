/* Numbers are one table: what is written is what is read. */
#include "sim/soak_record.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "data/json.h"
#include "data/reader.h"

#define RECORD_MAX 65536u /* bytes */

#define WHOLE(key, field)                                                                                              \
    {                                                                                                                  \
        key, offsetof(struct soak_record, field), false                                                                \
    }
#define PARTS(key, field)                                                                                              \
    {                                                                                                                  \
        key, offsetof(struct soak_record, field), true                                                                 \
    }

static const struct {
    const char *key;
    size_t at;
    bool parts; /* a double; otherwise a uint64_t */
} numbers[] = {
    WHOLE("clusters", n_cases),
    PARTS("hours", sum.hours),
    WHOLE("deeds", sum.n_deeds),
    WHOLE("faults", sum.n_faults),
    WHOLE("requests", sum.n_requests),
    WHOLE("podsPlaced", sum.n_placed),
    WHOLE("nodeClaims", sum.n_claims),
    WHOLE("nodesMade", sum.n_nodes),
    WHOLE("nodesRemoved", sum.n_nodes_gone),
    WHOLE("nodesGivenUp", sum.n_disrupted),
    WHOLE("evictions", sum.n_evicted),
    WHOLE("hungBehindBudgets", sum.n_hung),
    WHOLE("machines", sum.n_machines),
    WHOLE("machinesTakenBack", sum.n_warned),
    WHOLE("machinesWithoutOwner", sum.n_orphans),
    PARTS("secondsWithoutOwner", sum.orphan_s),
    WHOLE("awsCalls", sum.n_aws_calls),
    PARTS("wallSeconds", wall_s),
    PARTS("cpuSeconds", sum.cpu_s),
    WHOLE("nextSeed", next),
};

/* ---- adding up ---- */

static void count(struct soak_record *r, const struct chaos_tally *t)
{
    r->n_cases++;
    r->next++;
    chaos_add(&r->sum, t);
}

/* Counts the one whose turn it is, if it is there. */
static bool take_early(struct soak_record *r)
{
    for (uint32_t i = 0; i < r->early.n; i++)
        if (r->early.v[i].seed == r->next) {
            struct chaos_tally t = r->early.v[i].tally;

            r->early.v[i] = r->early.v[--r->early.n];
            count(r, &t);
            return true;
        }
    return false;
}

void record_add(struct soak_record *r, uint64_t seed, const struct chaos_tally *t)
{
    assert(seed >= r->next);
    vec_push(&r->early, (struct soak_early){seed, *t});
    while (take_early(r))
        ;
}

void record_fini(struct soak_record *r)
{
    vec_fini(&r->early);
}

/* ---- the file ---- */

static bool read_number(struct soak_record *r, size_t i, const struct tree *t, struct err *e)
{
    const struct tree *v = tree_get(t, numbers[i].key);
    char *at = (char *)r + numbers[i].at;
    double parts;
    int64_t whole;

    if (!v || v->kind != TREE_NUMBER || !str_to_double(v->text, &parts) || parts < 0 ||
        (!numbers[i].parts && !str_to_i64(v->text, &whole)))
        return err_set(e, ERR_INVALID, "\"%s\" is no number that a record has", numbers[i].key);
    if (numbers[i].parts)
        memcpy(at, &parts, sizeof(parts));
    else
        memcpy(at, &(uint64_t){(uint64_t)whole}, sizeof(uint64_t));
    return true;
}

static bool read_trace(struct soak_record *r, const struct tree *t, struct err *e)
{
    str text = tree_str(tree_get(t, "trace"));
    char buf[17] = "", *end;

    if (text.n != 16)
        return err_set(e, ERR_INVALID, "\"trace\" has no sixteen digits");
    memcpy(buf, text.p, text.n);
    r->sum.trace = strtoull(buf, &end, 16);
    return end == buf + text.n || err_set(e, ERR_INVALID, "\"trace\" is no number");
}

bool record_read(struct soak_record *r, const char *path, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct soak_record next = *r;
    const struct tree *t;
    str text;

    if (!file_read(a, path, RECORD_MAX, &text, e))
        return e->kind == ERR_NOT_FOUND;
    if (!tree_parse_json(a, path, text, &t, e))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (!read_number(&next, i, t, e))
            return err_wrap(e, "%s", path);
    if (!read_trace(&next, t, e))
        return err_wrap(e, "%s", path);
    *r = next;
    return true;
}

static void print(const struct soak_record *r, struct sb *out)
{
    struct jw w = {.out = out, .indent = 2};
    char trace[17];

    jw_map(&w);
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        const char *at = (const char *)r + numbers[i].at;

        jw_key(&w, numbers[i].key);
        if (numbers[i].parts)
            jw_double(&w, *(const double *)(const void *)at);
        else
            jw_i64(&w, (int64_t) * (const uint64_t *)(const void *)at);
    }
    jw_key(&w, "jobs");
    jw_i64(&w, r->n_jobs);
    jw_key(&w, "trace");
    (void)snprintf(trace, sizeof(trace), "%016" PRIx64, r->sum.trace);
    jw_c(&w, trace);
    jw_key(&w, "failed");
    jw_c(&w, r->failed[0] ? r->failed : NULL);
    jw_end(&w);
    sb_char(out, '\n');
}

static bool write_all(const char *path, str text)
{
    FILE *f = fopen(path, "w");

    if (!f)
        return false;
    bool ok = fwrite(text.p, 1, text.n, f) == text.n;
    ok = fflush(f) == 0 && fsync(fileno(f)) == 0 && ok;
    return fclose(f) == 0 && ok;
}

bool record_write(const struct soak_record *r, const char *path, struct err *e)
{
    struct sb text = {0}, beside = {0};

    print(r, &text);
    sb_printf(&beside, "%s.new", path);
    bool ok = write_all(sb_cstr(&beside), sb_view(&text)) && rename(sb_cstr(&beside), path) == 0;
    int why = errno;
    sb_fini(&text);
    sb_fini(&beside);
    return ok || err_set(e, ERR_IO, "%s: %s", path, strerror(why));
}
