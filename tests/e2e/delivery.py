"""What a platform team touches before and around the controller: charts, rights, rules and dashboards, policies, the image.

The charts are installed on a real control plane, the image is unpacked and runs against it. `values/` has the values that people really set.
"""
import concurrent.futures
import json
import os
import re
import shutil
import subprocess

import yaml

import servers
from cluster import NAMESPACE, Controller, free_ports, until, want

CHARTS = os.path.join(servers.ROOT, "deploy/charts")
CHART = os.path.join(CHARTS, "karpenter")
TERRAFORM = os.path.join(servers.ROOT, "deploy/terraform")
VALUES = os.path.join(servers.HERE, "values")
SEEDS = os.path.join(servers.ROOT, "examples/seeds")
GATES = ("--feature-gates", "CapacityBuffer=true,NodeOverlay=true")


def command(*args, cwd=servers.ROOT, env=None, ok=True):
    p = subprocess.run(args, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, env={**os.environ, "PATH": servers.BIN + ":" + os.environ["PATH"], **(env or {})})
    want(not ok or p.returncode == 0, f"{' '.join(args[:4])}…: {p.returncode}\n{p.stdout[-800:]}{p.stderr[-800:]}")
    return p


def template(*args):
    """The objects of the chart, as {(kind, name): object}."""
    out = command("helm", "template", "karpenter", CHART, "-n", NAMESPACE, "-a", "monitoring.coreos.com/v1", *args).stdout
    return {(o["kind"], o["metadata"]["name"]): o for o in yaml.safe_load_all(out) if o}


def charts_are_well_formed(_):
    """helm lint is content, every set of values renders, and a wrong one is refused with the reason."""
    for chart in ("karpenter", "karpenter-crd", "termination-handler"):
        command("helm", "lint", "--strict", os.path.join(CHARTS, chart), "--set", "settings.clusterName=x")
    for name in sorted(os.listdir(VALUES)):
        objects = template("-f", os.path.join(VALUES, name))
        want(("Deployment", "karpenter") in objects and ("ClusterRole", "karpenter-core") in objects, f"{name}: {list(objects)}")
    for wrong, why in (("replicas=two", "/replicas"), ("settings.provider=azure", "/settings/provider"), ("settings.clusterName=", "settings.clusterName is needed")):
        p = command("helm", "template", "karpenter", CHART, "--set", "settings.clusterName=x", "--set", wrong, ok=False)
        want(p.returncode != 0 and why in p.stderr, f"{wrong}: {p.returncode} {p.stderr}")


def values_reach_the_program(_):
    """Settings are environment variables of the container; falsy ones are left to the program."""
    objects = template("-f", os.path.join(VALUES, "003-module.yaml"), "--set", "settings.isolatedVPC=false,settings.featureGates.nodeRepair=true,controller.env[0].name=X,controller.env[0].value=y")
    container = objects[("Deployment", "karpenter")]["spec"]["template"]["spec"]["containers"][0]
    env = {e["name"]: e.get("value") for e in container["env"]}
    want(env["CLUSTER_NAME"] == "eks-cluster-dev" and env["INTERRUPTION_QUEUE"] == "karpenter-eks-cluster-dev" and env["KARPENTER_PROVIDER"] == "aws", env)
    want("ISOLATED_VPC" not in env and "NodeRepair=true" in env["FEATURE_GATES"] and env["X"] == "y" and env["RESERVED_ENIS"] == "0", env)
    want(container["resources"] == {"requests": {"cpu": "1", "memory": "1Gi"}}, container["resources"])
    context = container["securityContext"]
    want(context["runAsNonRoot"] and context["readOnlyRootFilesystem"] and not context["allowPrivilegeEscalation"] and context["capabilities"] == {"drop": ["ALL"]}, context)
    spec = objects[("Deployment", "karpenter")]["spec"]["template"]["spec"]
    own = {"app.kubernetes.io/name": "karpenter", "app.kubernetes.io/instance": "karpenter"}
    want(spec["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][0]["labelSelector"]["matchLabels"] == own, spec["affinity"])
    want(spec["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"] == own, spec["topologySpreadConstraints"])


# What has to be there for a value to be looked at at all.
OPEN = {
    "karpenter": {"settings": {"clusterName": "x"}, "controller": {"sidecarContainer": [{"name": "s"}]},
                  **{part: {"enabled": True} for part in ("serviceMonitor", "prometheusRule", "dashboards", "networkPolicy")}},
    "termination-handler": {"podMonitor": {"create": True}, "enablePrometheusServer": True, "enableProbesServer": True, "webhookTemplateConfigMapName": "x", "webhookTemplateConfigMapKey": "y"},
    "karpenter-crd": {},
}


def with_values(chart, values):
    """What helm makes of it, or why not. The schema is not asked: a value of another shape has to go somewhere as well."""
    p = subprocess.run(["helm", "template", "x", os.path.join(CHARTS, chart), "-a", "monitoring.coreos.com/v1", "--skip-schema-validation", "-f", "-"], input=yaml.safe_dump(values), stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True, check=False, env={**os.environ, "PATH": servers.BIN + ":" + os.environ["PATH"]})
    return p.stdout


def merged(values, more):
    both = isinstance(values, dict) and isinstance(more, dict)
    return {**values, **{k: merged(values.get(k), v) for k, v in more.items()}} if both else more


def places(values, at=()):
    """Where values stand; an empty map is one."""
    if isinstance(values, dict) and values:
        for key, inner in values.items():
            yield from places(inner, (*at, key))
    else:
        yield at


def other(value, at):
    """The values, as far as this place, with another one there."""
    if at:
        return {at[0]: other(value[at[0]], at[1:])}
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    return [{"name": "other"}] if isinstance(value, list) else {"other": "x"} if isinstance(value, dict) else "other"


def every_value_does_something(_):
    """Whatever stands in a values.yaml is looked at: said otherwise, something else is rendered, or refused with the reason."""
    for chart, opened in OPEN.items():
        values = merged(yaml.safe_load(open(os.path.join(CHARTS, chart, "values.yaml"), encoding="utf-8")), opened)
        before = with_values(chart, values)
        want("kind: " in before, before)
        tried = list(places(values))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            after = list(pool.map(lambda at: with_values(chart, merged(values, other(values, at))), tried))
        want(before not in after, f"{chart}: these change nothing: {[at for at, text in zip(tried, after) if text == before]}")


def metric_families():
    """Families of docs/metrics.md, which a unit test writes from the program's own tables; series of summaries and histograms have more names."""
    text = open(os.path.join(servers.ROOT, "docs/metrics.md"), encoding="utf-8").read()
    names = set(re.findall(r"(?m)^\| `([a-z_]+)` \|", text))
    return names | {n + suffix for n in names for suffix in ("_bucket", "_sum", "_count")}


def expressions():
    """(where, PromQL) of every rule and every panel."""
    rules = yaml.safe_load(open(os.path.join(CHART, "monitoring/rules.yaml"), encoding="utf-8"))
    for group in rules["groups"]:
        for rule in group["rules"]:
            yield rule["alert"], rule["expr"]
    boards = os.path.join(CHART, "monitoring/dashboards")
    for name in sorted(os.listdir(boards)):
        board = json.load(open(os.path.join(boards, name), encoding="utf-8"))
        for panel in board["panels"]:
            for target in panel.get("targets", ()):
                yield f"{name}: {panel['title']}", target["expr"]


WORDS = {"sum", "by", "on", "rate", "increase", "count", "absent", "or", "histogram_quantile", "le"}


def metrics_in(expr):
    """Names of metrics in PromQL, as it is written here."""
    bare = re.sub(r'"[^"]*"|\{[^}]*\}|\[[^\]]*\]|by \([^)]*\)|on \([^)]*\)', " ", expr)
    return set(re.findall(r"[a-z_][a-z0-9_]+", bare)) - WORDS


def rules_and_panels_ask_for_metrics_that_exist(stage):
    """Every name in every expression is a family of the program, and the controller shows what a cluster at rest has."""
    known = metric_families()
    for where, expr in expressions():
        missing = metrics_in(expr) - known
        want(not missing, f"{where}: {missing}")
    command(os.path.join(servers.ROOT, "tools/dashboards"), "--check")
    stage.leader.await_lead()
    text = stage.leader.metrics()
    for name in ("karpenter_nodeclaims_created", "karpenter_nodes_created", "karpenter_interruption_actions_performed", "leader_election_master_status", "process_resident_memory_bytes"):
        want(re.search(rf"(?m)^{name}[ {{]", text), f"{name} is not in /metrics")


def rule_files(work):
    """{name: file} of what Prometheus is to read: the chart's rules, those that the production guide shows, and every panel as a recorded series."""
    guide = next(o for o in yaml.safe_load_all(open(os.path.join(SEEDS, "production.yaml"), encoding="utf-8")) if o["kind"] == "PrometheusRule")
    panels = [{"record": f"panel:{i}", "expr": expr.replace("$nodepool", ".*")} for i, (where, expr) in enumerate(expressions()) if ".json: " in where]
    files = {"chart": os.path.join(CHART, "monitoring/rules.yaml")}
    for name, groups in (("guide", guide["spec"]["groups"]), ("panels", [{"name": "panels", "rules": panels}])):
        files[name] = os.path.join(work, f"rules-{name}.yaml")
        with open(files[name], "w", encoding="utf-8") as f:
            yaml.safe_dump({"groups": groups}, f)
    return files


def rules_and_panels_are_good_promql(stage):
    """promtool reads every rule and every panel; alerts.yaml says when each alert of the chart and of the production guide fires, and when not."""
    files = rule_files(stage.cluster.work)
    said = command("promtool", "check", "rules", "--lint-fatal", *files.values()).stdout
    want(said.count("SUCCESS") == len(files), said)
    cases = yaml.safe_load(open(os.path.join(servers.HERE, "alerts.yaml"), encoding="utf-8"))
    for name in ("chart", "guide"):
        alerts = [r["alert"] for g in yaml.safe_load(open(files[name], encoding="utf-8"))["groups"] for r in g["rules"]]
        tests = [t for t in cases["tests"] if t["name"].startswith(name + ":")]
        fired = {a["alertname"] for t in tests for a in t["alert_rule_test"] if a.get("exp_alerts")}
        want(fired == set(alerts), f"{name}: {sorted(fired ^ set(alerts))} are in no case of alerts.yaml")
        path = os.path.join(stage.cluster.work, f"alerts-{name}.yaml")
        with open(path, "w", encoding="utf-8") as f:
            yaml.safe_dump({**cases, "rule_files": [files[name]], "tests": [{k: v for k, v in t.items() if k != "name"} for t in tests]}, f)
        command("promtool", "test", "rules", path)
    p = subprocess.run([os.path.join(servers.BIN, "promtool"), "check", "metrics"], input=stage.leader.metrics(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    want(p.returncode in (0, 3), p.stdout)  # 3: it would name some things otherwise, as Karpenter's metrics are


def helm(stage, *args):
    return command("helm", *args, env={"KUBECONFIG": stage.cluster.real.kubeconfig, "HELM_CACHE_HOME": stage.cluster.work, "HELM_CONFIG_HOME": stage.cluster.work, "HELM_DATA_HOME": stage.cluster.work})


def kubectl(stage, *args):
    return command("kubectl", "--kubeconfig", stage.cluster.real.kubeconfig, *args)


def machine(c, name, zone):
    """A machine of the bootstrap group; kwok plays its kubelet."""
    c.create("Node", name, {
        "metadata": {"annotations": {"kwok.x-k8s.io/node": "fake"}, "labels": {
            "kubernetes.io/os": "linux", "kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone, "role": "bootstrap"}},
        "spec": {"taints": [{"key": "CriticalAddonsOnly", "value": "true", "effect": "NoSchedule"}]},
        "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "20"}, "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "20"}}})


def chart_installs(stage):
    """helm install, upgrade and uninstall: both replicas run on machines of their own in zones of their own."""
    c = stage.cluster
    for i, zone in enumerate("ab"):
        machine(c, f"bootstrap-{zone}", f"zone-{zone}")
    release = ("karpenter", CHART, "-n", "installed", "--set", "settings.clusterName=x,settings.provider=kwok", "--skip-crds", "--set", "fullnameOverride=installed")
    said = helm(stage, "install", *release, "--set", "serviceMonitor.enabled=true", "--create-namespace", "--wait", "--timeout", "60s").stdout
    want("serviceMonitor and prometheusRule were left out" in said, said)  # nobody has installed the operator's definitions here
    pods = c.call("GET", "/api/v1/namespaces/installed/pods")["items"]
    want(sorted(p["spec"]["nodeName"] for p in pods) == ["bootstrap-a", "bootstrap-b"], [p["spec"].get("nodeName") for p in pods])
    helm(stage, "upgrade", *release, "--set", "logLevel=debug", "--wait", "--timeout", "60s")
    want('installed' in helm(stage, "list", "-n", "installed").stdout, "helm list does not know the release")
    helm(stage, "uninstall", "karpenter", "-n", "installed", "--wait")
    want(not c.call("GET", "/apis/apps/v1/namespaces/installed/deployments")["items"], "the deployment is still there")


def definitions_by_their_chart(stage):
    """karpenter-crd takes over definitions that came by other means, and puts annotations on them."""
    helm(stage, "install", "karpenter-crd", os.path.join(CHARTS, "karpenter-crd"), "-n", "default", "--take-ownership", "--set", "additionalAnnotations.team=platform")
    crd = stage.cluster.call("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodepools.karpenter.sh")
    want(crd["metadata"]["annotations"].get("team") == "platform", crd["metadata"]["annotations"])


def converted_manifests_are_accepted(stage):
    """What `karpenter convert` makes of a Provisioner and its AWSNodeTemplate, and of an eksctl file, goes into the API server as it is, and nothing of it gets lost there."""
    c = stage.cluster
    for name, args in (("provisioner", ()), ("eksctl", ("--role", "KarpenterNodeRole"))):
        p = command(stage.program, "convert", "-f", os.path.join(servers.ROOT, f"examples/convert/{name}.yaml"), *args, ok=False)
        want(p.returncode in (0, 2) and p.stdout, p.stderr)  # 2: something has no equal, which comments say
        path = os.path.join(c.work, name + ".yaml")
        with open(path, "w", encoding="utf-8") as f:
            f.write(p.stdout)
        kubectl(stage, "apply", "-f", path)
        for made in yaml.safe_load_all(p.stdout):
            kept = json.loads(kubectl(stage, "get", made["kind"], made["metadata"]["name"], "-o", "json").stdout)
            lost = [field for field, value in flat(made["spec"]) if dict(flat(kept["spec"])).get(field) != value]
            want(not lost, f"{name}: {made['kind']}: {lost}")
        kubectl(stage, "delete", "-f", path)


def flat(value, path=""):
    """(path, leaf) of everything in a value."""
    if isinstance(value, (dict, list)) and value:
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from flat(inner, f"{path}/{key}")
    else:
        yield path, value


def blocks(directory, kind):
    """{name: {attribute: text}} of the variables, outputs or resources in a directory of Terraform."""
    found = {}
    for name in sorted(os.listdir(directory)):
        if name.endswith(".tf"):
            text = open(os.path.join(directory, name), encoding="utf-8").read()
            for names, body in re.findall(rf'(?ms)^{kind} ((?:"[^"]+" ?)+)\{{\n(.*?)^\}}', text):
                found[".".join(re.findall(r'"([^"]+)"', names))] = dict(re.findall(r"(?m)^  (\w+) *= (.*)$", body))
    return found


MODULE_INPUTS = {"eks_cluster_name": None, "eks_cluster_endpoint": None, "environment": '"dev"', "aws_region": None, "namespace": '"karpenter"', "service_account_name": '"karpenter"',
                 "helm_chart_version": '"1.0.0"', "resource_tag": "{}"}  # None: must be given
MODULE_OUTPUTS = {"iam_role_arn", "node_iam_role_arn", "node_iam_role_name", "instance_profile_name", "queue_name", "queue_url"}
POC_INPUTS = {"cluster_name": '"backend"', "k8s_version": None, "karpenter_provider": None, "map_accounts": "[]", "map_roles": "[]", "map_users": "[]", "node_groups": None,
              "service_account": None, "subnet_ids": "[]", "tags": None, "addon_cni_version": "null", "addon_coredns_version": "null", "addon_kubeproxy_version": "null"}
POC_OUTPUTS = {"endpoint", "kubeconfig-certificate-authority-data", "oidc_cluster_url"}
POC_ENTRY = ["provider_name", "capacity_type", "instance_family", "instance_sizes", "availability_zones", "cpu_limit", "memory_limit", "ttl_scaling_empty", "ttl_nodes"]


def terraform_has_what_the_documents_name(_):
    """Inputs with their defaults, outputs and resources of the documents in docs/seeds.md, and what the queue and the bootstrap group are made with."""
    for directory, inputs, outputs in ((TERRAFORM, MODULE_INPUTS, MODULE_OUTPUTS), (os.path.join(TERRAFORM, "examples/poc"), POC_INPUTS, POC_OUTPUTS)):
        variables = blocks(directory, "variable")
        given = {name: variables[name].get("default") for name in inputs if name in variables}
        want(given == inputs, f"{directory}: {set(given.items()) ^ set(inputs.items())}")
        needed = {name for name, v in variables.items() if "default" not in v}
        want(needed == {name for name, default in inputs.items() if default is None}, f"{directory}: {needed}")
        want(outputs == set(blocks(directory, "output")), sorted(blocks(directory, "output")))
    want(variables["karpenter_provider"]["type"] == "list(object({", variables["karpenter_provider"])
    text = open(os.path.join(TERRAFORM, "examples/poc/karpenter.tf"), encoding="utf-8").read()
    want(all(f"p.{field}" in text for field in POC_ENTRY), [field for field in POC_ENTRY if f"p.{field}" not in text])
    for example in ("poc", "production/terraform"):
        directory = os.path.join(TERRAFORM, "examples", example)
        want("image" in blocks(directory, "variable") and blocks(directory, "module")["karpenter"].get("image") == "var.image", f"{example}: nobody says where the image is")
    want("helm_release.node_termination_handler" in blocks(os.path.join(TERRAFORM, "examples/poc"), "resource"), "the proof of concept has no termination handler")
    queue = blocks(TERRAFORM, "resource")["aws_sqs_queue.interruption"]
    want((queue["message_retention_seconds"], queue["sqs_managed_sse_enabled"]) == ("300", "true"), queue)
    eks = open(os.path.join(TERRAFORM, "examples/production/terraform/eks.tf"), encoding="utf-8").read()
    group = re.search(r'(?ms)^resource "aws_eks_node_group" "bootstrap" \{\n.*?^\}', eks)[0]
    for line in ('instance_types = ["t4g.medium"]', 'capacity_type  = "ON_DEMAND"', "min_size     = 2", "max_size     = 3", "desired_size = 2", 'key    = "CriticalAddonsOnly"',
                 'effect = "NO_SCHEDULE"', 'role = "bootstrap"'):
        want(line in group, f"the bootstrap group has no {line}")


NAMES = {"partition": "aws", "region": "us-west-2", "account": "111122223333", "cluster": "demo", "node_role": "KarpenterNodeRole-demo", "queue": "karpenter-demo"}


def rendered(name):
    """A policy of the module, as Terraform renders it."""
    values = ", ".join(f'{k} = "{v}"' for k, v in NAMES.items())
    path = os.path.join(TERRAFORM, "policies", name + ".json.tftpl")
    p = subprocess.run(["terraform", "console"], input=f'templatefile("{path}", {{{values}}})\n', stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, cwd=VALUES)
    want(p.returncode == 0, p.stderr)
    return json.loads(re.sub(r"^<<EOT\n|\nEOT$", "", p.stdout.strip()))


def policies_are_what_the_controller_needs(_):
    """The rendered policies: every action has a place, and whatever makes, changes or ends something is bound to the cluster's tags."""
    command("terraform", "fmt", "-check", "-recursive", TERRAFORM)
    statements = {}
    for name in ("node-lifecycle", "iam-integration", "eks-integration", "interruption", "zonal-shift", "resource-discovery"):
        for s in rendered(name)["Statement"]:
            want(s["Effect"] == "Allow" and s["Sid"] not in statements, s)
            statements[s["Sid"]] = s
    expected = json.load(open(os.path.join(servers.HERE, "policies.json"), encoding="utf-8"))
    want(set(statements) == set(expected), sorted(set(statements) ^ set(expected)))
    as_list = lambda x: x if isinstance(x, list) else [x]
    for sid, (actions, kinds, conditions) in expected.items():
        s = statements[sid]
        want(sorted(as_list(s["Action"])) == sorted(actions), f"{sid}: {s['Action']}")
        want(sorted(r.split(":")[-1] if "/" not in r else r.split(":", 5)[-1] for r in as_list(s["Resource"])) == sorted(kinds), f"{sid}: {s['Resource']}")
        want(sorted(f"{op} {key}" for op, keys in s.get("Condition", {}).items() for key in keys) == sorted(conditions), f"{sid}: {s.get('Condition')}")
    events = json.load(open(os.path.join(TERRAFORM, "policies/events.json"), encoding="utf-8"))
    want(sorted((e["source"], e["detail_type"]) for e in events.values()) == [
        ("aws.ec2", "EC2 Capacity Reservation Instance Interruption Warning"), ("aws.ec2", "EC2 Instance Rebalance Recommendation"),
        ("aws.ec2", "EC2 Instance State-change Notification"), ("aws.ec2", "EC2 Spot Instance Interruption Warning"), ("aws.health", "AWS Health Event")], events)


def unpacked(c, archive):
    """Where the files of an image are now; and what its configuration says."""
    layout, root = archive + ".layout", archive + ".root"
    for path in (layout, root):
        os.makedirs(path)
    shutil.unpack_archive(archive, layout)
    manifest = json.load(open(os.path.join(layout, "manifest.json"), encoding="utf-8"))[0]
    command("tar", "-xzf", os.path.join(layout, manifest["Layers"][0]), "-C", root)
    want(json.load(open(root + "/usr/share/doc/karpenter/sbom.spdx.json", encoding="utf-8"))["spdxVersion"] == "SPDX-2.3", "the SBOM")
    shutil.copy(c.kubeconfig, root + "/kubeconfig")
    os.chmod(root + "/kubeconfig", 0o644)
    return root, json.load(open(os.path.join(layout, manifest["Config"]), encoding="utf-8"))


def runs_in_its_root(root, *emulator):
    """The program says its version, and as a controller it gets ready against the API server and ends well."""
    program = ["chroot", "--userspec=65532:65532", root, *emulator, "/usr/bin/karpenter"]
    want(command(*program, "version").stdout.startswith("karpenter "), "version")
    want(os.readlink(root + "/usr/bin/kubectl-karpenter") == "karpenter", "the plugin")
    metrics, probes = free_ports(2)
    p = subprocess.Popen([*program, "controller", "--provider", "kwok", "--kubeconfig", "/kubeconfig", "--metrics-port", str(metrics), "--health-probe-port", str(probes)],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        until(60 if emulator else 20, "it is ready", lambda: want(p.poll() is None, "it has ended") or Controller.ask(None, probes, "/readyz")[0] == 200)
    finally:
        p.terminate()
        out = p.communicate(timeout=30)[0]
    want(p.returncode == 0, out[-800:])


def image_runs(stage):
    """The image without an engine: twice the same bytes, small, and its program runs in its own root against the API server."""
    c = stage.cluster
    subprocess.run(["make", "-s", "all"], cwd=servers.ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    made = [os.path.join(c.work, f"image-{i}.tar") for i in (1, 2)]
    said = [command(os.path.join(servers.ROOT, "tools/image"), "-o", path).stdout for path in made]
    want(open(made[0], "rb").read() == open(made[1], "rb").read(), "two archives differ")
    size = float(re.search(r"([0-9.]+) MB compressed", said[0]).group(1))
    want(size <= 30, f"{size} MB")
    root, _ = unpacked(c, made[0])
    runs_in_its_root(root)


def image_for_arm64(stage):
    """The same for machines of another kind, made here and played by qemu."""
    if os.uname().machine != "x86_64":
        return  # there it is the image itself
    path = os.path.join(stage.cluster.work, "image-arm64.tar")
    command(os.path.join(servers.ROOT, "tools/image"), "--arch", "arm64", "-o", path)
    root, config = unpacked(stage.cluster, path)
    want(config["architecture"] == "arm64", config)
    shutil.copy(shutil.which("qemu-aarch64-static"), root + "/qemu")
    runs_in_its_root(root, "/qemu")


def package_installs(stage):
    """The Debian package: unpacked, its program runs; twice the same bytes."""
    c = stage.cluster
    made = [os.path.join(c.work, f"karpenter-{i}.deb") for i in (1, 2)]
    for path in made:
        command(os.path.join(servers.ROOT, "tools/deb"), "-o", path)
    want(open(made[0], "rb").read() == open(made[1], "rb").read(), "two packages differ")
    root = os.path.join(c.work, "deb")
    command("dpkg-deb", "-x", made[0], root)
    want(command(root + "/usr/bin/karpenter", "version").stdout.startswith("karpenter "), "version")
    want(os.path.exists(root + "/lib/systemd/system/karpenter.service"), "the unit")
    path = {"PATH": root + "/usr/bin:" + servers.BIN + ":" + os.environ["PATH"]}
    want(command("kubectl", "karpenter", "version", env=path).stdout.startswith("karpenter "), "the plugin")


def rights_are_needed(stage):
    """Each rule of the controller's roles is taken away once, and something is refused; with all of them nothing is."""
    c = stage.cluster
    stage.stop()  # nobody but those with fewer rights
    roles = {k: v for k, v in template("--set", "settings.provider=kwok").items() if k in (("ClusterRole", "karpenter-core"), ("ClusterRole", "karpenter"), ("Role", "karpenter"))}
    path = {"ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles/", "Role": f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}/roles/"}

    def rules(kind, name, those):
        c.call("PATCH", path[kind] + name, {"rules": those}, "application/merge-patch+json")

    def busy(name):
        """A node that comes, expires, is drained against a budget and goes; a buffer and an overlay beside it: every kind of write happens."""
        c.pool(name, expireAfter="6s", terminationGracePeriod="5s")
        c.create("PodDisruptionBudget", name, {"spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": name}}}})
        c.deployment(name, 1)
        c.create("CapacityBuffer", name, {"spec": {"scalableRef": {"apiGroup": "apps", "kind": "Deployment", "name": name}, "replicas": 0}})
        c.create("NodeOverlay", name, {"spec": {"requirements": [{"key": "karpenter.sh/nodepool", "operator": "In", "values": [name]}], "priceAdjustment": "+1%"}})

    def idle(name):
        for kind in ("CapacityBuffer", "NodeOverlay", "PodDisruptionBudget"):
            c.delete(kind, name)
        c.delete("Deployment", name)
        c.delete("NodePool", name)

    def refused(replica):
        return [l for l in replica.text().splitlines() if "forbidden" in l]

    n = 0
    for (kind, name), role in roles.items():
        for i, rule in enumerate(role["rules"]):
            n += 1
            rules(kind, name, role["rules"][:i] + role["rules"][i + 1:])
            c.delete("Lease", "karpenter-leader-election")
            busy(f"rule-{n}")
            replica = Controller(c, stage.program, f"rule-{n}", *stage.place.args, *GATES)
            try:
                until(45, f"{kind} {name} without {json.dumps(rule)}: something is refused", lambda r=replica: refused(r) or r.process.poll() is not None)
            finally:
                rules(kind, name, role["rules"])
                idle(f"rule-{n}")
                replica.kill()
    c.delete("Lease", "karpenter-leader-election")
    replica = Controller(c, stage.program, "all-rules", *stage.place.args, *GATES)
    busy("all-rules")
    try:
        c.ready_claims("all-rules")
        idle("all-rules")
        until(60, "everything goes", lambda: not c.list("NodeClaim"))
        want(not refused(replica), refused(replica)[:2])
    finally:
        stage.statuses.append(replica.stop())


SCENARIOS = [charts_are_well_formed, values_reach_the_program, every_value_does_something, policies_are_what_the_controller_needs, terraform_has_what_the_documents_name, rules_and_panels_ask_for_metrics_that_exist,
             rules_and_panels_are_good_promql, chart_installs, converted_manifests_are_accepted, definitions_by_their_chart, image_runs, image_for_arm64, package_installs, rights_are_needed]
