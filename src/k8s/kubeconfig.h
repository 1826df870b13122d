/* kubeconfig - what kubeconfig files say, as far as one context goes. Reads no files but those it is handed as text.
 *
 * Several files count as one: of two entries with the same name, the one of the first file counts, whole. Paths in a file are
 * relative to it. Everything lives in the arena that is passed, which the caller wipes: it holds credentials.
 */
#pragma once

#include "base/vec.h"
#include "data/tree.h"

struct kubeconfig_exec {
    str command;
    const str *args;
    uint32_t n_args;
    const str *env; /* "NAME=value" */
    uint32_t n_env;
    str api_version; /* client.authentication.k8s.io/v1 or v1beta1 */
    str install_hint;
    bool cluster_info;              /* it wants to know of the cluster … */
    const struct tree *cluster_own; /* … and this, which is meant for it; NULL: nothing */
};

/* A pair of -data and file: the first that is not empty counts. */
struct kubeconfig_blob {
    str data; /* base64 */
    str path;
};

struct kubeconfig_choice {
    str context, cluster, user; /* their names; user may be empty */
    str server, server_name, proxy, ns;
    bool insecure;
    struct kubeconfig_blob ca, cert, key;
    str token, token_file;
    const struct kubeconfig_exec *exec; /* NULL: none */
};

struct kubeconfig {
    struct arena *arena;
    VEC(struct kubeconfig_file) files;
};

struct kubeconfig_file {
    str path;
    const struct tree *root;
};

void kubeconfig_fini(struct kubeconfig *k); /* not the arena */
bool kubeconfig_add(struct kubeconfig *k, const char *path, str text, struct err *e);
/* context NULL: current-context. */
bool kubeconfig_choose(const struct kubeconfig *k, const char *context, struct kubeconfig_choice *ret, struct err *e);
