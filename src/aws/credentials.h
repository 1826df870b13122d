/* credentials - in whose name we call, and for how long that holds (aws 9.7).
 *
 * Where they come from is decided once, from the configuration; chain.c has the order. Those that run out are got anew some minutes before, by one fiber
 * for all. As long as the old ones are good a failure to get new ones harms nobody. Errors say which source failed and how; no secret is ever part of one.
 */
#pragma once

#include "aws/sigv4.h"
#include "base/err.h"

struct aws;
struct aws_config;
struct profile;
struct credentials;

struct lease {
    struct aws_keys keys;
    int64_t expires_ms; /* INT64_MAX: never */
    int64_t again_ms;   /* by then their source may say something else, though they are good; 0: it does not */
    uint64_t serial;    /* which of those that were got, from 1 */
};

/* A way to get them. The texts live as long as the session. */
struct source {
    str name; /* for errors: "web identity (AWS_ROLE_ARN)" */
    bool (*get)(struct aws *c, const struct source *s, struct arena *a, struct lease *ret, struct err *e);
    struct aws_keys keys;                           /* static ones */
    str profile;                                    /* that has some, for as long as its file says so */
    str role, session, external_id;                 /* AssumeRole… */
    int64_t duration_s;                             /* 0: as AWS likes */
    str token_file;                                 /* web identity, a container's endpoint */
    str url, token;                                 /* a container's endpoint */
    str command;                                    /* a program */
    str sso_account, sso_role, sso_region, sso_key; /* sso_key: what the cached token is filed under */
    struct credentials *from;                       /* AssumeRole: in whose name */
    struct err broken;                              /* the configuration is no good */
};

struct credentials *credentials_new(struct aws *c); /* of the whole session */
void credentials_free(struct credentials *k);
/* From a fiber. The copy in the arena is the caller's to wipe. ERR_DENIED, ERR_IO, ERR_TIMEOUT or ERR_THROTTLED, without a code. */
bool credentials_get(struct credentials *k, struct arena *a, struct lease *ret, struct err *e);
/* AWS says that these are not good, or not any more: get others, unless that has been done already. false: there are no others. */
bool credentials_refused(struct credentials *k, const struct lease *l);

/* ---- for the sources ---- */

struct credentials *credentials_of(struct aws *c, const struct source *s);
/* The order of sources; what cannot work is a source that says so. */
struct source chain_choose(struct aws *c);

bool source_static(struct aws *c, const struct source *s, struct arena *a, struct lease *ret, struct err *e);
bool source_profile(struct aws *c, const struct source *s, struct arena *a, struct lease *ret, struct err *e);
bool source_broken(struct aws *c, const struct source *s, struct arena *a, struct lease *ret, struct err *e);
bool source_web(struct aws *c, const struct source *s, struct arena *a, struct lease *ret, struct err *e);
bool source_role(struct aws *c, const struct source *s, struct arena *a, struct lease *ret, struct err *e);
bool source_container(struct aws *c, const struct source *s, struct arena *a, struct lease *ret, struct err *e);
bool source_imds(struct aws *c, const struct source *s, struct arena *a, struct lease *ret, struct err *e);
bool source_process(struct aws *c, const struct source *s, struct arena *a, struct lease *ret, struct err *e);
bool source_sso(struct aws *c, const struct source *s, struct arena *a, struct lease *ret, struct err *e);

/* JSON with AccessKeyId, SecretAccessKey, a token and a time, under the names that are given. A missing time: never. ERR_INVALID with a
 * sentence that quotes nothing. */
struct lease_names {
    const char *id, *secret, *token, *expires;
};
bool lease_read(struct arena *a, str json, const struct lease_names *names, struct lease *ret, struct err *e);
struct tree;
bool lease_from_tree(const struct tree *t, const struct lease_names *names, struct lease *ret, struct err *e);
