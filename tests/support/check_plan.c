/* check-plan - verifies a plan against its input; see checker.h.
 *
 *     check-plan [disrupt] -f cluster.yaml [-f …] (--instance-types FILE | --catalog kwok|fake:N) [--settings K=V …]
 *                [--now TIME] plan.json
 *
 * `disrupt`: the plan is one of `karpenter plan --disrupt`. Prints one line for each broken promise. Exit status: 0 none,
 * 1 some, 2 something could not be read. */
#include <stdlib.h>
#include <string.h>

#include "checker.h"

static int unreadable(const struct err *e)
{
    (void)fprintf(stderr, "check-plan: %s\n", e->msg);
    return 2;
}

static int usage(void)
{
    (void)fputs("usage: check-plan [disrupt] -f FILE [-f FILE …] (--instance-types FILE | --catalog kwok|fake:N)\n"
                "                  [--settings KEY=VALUE …] [--now TIME] PLAN.json|-\n",
                stderr);
    return 2;
}

/* The options of one kind, in order: the catalogue has to be known before the objects. */
static bool each(struct checker *c, int argc, char **argv, const char *option,
                 bool (*take)(struct checker *c, const char *value, struct err *e), struct err *e)
{
    for (int i = 1; i + 1 < argc - 1; i += 2)
        if (strcmp(argv[i], option) == 0 && !take(c, argv[i + 1], e))
            return false;
    return true;
}

static bool known(const char *option)
{
    static const char *const options[] = {"-f", "--instance-types", "--catalog", "--settings", "--now"};

    for (size_t i = 0; i < ARRAY_LEN(options); i++)
        if (strcmp(option, options[i]) == 0)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    AUTO(checker) struct checker *c = checker_new(stdout);
    bool disrupt = argc > 1 && strcmp(argv[1], "disrupt") == 0;
    struct err e = {0};

    argc -= disrupt;
    argv += disrupt;
    if (argc < 4 || argc % 2 != 0)
        return usage();
    for (int i = 1; i < argc - 1; i += 2)
        if (!known(argv[i]))
            return usage();
    if (!each(c, argc, argv, "--settings", checker_setting, &e) || !each(c, argc, argv, "--now", checker_now, &e) ||
        !each(c, argc, argv, "--instance-types", checker_types_file, &e) ||
        !each(c, argc, argv, "--catalog", checker_types_builtin, &e) ||
        !each(c, argc, argv, "-f", checker_objects, &e) ||
        !(disrupt ? checker_disruption : checker_plan)(c, argv[argc - 1], &e))
        return unreadable(&e);
    if (checker_unverified(c))
        (void)printf("%llu pods not verified\n", (unsigned long long)checker_unverified(c));
    if (checker_violations(c) == 0)
        return 0;
    (void)printf("%llu violations among %llu pods\n", (unsigned long long)checker_violations(c),
                 (unsigned long long)checker_pods(c));
    return 1;
}
