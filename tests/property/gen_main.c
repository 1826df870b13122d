/* property-gen - the random cluster of a seed, for programs that read files.
 *
 *     property-gen SEED > cluster.json            the objects
 *     property-gen SEED --types > types.json      the instance types they live on
 *     property-gen SEED --settings                settings for plan, one KEY=VALUE per line
 *     property-gen SEED --steady > cluster.json   a cluster at rest, for disruption (gen_steady.c); same types
 *     property-gen SEED --crowd > cluster.json    a cluster in use, for what-ifs
 *     property-gen SEED --crowd-types             the instance types of that one, with reservations
 */
#include "gen.h"

int main(int argc, char **argv)
{
    int64_t seed;

    if (argc >= 2 && argc <= 3 && str_to_i64(str_c(argv[1]), &seed) && seed >= 0 &&
        gen_write(stdout, (uint64_t)seed, argc == 3 ? argv[2] : ""))
        return fflush(stdout) ? 1 : 0;
    (void)fputs("usage: property-gen SEED [--types | --settings | --steady | --crowd | --crowd-types]\n", stderr);
    return 2;
}
