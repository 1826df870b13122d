"""Where a replay is meant to differ from the recording: (scenario, complaint, why), as regular expressions that match from their beginning.

docs/differences.md says the same to users. An entry that matches nothing in a run of all scenarios fails it.
"""
STILL_COMES = "the Node that was on its way when the process was killed is made by the next one, so the claim registers, and is drained when it is deleted"
NOT_BEHIND = "an object that is gone is not written to again: no cache is behind"
TAKEN_ALONG = "a claim that goes before its Node has come takes the Node along, if there is one"
TWO_PASSES = "recorded was a second pass, a second after the first: the Node was registered and its taint still in the cache"
NOT_SO_SLOW = "recorded was a pass while some of the five Nodes were being initialized, which takes no time here; what is said first about a Node hides the rest for two minutes"
FORGOTTEN = "Karpenter forgets what the pods of a Node cost when its NodeClaim changes, until it sees a pod or the Node again; here they count: 1 + 1 for the Node that is nominated"
CONFLICT = "recorded was a Node that the cache had within the look that launched it, and whose first patch must have been refused (answers 409 are not recorded); the next look came a second later"
DIFFERENCES = [
    ("", r'log too many: nodeclaim\.lifecycle .*"message": "launched node",', "said besides, for whoever searches logs for it"),
    ("", r'log too many: disruption\.queue.*"message": "consolidation delete",', "said besides, for whoever searches logs for it"),
    ("008", r"event missing: .*'DisruptionBlocked', 'Node is deleting or marked for deletion'\)", "the simulated kubelet stops the pod at once, so that the Node is gone before the next pass"),
    ("010", r"event missing: .*'DisruptionBlocked', \"Node isn't initialized\"\)", TWO_PASSES),
    ("010", r"event too many: .*'Unconsolidatable', 'NodePool \"default\" has consolidation disabled'\)", TWO_PASSES),
    ("012", r'log too many: provisioner: .*"computing scheduling decision.*"pending-pods": 0}', "a tainted Node asks for a round; recorded was one that found the claim of the replacement not launched yet, and was put off"),
    ("016|028", r'write missing: nodeclaims <nodeclaim-1> lifecycle: .*"code": 404', NOT_BEHIND),
    ("018", r'write missing: capacitybuffers spare lifecycle: {"body": {"metadata": {"resourceVersion": "<rv>"}},', "a patch that changes nothing is not sent"),
    ("018", r'log too many: provisioner: .*"computing scheduling decision.*"pending-pods": 1}', "of lines with one message only three were kept"),
    ("019|021", r'log too many: : .*"message": "stopping"}', "SIGTERM is heard"),
    ("020", r"event too many: \('NodeClaim', '<nodeclaim-1>', 'Normal', '(Registered|Initialized|Ready|Drained)',", STILL_COMES),
    ("020", r"event too many: \('Node', '', 'Normal', 'Finalized',", STILL_COMES),
    ("020", r"event too many: \('Node', '<node-1>', .*'(DisruptionBlocked|FailedDraining)',", STILL_COMES),
    ("020", r"event too many: \('NodePool', 'default', 'Normal', 'NodeRegistrationHealthy',", STILL_COMES),
    ("020", r"event too many: \('Pod', 'killed', 'Normal', 'Evicted',", STILL_COMES),
    ("020", r"condition \('NodeClaim', '<nodeclaim-1>', '(Registered|Initialized|Ready|Drained|VolumesDetached)'\):", STILL_COMES),
    ("020", r"condition \('NodePool', 'default', 'NodeRegistrationHealthy'\):", STILL_COMES),
    ("020", r"write (missing|too many): nodeclaims <nodeclaim-1> (lifecycle nodeclaims|termination)", STILL_COMES),
    ("020", r"write too many: (nodeclaims <nodeclaim-1> podevents|nodepools default health|nodes <node-1> all|pods killed all)", STILL_COMES),
    ("020", r"log (missing|too many): (nodeclaim\.lifecycle|node\.termination) <nodeclaim-1>:", STILL_COMES),
    ("022", r"event missing: .*'DisruptionBlocked', \"Node isn't initialized", NOT_SO_SLOW),
    ("022", r"event too many: .*'DisruptionBlocked', '(Pdb prevents|Pod has .*Pod=default/timed)", NOT_SO_SLOW),
    ("024", r'log missing: state\.nodeclaim <nodeclaim-1>: .*"Reconciler error"', "what watches tell is no controller here; karpenter_nodepools_cost_tracker_errors_total counts it"),
    ("025", r"event (missing|too many): .*'<(node|nodeclaim)-2>', 'Normal', 'ConsolidationApproved', 'score (1\.17|1\.56) .*savings 77\.8%", FORGOTTEN),
    ("025", r'log (missing|too many): disruption: .*"candidates": \["<node-2>"\].*"message": "consolidation score".*"nodepool_total_disruption_cost": [34],', FORGOTTEN),
    ("025", r"condition \('NodeClaim', '<nodeclaim-4>', 'Registered'\):", CONFLICT),
    ("025", r'write (missing|too many): nodeclaims <nodeclaim-4> lifecycle nodeclaims.*"change": {"Launched":', CONFLICT),
    ("026", r"write (missing|too many): nodepools default counter:", "in the replay a kubelet takes a second to fill in what a Node of kwok has when nothing was asked of it"),
    ("029", r'write too many: nodes <node> all: .*"code": 404', TAKEN_ALONG),
    ("032", r'write too many: nodes <node> all: .*"code": 404', TAKEN_ALONG),
    ("032", r"write missing: nodes <node-2> all:", TAKEN_ALONG),
    ("032", r"(write|log) (missing|too many): (nodeclaims|nodeclaim\.lifecycle) <nodeclaim-2>.*kwok://<node(-2)?>", TAKEN_ALONG),
    ("032", r'write missing: nodepools default counter: {"body": {"status": {"nodes": 2,', "the replacement is deleted before the next count"),
]

# Families of metrics.txt that have no series in any scenario.
WITHOUT_SERIES = {
    "karpenter_pods_provisioning_scheduling_undecided_time_seconds": "a pod is undecided for the second of its window, and no scenario ends in one",
    "operator_capacitybuffer_status_condition_count": "the buffer is gone when the scenario ends",
    "operator_capacitybuffer_status_condition_current_status_seconds": "the buffer is gone when the scenario ends",
}
