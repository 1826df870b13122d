/* sky - an AWS account above the cluster of a rig (rig.h): machines that controllers launch in it boot from their user data and join.
 *
 * The account is that of tests/vectors/aws/world.json with a few instance types, one of them of metal, and large subnets, so that many machines and many hours cost little. Signatures are
 * checked and rates are limited as AWS does it. Whose keys controllers sign with is one of the ways that docs/aws-access.md lists; each of them ends in keys that run out.
 */
#pragma once

#include "base/map.h"
#include "sim/aws/aws.h"
#include "sim/boot/boot.h"
#include "support/rig.h"

#define SKY_CLUSTER "test-cluster"
#define SKY_REGION "us-west-2"
#define SKY_SECRET "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" /* of the person in SKY_FILES */

#define SKY_CLASS_TERMS                                                                                                \
    "role: test-role, amiFamily: AL2023, subnetSelectorTerms: [{tags: {sky: 'yes'}}], "                                \
    "securityGroupSelectorTerms: [{tags: {foo: bar}}]"

enum sky_keys {
    SKY_IRSA,         /* a web identity token, for keys of an hour from STS */
    SKY_POD_IDENTITY, /* the agent of EKS, keys of six hours */
    SKY_IMDS,         /* the role of the instance, keys of six hours */
    SKY_FILES,        /* a profile of the shared files: a role that a person takes on, keys of an hour */
    SKY_N_KEYS,
};

struct sky_options {
    enum sky_keys keys;
    const char *types; /* "m5.large,m5.xlarge"; NULL: a dozen and a half */
    int64_t boot_ms, stop_ms;
    struct span agent; /* from running to the kubelet's first word */
};

struct sky {
    struct rig *r;
    struct sim_aws *aws;
    struct boot *boot;
    struct world *world;
    struct arena *a;
    enum sky_keys keys;
    uint64_t n_refused;    /* calls whose signature was not believed, or whose keys had run out */
    uint64_t n_tokens;     /* times that somebody read a token from a file */
    uint64_t n_local;      /* times that the agent or IMDS gave out keys */
    char last_refusal[96]; /* "DescribeInstances RequestExpired" */
    /* Told of every call when it is answered; may be NULL. */
    void (*heard)(void *ctx, const struct sim_aws_call *c);
    void *heard_ctx;
};

/* Settings for rig_new(), name, value, …, into an array with room for SKY_ENV of them; returns how many. */
#define SKY_ENV 32
uint32_t sky_env(enum sky_keys keys, const char **env);

struct sky *sky_new(struct rig *r, const struct sky_options *o); /* before rig_start() */
void sky_free(struct sky *s);                                    /* before rig_free(); kills the replicas */

/* What is in the account at this moment. */
struct sky_stock {
    uint32_t n_machines;  /* pending or running */
    uint32_t n_unowned;   /* of these, those that no NodeClaim knows of */
    uint32_t n_templates; /* launch templates */
    uint32_t n_profiles;  /* instance profiles that were made */
};
void sky_look(struct sky *s, struct sky_stock *ret);

/* Machines that NodeClaims have as their provider id, as of now. */
struct sky_owners {
    struct arena *a;
    struct strmap by_instance;
};
void sky_owners_init(struct sky_owners *w, struct sky *s);
void sky_owners_fini(struct sky_owners *w);
bool sky_owned(const struct sky_owners *w, str instance);
