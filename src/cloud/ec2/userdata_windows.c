/* User data of Windows: a script for PowerShell (aws 6.9). */
#include "cloud/ec2/userdata_int.h"

void userdata_windows(struct sb *out, struct arena *a, const struct ec2_class *k, const struct ec2_boot *b)
{
    sb_c(out, "<powershell>\n");
    if (k->user_data.n) {
        sb_str(out, k->user_data);
        sb_char(out, '\n');
    }
    sb_c(out, "[string]$EKSBootstrapScriptFile = \"$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1\"\n");
    sb_printf(out, "& $EKSBootstrapScriptFile -EKSClusterName '" STR_FMT "' -APIServerEndpoint '" STR_FMT "'",
              STR_ARG(b->cluster), STR_ARG(b->endpoint));
    if (b->ca_bundle.n)
        sb_printf(out, " -Base64ClusterCA '" STR_FMT "'", STR_ARG(b->ca_bundle));
    sb_c(out, " -KubeletExtraArgs '");
    boot_flags(out, a, k, b);
    sb_char(out, '\'');
    if (b->n_dns)
        sb_printf(out, " -DNSClusterIP '" STR_FMT "'", STR_ARG(b->dns[0]));
    sb_c(out, "\n</powershell>");
}
