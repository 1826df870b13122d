# bash completion for karpenter
_karpenter()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} key=
    local settings='PREFERENCE_POLICY= MIN_VALUES_POLICY= PACKING=compat NODEPOOL_WEIGHT_ORDER= FEATURE_GATES=ReservedCapacity=
        FEATURE_GATES=SpotToSpotConsolidation= FEATURE_GATES=CapacityBuffer= FEATURE_GATES=NodeOverlay= CONSOLIDATION= CONSOLIDATION_MIN_SAVINGS= CONSOLIDATION_MAX_REPLACEMENTS=
        IGNORE_DRA_REQUESTS=true SCHEDULER_CONFIG='

    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W 'plan simulate controller demo convert termination-handler version help --help --version' -- "$cur")
        return
    fi
    if [ "${COMP_WORDS[1]}" = help ]; then
        mapfile -t COMPREPLY < <(compgen -W 'plan simulate controller demo convert termination-handler version' -- "$cur")
        return
    fi
    if [ "${COMP_WORDS[1]}" = demo ]; then
        case $prev in
        --kubeconfig | --data | --from)
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            compopt -o filenames
            ;;
        --provider) mapfile -t COMPREPLY < <(compgen -W 'aws kwok' -- "$cur") ;;
        --port | --nodes | --speed | interrupt) ;;
        capacity) mapfile -t COMPREPLY < <(compgen -W 'spot on-demand' -- "$cur") ;;
        publish-ami) mapfile -t COMPREPLY < <(compgen -W 'al2023 bottlerocket windows' -- "$cur") ;;
        *) mapfile -t COMPREPLY < <(compgen -W 'interrupt capacity publish-ami --tour --provider --bare --kubeconfig --port --nodes --speed --data --from -h --help' -- "$cur") ;;
        esac
        return
    fi
    if [ "${COMP_WORDS[1]}" = convert ]; then
        case $prev in
        -f | --filename)
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            compopt -o filenames
            ;;
        -o | --output) mapfile -t COMPREPLY < <(compgen -W 'yaml json' -- "$cur") ;;
        --role | --instance-profile | --cluster) ;;
        *) mapfile -t COMPREPLY < <(compgen -W '-f --filename --role --instance-profile --cluster --check -o --output -h --help' -- "$cur") ;;
        esac
        return
    fi
    if [ "${COMP_WORDS[1]}" = controller ]; then
        local flags='--provider --kubeconfig --context --karpenter-service --metrics-port
            --health-probe-port --kube-client-qps --kube-client-burst --enable-profiling --disable-controller-warmup
            --disable-leader-election --disable-cluster-state-observability --leader-election-name --leader-election-namespace --memory-limit
            --cpu-requests --log-level --log-output-paths --log-error-output-paths --batch-max-duration
            --batch-idle-duration --preference-policy --min-values-policy --ignore-dra-requests --feature-gates
            --scheduler-config --instance-types-file-path --packing --nodepool-weight-order --consolidation
            --consolidation-min-savings --consolidation-max-replacements
            --cluster-name --cluster-endpoint --cluster-ca-bundle --isolated-vpc --eks-control-plane
            --vm-memory-overhead-percent --interruption-queue --reserved-enis --disable-dry-run --enable-zonal-shift
            --ami-refresh-interval --subnet-refresh-interval --aws-feature-gates -h --help'
        if [ "$cur" = = ]; then # bash splits words at =
            cur=
        elif [ "$prev" = = ]; then
            prev=${COMP_WORDS[COMP_CWORD - 2]}
        fi
        case $prev in
        --kubeconfig | --log-output-paths | --log-error-output-paths | --instance-types-file-path)
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            compopt -o filenames
            ;;
        --provider) mapfile -t COMPREPLY < <(compgen -W 'aws kwok' -- "$cur") ;;
        --log-level) mapfile -t COMPREPLY < <(compgen -W 'debug info error' -- "$cur") ;;
        --preference-policy) mapfile -t COMPREPLY < <(compgen -W 'Respect Ignore' -- "$cur") ;;
        --min-values-policy) mapfile -t COMPREPLY < <(compgen -W 'Strict BestEffort' -- "$cur") ;;
        --packing) mapfile -t COMPREPLY < <(compgen -W 'compat' -- "$cur") ;;
        --nodepool-weight-order) mapfile -t COMPREPLY < <(compgen -W 'descending ascending' -- "$cur") ;;
        --consolidation) mapfile -t COMPREPLY < <(compgen -W 'thorough compat' -- "$cur") ;;
        --feature-gates)
            mapfile -t COMPREPLY < <(compgen -W 'NodeRepair= ReservedCapacity= SpotToSpotConsolidation= NodeOverlay= StaticCapacity= CapacityBuffer=' -- "$cur")
            compopt -o nospace
            ;;
        --aws-feature-gates)
            mapfile -t COMPREPLY < <(compgen -W 'NodeClassCEL=' -- "$cur")
            compopt -o nospace
            ;;
        --context | --karpenter-service | --metrics-port | --health-probe-port | \
            --kube-client-qps | --kube-client-burst | --leader-election-name | --leader-election-namespace | \
            --memory-limit | --cpu-requests | --batch-max-duration | --batch-idle-duration | \
            --cluster-name | --cluster-endpoint | --cluster-ca-bundle | --vm-memory-overhead-percent | \
            --interruption-queue | --reserved-enis | --ami-refresh-interval | --subnet-refresh-interval | \
            --scheduler-config | --consolidation-min-savings | --consolidation-max-replacements) ;;
        *) mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$cur") ;;
        esac
        return
    fi
    if [ "${COMP_WORDS[1]}" = termination-handler ]; then
        local flags='--node-name --use-provider-id --kubeconfig --context --kubernetes-service-host --kubernetes-service-port
            --metadata-url --metadata-tries --enable-spot-interruption-draining --enable-scheduled-event-draining
            --enable-rebalance-monitoring --enable-rebalance-draining --enable-asg-lifecycle-draining --dry-run
            --cordon-only --ignore-daemon-sets --delete-local-data --pod-termination-grace-period --grace-period
            --node-termination-grace-period --taint-node --taint-effect --enable-out-of-service-taint
            --exclude-from-load-balancers --uptime-from-file --webhook-url --webhook-proxy --webhook-headers
            --webhook-template --webhook-template-file --json-logging --log-level --log-format-version
            --enable-prometheus-server --prometheus-server-port --enable-probes-server --probes-server-port
            --probes-server-endpoint --emit-kubernetes-events --kubernetes-events-extra-annotations --pod-name
            --pod-namespace --use-apiserver-cache --enable-sqs-termination-draining --queue-url --heartbeat-interval
            --heartbeat-until --workers --check-tag-before-draining --check-asg-tag-before-draining --managed-tag
            --managed-asg-tag --complete-lifecycle-action-delay-seconds --delete-sqs-msg-if-node-not-found --aws-region
            --aws-endpoint -h --help'
        if [ "$cur" = = ]; then # bash splits words at =
            cur=
        elif [ "$prev" = = ]; then
            prev=${COMP_WORDS[COMP_CWORD - 2]}
        fi
        case $prev in
        --kubeconfig | --uptime-from-file | --webhook-template-file)
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            compopt -o filenames
            ;;
        --log-level) mapfile -t COMPREPLY < <(compgen -W 'debug info error' -- "$cur") ;;
        --taint-effect) mapfile -t COMPREPLY < <(compgen -W 'NoSchedule PreferNoSchedule NoExecute' -- "$cur") ;;
        --node-name | --context | --kubernetes-service-host | --kubernetes-service-port | --metadata-url | \
            --metadata-tries | --pod-termination-grace-period | --grace-period | --node-termination-grace-period | \
            --webhook-url | --webhook-proxy | --webhook-headers | --webhook-template | --log-format-version | \
            --prometheus-server-port | --probes-server-port | --probes-server-endpoint | \
            --kubernetes-events-extra-annotations | --pod-name | --pod-namespace | --queue-url | \
            --heartbeat-interval | --heartbeat-until | --workers | --managed-tag | --managed-asg-tag | \
            --complete-lifecycle-action-delay-seconds | --aws-region | --aws-endpoint) ;;
        *) mapfile -t COMPREPLY < <(compgen -W "$flags" -- "$cur") ;;
        esac
        return
    fi
    [ "${COMP_WORDS[1]}" = plan ] || [ "${COMP_WORDS[1]}" = simulate ] || return
    if [ "$cur" = = ] || [ "$prev" = = ]; then # bash splits words at =
        [ "$prev" = = ] && key=${COMP_WORDS[COMP_CWORD - 2]} || { key=$prev; cur=; }
        case $key in
        PREFERENCE_POLICY) mapfile -t COMPREPLY < <(compgen -W 'Respect Ignore' -- "$cur") ;;
        MIN_VALUES_POLICY) mapfile -t COMPREPLY < <(compgen -W 'Strict BestEffort' -- "$cur") ;;
        NODEPOOL_WEIGHT_ORDER) mapfile -t COMPREPLY < <(compgen -W 'descending ascending' -- "$cur") ;;
        CONSOLIDATION) mapfile -t COMPREPLY < <(compgen -W 'thorough compat' -- "$cur") ;;
        ReservedCapacity | SpotToSpotConsolidation | CapacityBuffer | NodeOverlay) mapfile -t COMPREPLY < <(compgen -W 'true false' -- "$cur") ;;
        esac
        return
    fi
    if [ "${COMP_WORDS[1]}" = simulate ]; then
        case $prev in
        --trace | --compare | --report | --log | --kubeconfig)
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            compopt -o filenames
            return
            ;;
        -o | --output)
            mapfile -t COMPREPLY < <(compgen -W 'text json html' -- "$cur")
            return
            ;;
        --for | --seed | --boot | --start | --context | --name) return ;;
        -f | --filename | --instance-types | --catalog | --settings) ;;
        *)
            mapfile -t COMPREPLY < <(compgen -W '-f --filename --from-cluster --kubeconfig --context --trace --for --seed --compare --settings
                --catalog --instance-types --boot --start -o --output --report --log --name -h --help' -- "$cur")
            return
            ;;
        esac
    fi
    case $prev in
    -f | --filename | --instance-types)
        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
        compopt -o filenames
        ;;
    -o | --output) mapfile -t COMPREPLY < <(compgen -W 'table json yaml' -- "$cur") ;;
    --catalog) mapfile -t COMPREPLY < <(compgen -W 'aws kwok fake:' -- "$cur") ;;
    --settings)
        mapfile -t COMPREPLY < <(compgen -W "$settings" -- "$cur")
        compopt -o nospace
        ;;
    --method) mapfile -t COMPREPLY < <(compgen -W 'emptiness drift multi single all' -- "$cur") ;;
    --now) ;;
    *)
        mapfile -t COMPREPLY < <(compgen -W '-f --filename --catalog --instance-types --print-catalog --disrupt --method --settings --now -o --output -h --help' -- "$cur")
        ;;
    esac
}
complete -F _karpenter karpenter
