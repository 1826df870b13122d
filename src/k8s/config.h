/* config - where the API server is and how we prove who we are: a kubeconfig file, or the service account of a pod.
 *
 * Made once at start-up and kept for the life of the process. Tokens that change (files that the kubelet rotates, exec plugins such
 * as `aws eks get-token`) are asked for again when they run out or after a 401; whoever calls kube_config_token() gets one that is
 * good now. Credentials never appear in errors, and their memory is wiped.
 */
#pragma once

#include "net/http.h"

struct kube_config;

struct kube_config_source {
    /* A kubeconfig; NULL: $KUBECONFIG (a list of files, merged), or in a pod its service account, or ~/.kube/config. */
    const char *path;
    const char *context; /* NULL: current-context */
};

/* Reads files and environment; errors name the file and the field. Files are bounded. */
struct kube_config *kube_config_load(struct world *w, const struct kube_config_source *s, struct err *e);
/* An API server that is known already: the embedded one, and tests. token: may be empty. */
struct kube_config *kube_config_fixed(str server, str token, const char *ca_pem);
void kube_config_free(struct kube_config *c);
AUTO_DEFINE(kube_config)

str kube_config_server(const struct kube_config *c);    /* "https://10.0.0.1:443", without a slash at the end */
str kube_config_namespace(const struct kube_config *c); /* of the pod or the context; may be empty */
/* From a fiber: an exec plugin may have to run. Empty: no token (client certificates). `stale`: the server refused the last one. The
 * copy in the arena is the caller's to wipe. */
bool kube_config_token(struct kube_config *c, struct arena *a, bool stale, str *ret, struct err *e);
/* After the token: a plugin may hand out client certificates. What is handed out stays good for the calls that begin with it. */
const struct http_trust *kube_config_trust(const struct kube_config *c);
