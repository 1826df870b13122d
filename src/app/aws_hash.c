/* aws-hash: the drift hashes of EC2NodeClasses in files, a line of JSON for each. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>

#include "app/aws_vectors.h"
#include "base/vec.h"
#include "cloud/ec2/class.h"
#include "data/json.h"
#include "data/reader.h"

static bool print_hashes(const struct tree *object, str ca_bundle, struct err *e)
{
    AUTO(arena) struct arena *a = arena_new(0);
    AUTO(syms) struct syms *t = syms_new();
    const struct ec2_class *k = ec2_class_decode(a, t, object, STR(""), e);

    if (!k)
        return false;
    (void)printf("{\"name\": " STR_FMT ", \"v5\": \"%" PRIu64 "\", \"v6\": \"%" PRIu64 "\"}\n",
                 STR_ARG(json_quoted(a, k->name)), ec2_class_hash_v5(k, ca_bundle), ec2_class_hash(k, ca_bundle));
    return true;
}

static bool print_file(const char *path, str ca_bundle, struct err *e)
{
    AUTO(reader) struct reader *r = reader_open(path, e);
    const struct tree *object;

    if (!r)
        return false;
    do {
        if (!reader_next(r, &object, e))
            return false;
        if (object && str_is(tree_str(tree_get(object, "kind")), "EC2NodeClass") && !print_hashes(object, ca_bundle, e))
            return err_wrap(e, "%s", path);
    } while (object);
    return true;
}

int aws_hash(const struct cli_env *env UNUSED, int argc, char **argv)
{
    static const struct option options[] = {
        {"filename", required_argument, NULL, 'f'}, {"ca-bundle", required_argument, NULL, 'c'}, {0}};
    VEC(const char *) paths = {0};
    str ca_bundle = STR("");
    bool ok = true;
    struct err e;
    int c;

    while (ok && (c = getopt_long(argc, argv, ":f:", options, NULL)) != -1)
        if (c == 'c')
            ca_bundle = str_c(optarg);
        else if (c == 'f')
            vec_push(&paths, optarg);
        else
            ok = cli_bad_option("aws-hash", c, argv, &e);
    while (ok && optind < argc)
        vec_push(&paths, argv[optind++]);
    for (uint32_t i = 0; ok && i < paths.n; i++)
        ok = print_file(paths.v[i], ca_bundle, &e);
    vec_fini(&paths);
    return ok ? 0 : cli_fail("%s", e.msg);
}
