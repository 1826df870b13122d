#include "model/node.h"

/* The in-tree volume plugins that moved out, and the drivers they moved to (scheduling 6.3). */
static const struct {
    str in_tree, driver;
} moved[] = {
    {STR_INIT("kubernetes.io/aws-ebs"), STR_INIT("ebs.csi.aws.com")},
    {STR_INIT("kubernetes.io/gce-pd"), STR_INIT("pd.csi.storage.gke.io")},
    {STR_INIT("kubernetes.io/azure-disk"), STR_INIT("disk.csi.azure.com")},
    {STR_INIT("kubernetes.io/azure-file"), STR_INIT("file.csi.azure.com")},
    {STR_INIT("kubernetes.io/cinder"), STR_INIT("cinder.csi.openstack.org")},
    {STR_INIT("kubernetes.io/vsphere-volume"), STR_INIT("csi.vsphere.vmware.com")},
    {STR_INIT("kubernetes.io/portworx-volume"), STR_INIT("pxd.portworx.com")},
};

str csi_driver_of_provisioner(str provisioner)
{
    for (size_t i = 0; i < ARRAY_LEN(moved); i++)
        if (str_eq(provisioner, moved[i].in_tree))
            return moved[i].driver;
    return provisioner;
}
