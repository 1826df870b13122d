# bash completion for karpenter
_karpenter()
{
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} key=
    local settings='PREFERENCE_POLICY= MIN_VALUES_POLICY= PACKING=compat NODEPOOL_WEIGHT_ORDER= FEATURE_GATES=ReservedCapacity=
        FEATURE_GATES=SpotToSpotConsolidation= CONSOLIDATION= CONSOLIDATION_MIN_SAVINGS= CONSOLIDATION_MAX_REPLACEMENTS=
        IGNORE_DRA_REQUESTS=true SCHEDULER_CONFIG='

    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W 'plan demo version help --help --version' -- "$cur")
        return
    fi
    if [ "${COMP_WORDS[1]}" = help ]; then
        mapfile -t COMPREPLY < <(compgen -W 'plan demo version' -- "$cur")
        return
    fi
    if [ "${COMP_WORDS[1]}" = demo ]; then
        case $prev in
        --kubeconfig | --data)
            mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            compopt -o filenames
            ;;
        --port | --nodes | --speed) ;;
        *) mapfile -t COMPREPLY < <(compgen -W '--kubeconfig --port --nodes --speed --data -h --help' -- "$cur") ;;
        esac
        return
    fi
    [ "${COMP_WORDS[1]}" = plan ] || return
    if [ "$cur" = = ] || [ "$prev" = = ]; then # bash splits words at =
        [ "$prev" = = ] && key=${COMP_WORDS[COMP_CWORD - 2]} || { key=$prev; cur=; }
        case $key in
        PREFERENCE_POLICY) mapfile -t COMPREPLY < <(compgen -W 'Respect Ignore' -- "$cur") ;;
        MIN_VALUES_POLICY) mapfile -t COMPREPLY < <(compgen -W 'Strict BestEffort' -- "$cur") ;;
        NODEPOOL_WEIGHT_ORDER) mapfile -t COMPREPLY < <(compgen -W 'descending ascending' -- "$cur") ;;
        CONSOLIDATION) mapfile -t COMPREPLY < <(compgen -W 'thorough compat' -- "$cur") ;;
        ReservedCapacity | SpotToSpotConsolidation) mapfile -t COMPREPLY < <(compgen -W 'true false' -- "$cur") ;;
        esac
        return
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
