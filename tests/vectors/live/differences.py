"""Where a replay is meant to differ from the recording: (scenario, complaint, why), as regular expressions that match from their beginning.

docs/differences.md says the same to users. An entry that matches nothing in a run of all scenarios fails it.
"""
STILL_COMES = "the Node that was on its way when the process was killed is made by the next one, so the claim registers, and is drained when it is deleted"
DIFFERENCES = [
    ("003", r'log missing: provisioner: .*"computing scheduling decision.*"pending-pods": 1}', "both pods are there when the round begins: the second was recorded some milliseconds later"),
    ("016", r'write missing: nodeclaims <nodeclaim-1> lifecycle: .*"code": 404', "a claim that is gone is not looked at again: no cache is behind"),
    ("017", r'log (missing|too many): static\.deprovisioning default: .*"deleting nodeclaim"', "which of two equals goes first is left to a map there, and to their order here"),
    ("018", r'write missing: capacitybuffers spare lifecycle: {"body": {"metadata": {"resourceVersion": "<rv>"}},', "a patch that changes nothing is not sent"),
    ("018", r'log too many: provisioner: .*"computing scheduling decision.*"pending-pods": 1}', "of lines with one message only three were kept"),
    ("019|021", r'log too many: : .*"message": "stopping"}', "SIGTERM is heard"),
    ("020", r"event too many: \('NodeClaim', '<nodeclaim-1>', 'Normal', '(Registered|Initialized|Ready|Drained)',", STILL_COMES),
    ("020", r"event too many: \('Node', '', 'Normal', 'Finalized',", STILL_COMES),
    ("020", r"event too many: \('NodePool', 'default', 'Normal', 'NodeRegistrationHealthy',", STILL_COMES),
    ("020", r"condition \('NodeClaim', '<nodeclaim-1>', '(Registered|Initialized|Ready|Drained|VolumesDetached)'\):", STILL_COMES),
    ("020", r"condition \('NodePool', 'default', 'NodeRegistrationHealthy'\):", STILL_COMES),
    ("020", r"write (missing|too many): nodeclaims <nodeclaim-1> (lifecycle nodeclaims|termination)", STILL_COMES),
    ("020", r"write too many: (nodeclaims <nodeclaim-1> podevents|nodepools default health|nodes <node-1> all)", STILL_COMES),
    ("020", r"log too many: node\.termination <node-1>:", STILL_COMES),
    ("020", r"log (missing|too many): nodeclaim\.lifecycle <nodeclaim-1>:", STILL_COMES),
    ("024", r'log missing: state\.nodeclaim <nodeclaim-1>: .*"Reconciler error"', "what watches tell is no controller here; karpenter_nodepools_cost_tracker_errors_total counts it"),
    ("029", r'write too many: nodes <node> all: .*"code": 404', "a claim that goes before its Node has come takes the Node along, if there is one"),
]
