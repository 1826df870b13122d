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

_karpenter() {
    if ((CURRENT == 2)); then
        local -a commands
        commands=('plan:where pending pods would go' 'simulate:days of a cluster in seconds' 'controller:the autoscaler' 'demo:a Kubernetes cluster with Karpenter on this machine' 'convert:older manifests and node groups into NodePools' 'version:print the version' 'help:help, or the help of a command')
        _describe command commands
        return
    fi
    case ${words[2]} in
    help) compadd plan simulate controller demo convert version ;;
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
            '*:argument:'
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
            '--memory-limit=[accepted and not used\: memory follows the cluster]:value:' \
            '--cpu-requests=[millicores that the pod has; decides how many NodeClaims and Nodes are worked on side by side]:value:' \
            '--log-level=[debug, info or error]:value:(debug info error)' \
            '--log-output-paths=[stdout, stderr or files, comma separated]:file:_files' \
            '--log-error-output-paths=[accepted and not used]:file:_files' \
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
    esac
}

_karpenter "$@"
