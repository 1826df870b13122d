/* told - what a machine's user data tells its kubelet: reads the forms of all families of images.
 *
 * The reader stands on the side of the machine: it shares nothing with the code that writes user data, and does with it what nodeadm, bootstrap.sh, Bottlerocket and
 * Windows' script would do. Which form it has, the text itself says.
 */
#pragma once

#include "data/tree.h"

#define TOLD_MAX 16384u /* bytes of user data that EC2 takes */

struct told_amounts {
    struct tree *of; /* name -> text; never NULL */
    bool whole;      /* it stands for all: what the image has by default is not added */
};

struct told {
    str cluster, endpoint; /* endpoint may be empty: the machine finds out by itself */
    struct tree *labels;   /* name -> text */
    struct tree *taints;   /* as in spec.taints of a Node */
    int64_t max_pods;      /* -1: not said */
    int64_t pods_per_core; /* 0: not said */
    bool by_interfaces;    /* without max_pods: as many as the network interfaces have addresses for; else 110 */
    bool reserve_by_pods;  /* the memory that is reserved follows from max_pods, not from the interfaces */
    str disk;              /* the device that pods live on */
    bool local_disks;      /* the machine's own disks are made one, and pods live there */
    bool windows;
    struct told_amounts kube, system, hard; /* kube-reserved, system-reserved, eviction-hard */
};

/* ERR_INVALID: the machine never joins, with a sentence why. The answer lives in the arena and may point into the text. */
bool told_read(struct arena *a, str user_data, struct told *ret, struct err *e);

/* ---- for the forms: one file each ---- */

bool told_label(struct arena *a, struct told *t, str name, str value, struct err *e);
bool told_taint(struct arena *a, struct told *t, str key, str value, str effect, struct err *e);
bool told_count(const struct tree *v, const char *name, int64_t *ret, struct err *e); /* absent: nothing changes */
/* Of a map of texts and numbers, into what was there; absent: nothing changes. */
bool told_merge(struct arena *a, struct told_amounts *into, const struct tree *map, const char *name, struct err *e);
/* Flags of a kubelet as a shell splits them: --node-labels="a=b" --max-pods 5. Those that change nothing here are passed over. */
bool told_flags(struct arena *a, struct told *t, str flags, struct err *e);

/* Adds a text of NodeConfigs to those before; then what all of them say. */
bool told_nodeadm(struct arena *a, struct tree *all, str text, struct err *e);
bool told_nodeadm_end(struct arena *a, const struct tree *all, struct told *t, struct err *e);
bool told_shell(struct arena *a, str script, struct told *t,
                struct err *e); /* says nothing unless it calls bootstrap.sh */
bool told_powershell(struct arena *a, str script, struct told *t, struct err *e);
bool told_settings(struct arena *a, str toml, struct told *t, struct err *e);
