/* What a new API server makes by itself before anybody asks. */
#include "data/edit.h"
#include "data/reader.h"
#include "sim/kube/kube_int.h"

static const char objects[] =
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-system}\n---\n"
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-public}\n---\n"
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: kube-node-lease}\n---\n"
    "apiVersion: v1\nkind: Namespace\nmetadata: {name: default}\n---\n"
    "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: system-node-critical}\nvalue: 2000001000\n"
    "description: Used for system critical pods that must not be moved from their current node.\n---\n"
    "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: system-cluster-critical}\n"
    "value: 2000000000\n"
    "description: Used for system critical pods that must run in the cluster, but can be moved to another node if "
    "necessary.\n---\n"
    "apiVersion: v1\nkind: Service\n"
    "metadata: {name: kubernetes, namespace: default, labels: {component: apiserver, provider: kubernetes}}\n"
    "spec:\n"
    "  type: ClusterIP\n"
    "  clusterIP: 10.96.0.1\n"
    "  clusterIPs: [10.96.0.1]\n"
    "  ipFamilies: [IPv4]\n"
    "  ipFamilyPolicy: SingleStack\n"
    "  internalTrafficPolicy: Cluster\n"
    "  sessionAffinity: None\n"
    "  ports: [{name: https, port: 443, protocol: TCP, targetPort: 6443}]\n";

void bootstrap(struct kube *k)
{
    struct err e = {0};
    bool ok = kube_load(k, "bootstrap", (str){objects, sizeof(objects) - 1}, &e);

    (void)ok;
    assert(ok); /* the text above is our own */
    bootstrap_roles(k);
}
