/* boot - machines of the simulated AWS become kubelets of the simulated cluster, each from its user data and nothing else.
 *
 * What a kubelet is told (labels, taints, reserved resources, max pods, cluster and server) is read from the user data in the form of its image's family: nodeadm
 * (AL2023), bootstrap.sh (AL2), settings (Bottlerocket), PowerShell (Windows), or whatever of these a Custom image was given. What a machine is (its type, zone, address, capacity) comes
 * from the machine, as with a real kubelet and its cloud provider. A machine whose user data cannot be read, or which is told of another cluster, never joins.
 */
#pragma once

#include "sim/aws/aws.h"
#include "sim/kube/cluster.h"

struct boot;

struct boot_options {
    struct world *world;
    struct cluster *cluster;
    struct span agent;          /* from running to the kubelet's first word; 0: at once */
    str cluster_name, endpoint; /* of the cluster that machines may join; empty: any. Copied */
    uint32_t never;             /* machines that never join, per 65,536 */
};

struct boot *boot_new(const struct boot_options *o);
void boot_free(struct boot *b);
AUTO_DEFINE(boot)

/* For struct sim_aws_options: `boot` is the struct boot, given as its ctx. */
void boot_running(void *boot, const struct sim_machine *m);
void boot_gone(void *boot, const struct sim_machine *m);

void boot_set_never(struct boot *b, uint32_t never);
