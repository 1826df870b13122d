"""CapacityBuffer of autoscaling.x-k8s.io."""
from parts import AGE, column, conditions, definition, integer, obj, quantities, rule, text


def capacitybuffer():
    spec = obj({
        "limits": quantities("The buffer never asks for more than this."),
        "percentage": integer("Size of the buffer as a percentage of the workload's replicas.", format="int32", minimum=0),
        "podTemplateRef": obj({"name": text("Name of a PodTemplate in the same namespace.", minLength=1)}, ["name"],
                              "The PodTemplate that one unit of the buffer looks like."),
        "provisioningStrategy": text("How the buffer is provided.", default="buffer.x-k8s.io/active-capacity"),
        "replicas": integer("How many units there should be.", format="int32", minimum=0),
        "scalableRef": obj({
            "apiGroup": text("API group of the workload."),
            "kind": text("Kind of the workload.", minLength=1),
            "name": text("Name of the workload.", minLength=1),
        }, ["kind", "name"], "The workload whose pods one unit of the buffer looks like."),
    }, description="How much room to keep, and for what.", **{"x-kubernetes-validations": [
        rule("!has(self.podTemplateRef) || has(self.replicas) || has(self.limits)",
             "If podTemplateRef is set, at least one of replicas or limits must also be set."),
        rule("!has(self.podTemplateRef) || !has(self.scalableRef)", "You must define exactly one of podTemplateRef or scalableRef, but not both."),
    ]})
    status = obj({
        "conditions": conditions(),
        "podTemplateGeneration": integer("Generation of the PodTemplate in use.", format="int64"),
        "podTemplateRef": obj({"name": text("Name of the PodTemplate.", minLength=1)}, ["name"], "The PodTemplate in use."),
        "provisioningStrategy": text("The strategy in use."),
        "replicas": integer("How many units there are.", format="int32"),
    }, description="What became of it.")
    columns = [
        column("Strategy", ".spec.provisioningStrategy"),
        column("PodTemplate", ".status.podTemplateRef.name"),
        column("Replicas", ".status.replicas", "integer"),
        column("ConditionsType", ".status.conditions[*].type"),
        column("ConditionsStatus", ".status.conditions[*].status"),
        column("ConditionsReason", ".status.conditions[*].reason"),
        AGE,
    ]
    return definition("autoscaling.x-k8s.io", "v1beta1", "CapacityBuffer", "capacitybuffers",
                      "CapacityBuffer keeps room for pods that are not there yet.", columns, spec, status, short_names=["cb"],
                      categories=["autoscaling"], scope="Namespaced")
