/* provider_lab - the provider `aws` as the controller has it, over the account of class_lab: for tests of launches, drift, and what is found out now and then.
 *
 * For cmocka_unit_test_setup_teardown(test, provider_lab_setup, provider_lab_teardown). The claim asks for m5.large in the pool "pool", whose class is "default"; a test changes it before
 * it launches. What the provider tells its host is in `told`, a line each.
 */
#pragma once

#include "base/sb.h"
#include "cloud/ec2/reconcile.h"
#include "model/nodepool.h"
#include "support/class_lab.h"

#define LAB_SPEC(image)                                                                                                \
    "{\"role\":\"test-role\",\"subnetSelectorTerms\":[{\"tags\":{\"foo\":\"bar\"}}],"                                  \
    "\"securityGroupSelectorTerms\":[{\"tags\":{\"foo\":\"bar\"}}],\"amiSelectorTerms\":[{\"alias\":\"" image "\"}]}"
#define LAB_SPEC_WITH(more)                                                                                            \
    "{\"role\":\"test-role\",\"subnetSelectorTerms\":[{\"tags\":{\"foo\":\"bar\"}}],"                                  \
    "\"securityGroupSelectorTerms\":[{\"tags\":{\"foo\":\"bar\"}}],\"amiSelectorTerms\":[{\"alias\":\"al2023@latest\"" \
    "}]," more "}"

enum lab_step {
    LAB_START, /* the provider, then every class is reconciled */
    LAB_RECONCILE,
    LAB_FINALIZE, /* the first class */
    LAB_LAUNCH,
    LAB_GET,
    LAB_LIST,
    LAB_DRIFT,
    LAB_DESTROY,
    LAB_HOOK,
    LAB_ADOPT,
    LAB_TYPES,
    LAB_PRICES,
    LAB_VERSION,
};

struct provider_lab {
    struct class_lab *l;
    struct ec2 *p;
    struct cloud *cloud;
    struct nodepool pools[2];
    uint32_t n_pools;
    uint64_t news;
    uint32_t n_overlaid; /* times that types were asked for as overlays make them */
    struct nodeclaim claim;
    struct machine machine;
    struct machines all;
    struct cloud_hook hook;
    str drift;
    struct err e;
    bool ok;
    enum lab_step step;
    struct sb told;
    str dns;              /* of kube-dns; empty: there is none */
    const char *dear;     /* NodeOverlays: this type costs 1000 times as much */
    const char *more;     /* and this one has a smarter-devices/fuse */
    const char *unpriced; /* and this one, which has no price, costs 0.001 */
};

int provider_lab_setup(void **state);
int provider_lab_teardown(void **state);
/* In another account (class_lab_open), with other settings. */
void provider_lab_reopen(struct provider_lab *x, const char *members, const struct ec2_settings *s);
struct ec2_settings provider_lab_settings(void);

bool provider_lab_go(struct provider_lab *x, enum lab_step step); /* whether it went well; x->e */
void provider_lab_work(void *lab);                                /* the step, for a fiber of the test's own */
/* A class and a pool that refers to it. */
void provider_lab_class(struct provider_lab *x, const char *name, const char *spec, const char *pool);
void provider_lab_label(struct provider_lab *x, const char *key, str val); /* of the claim */
void provider_lab_want(struct provider_lab *x, const char *key,
                       const char *values); /* "a b": a requirement of it, In; another one than before */
void provider_lab_ask(struct provider_lab *x, const char *resource, int64_t v); /* a request of it */
/* Has to go well; the claim is what the controller makes of it then. */
void provider_lab_launch(struct provider_lab *x);
str provider_lab_of(const struct machine *m, const char *label);
