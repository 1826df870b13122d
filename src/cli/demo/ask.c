/* The demo that runs has written where its door is, and the token for it: the file that people read into their shell, or the environment that came of that. */
#include "cli/demo/ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/demo/door.h"
#include "cli/demo/files.h"
#include "net/fiber.h"
#include "net/loop.h"

#define TIMEOUT_US (10 * 1000000ll)
#define MAX_FILE (64u << 10)

struct asking {
    struct world *world;
    struct arena *a;
    str url, token, path;
    int status; /* exit status */
};

static const struct verb {
    const char *name, *arguments, *what;
    int least, most;      /* arguments */
    const char *query[4]; /* their names, in order */
    const char *alone;    /* the query without any */
} verbs[] = {
    {"interrupt", "NODE", "AWS takes a spot machine back, after two minutes' notice", 1, 1, {"node"}, NULL},
    {"capacity",
     "spot|on-demand N [TYPE [ZONE]]",
     "so many more machines there are; -1: no end of them",
     2,
     4,
     {"capacityType", "more", "type", "zone"},
     NULL},
    {"publish-ami",
     "[FAMILY]",
     "new images: al2023 (default), bottlerocket, windows",
     0,
     1,
     {"family"},
     "family=al2023"},
};

static const struct verb *find_verb(const char *word)
{
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
        if (strcmp(word, verbs[i].name) == 0)
            return &verbs[i];
    return NULL;
}

bool ask_is_verb(const char *word)
{
    return find_verb(word) != NULL;
}

void ask_print_help(void)
{
    for (size_t i = 0; i < ARRAY_LEN(verbs); i++) {
        int n = printf("  %s %s", verbs[i].name, verbs[i].arguments);

        (void)printf("%*s%s\n", n < 46 ? 46 - n : 1, "", verbs[i].what);
    }
}

/* The value of `export NAME=value` in the file. */
static str exported(str text, const char *name)
{
    str line, key, value;

    while (text.n) {
        (void)str_cut(text, '\n', &line, &text);
        if (!str_starts(line, STR("export ")))
            continue;
        (void)str_cut(str_sub(line, 7, line.n), '=', &key, &value);
        if (str_is(key, name))
            return value;
    }
    return (str){0};
}

static bool find_door(struct asking *k, struct err *e)
{
    const char *url = getenv("AWS_ENDPOINT_URL"), *secret = getenv("AWS_SECRET_ACCESS_KEY");
    const char *path = demo_default_path(k->a, "env");
    str text;

    if (url && secret && str_starts(str_c(url), STR("http://127.0.0.1:"))) {
        k->url = str_c(url);
        k->token = str_c(secret);
        return true;
    }
    if (!file_read(k->a, path, MAX_FILE, &text, e))
        return err_wrap(e, "no demo is running, or its file was not read into this shell");
    k->url = exported(text, "AWS_ENDPOINT_URL");
    k->token = exported(text, "AWS_SECRET_ACCESS_KEY");
    return (k->url.n && k->token.n) || err_set(e, ERR_INVALID, "%s: the demo that runs has no AWS account", path);
}

bool ask_door(struct world *w, struct arena *a, str url, str token, str path, str *ret, struct err *e)
{
    const struct http_header auth = {STR("Authorization"), arena_printf(a, "Bearer " STR_FMT, STR_ARG(token))};
    struct http_request r = {.method = "POST",
                             .url = arena_printf(a, STR_FMT DOOR STR_FMT, STR_ARG(url), STR_ARG(path)),
                             .headers = &auth,
                             .n_headers = 1,
                             .timeout_us = TIMEOUT_US};
    struct http_response answer;

    if (!http_fetch(w, &r, a, &answer, e))
        return false;
    *ret = str_trim(answer.body);
    return answer.status == 200 || err_set(e, ERR_INVALID, STR_FMT, STR_ARG(*ret));
}

static void call(void *arg)
{
    struct asking *k = arg;
    struct err e;
    str words;

    if (ask_door(k->world, k->a, k->url, k->token, k->path, &words, &e))
        (void)printf(STR_FMT "\n", STR_ARG(words));
    else
        k->status = cli_fail("demo: %s", e.msg);
    world_quit(k->world);
}

static str path_of(struct arena *a, const struct verb *v, int argc, char **argv)
{
    struct sb b = {0};

    sb_c(&b, v->name);
    for (int i = 1; i < argc; i++) {
        sb_printf(&b, "%c%s=", i == 1 ? '?' : '&', v->query[i - 1]);
        url_encode(&b, str_c(argv[i]));
    }
    if (argc == 1 && v->alone)
        sb_printf(&b, "?%s", v->alone);
    str text = sb_dup(&b, a);
    sb_fini(&b);
    return text;
}

int ask_run(int argc, char **argv)
{
    const struct verb *v = find_verb(argv[0]);
    AUTO(arena) struct arena *a = arena_new(0);
    struct asking k = {.a = a};
    struct err e;

    if (argc > 1 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0)) {
        (void)printf("usage: karpenter demo %s %s\n\n%s\n", v->name, v->arguments, v->what);
        return 0;
    }
    if (argc - 1 < v->least || argc - 1 > v->most)
        return cli_fail("usage: karpenter demo %s %s", v->name, v->arguments);
    if (!find_door(&k, &e))
        return cli_fail("demo: %s", e.msg);
    k.path = path_of(a, v, argc, argv);
    k.world = loop_new();
    fiber_go(k.world, "ask", call, &k);
    world_run(k.world);
    loop_free(k.world);
    return k.status;
}
