"""KWOKNodeClass: nodes without machines."""
from parts import AGE, READY, column, conditions, definition, obj, text


def kwoknodeclass():
    spec = obj({
        "nodeRegistrationDelay": text("How long after the launch the Node object appears.", pattern=r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"),
    }, description="How the nodes behave.")
    status = obj({"conditions": conditions()}, description="Whether it can be used.")
    status["default"] = {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2024-01-01T01:01:01Z", "message": "",
                                         "reason": "Ready"}]}
    return definition("karpenter.kwok.sh", "v1alpha1", "KWOKNodeClass", "kwoknodeclasses",
                      "KWOKNodeClass is the node class of nodes that exist as objects only.", [column("Ready", READY), AGE], spec, status,
                      required=())
