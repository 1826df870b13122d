"""NodePool, NodeClaim, NodeOverlay: the kinds of karpenter.sh."""
from parts import (AGE, LABEL_VALUE, NILLABLE_DURATION, READY, column, conditions, definition, domain_rules, expire_after, integer, items,
                   node_class_ref, obj, quantities, requirements, rule, taints, termination_grace_period, text)

POLICIES = ["WhenEmpty", "WhenEmptyOrUnderutilized", "Balanced", "WhenUnderutilized"]


def budgets():
    budget = obj({
        "duration": text("How long the budget is active after each hit of the schedule, in hours and minutes.",
                         pattern=r"^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$"),
        "nodes": text("How many nodes may be disrupted at once: a number, or a percentage of the NodePool's nodes, rounded up.", default="10%",
                      pattern=r"^((100|[0-9]{1,2})%|[0-9]+)$"),
        "reasons": items({"type": "string", "enum": ["Underutilized", "Empty", "Drifted"]}, "The reasons that the budget is for; none listed: all.",
                         maxItems=50, **{"x-kubernetes-list-type": "set"}),
        "schedule": text("When the budget begins to be active, as a cron line in UTC. Without it the budget is always active.",
                         pattern=r"^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\s(.+)\s(.+)\s(.+)\s(.+))$"),
    }, ["nodes"])
    return items(budget, "How many nodes may be disrupted at once. The strictest budget that is active counts.", maxItems=50,
                 default=[{"nodes": "10%"}],
                 **{"x-kubernetes-list-type": "atomic",
                    "x-kubernetes-validations": [rule("self.all(x, has(x.schedule) == has(x.duration))",
                                                      "'schedule' must be set with 'duration'")]})


def disruption():
    return obj({
        "budgets": budgets(),
        "consolidateAfter": text("How long a node must have been left alone by pods before it may be consolidated; Never: it never may.",
                                 default="0s", pattern=NILLABLE_DURATION),
        "consolidationPolicy": text("Which nodes may be consolidated: empty ones, all that are not worth their price, or those where the savings are in "
                                    "proportion to the disruption. WhenUnderutilized is the old name of WhenEmptyOrUnderutilized.",
                                    default="WhenEmptyOrUnderutilized", enum=POLICIES),
        "expireAfter": text("Old place of spec.template.spec.expireAfter: counts when that is absent or at its default.", pattern=NILLABLE_DURATION),
    }, description="When nodes may be taken away, and how many at once.", default={"consolidateAfter": "0s"})


def template():
    labels = {"description": "Labels of the nodes.", "type": "object", "maxProperties": 100,
              "additionalProperties": text(maxLength=63, pattern=LABEL_VALUE), "x-kubernetes-map-type": "atomic",
              "x-kubernetes-validations": [
                  {**r, "rule": f"self.all(x, {r['rule']})"} for r in domain_rules("x", nodepool_key_allowed=False)]}
    metadata = obj({
        "annotations": {"description": "Annotations of the nodes.", "type": "object", "additionalProperties": {"type": "string"}},
        "labels": labels,
    }, description="Labels and annotations of the nodes.")
    spec = obj({
        "expireAfter": expire_after(),
        "nodeClassRef": node_class_ref(immutable=True),
        "requirements": requirements("What the nodes' labels must be: instance types, zones, capacity types and more.", nodepool_key_allowed=False),
        "startupTaints": taints("Taints that something else removes once a node is set up; pods need not tolerate them."),
        "taints": taints("Taints of the nodes; pods must tolerate them."),
        "terminationGracePeriod": termination_grace_period(),
    }, ["nodeClassRef", "requirements"], "What every node of this NodePool is like.")
    return obj({"metadata": metadata, "spec": spec}, ["spec"], "What NodeClaims of this NodePool are made from.")


def nodepool():
    spec = obj({
        "disruption": disruption(),
        "limits": quantities("How much the nodes of this NodePool may add up to; nothing new is launched beyond it."),
        "replicas": integer("A fixed number of nodes, whether pods need them or not.", format="int64", minimum=0),
        "template": template(),
        "weight": integer("NodePools with a higher weight are tried first.", format="int32", minimum=1, maximum=100),
    }, ["template"], "What nodes of this NodePool are like, how many there may be, and when they may go.", **{"x-kubernetes-validations": [
        rule("has(self.replicas) == has(oldSelf.replicas)", "Cannot transition NodePool between static (replicas set) and dynamic (replicas unset) provisioning modes"),
        rule("!has(self.replicas) || (!has(self.limits) || size(self.limits) == 0 || (size(self.limits) == 1 && 'nodes' in self.limits))",
             "only 'limits.nodes' is supported on static NodePools"),
        rule("!has(self.replicas) || !has(self.weight)", "'weight' is not supported on static NodePools"),
    ]})
    status = obj({
        "conditions": conditions(),
        "nodeClassObservedGeneration": integer("Generation of the node class that node registrations were last judged by.", format="int64"),
        "nodes": integer("How many nodes there are.", format="int64", default=0),
        "resources": quantities("What the nodes add up to."),
    }, description="What the controller knows of the NodePool.")
    columns = [
        column("NodeClass", ".spec.template.spec.nodeClassRef.name"),
        column("Nodes", ".status.nodes"),
        column("Ready", READY),
        AGE,
        column("Weight", ".spec.weight", "integer", 1),
        column("CPU", ".status.resources.cpu", priority=1),
        column("Memory", ".status.resources.memory", priority=1),
    ]
    return definition("karpenter.sh", "v1", "NodePool", "nodepools", "NodePool says what nodes may be launched for pods that wait, and when they may go again.",
                      columns, spec, status,
                      subresources={"scale": {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.nodes"}})


def label_column(name, label, priority=0):
    return column(name, ".metadata.labels." + label.replace(".", r"\."), priority=priority)


def nodeclaim():
    spec = obj({
        "expireAfter": expire_after(),
        "nodeClassRef": node_class_ref(immutable=False),
        "requirements": requirements("What the node's labels must be.", nodepool_key_allowed=True),
        "resources": obj({"requests": quantities("What the instance must have at least.")}, description="What the pods that it is for ask for."),
        "startupTaints": taints("Taints that something else removes once the node is set up."),
        "taints": taints("Taints of the node."),
        "terminationGracePeriod": termination_grace_period(),
    }, ["nodeClassRef", "requirements"], "What the node has to be like.",
        **{"x-kubernetes-validations": [rule("self == oldSelf", "spec is immutable")]})
    status = obj({
        "allocatable": quantities("What pods may use of it, as estimated."),
        "capacity": quantities("What the instance has, as estimated."),
        "conditions": conditions(loose=True),
        "imageID": text("Image that the instance runs."),
        "lastPodEventTime": text("When a pod last came to the node or left it.", format="date-time"),
        "nodeName": text("Name of the Node."),
        "providerID": text("Name of the instance with its provider."),
    }, description="What became of it.")
    columns = [
        label_column("Type", "node.kubernetes.io/instance-type"),
        label_column("Capacity", "karpenter.sh/capacity-type"),
        label_column("Zone", "topology.kubernetes.io/zone"),
        column("Node", ".status.nodeName"),
        column("Ready", READY),
        AGE,
        column("ImageID", ".status.imageID", priority=1),
        column("ID", ".status.providerID", priority=1),
        label_column("NodePool", "karpenter.sh/nodepool", 1),
        column("NodeClass", ".spec.nodeClassRef.name", priority=1),
        column("Drifted", '.status.conditions[?(@.type=="Drifted")].status', priority=1),
    ]
    return definition("karpenter.sh", "v1", "NodeClaim", "nodeclaims", "NodeClaim is one node: asked for, launched, registered, and in the end gone.",
                      columns, spec, status)


def nodeoverlay():
    capacity = quantities("Resources that the instance types are said to have as well, or in another amount.")
    capacity["x-kubernetes-validations"] = [
        rule("self.all(x, !(x in ['cpu', 'memory', 'ephemeral-storage', 'pods']))", "invalid resource restricted")]
    spec = obj({
        "capacity": capacity,
        "price": text("Price per hour instead of the provider's.", pattern=r"^\d+(\.\d+)?$"),
        "priceAdjustment": text("Added to the provider's price: an amount such as +0.5 or a percentage such as -10%.",
                                pattern=r"^(([+-]{1}(\d*\.?\d+))|(\+{1}\d*\.?\d+%)|(^(-\d{1,2}(\.\d+)?%)$)|(-100%))$"),
        "requirements": requirements("Which instance types and offerings it is for; none: all.", nodepool_key_allowed=True, overlay=True),
        "weight": integer("Of several overlays for the same thing the one with the highest weight counts.", format="int32", minimum=1, maximum=10000),
    }, ["requirements"], "What is different about which instance types.", **{"x-kubernetes-validations": [
        rule("!has(self.price) || !has(self.priceAdjustment)", "cannot set both 'price' and 'priceAdjustment'")]})
    columns = [column("Ready", READY), AGE, column("Weight", ".spec.weight", "integer", 1)]
    return definition("karpenter.sh", "v1alpha1", "NodeOverlay", "nodeoverlays", "NodeOverlay changes what is believed of instance types: price, extra resources.",
                      columns, spec, obj({"conditions": conditions()}, description="Whether the overlay is in use."), short_names=["overlays"])
