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
        compadd ReservedCapacity=true ReservedCapacity=false SpotToSpotConsolidation=true SpotToSpotConsolidation=false
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
        commands=('plan:where pending pods would go' 'demo:a Kubernetes cluster on this machine' 'version:print the version' 'help:help, or the help of a command')
        _describe command commands
        return
    fi
    case ${words[2]} in
    help) compadd plan demo version ;;
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
    demo)
        shift words
        ((CURRENT--))
        _arguments \
            '--kubeconfig[where to write the way in]:file:_files' \
            '--port[serve on this port]:port:' \
            '--nodes[machines to begin with]:number:' \
            '--speed[machines and pods are so many times as fast]:factor:' \
            '--data[keep the cluster in this file]:file:_files' \
            '(-)'{-h,--help}'[summary]'
        ;;
    esac
}

_karpenter "$@"
