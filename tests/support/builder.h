/* builder - small clusters in a line per object, written out as the JSON that `kubectl get` would print.
 *
 * A line is KIND NAME and attributes: key=value, key='value with blanks', or a bare word. `x6` makes six of a pod
 * or node (web-0 … web-5); node=n-# is then n-0 for the first pod, n-1 for the second. What is not said is filled in as
 * the API server would, or left out.
 *
 *   pool default weight=5 limit=cpu=4,nodes=2 req='zone In z1,z2; integer Gt 3 min 2' label=team=a taint=k=v:NoSchedule
 *   pod web x6 cpu=1 mem=1Gi label=app=web sel=zone=z1 need='zone In z1 | zone In z2' want='10 arch In arm64'
 *       spread='zone 1 app=web | host 1 app=web any' anti='host app=web' port=80,udp:53 tol=k=v:NoSchedule pvc=data
 *   node n1 cpu=4 mem=8Gi label=zone=z1 taint=k:NoExecute registered
 *   daemon agent cpu=1            pvc data class=fast            pv vol csi=ebs.csi.aws.com need='zone In z1'
 *   class fast zones='z1 | z2'    csinode n1 ebs.csi.aws.com=10  ns team label=a=b    service web sel=app=web
 *   pdb web sel=app=web max=0     replicaset web sel=app=web
 *   type big cpu=16 mem=64Gi pods=20 res=fake.com/gpu=2 price=0.7 offer='spot z1 0.2 | reserved z2 0.01 id=r1 left=2'
 *
 * For disruption:
 *
 *   pool a after=30s|Never policy=WhenEmpty expire=24h grace=1h note=… ec2 (its class is the EC2NodeClass `default`)
 *       budget='30% | 3 reasons=Empty,Drifted | 0 reasons= | 0 for=10m at=0 9 * * *'
 *   node n1 notready note=dnd=true claimnote=hash=1,hashversion=v3 created=11:00:00 expire=24h grace=1h nopool notype
 *       drifted[=11:30:00|False] lastpod=11:59:50 initialized=11:00:00 unsettled consolidatable=False terminating
 *   pod web node=n1 prio=1000 note=dnd=5m,cost=100 start=11:58:00 notready deleting
 *   pdb web sel=app=web min=50% allowed=0 policy=AlwaysAllow             nodeclass default note=classhash=1
 *
 * Nodes are ready and their claims Consolidatable unless a line says otherwise. Times are of the scenario's day,
 * 2026-01-15, or in full; it is noon.
 *
 * Short forms: zone, region, itype, arch, os, host, ct and np stand for their label keys, z1 for test-zone-1. A label
 * selector is `app=web,tier=front`, `?tier:In:a,b;zone:Exists` for expressions, `all`, or `nil`.
 */
#pragma once

#include "base/sb.h"
#include "base/vec.h"

/* Which pods have been bound by earlier rounds. */
struct binding {
    str pod, node; /* pod: name, as namespaces are not repeated in tests */
};

struct builder {
    struct arena *a;
    struct sb *out;   /* objects, one after the other */
    struct sb *types; /* instance types, separated by commas; NULL: there are none */
    VEC(struct binding) bound;
    uint32_t n_pods; /* so far: later pods are younger */
};

/* Lines separated by newlines; empty ones and those that start with # do not count. A mistake ends the program. */
void builder_lines(struct builder *b, str text);
/* The label key a short form stands for, or the key itself. */
str builder_key(str key);
