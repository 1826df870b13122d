/* convert_int - what the kinds of conversions share. */
#pragma once

#include "cli/convert/convert.h"

#define POOL_VERSION "karpenter.sh/v1"
#define CLASS_VERSION "karpenter.k8s.aws/v1"
#define CLASS_GROUP "karpenter.k8s.aws"

/* A new object of this kind with the metadata of another (what a server adds is left out; meta NULL: none), at the place of input `from`. */
struct converted *convert_new(struct conversion *c, uint32_t from, const char *version, const char *kind,
                              const struct tree *meta);
PRINTF(3, 4)
void convert_note(struct conversion *c, struct converted *o, const char *fmt, ...); /* what became of something */
PRINTF(3, 4) void convert_lost(struct conversion *c, struct converted *o, const char *fmt, ...); /* what has no equal */
/* Says of every member that is not among `known` (NULL at the end) that it has no equal. */
void convert_rest(struct conversion *c, struct converted *o, const char *where, const struct tree *map,
                  const char *const *known);
PRINTF(4, 5) bool convert_bad(const struct conversion *c, uint32_t in, struct err *e, const char *fmt, ...);

str convert_name(const struct converted *o);
struct converted *convert_find(const struct conversion *c, const char *kind, str name); /* NULL: there is none */
/* The pool's kubelets are told this (NULL: nothing): its class says so from now on, or a class of its own when others are told something else. */
void convert_kubelet(struct conversion *c, struct converted *pool, const struct tree *kubelet);
/* spec.nodeClassRef of a pool. */
void convert_ref(struct conversion *c, struct converted *pool, str class_name);
/* Images of a class: `family` as spec.amiFamily had it, terms (may be NULL) as amiSelectorTerms. */
void convert_images(struct conversion *c, struct converted *class, str family, struct tree *terms);
/* The name, or with a number behind it, that no object of these kinds (NULL at the end) has. */
str convert_free_name(const struct conversion *c, str name, const char *const *kinds);
/* Machines of then reached the metadata service through one more hop than those of now do by default. */
void convert_hops(struct conversion *c, struct converted *class);
/* Labels and annotations that have other names today, wherever they are. */
void convert_words(struct conversion *c, struct converted *o);
/* role or instanceProfile, from the settings when the manifest has neither. */
bool convert_identity(struct conversion *c, struct converted *class, uint32_t in, str profile, str role, struct err *e);

struct tree *convert_requirement(struct arena *a, struct tree *list, const char *key, const char *op);
void convert_in(struct arena *a, struct tree *list, const char *key, const char *value); /* key In [value] */

/* The kinds, each with the number of its input. */
bool convert_template(struct conversion *c, uint32_t in, struct err *e);    /* AWSNodeTemplate v1alpha1 */
bool convert_provisioner(struct conversion *c, uint32_t in, struct err *e); /* Provisioner v1alpha5 */
bool convert_beta_class(struct conversion *c, uint32_t in, struct err *e);  /* EC2NodeClass v1beta1 */
bool convert_beta_pool(struct conversion *c, uint32_t in, struct err *e);   /* NodePool v1beta1 */
bool convert_eksctl(struct conversion *c, uint32_t in, struct err *e);      /* node groups of an eksctl file */
bool convert_asgs(struct conversion *c, uint32_t in,
                  struct err *e); /* `aws autoscaling describe-auto-scaling-groups` */

/* convert_alpha.c, for both kinds that it knows: what a node class said, put into a converted one. */
void convert_alpha_class(struct conversion *c, struct converted *class, const struct tree *spec);
