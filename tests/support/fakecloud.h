/* fakecloud - a provider of machines for tests: it keeps its promises, can be told to break them, and counts what it is asked.
 *
 * Machines are of the catalogue that it is given: the cheapest offering that is to be had and fits the claim. Like a real cloud it makes one machine for one claim,
 * however often it is asked, and a machine on its way out is there for a while. Nobody makes Nodes but the test: fakecloud_node() says what they look like.
 */
#pragma once

#include "cloud/cloud.h"
#include "data/tree.h"
#include "net/world.h"

struct fakecloud;

enum fake_call { FAKE_CREATE, FAKE_DESTROY, FAKE_GET, FAKE_LIST, FAKE_DRIFTED, FAKE_HOOK, FAKE_N_CALLS };

enum fake_outcome {
    FAKE_WELL,
    FAKE_NO_CAPACITY, /* ERR_CAPACITY "all offerings are sold out" */
    FAKE_NOT_READY,   /* CLOUD_NOT_READY "the class is not ready" */
    FAKE_TYPED,       /* err.code "RoleMissing", "the role is missing" */
    FAKE_ERROR,       /* ERR_IO "the cloud is away" */
    FAKE_LOST,        /* it was done, and then the same as FAKE_ERROR */
};

struct fakecloud *fakecloud_new(struct world *w, struct syms *t, const struct catalog *c); /* all outlive it */
void fakecloud_free(struct fakecloud *f);
struct cloud *fakecloud_cloud(struct fakecloud *f); /* the class is KWOKNodeClass of karpenter.kwok.sh */

void fakecloud_move(struct fakecloud *f, struct world *w); /* asked from another process from now on */

/* The next n calls end like this; those after are well. */
void fakecloud_then(struct fakecloud *f, enum fake_call call, enum fake_outcome o, uint32_t n);
void fakecloud_slow(struct fakecloud *f, enum fake_call call, int64_t us); /* each takes as long, from now on */
/* How long a machine takes to go; 0, as it is at first: the first destroy() says that it is gone. */
void fakecloud_linger(struct fakecloud *f, int64_t us);
void fakecloud_set_drift(struct fakecloud *f, const char *reason);      /* of every machine; NULL: none */
void fakecloud_set_hook(struct fakecloud *f, struct cloud_hook answer); /* of every machine that joins; {0} at first */
/* What create() answers from now on, whatever the claim asks for, with the claim's requests as capacity where it has none. */
void fakecloud_set_machine(struct fakecloud *f, const struct machine *m);

uint32_t fakecloud_calls(const struct fakecloud *f, enum fake_call call);
uint32_t fakecloud_count(const struct fakecloud *f);            /* machines that are there, on their way out too */
str fakecloud_machine_of(const struct fakecloud *f, str claim); /* provider id by the claim's name; empty: none */
bool fakecloud_power_off(struct fakecloud *f, str provider_id); /* gone, behind everybody's back */
/* The Node as the machine's kubelet would make it, with the claim's name and the taint of unregistered ones. */
struct tree *fakecloud_node(struct fakecloud *f, struct arena *a, str provider_id);
