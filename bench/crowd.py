"""A cluster of any size as a file for `karpenter demo --from`: machines of one NodePool that all have their NodeClaim, and pods of ReplicaSets on them.

Everything is as the demo would have it after some time: nothing waits, nothing drifts, and its kubelets go on with the Nodes.
"""
import json

APPS = 400
ZONES = ("test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d")
POOL = "crowd"
POOL_HASH = "7428780003907761376"  # Karpenter's, of the pool below
SINCE = "2026-01-15T11:10:00Z"
IMAGES = 20
CAPACITY = {"cpu": "16", "ephemeral-storage": "20Gi", "memory": "64Gi", "pods": "110"}
ALLOCATABLE = dict(CAPACITY, cpu="15900m")
CLASS = {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"}
REQUIREMENTS = [{"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]}, {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]},
                {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot", "on-demand"]}]
TOLERATIONS = [{"key": "node.kubernetes.io/" + key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300} for key in ("not-ready", "unreachable")]


def uid(kind, i):
    """The same one in every run. Kinds and numbers are spread over the whole id, as chance would."""
    x = ((kind << 64 | i) * 0x9E3779B97F4A7C15F39CC0605CEDC835 + 0x1F83D9ABFB41BD6B5BE0CD19137E2179) % (1 << 128)
    s = f"{x:032x}"
    return f"{s[:8]}-{s[8:12]}-4{s[13:16]}-a{s[17:20]}-{s[20:]}"


def app_name(app):
    return f"web-{app:03d}"


def set_name(app):
    return f"{app_name(app)}-7c5ddbdf54"


def pod_name(i):
    letters, x, tail = "bcdfghjklmnpqrstvwxz2456789", i * 7919 + 104729, ""
    for _ in range(5):
        tail, x = letters[x % len(letters)] + tail, x // len(letters)
    return f"{set_name(i % APPS)}-{tail}"


def claim_name(i):
    return f"{POOL}-{i:05d}"


def node_name(i):
    return f"kwok-{claim_name(i)}-calm-heron-{i * 2654435761 % (1 << 32):010d}"


def owner(api, kind, name, of_uid, controller):
    return [{"apiVersion": api, "kind": kind, "name": name, "uid": of_uid, "blockOwnerDeletion": True, **({"controller": True} if controller else {})}]


def condition(kind, reason, status="True", **more):
    return {"type": kind, "status": status, "lastTransitionTime": SINCE, "reason": reason, **more}


def pool():
    return {"kind": "NodePool", "apiVersion": "karpenter.sh/v1", "metadata": {"name": POOL, "generation": 1, "annotations": {
        "karpenter.sh/nodepool-hash": POOL_HASH, "karpenter.sh/nodepool-hash-version": "v3"}}, "spec": {
            "template": {"spec": {"nodeClassRef": CLASS, "requirements": REQUIREMENTS, "expireAfter": "Never"}},
            "disruption": {"consolidationPolicy": "WhenEmpty", "consolidateAfter": "Never", "budgets": [{"nodes": "10%"}]}}}


def node_class():
    return {"kind": "KWOKNodeClass", "apiVersion": "karpenter.kwok.sh/v1alpha1", "metadata": {"name": CLASS["name"], "generation": 1},
            "status": {"conditions": [condition("Ready", "Ready", message="")]}}


def machine_labels(i):
    return {"eks-node-viewer/instance-price": "0.76013", "karpenter.kwok.sh/instance-cpu": "16", "karpenter.kwok.sh/instance-family": "m",
            "karpenter.kwok.sh/instance-memory": "64Gi", "karpenter.kwok.sh/instance-size": "16", "karpenter.kwok.sh/kwoknodeclass": "default",
            "karpenter.sh/capacity-type": ("spot", "on-demand")[i % 3 == 0], "karpenter.sh/nodepool": POOL, "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": claim_name(i), "kubernetes.io/os": "linux", "kwok-partition": "abcdefghij"[i % 10], "kwok.x-k8s.io/node": "fake",
            "node.kubernetes.io/instance-type": "m-16x-amd64-linux", "topology.kubernetes.io/zone": ZONES[i % len(ZONES)]}


def machine_meta(i, name, labels, owners):
    fields = {"f:metadata": {"f:annotations": {}, "f:finalizers": {}, "f:labels": {".": {}, **{"f:" + key: {} for key in labels}}, "f:ownerReferences": {}}}
    return {"name": name, "generation": 1, "labels": labels, "finalizers": ["karpenter.sh/termination"], "ownerReferences": owners,
            "annotations": {"karpenter.sh/nodeclaim-min-values-relaxed": "false", "karpenter.sh/nodepool-hash": POOL_HASH,
                            "karpenter.sh/nodepool-hash-version": "v3", "kwok.x-k8s.io/node": "fake"},
            "managedFields": [{"manager": "karpenter", "operation": "Update", "apiVersion": "v1", "time": SINCE, "fieldsType": "FieldsV1", "fieldsV1": fields}]}


def claim(i):
    types = [f"{family}-{size}x-amd64-linux" for family in "cms" for size in (16, 32, 48, 64, 96)]
    met = ("Launched", "Registered", "Initialized", "ConsistentStateFound", "Ready")
    return {"kind": "NodeClaim", "apiVersion": "karpenter.sh/v1",
            "metadata": machine_meta(i, claim_name(i), machine_labels(i), owner("karpenter.sh/v1", "NodePool", POOL, uid(1, 0), False)),
            "spec": {"expireAfter": "Never", "nodeClassRef": CLASS, "resources": {"requests": {"cpu": "15", "memory": "30Gi", "pods": "30"}},
                     "requirements": REQUIREMENTS + [{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": types}]},
            "status": {"providerID": "kwok://" + node_name(i), "nodeName": node_name(i), "capacity": CAPACITY, "allocatable": ALLOCATABLE,
                       "lastPodEventTime": SINCE, "conditions": [condition(c, c, message="", observedGeneration=1) for c in met]}}


def node(i):
    name, labels = node_name(i), dict(machine_labels(i), **{"karpenter.sh/initialized": "true", "karpenter.sh/registered": "true"})
    calm = (("MemoryPressure", "KubeletHasSufficientMemory"), ("DiskPressure", "KubeletHasNoDiskPressure"), ("PIDPressure", "KubeletHasSufficientPID"))
    heard = {"lastHeartbeatTime": SINCE, "message": "kubelet has no complaints of this kind"}
    return {"kind": "Node", "apiVersion": "v1", "metadata": machine_meta(i, name, labels, owner("karpenter.sh/v1", "NodeClaim", claim_name(i), uid(3, i), False)),
            "spec": {"providerID": "kwok://" + name},
            "status": {"capacity": CAPACITY, "allocatable": ALLOCATABLE, "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
                       "addresses": [{"type": "InternalIP", "address": f"10.1.{i // 250}.{i % 250}"}, {"type": "Hostname", "address": name}],
                       "conditions": [condition(c, r, "False", **heard) for c, r in calm] + [condition("Ready", "KubeletReady", **heard)],
                       "nodeInfo": {"machineID": uid(4, i), "systemUUID": uid(4, i), "bootID": uid(4, i), "kernelVersion": "6.12.40", "osImage": "Example Linux",
                                    "containerRuntimeVersion": "containerd://2.1.3", "kubeletVersion": "v1.36.3", "kubeProxyVersion": "",
                                    "operatingSystem": "linux", "architecture": "amd64"},
                       "images": [{"names": [f"registry.example.com/team-{k % 7}/service-{k}:v1.{k}.0"], "sizeBytes": 30000000 + k} for k in range(IMAGES)]}}


def template(app):
    return {"terminationGracePeriodSeconds": 0, "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "schedulerName": "default-scheduler", "securityContext": {},
            "containers": [{"name": "web", "image": f"registry.example.com/team/web:v1.{app}.0", "imagePullPolicy": "IfNotPresent",
                            "resources": {"requests": {"cpu": f"{250 + app % 5 * 50}m", "memory": "512Mi"}, "limits": {"memory": "1Gi"}},
                            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File"}]}


def replica_set(app, pods):
    labels, n = {"app": app_name(app), "pod-template-hash": "7c5ddbdf54"}, len(range(app, pods, APPS))
    return {"kind": "ReplicaSet", "apiVersion": "apps/v1", "metadata": {"name": set_name(app), "namespace": "default", "generation": 1, "labels": labels},
            "spec": {"replicas": n, "selector": {"matchLabels": labels}, "template": {"metadata": {"labels": labels}, "spec": template(app)}},
            "status": {"replicas": n, "readyReplicas": n, "availableReplicas": n, "fullyLabeledReplicas": n, "observedGeneration": 1}}


def pod(i, nodes):
    app, token = i % APPS, f"kube-api-access-{i % 100000:05d}"
    mount = {"name": token, "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}
    volume = {"name": token, "projected": {"defaultMode": 420, "sources": [
        {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
        {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
        {"downwardAPI": {"items": [{"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}, "path": "namespace"}]}}]}}
    spec = template(app)
    spec["containers"][0]["volumeMounts"] = [mount]
    spec.update(enableServiceLinks=True, serviceAccountName="default", serviceAccount="default", volumes=[volume], priority=0,
                preemptionPolicy="PreemptLowerPriority", nodeName=node_name(i % nodes), tolerations=TOLERATIONS)
    met = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled")
    return {"kind": "Pod", "apiVersion": "v1", "metadata": {
        "name": pod_name(i), "generateName": set_name(app) + "-", "namespace": "default", "generation": 1,
        "labels": {"app": app_name(app), "pod-template-hash": "7c5ddbdf54", "topology.kubernetes.io/zone": ZONES[i % nodes % len(ZONES)]},
        "ownerReferences": owner("apps/v1", "ReplicaSet", set_name(app), uid(5, app), True)}, "spec": spec,
            "status": {"phase": "Running", "qosClass": "Burstable", "hostIP": "10.0.0.4", "hostIPs": [{"ip": "10.0.0.4"}], "startTime": SINCE,
                       "podIP": f"10.{64 + (i >> 16)}.{i >> 8 & 255}.{i & 255}", "conditions": [{"type": c, "status": "True", "lastTransitionTime": SINCE} for c in met],
                       "containerStatuses": [{"name": "web", "image": f"registry.example.com/team/web:v1.{app}.0", "imageID": "", "lastState": {}, "ready": True,
                                              "restartCount": 0, "started": True, "state": {"running": {"startedAt": SINCE}}}]}}


def objects(nodes, pods):
    """(number of the kind, number, object)"""
    yield 1, 0, pool()
    yield 2, 0, node_class()
    for i in range(nodes):
        yield 3, i, claim(i)
        yield 4, i, node(i)
    for app in range(APPS):
        yield 5, app, replica_set(app, pods)
    for i in range(pods):
        yield 6, i, pod(i, nodes)


def write(path, begun, nodes, pods):
    """begun: what a demo without machines has kept, definitions of our kinds among it."""
    version = int(begun["metadata"]["resourceVersion"])
    with open(path, "w", encoding="utf-8") as f:
        f.write('{"kind":"List","apiVersion":"v1","metadata":{},"items":[\n')
        f.write(",\n".join(json.dumps(obj, separators=(",", ":")) for obj in begun["items"]))
        for kind, i, obj in objects(nodes, pods):
            version += 1
            obj["metadata"].update(uid=uid(kind, i), resourceVersion=str(version), creationTimestamp=SINCE)
            f.write(",\n" + json.dumps(obj, separators=(",", ":")))
        f.write("\n]}\n")
