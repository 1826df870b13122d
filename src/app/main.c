/* The program: which parts there are, and the command line. */
#include "app/aws_vectors.h"
#include "app/ec2_of.h"
#include "app/providers.h"
#include "cli/cli.h"
#include "cloud/catalog.h"
#include "cloud/ec2/catalog.h"
#include "control/autoscaler.h"

int main(int argc, char **argv)
{
    static const struct catalog_source catalogs[] = {{"aws", ec2_catalog}};
    static const struct provider_source providers[] = {
        {"aws", provider_aws, provider_aws_attach, provider_aws_detach},
        {"kwok", provider_kwok, NULL, NULL},
    };
    const struct cli_env env = {.catalogs = catalogs,
                                .n_catalogs = ARRAY_LEN(catalogs),
                                .providers = providers,
                                .n_providers = ARRAY_LEN(providers),
                                .ec2_of = ec2_of,
                                .hidden = aws_vector_commands};

    return cli_main(&env, argc, argv);
}
