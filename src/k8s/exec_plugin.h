/* exec_plugin - programs that hand out credentials (`aws eks get-token` and its like), as kubeconfigs name them. */
#pragma once

#include "base/arena.h"
#include "base/err.h"
#include "k8s/kubeconfig.h"
#include "net/world.h"

/* What it is told of the cluster; ca is PEM. */
struct exec_cluster {
    str server, server_name, proxy, ca;
    bool insecure;
};

struct exec_credential {
    str token;
    str cert_pem, key_pem; /* both or none */
    int64_t expires_ms;    /* INT64_MAX: it does not say */
};

/* From a fiber. What comes back lives in the arena; the caller wipes it. */
bool exec_plugin_run(struct world *w, const struct kubeconfig_exec *x, const struct exec_cluster *c, struct arena *a,
                     struct exec_credential *ret, struct err *e);
/* What such a program writes. */
bool exec_credential_read(struct arena *a, const struct kubeconfig_exec *x, str text, struct exec_credential *ret,
                          struct err *e);
/* What it finds in KUBERNETES_EXEC_INFO. */
str exec_info(struct arena *a, const struct kubeconfig_exec *x, const struct exec_cluster *c);
