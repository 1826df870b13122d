#compdef karpenter
# zsh completion for karpenter

_karpenter_settings() {
    local -a keys
    keys=(PREFERENCE_POLICY MIN_VALUES_POLICY PACKING NODEPOOL_WEIGHT_ORDER FEATURE_GATES
        CONSOLIDATION CONSOLIDATION_MIN_SAVINGS CONSOLIDATION_MAX_REPLACEMENTS IGNORE_DRA_REQUESTS SCHEDULER_CONFIG)
    if compset -P 'PREFERENCE_POLICY='; then
        compadd Respect Ignore
    elif compset -P 'MIN_VALUES_POLICY='; then
        compadd Strict BestEffort
    elif compset -P 'NODEPOOL_WEIGHT_ORDER='; then
        compadd descending ascending
    elif compset -P 'PACKING='; then
        compadd compat
    elif compset -P 'FEATURE_GATES='; then
        compadd ReservedCapacity=true ReservedCapacity=false SpotToSpotConsolidation=true SpotToSpotConsolidation=false \
            CapacityBuffer=true CapacityBuffer=false NodeOverlay=true NodeOverlay=false
    elif compset -P 'CONSOLIDATION='; then
        compadd thorough compat
    elif compset -P 'IGNORE_DRA_REQUESTS='; then
        compadd true
    elif ! compset -P 'CONSOLIDATION_MIN_SAVINGS=' && ! compset -P 'CONSOLIDATION_MAX_REPLACEMENTS=' &&
        ! compset -P 'SCHEDULER_CONFIG='; then
        compadd -S = -- $keys
    fi
}

_karpenter_of_verb() {
    case ${words[2]} in
    capacity) ((CURRENT == 3)) && compadd spot on-demand ;;
    publish-ami) compadd al2023 bottlerocket windows ;;
    esac
}

_karpenter() {
    if ((CURRENT == 2)); then
        local -a commands
        commands=('plan:where pending pods would go' 'simulate:days of a cluster in seconds' 'controller:the autoscaler' 'demo:a Kubernetes cluster with Karpenter on this machine' 'convert:older manifests and node groups into NodePools' 'termination-handler:drains a node in EC2 before its end' 'version:print the version' 'help:help, or the help of a command')
        _describe command commands
        return
    fi
    case ${words[2]} in
    help) compadd plan simulate controller demo convert termination-handler version ;;
    plan)
        shift words
        ((CURRENT--))
        _arguments \
            '(--print-catalog)*'{-f,--filename}'[objects as YAML or JSON]:file, directory or -:_files' \
            '(--instance-types)--catalog[built-in instance types]:catalogue:(aws kwok fake\:)' \
            '(--catalog)--instance-types[instance types from a JSON file]:file:_files -g "*.json"' \
            '(-f --filename --disrupt --method)--print-catalog[print the instance types, plan nothing]' \
            '(--print-catalog)--disrupt[plan which nodes to remove]' \
            '(--print-catalog)--method[one pass of it]:method:(emptiness drift multi single all)' \
            '*--settings[a setting of the controller]:setting:_karpenter_settings' \
            '--now[plan as of this time]:RFC 3339 time:' \
            '(-o --output)'{-o,--output}'[format]:format:(table json yaml)' \
            '(-)'{-h,--help}'[summary]'
        ;;
    convert)
        shift words
        ((CURRENT--))
        _arguments \
            '*'{-f,--filename}'[objects as YAML or JSON]:file, directory or -:_files' \
            '(--instance-profile)--role[role of nodes]:name:' \
            '(--role)--instance-profile[instance profile of nodes]:name:' \
            '--cluster[name of the cluster]:name:' \
            '--check[only what would become of them]' \
            '(-o --output)'{-o,--output}'[format]:format:(yaml json)' \
            '(-)'{-h,--help}'[summary]'
        ;;
    simulate)
        shift words
        ((CURRENT--))
        _arguments \
            '*'{-f,--filename}'[what the cluster begins with]:file, directory or -:_files' \
            '--from-cluster[the same from a live cluster]' \
            '--kubeconfig[of that cluster]:file:_files' \
            '--context[of that kubeconfig]:context:' \
            '--trace[what happens]:file:_files' \
            '--for[how long to simulate]:duration:' \
            '--seed[of everything that is left to chance]:number:' \
            '*--compare[once more with these NodePools, or this setting]:file, directory or KEY=VALUE:_files' \
            '*--settings[a setting of the controller]:setting:_karpenter_settings' \
            '(--instance-types)--catalog[built-in instance types]:catalogue:(aws kwok fake\:)' \
            '(--catalog)--instance-types[instance types from a JSON file]:file:_files -g "*.json"' \
            '--boot[from a launch until the node is ready]:duration:' \
            '--start[from a place until a pod runs]:duration:' \
            '(-o --output)'{-o,--output}'[format]:format:(text json html)' \
            '--report[the HTML report into this file]:file:_files' \
            '--log[the log of the controller into this file]:file:_files' \
            '--name[of the first configuration]:name:' \
            '(-)'{-h,--help}'[summary]'
        ;;
    demo)
        shift words
        ((CURRENT--))
        _arguments \
            '(--bare)--tour[show what it does, and end]' \
            '--provider[who makes machines]:provider:(aws kwok)' \
            '(--tour)--bare[the cluster without controller and NodePool]' \
            '--kubeconfig[where to write the way in]:file:_files' \
            '--port[serve on this port]:port:' \
            '--nodes[machines of the bootstrap group]:number:' \
            '--speed[machines and pods are so many times as fast]:factor:' \
            '--data[keep the cluster in this file]:file:_files' \
            '--from[begin with the cluster in this file]:file:_files' \
            '(-)'{-h,--help}'[summary]' \
            '1:verb:(interrupt capacity publish-ami)' \
            '*:argument:_karpenter_of_verb'
        ;;
    controller)
        shift words
        ((CURRENT--))
        _arguments \
            '--provider=[who makes machines\: aws launches them in EC2, kwok makes Node objects without machines]:value:(aws kwok)' \
            '--kubeconfig=[file that says where the API server is; otherwise $KUBECONFIG, the pod'\''s service account, ~/.kube/config]:file:_files' \
            '--context=[context of the kubeconfig; otherwise its current one]:value:' \
            '--karpenter-service=[accepted and not used]:value:' \
            '--metrics-port=[port of /metrics; 0\: none]:value:' \
            '--health-probe-port=[port of /healthz and /readyz; 0\: none]:value:' \
            '--kube-client-qps=[calls a second to the API server]:value:' \
            '--kube-client-burst=[how many may come at once]:value:' \
            '--enable-profiling[accepted; there are no profiling handlers]' \
            '--disable-controller-warmup[accepted and not used\: watches begin at once, leading or not]' \
            '--disable-leader-election[act without holding the lease]' \
            '--disable-cluster-state-observability[no metrics of single pods, nodes, pools and conditions]' \
            '--leader-election-name=[name of the lease]:value:' \
            '--leader-election-namespace=[where the lease is; otherwise the pod'\''s own namespace]:value:' \
            '--memory-limit=[bytes; above nine tenths of them what planning remembers is given up; -1\: none]:value:' \
            '--cpu-requests=[millicores that the pod has; decides how many NodeClaims and Nodes are worked on side by side]:value:' \
            '--log-level=[debug, info or error]:value:(debug info error)' \
            '--log-output-paths=[stdout, stderr or files, comma separated]:file:_files' \
            '--log-error-output-paths=[where it is told that the log cannot be written]:file:_files' \
            '--batch-max-duration=[how long pods are waited for at most before planning]:value:' \
            '--batch-idle-duration=[planning begins when no pod has come for so long]:value:' \
            '--preference-policy=[Respect or Ignore preferred affinities and soft spreads]:value:(Respect Ignore)' \
            '--min-values-policy=[Strict, or BestEffort\: minValues may be lowered to what there is]:value:(Strict BestEffort)' \
            '--ignore-dra-requests[pods with resource claims are not planned for; must be true]' \
            '--feature-gates=[Name=true|false, comma separated; docs/feature-gates.md says what they do]:value:(NodeRepair= ReservedCapacity= SpotToSpotConsolidation= NodeOverlay= StaticCapacity= CapacityBuffer=)' \
            '--scheduler-config=[default topology spread constraints of the cluster'\''s scheduler, as YAML or JSON]:value:' \
            '--instance-types-file-path=[kwok\: JSON file with the instance types]:file:_files' \
            '--cluster-name=[aws\: name of the cluster, which is in the tags of what is made; required]:value:' \
            '--cluster-endpoint=[aws\: URL of the API server for new nodes; otherwise EKS is asked for it]:value:' \
            '--cluster-ca-bundle=[aws\: certificates that new nodes believe, base64 of PEM; otherwise those that the controller believes itself]:value:' \
            '--isolated-vpc[aws\: services without an endpoint in the VPC (IAM, prices on demand) are not asked]' \
            '--eks-control-plane[aws\: the cluster'\''s version is asked of EKS]' \
            '--vm-memory-overhead-percent=[aws\: share of the memory that a virtual machine does not give to its kernel]:value:' \
            '--interruption-queue=[aws\: name of the SQS queue with news of interruptions; empty\: none]:value:' \
            '--reserved-enis=[aws\: network interfaces of a machine that pods do not get]:value:' \
            '--disable-dry-run[aws\: node classes are not tried by dry runs before they are ready]' \
            '--enable-zonal-shift[aws\: nothing is launched in zones that ARC has shifted away from]' \
            '--ami-refresh-interval=[aws\: for how long found images are believed; at least 1m]:value:' \
            '--subnet-refresh-interval=[aws\: for how long found subnets are believed; at least 1m]:value:' \
            '--aws-feature-gates=[aws\: Name=true|false, comma separated; NodeClassCEL\: expressions in spec.kubelet of node classes]:value:(NodeClassCEL=)' \
            '--packing=[compat makes Karpenter'\''s own choices]:value:(compat)' \
            '--nodepool-weight-order=[descending\: the heaviest NodePool first; or ascending]:value:(descending ascending)' \
            '--consolidation=[thorough looks at every node, compat as far as Karpenter does]:value:(thorough compat)' \
            '--consolidation-min-savings=[what replacing nodes must save\: USD an hour, or a share (5%)]:value:' \
            '--consolidation-max-replacements=[how many new nodes may take the place of those that go]:value:' \
            '(-)'{-h,--help}'[summary]'
        ;;
    termination-handler)
        shift words
        ((CURRENT--))
        _arguments \
            '--node-name=[name of the Node that this program runs on; required, unless use-provider-id]:value:' \
            '--use-provider-id[the Node is the one whose spec.providerID has the machine'\''s id; needs the right to list nodes]' \
            '--kubeconfig=[file that says where the API server is; otherwise $KUBECONFIG, the pod'\''s service account, ~/.kube/config]:file:_files' \
            '--context=[context of the kubeconfig; otherwise its current one]:value:' \
            '--kubernetes-service-host=[in a pod\: another address of the API server]:value:' \
            '--kubernetes-service-port=[in a pod\: another port of the API server]:value:' \
            '--metadata-url=[where the instance metadata service is]:value:' \
            '--metadata-tries=[how often a question to it is asked before that counts as a failure]:value:' \
            '--enable-spot-interruption-draining[drain the node when EC2 takes a spot machine back]' \
            '--enable-scheduled-event-draining[drain the node when EC2 has scheduled maintenance for the machine; after a reboot it is uncordoned]' \
            '--enable-rebalance-monitoring[cordon the node when EC2 recommends to rebalance]' \
            '--enable-rebalance-draining[drain the node when EC2 recommends to rebalance]' \
            '--enable-asg-lifecycle-draining[drain the node when its Auto Scaling group wants the machine terminated]' \
            '--dry-run[say what would be done, and change nothing in the cluster]' \
            '--cordon-only[cordon, and leave the pods where they are]' \
            '--ignore-daemon-sets[pods of DaemonSets stay; otherwise a node that has some is cordoned and not drained, as kubectl drain does]' \
            '--delete-local-data[evict pods with emptyDir volumes, too; otherwise a node that has some is cordoned and not drained]' \
            '--pod-termination-grace-period=[seconds that every pod has to end; negative\: what the pod itself says]:value:' \
            '--grace-period=[the old name of pod-termination-grace-period, which wins over it]:value:' \
            '--node-termination-grace-period=[seconds that a drain may take (0\: no end), and before an event that it begins]:value:' \
            '--taint-node[taint the node with what is going to happen to it]' \
            '--taint-effect=[of that taint\: NoSchedule, PreferNoSchedule or NoExecute]:value:(NoSchedule PreferNoSchedule NoExecute)' \
            '--enable-out-of-service-taint[taint the drained node with node.kubernetes.io/out-of-service\: its volumes are detached at once]' \
            '--exclude-from-load-balancers[label the node with node.kubernetes.io/exclude-from-external-load-balancers]' \
            '--uptime-from-file=[read the seconds since the last boot here; otherwise /proc/uptime]:file:_files' \
            '--webhook-url=[where an event is posted to, after the node was cordoned or drained]:value:' \
            '--webhook-proxy=[proxy for that]:value:' \
            '--webhook-headers=[headers of what is posted, as JSON]:value:' \
            '--webhook-template=[what is posted; {{ .Field }} stands for a value]:value:' \
            '--webhook-template-file=[file with that template]:file:_files' \
            '--json-logging[log lines are JSON]' \
            '--log-level=[debug, info or error]:value:(debug info error)' \
            '--log-format-version=[accepted and not used]:value:' \
            '--enable-prometheus-server[serve /metrics]' \
            '--prometheus-server-port=[port of /metrics]:value:' \
            '--enable-probes-server[answer probes of the kubelet]' \
            '--probes-server-port=[port for these]:value:' \
            '--probes-server-endpoint=[path for these]:value:' \
            '--emit-kubernetes-events[write Events about the node]' \
            '--kubernetes-events-extra-annotations=[annotations of these Events besides those about the machine\: key=value, comma separated]:value:' \
            '--pod-name=[accepted and not used]:value:' \
            '--pod-namespace=[accepted and not used]:value:' \
            '--use-apiserver-cache[accepted and not used]' \
            '--enable-sqs-termination-draining[refused\: the controller listens to the queue (interruption-queue)]' \
            '--queue-url=[refused likewise]:value:' \
            '--heartbeat-interval=[refused likewise]:value:' \
            '--heartbeat-until=[refused likewise]:value:' \
            '--workers=[accepted and not used\: it is about the mode with a queue]:value:' \
            '--check-tag-before-draining[accepted and not used\: it is about the mode with a queue]' \
            '--check-asg-tag-before-draining[accepted and not used\: it is about the mode with a queue]' \
            '--managed-tag=[accepted and not used\: it is about the mode with a queue]:value:' \
            '--managed-asg-tag=[accepted and not used\: it is about the mode with a queue]:value:' \
            '--complete-lifecycle-action-delay-seconds=[accepted and not used\: it is about the mode with a queue]:value:' \
            '--delete-sqs-msg-if-node-not-found[accepted and not used\: it is about the mode with a queue]' \
            '--aws-region=[accepted and not used\: it is about the mode with a queue]:value:' \
            '--aws-endpoint=[accepted and not used\: it is about the mode with a queue]:value:' \
            '(-)'{-h,--help}'[summary]'
        ;;
    esac
}

_karpenter "$@"
