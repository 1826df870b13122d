"""What the documents say that this project was asked to satisfy (docs/seeds.md), done with kubectl and aws on the demo: their manifests as they are, their commands word for word.

Every document has a case, which begins without NodePools, with the node classes that the production guide names and does not show.
"""
import base64
import contextlib
import json
import os
import re
import subprocess
import tempfile
import urllib.parse
import urllib.request

import delivery
import servers
from cluster import free_ports
from demo_aws import play, ready, want

SEEDS = os.path.join(servers.ROOT, "examples/seeds")
POC = os.path.join(servers.ROOT, "deploy/terraform/examples/poc/app")


def clean(s):
    s.run("kubectl delete deployments --all --wait=false; kubectl delete nodepools --all; kubectl delete ec2nodeclass default --ignore-not-found")
    s.wait("nothing is left", lambda: not s.items("nodeclaims") and not s.instances())


def apply(s, name):
    return s.run(f"kubectl apply -f {os.path.join(SEEDS, name)}")


def ready_pools(s, *names):
    s.wait(f"NodePools {names} are ready", lambda: all(ready(p) for p in s.items("nodepools")) and {p["metadata"]["name"] for p in s.items("nodepools")} == set(names))


def runs(s, app, n):
    """Waits until n pods of an app run; their nodes, once each."""
    def all_run():
        pods = s.items(f"pods -l app={app}")
        return len(pods) == n and all(p["status"].get("phase") == "Running" for p in pods) and pods

    names = {p["spec"]["nodeName"] for p in s.wait(f"{n} pods of {app} run", all_run)}
    return [node for node in s.items("nodes") if node["metadata"]["name"] in names]


def labels(nodes, key):
    return {node["metadata"]["labels"].get(key) for node in nodes}


def definitions(s):
    """The kinds of the Prometheus operator that others bring: kept, found by their short names, and refused without what they must have."""
    found = s.run("kubectl api-resources --api-group monitoring.coreos.com --no-headers")
    want([line.split()[:2] for line in found.splitlines()] == [["podmonitors", "pmon"], ["prometheusrules", "promrule"], ["servicemonitors", "smon"]], found)
    for kind, spec, words in (("ServiceMonitor", "{selector: {}}", "spec.endpoints: Required value"), ("PodMonitor", "{podMetricsEndpoints: []}", "spec.selector: Required value"),
                              ("PrometheusRule", "{groups: [{name: a, rules: [{alert: b}]}]}", "expr: Required value")):
        said = s.run(f"kubectl create -f - 2>&1 <<'EOF'\napiVersion: monitoring.coreos.com/v1\nkind: {kind}\nmetadata: {{name: a}}\nspec: {spec}\nEOF\n[ $? != 0 ]")
        want(words in said, said)
    s.run("kubectl create -f - <<'EOF'\napiVersion: monitoring.coreos.com/v1\nkind: PodMonitor\nmetadata: {name: a}\nspec: {selector: {matchLabels: {app: a}}, podMetricsEndpoints: [{port: metrics}]}\nEOF")
    want(s.run("kubectl get pmon -o name").strip() == "podmonitor.monitoring.coreos.com/a", "the PodMonitor")
    s.run("kubectl delete pmon a")


def architecture(s):
    """The architecture: a NodePool and a node class in short spellings, ten pods without requests, one machine for them."""
    clean(s)
    apply(s, "default.yaml")
    ready_pools(s, "default")
    s.run("kubectl create deployment nginx --image=nginx --replicas=10")
    nodes = runs(s, "nginx", 10)
    want(labels(nodes, "kubernetes.io/arch") == {"arm64"}, labels(nodes, "kubernetes.io/arch"))
    for key in ("node.kubernetes.io/instance-type", "topology.kubernetes.io/zone", "karpenter.sh/capacity-type", "karpenter.sh/nodepool", "kubernetes.io/arch"):
        want(all(labels(nodes, key)), f"a node without {key}")
    claims = s.wait("claims are ready", lambda: (lambda v: v and all(ready(c) for c in v) and v)(s.items("nodeclaims")))
    want("READY" in s.run("kubectl get nodeclaims"), "kubectl get nodeclaims")
    said = s.run(f"kubectl describe nodeclaim {claims[0]['metadata']['name']}")
    want("Provider ID:" in said and "Launched" in said and "Registered" in said, said)


def production(s):
    """Production: its pools, budget, monitor and alerts as they are; fifty pods come, critical ones go to machines of their own."""
    clean(s)
    want("Warning" not in apply(s, "production.yaml").replace("Warning: resource poddisruptionbudgets", ""), "a warning")
    ready_pools(s, "arm64-spot", "on-demand-critical")
    want(len(s.items("nodes -l role=bootstrap")) == 2 and s.run("kubectl get nodes -l role=bootstrap").count("Ready") == 2, "the bootstrap group")
    want(s.run("kubectl get pods -n karpenter").count("Running") == 2, "replicas")
    want("arm64-spot" in s.run("kubectl get nodepools"), "kubectl get nodepools")
    want(s.json("kubectl get pdb karpenter -n karpenter -o json")["spec"]["minAvailable"] == 1, "the budget")
    want("karpenter" in s.run("kubectl get servicemonitors -n karpenter -o name") and "karpenter-alerts" in s.run("kubectl get prometheusrules -o name"), "monitor and alerts")
    s.run("kubectl create deployment test --image=nginx --replicas=50")
    nodes = runs(s, "test", 50)
    want(labels(nodes, "karpenter.sh/nodepool") == {"arm64-spot"} and labels(nodes, "karpenter.sh/capacity-type") == {"spot"}, labels(nodes, "karpenter.sh/nodepool"))
    want(labels(nodes, "karpenter.k8s.aws/instance-category") <= set("tcmr"), labels(nodes, "karpenter.k8s.aws/instance-category"))
    want(nodes[0]["metadata"]["name"] in s.run("timeout 2 kubectl get nodes -w; [ $? = 124 ]"), "kubectl get nodes -w")
    apply(s, "workloads.yaml")
    nodes = runs(s, "my-critical-app", 3)
    want(labels(nodes, "karpenter.sh/nodepool") == {"on-demand-critical"}, labels(nodes, "karpenter.sh/nodepool"))
    # Not the pods: the scheduler spreads over zones that have nodes, and may find but the first of them.
    s.wait("machines for critical pods in several zones",
           lambda: len(labels(s.items("nodeclaims -l karpenter.sh/nodepool=on-demand-critical"), "topology.kubernetes.io/zone") - {None}) > 1)
    expire = {c["metadata"]["labels"]["karpenter.sh/nodepool"]: c["spec"]["expireAfter"] for c in s.items("nodeclaims")}
    want(expire == {"arm64-spot": "720h", "on-demand-critical": "Never"}, expire)
    s.run("kubectl delete deployment test")
    for phase in ('{"template":{"spec":{"requirements":[{"key":"karpenter.sh/capacity-type","operator":"In","values":["on-demand"]}]}}}', '{"weight":100}', '{"weight":10}',
                  '{"disruption":{"consolidationPolicy":"WhenUnderutilized"}}'):
        s.run(f"kubectl patch nodepool arm64-spot --type merge -p '{{\"spec\":{phase}}}'")
    ready_pools(s, "arm64-spot", "on-demand-critical")


def documentation(s):
    """The module's documentation: on demand and arm64 only; Amazon Linux 2 has no images for this Kubernetes, and one word says another family."""
    clean(s)
    apply(s, "development.yaml")
    s.wait("the class says that there are no images", lambda: "AMIsNotFound" in s.run("kubectl describe ec2nodeclass default") or "AMI" in s.run("kubectl describe ec2nodeclass default"))
    s.run(f"sed 's/amiFamily: AL2 .*/amiFamily: AL2023/' {os.path.join(SEEDS, 'development.yaml')} | kubectl apply -f -")
    ready_pools(s, "default")
    want("Running" in s.run("kubectl get pods -n karpenter") and "default" in s.run("kubectl get nodepool") and "default" in s.run("kubectl get ec2nodeclass"), "kubectl get")
    s.run("kubectl create deployment inflate --image=public.ecr.aws/eks-distro/kubernetes/pause --replicas=0")
    s.run("kubectl scale deployment inflate --replicas=5")
    nodes = runs(s, "inflate", 5)
    want(labels(nodes, "karpenter.sh/capacity-type") == {"on-demand"} and labels(nodes, "kubernetes.io/arch") == {"arm64"}, [n["metadata"]["labels"] for n in nodes])
    want(labels(nodes, "karpenter.k8s.aws/instance-category") <= set("tcm") and min(map(int, labels(nodes, "karpenter.k8s.aws/instance-generation"))) >= 4, [n["metadata"]["labels"] for n in nodes])
    want([i["MetadataOptions"]["HttpTokens"] for i in s.instances()] == ["required"] * len(nodes), s.instances())
    want("launched nodeclaim" in s.run("timeout 3 kubectl logs -n karpenter -l app.kubernetes.io/name=karpenter -f --tail -1; [ $? = 124 ]"), "kubectl logs -f")
    want("launched nodeclaim" in s.run("kubectl logs -n karpenter -l app.kubernetes.io/name=karpenter --tail -1"), "kubectl logs")
    want("karpenter.sh/nodepool=default" in s.run("kubectl get nodes --show-labels | grep karpenter"), "labels")
    want("Security Groups" in s.run("kubectl describe ec2nodeclass default"), "kubectl describe")
    s.run("kubectl scale deployment inflate --replicas=0")
    s.wait("empty nodes go by themselves", lambda: not s.items("nodeclaims"), settling_s=30)


def module(s):
    """The Terraform module's guide: two pools of spot machines, what it looks at when something is wrong, an interruption."""
    clean(s)
    apply(s, "general-and-batch.yaml")
    ready_pools(s, "general", "batch")
    s.run(f"kubectl apply -f {os.path.join(SEEDS, 'inflate.yaml')}")
    apply(s, "workloads.yaml")
    general, batch = runs(s, "inflate", 5), runs(s, "batch", 2)
    runs(s, "database", 1)
    want(labels(general, "karpenter.sh/nodepool") == {"general"} and labels(general, "karpenter.k8s.aws/instance-category") <= set("cmr"), [n["metadata"]["labels"] for n in general])
    want(labels(batch, "node.kubernetes.io/instance-type") <= {"c5.xlarge", "c5.2xlarge", "c6i.xlarge"}, [n["metadata"]["labels"] for n in batch])
    want(labels(general + batch, "karpenter.sh/capacity-type") == {"spot"}, "capacity")
    for command, words in (("kubectl get nodepools", "general"), ("kubectl get ec2nodeclasses", "default"), ("kubectl get nodes -l karpenter.sh/nodepool", general[0]["metadata"]["name"]),
                           ("kubectl describe ec2nodeclass default", "Subnets"), ("kubectl get nodepool -o yaml | grep limits -A 5", 'cpu: "?1000'),
                           ('kubectl logs -n karpenter -l app.kubernetes.io/name=karpenter --tail -1 | grep "instance type"', "instance type"),
                           ("kubectl describe pod -l app=inflate", "Nominated|Scheduled")):
        want(re.search(words, s.run(command)), command)
    node = general[0]["metadata"]["name"]
    s.run(f"kubectl annotate node {node} karpenter.sh/do-not-disrupt=true")
    queue = s.json("aws sqs get-queue-attributes \\\n  --queue-url $(aws sqs get-queue-url --queue-name karpenter-eks-cluster-dev --query 'QueueUrl' --output text) \\\n  --attribute-names All")
    want(queue["Attributes"]["MessageRetentionPeriod"] == "300", queue)
    want(len(s.json("aws events list-rules --name-prefix Karpenter")["Rules"]) == 5, "rules")
    s.run(f"$KARPENTER demo interrupt {node}")
    s.wait("its pods run elsewhere, but for the one that is not to be disturbed while the machine is there",
           lambda: [p["metadata"]["labels"]["app"] for p in s.items(f"pods --field-selector spec.nodeName={node}")] in ([], ["database"]))
    runs(s, "inflate", 5)
    said = [json.loads(line) for line in s.run("kubectl logs -n karpenter -l app.kubernetes.io/name=karpenter --tail -1").splitlines() if line.startswith("{")]
    launched = [line for line in said if line["message"] == "launched nodeclaim"]
    want(launched and all(line["level"] == "INFO" and line["instance-type"] and line["capacity-type"] and line["provider-id"] for line in launched), launched)
    want(any(line["message"] == "initiating delete from interruption message" for line in said), "the log does not speak of the interruption")
    short = [line for line in said if line["message"] == "launched node"]
    want(short and all(line["level"] == "INFO" and line["node"].startswith("i-") and line["instance-type"] and line["capacity-type"] for line in short), short)
    warned = [line for line in said if line["message"] == "interruption received"]
    want(warned and all(line["level"] == "WARN" and line["node"].startswith("i-") and line["action"] == "terminate" for line in warned), warned)
    for tuning in ('{"consolidationPolicy":"WhenEmpty","consolidateAfter":"5m"}', '{"consolidationPolicy":"WhenEmptyOrUnderutilized","consolidateAfter":"30s"}'):
        s.run(f"kubectl patch nodepool general --type merge -p '{{\"spec\":{{\"disruption\":{tuning}}}}}'")


def poc(s):
    """The proof of concept: into the cluster by the aws command line, ten replicas and back to none, the log of one replica."""
    clean(s)
    apply(s, "general-and-batch.yaml")
    s.run(f"""kubectl patch nodepool general --type merge -p '{{"spec":{{"disruption":{{"consolidationPolicy":"WhenEmpty","consolidateAfter":"30s"}}}}}}'""")
    own = os.path.join(os.path.dirname(s.file), "poc.kubeconfig")
    s.run(f"KUBECONFIG={own}; aws eks update-kubeconfig --region us-west-2 --name eks-cluster-dev")
    want("arn:aws:iam::123456789012:user/" in s.run(f"KUBECONFIG={own} kubectl auth whoami"), "kubectl by the way of EKS")
    s.run(f"KUBECONFIG={own} AWS_SECRET_ACCESS_KEY=wrong kubectl get nodes", refused=True)
    s.run(f"KUBECONFIG={own} kubectl apply -f {os.path.join(POC, 'inflate.yaml')}")
    want(re.search(r"inflate\s+0/0", s.run("kubectl get deploy")), s.run("kubectl get deploy"))
    s.run("kubectl scale deployment inflate --replicas 10 ")
    runs(s, "inflate", 10)
    lease = s.json("kubectl get lease karpenter-leader-election -n karpenter -o json")["spec"]["holderIdentity"]
    pod = next(p["metadata"]["name"] for p in s.items("pods -n karpenter") if lease.startswith(p["metadata"]["name"]))
    want("launched nodeclaim" in s.run(f"timeout 3 kubectl logs -f {pod} -n karpenter; [ $? = 124 ]"), "kubectl logs -f")
    s.run("kubectl scale deployment inflate --replicas 0")
    s.wait("the machines go", lambda: not s.items("nodeclaims") and not s.instances(), settling_s=30)


@contextlib.contextmanager
def process(*args, env=None):
    p = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **(env or {})})
    try:
        yield p
    finally:
        p.terminate()
        p.wait(30)


@contextlib.contextmanager
def controller(s):
    """A replica with ports of its own in the place of the demo's, told what those are told. Yields its port of metrics."""
    s.run("kubectl scale deployment karpenter -n karpenter --replicas 0")
    s.wait("the demo's replicas are gone", lambda: not s.items("pods -n karpenter"))
    told = s.json("kubectl get secret karpenter-provider -n karpenter -o json")["data"]
    metrics, probes = free_ports(2)
    env = {**{k: base64.b64decode(v).decode() for k, v in told.items()}, "LEADER_ELECTION_NAMESPACE": "karpenter", "BATCH_MAX_DURATION": "5s"}
    try:
        with process(s.program, "controller", "--kubeconfig", s.file[:-len(".env")], "--metrics-port", str(metrics), "--health-probe-port", str(probes), env=env):
            yield metrics
    finally:
        s.run("kubectl scale deployment karpenter -n karpenter --replicas 2")


@contextlib.contextmanager
def prometheus(port):
    """Prometheus itself, which reads that port and all rules and panels every second. Yields a function that asks it."""
    web = free_ports(1)[0]
    with tempfile.TemporaryDirectory(prefix="karpenter-prometheus-") as work:
        config = os.path.join(work, "prometheus.yaml")
        with open(config, "w", encoding="utf-8") as f:
            json.dump({"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": list(delivery.rule_files(work).values()),
                       "scrape_configs": [{"job_name": "karpenter", "static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}]}, f)

        def ask(path, **query):
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{web}/api/v1/{path}?{urllib.parse.urlencode(query)}", timeout=10) as answer:
                    return json.load(answer)["data"]
            except OSError:
                return None

        with process(os.path.join(servers.BIN, "prometheus"), f"--config.file={config}", f"--storage.tsdb.path={work}/data", f"--web.listen-address=127.0.0.1:{web}"):
            yield ask


def a_busy_day(s):
    """Nodes come, one is interrupted, a pool has nothing left, a pod finds no place, a drain takes its time, nodes go."""
    apply(s, "general-and-batch.yaml")
    ready_pools(s, "general", "batch")
    s.run(f"kubectl apply -f {os.path.join(SEEDS, 'inflate.yaml')}; kubectl create deployment nowhere --image=nginx; kubectl set resources deployment nowhere --requests cpu=5000")
    node = runs(s, "inflate", 5)[0]["metadata"]
    s.run(f"$KARPENTER demo capacity spot 1 {node['labels']['node.kubernetes.io/instance-type']}; $KARPENTER demo interrupt {node['name']}")
    s.wait("the node is replaced", lambda: not any(n["metadata"]["name"] == node["name"] for n in s.items("nodes")))
    runs(s, "inflate", 5)
    s.run("$KARPENTER demo capacity spot 0; kubectl scale deployment inflate --replicas 60")
    s.wait("a claim without a machine", lambda: "InsufficientCapacity" in s.run("kubectl get events -A") or len(s.items("nodeclaims")) > 1)
    s.run("kubectl scale deployment inflate --replicas 1; $KARPENTER demo capacity spot -1")
    s.run("""kubectl patch nodepool general --type merge -p '{"spec":{"disruption":{"consolidateAfter":"0s"}}}'""")
    s.run("kubectl delete deployment inflate nowhere")
    s.wait("nodes go", lambda: not s.items("nodeclaims"))


def metrics(s):
    """Prometheus reads a controller that works: every rule and panel can be evaluated, every name in them is there, and the five that the production guide watches have counted."""
    clean(s)
    with controller(s) as port, prometheus(port) as ask:
        a_busy_day(s)
        named = {name: where for where, expr in delivery.expressions() for name in delivery.metrics_in(expr)}
        s.wait("Prometheus has looked", lambda: ask("query", query="karpenter_nodes_terminated > 0")["result"])
        there = set(ask("label/__name__/values"))
        want(set(named) <= there, {name: where for name, where in named.items() if name not in there})
        rules = [r for g in ask("rules")["groups"] for r in g["rules"]]
        wrong = [(r["name"], r.get("lastError")) for r in rules if r["health"] != "ok"]
        want(len(rules) > 30 and not wrong, wrong)
        for name in ("karpenter_nodes_created", "karpenter_nodes_terminated", "karpenter_pods_startup_time_count", "karpenter_nodeclaims_disrupted", "karpenter_interruption_actions_performed"):
            found = ask("query", query=f"{name} > 0")["result"]
            want(found, f"{name} has not counted")


def chart(s):
    """The chart takes over the demo's own deployment with the values of each document, for the demo's cluster; the controller that it rolls out makes nodes. The last case: there is no way back."""
    clean(s)
    s.run("kubectl delete servicemonitor karpenter -n karpenter --ignore-not-found")  # Helm changes nothing in a custom resource that it takes over
    s.run("kubectl delete pdb karpenter -n karpenter")  # it says minAvailable, the chart's maxUnavailable: Kubernetes takes one of them
    for values in sorted(os.listdir(delivery.VALUES)):
        s.run(f"helm upgrade --install karpenter {delivery.CHART} -n karpenter --skip-crds --take-ownership -f {delivery.VALUES}/{values} "
              "--set settings.clusterName=eks-cluster-dev --set settings.clusterEndpoint= --set settings.interruptionQueue=karpenter-eks-cluster-dev")
        s.run("kubectl rollout status deployment karpenter -n karpenter --timeout 60s")
        monitored = "serviceMonitor:" in open(os.path.join(delivery.VALUES, values), encoding="utf-8").read()
        found = s.run("kubectl get servicemonitors,prometheusrules -n karpenter -l app.kubernetes.io/managed-by=Helm -o name")
        want(len(found.split()) == (2 if monitored else 0), f"{values}: {found}")
    want(s.run("kubectl replace -f " + os.path.join(servers.ROOT, "deploy/terraform/examples/production/manifests/pdbs/karpenter-pdb.yaml")), "the budget of the production guide")
    apply(s, "general-and-batch.yaml")
    s.run(f"kubectl apply -f {os.path.join(SEEDS, 'inflate.yaml')}")
    runs(s, "inflate", 5)


SCENARIOS = [definitions, architecture, production, documentation, module, poc, metrics, chart]


def run(program, work, only):
    yield from play(program, work, "seeds", SCENARIOS, only)
