/* buffer - CapacityBuffers: room that is kept ready for pods which do not exist yet (scheduling 21).
 *
 * A buffer names what its pods look like, and how many there are. They are planned like pods that wait, get machines of their own if
 * need be, and are never bound: whoever really comes finds their room free, and the next round plans for them anew. The rules are here;
 * state/ makes the pods (pod.of_buffer), of a file and of a cluster that is watched alike.
 */
#pragma once

#include "model/nodepool.h"
#include "model/pod.h"

/* More pods than this are not made for one buffer, whatever it asks for. */
#define BUFFER_MAX_PODS 100000u

enum buffer_ref { BUFFER_REF_NONE, BUFFER_REF_TEMPLATE, BUFFER_REF_SCALABLE };

struct buffer {
    sym ns;
    str name, uid;
    enum buffer_ref ref;
    str ref_name;            /* of the PodTemplate, or of the workload */
    str ref_group, ref_kind; /* of the workload; the group may be empty */
    int64_t replicas, percentage;
    bool has_replicas, has_percentage, has_limits, deleting;
    struct reslist limits;
    /* As the last look at it left them. */
    enum cond_status ready; /* condition ReadyForProvisioning */
    int64_t status_replicas;
    bool has_status_replicas;
};

/* What a workload is to be for its pods to be known: a Deployment, StatefulSet or ReplicaSet of group apps, which may be left out. */
bool buffer_ref_is_known(str group, str kind);

/* How many pods it has, of a workload that has `scale` replicas (of a PodTemplate: 0) and whose pods ask for `requests`. */
int64_t buffer_replicas(const struct buffer *b, int64_t scale, const struct reslist *requests);

str buffer_pod_name(struct arena *a, str buffer, uint32_t i); /* of the i-th, from 1 */
str buffer_pod_uid(struct arena *a, str buffer_uid, uint32_t i);

/* The i-th pod of the buffer (name and uid are the caller's). Volumes that need a claim are left out: each pod would bring its own. */
struct pod buffer_pod(const struct podspec *spec, lset_id labels, sym ns, sym buffer, str name, str uid);

/* Where a round has put its pods. */
struct buffer_places {
    uint32_t n_there, n_new, n_failed; /* on machines that there are, on new ones, nowhere */
};

struct buffer_verdict {
    const char *reason; /* NULL: the condition stays as it is */
    bool fits;          /* status True */
    str message;
};

/* Condition Provisioning after a round. */
struct buffer_verdict buffer_judge(struct arena *a, const struct buffer *b, const struct buffer_places *p);
