/* The program: which parts there are, and the command line. */
#include "cli/cli.h"
#include "cloud/catalog.h"
#include "cloud/ec2/catalog.h"

int main(int argc, char **argv)
{
    static const struct catalog_source catalogs[] = {{"aws", ec2_catalog}};
    const struct cli_env env = {catalogs, ARRAY_LEN(catalogs)};

    return cli_main(&env, argc, argv);
}
