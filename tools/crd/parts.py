"""Fragments of schemas that several kinds share, and the frame of a definition."""

KEY = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$"
LABEL_VALUE = r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"
QUANTITY = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
NILLABLE_DURATION = r"^(([0-9]+(s|m|h))+|Never)$"
DURATION = r"^([0-9]+(s|m|h))+$"

AWS_LABELS = [
    "capacity-reservation-type", "capacity-reservation-id", "capacity-reservation-interruptible", "ec2nodeclass",
    "instance-encryption-in-transit-supported", "nitro-sandbox", "instance-category", "instance-hypervisor", "instance-family",
    "instance-generation", "instance-local-nvme", "instance-size", "instance-cpu", "instance-cpu-manufacturer",
    "instance-cpu-sustained-clock-speed-mhz", "instance-memory", "instance-ebs-bandwidth", "instance-network-bandwidth",
    "instance-gpu-name", "instance-gpu-manufacturer", "instance-gpu-count", "instance-gpu-memory", "instance-accelerator-name",
    "instance-accelerator-manufacturer", "instance-accelerator-count", "instance-capability-flex", "instance-tenancy",
    "placement-group-id", "placement-group-partition",
]
OVERLAY_LACKS = {"instance-tenancy", "capacity-reservation-type", "capacity-reservation-id", "capacity-reservation-interruptible",
                 "placement-group-id", "placement-group-partition"}
KWOK_LABELS = ["instance-size", "instance-family", "instance-cpu", "instance-memory", "kwoknodeclass"]


def obj(properties, required=(), description=None, **more):
    return {**({"description": description} if description else {}), **more, "type": "object", "properties": properties,
            **({"required": list(required)} if required else {})}


def text(description=None, **more):
    return {**({"description": description} if description else {}), "type": "string", **more}


def integer(description=None, **more):
    return {**({"description": description} if description else {}), "type": "integer", **more}


def boolean(description=None, **more):
    return {**({"description": description} if description else {}), "type": "boolean", **more}


def items(item, description=None, **more):
    return {**({"description": description} if description else {}), "type": "array", "items": item, **more}


def rule(expression, message, **more):
    return {"rule": expression, "message": message, **more}


def quantities(description):
    return {"description": description, "type": "object", "additionalProperties": {
        "anyOf": [{"type": "integer"}, {"type": "string"}], "pattern": QUANTITY, "x-kubernetes-int-or-string": True}}


def domain_rules(value, nodepool_key_allowed, overlay=False):
    """Keys that only we may set. `value` is the expression for a key."""
    aws = [label for label in AWS_LABELS if not (overlay and label in OVERLAY_LACKS)]

    def domain(name, allowed, what):
        listed = ", ".join(f"'{name}/{label}'" for label in allowed)
        return rule(f"{value}.find('^([^/]+)').endsWith('{name}') ? {value} in [{listed}] : true", what)

    rules = [
        rule(f"{value} in ['karpenter.sh/capacity-type', 'karpenter.sh/nodepool'] || !{value}.find('^([^/]+)').endsWith('karpenter.sh')",
             'label domain "karpenter.sh" is restricted'),
        rule(f"{value} != 'kubernetes.io/hostname'", 'label "kubernetes.io/hostname" is restricted'),
        domain("karpenter.k8s.aws", aws, 'label domain "karpenter.k8s.aws" is restricted'),
        domain("karpenter.kwok.sh", KWOK_LABELS, 'label domain "karpenter.kwok.sh" is restricted'),
    ]
    if not nodepool_key_allowed:
        rules.insert(1, rule(f"{value} != 'karpenter.sh/nodepool'", 'label "karpenter.sh/nodepool" is restricted'))
    return rules


OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte"]


def requirements(description, nodepool_key_allowed, overlay=False):
    fields = {
        "key": text("Label that the requirement is about.", maxLength=316, pattern=KEY,
                    **{"x-kubernetes-validations": domain_rules("self", nodepool_key_allowed, overlay)}),
    }
    if not overlay:
        fields["minValues"] = integer("How many different values the instance types that are left must at least offer.", minimum=1, maximum=50)
    fields["operator"] = text("How the label's value relates to the values. Left out, it means In.", enum=OPERATORS, default="In")
    fields["values"] = items({"type": "string"}, "Values for In and NotIn; one whole number for Gt, Lt, Gte and Lte; none for Exists and "
                             "DoesNotExist.", **{"x-kubernetes-list-type": "atomic"})
    rules = [
        rule("self.all(x, x.operator == 'In' ? has(x.values) && x.values.size() != 0 : true)",
             "requirements with operator 'In' must have a value defined"),
        rule("self.all(x, x.operator in ['Gt', 'Lt', 'Gte', 'Lte'] ? (has(x.values) && x.values.size() == 1 && "
             "int(x.values[0]) >= 0) : true)",
             "requirements operator 'Gt', 'Lt', 'Gte', or 'Lte' must have a single positive integer value"),
    ]
    if overlay:
        rules.insert(1, rule("self.all(x, x.operator == 'NotIn' ? has(x.values) && x.values.size() != 0 : true)",
                             "requirements with operator 'NotIn' must have a value defined"))
    else:
        rules.append(rule("self.all(x, (x.operator == 'In' && has(x.minValues)) ? x.values.size() >= x.minValues : true)",
                          "requirements with 'minValues' must have at least that many values specified in the 'values' field"))
    return items(obj(fields, ["key"]), description, maxItems=100,
                 **{"x-kubernetes-list-type": "atomic", "x-kubernetes-validations": rules})


def taints(description):
    return items(obj({
        "effect": text("What happens to pods that do not tolerate the taint.", enum=["NoSchedule", "PreferNoSchedule", "NoExecute"]),
        "key": text("Name of the taint.", minLength=1, pattern=KEY),
        "timeAdded": text("When the taint was added.", format="date-time"),
        "value": text("Value of the taint.", pattern=KEY),
    }, ["effect", "key"]), description, **{"x-kubernetes-list-type": "atomic"})


def node_class_ref(immutable):
    more = {}
    if immutable:
        more["x-kubernetes-validations"] = [
            rule("self.group == oldSelf.group", "nodeClassRef.group is immutable"),
            rule("self.kind == oldSelf.kind", "nodeClassRef.kind is immutable"),
        ]
    return obj({
        "group": text("API group of the node class. Left out, it is that of EC2NodeClass.", pattern=r"^[^/]*$", default="karpenter.k8s.aws",
                      **{"x-kubernetes-validations": [rule("self != ''", "group may not be empty")]}),
        "kind": text("Kind of the node class. Left out, it is EC2NodeClass.", default="EC2NodeClass",
                     **{"x-kubernetes-validations": [rule("self != ''", "kind may not be empty")]}),
        "name": text("Name of the node class.", **{"x-kubernetes-validations": [rule("self != ''", "name may not be empty")]}),
    }, ["name"], "The node class that says how machines are made.", **more)


def expire_after():
    return text("How long a node may live before it is replaced, such as 720h; Never keeps it.", default="720h", pattern=NILLABLE_DURATION)


def termination_grace_period():
    return text("How long a node may take to drain. After that its pods are deleted whatever they ask for.", pattern=DURATION)


def conditions(loose=False):
    reason = r"^([A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?|)$" if loose else r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$"
    return items(obj({
        "lastTransitionTime": text("When the status last changed.", format="date-time"),
        "message": text("Details, for people.", maxLength=32768),
        "observedGeneration": integer("Generation of the object that the condition was computed from.", format="int64", minimum=0),
        "reason": text("Why, in one word.", maxLength=1024, **({} if loose else {"minLength": 1}), pattern=reason),
        "status": text("True, False or Unknown.", enum=["True", "False", "Unknown"]),
        "type": text("What the condition is about.", maxLength=316,
                     pattern=r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"),
    }, ["lastTransitionTime", "status", "type"] if loose else ["lastTransitionTime", "message", "reason", "status", "type"]),
        "What is known of the object's state.", **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["type"]})


def column(name, path, kind="string", priority=0):
    return {"jsonPath": path, "name": name, **({"priority": priority} if priority else {}), "type": kind}


READY = '.status.conditions[?(@.type=="Ready")].status'
AGE = column("Age", ".metadata.creationTimestamp", "date")


def definition(group, version, kind, plural, description, columns, spec, status, short_names=(), categories=("karpenter",), scope="Cluster",
               subresources=None, required=("spec",)):
    meta = {
        "apiVersion": text("Version of the schema that this object follows."),
        "kind": text("Kind of the object."),
        "metadata": {"type": "object"},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"annotations": {"controller-gen.kubebuilder.io/version": "v0.20.1"}, "name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "names": {"categories": list(categories), "kind": kind, "listKind": kind + "List", "plural": plural,
                      **({"shortNames": list(short_names)} if short_names else {}), "singular": kind.lower()},
            "scope": scope,
            "versions": [{
                "additionalPrinterColumns": columns,
                "name": version,
                "schema": {"openAPIV3Schema": obj({**meta, "spec": spec, "status": status}, required, description)},
                "served": True,
                "storage": True,
                "subresources": {**(subresources or {}), "status": {}},
            }],
        },
    }
