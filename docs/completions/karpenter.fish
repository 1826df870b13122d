# fish completion for karpenter
set -l commands plan demo version help
complete -c karpenter -f
complete -c karpenter -n "not __fish_seen_subcommand_from $commands" -a plan -d 'where pending pods would go'
complete -c karpenter -n "not __fish_seen_subcommand_from $commands" -a demo -d 'a Kubernetes cluster on this machine'
complete -c karpenter -n "not __fish_seen_subcommand_from $commands" -a version -d 'print the version'
complete -c karpenter -n "not __fish_seen_subcommand_from $commands" -a help -d 'help, or the help of a command'
complete -c karpenter -n '__fish_seen_subcommand_from help' -a 'plan demo version'
complete -c karpenter -n '__fish_seen_subcommand_from plan' -s f -l filename -r -F -d 'objects as YAML or JSON'
complete -c karpenter -n '__fish_seen_subcommand_from plan' -l catalog -x -a 'aws kwok fake:' -d 'built-in instance types'
complete -c karpenter -n '__fish_seen_subcommand_from plan' -l instance-types -r -F -d 'instance types from a JSON file'
complete -c karpenter -n '__fish_seen_subcommand_from plan' -l print-catalog -d 'print the instance types, plan nothing'
complete -c karpenter -n '__fish_seen_subcommand_from plan' -l disrupt -d 'plan which nodes to remove'
complete -c karpenter -n '__fish_seen_subcommand_from plan' -l method -x -a 'emptiness drift multi single all' -d 'one pass of it'
complete -c karpenter -n '__fish_seen_subcommand_from plan' -l settings -x -d 'a setting of the controller' -a '
    PREFERENCE_POLICY=Respect PREFERENCE_POLICY=Ignore MIN_VALUES_POLICY=Strict MIN_VALUES_POLICY=BestEffort PACKING=compat
    NODEPOOL_WEIGHT_ORDER=descending NODEPOOL_WEIGHT_ORDER=ascending FEATURE_GATES=ReservedCapacity=true
    FEATURE_GATES=ReservedCapacity=false FEATURE_GATES=SpotToSpotConsolidation=true
    FEATURE_GATES=SpotToSpotConsolidation=false CONSOLIDATION=thorough CONSOLIDATION=compat CONSOLIDATION_MIN_SAVINGS=
    CONSOLIDATION_MAX_REPLACEMENTS= IGNORE_DRA_REQUESTS=true SCHEDULER_CONFIG='
complete -c karpenter -n '__fish_seen_subcommand_from plan' -l now -x -d 'plan as of this time (RFC 3339)'
complete -c karpenter -n '__fish_seen_subcommand_from plan' -s o -l output -x -a 'table json yaml' -d 'format'
complete -c karpenter -n '__fish_seen_subcommand_from plan' -s h -l help -d 'summary'
complete -c karpenter -n '__fish_seen_subcommand_from demo' -l kubeconfig -r -F -d 'where to write the way in'
complete -c karpenter -n '__fish_seen_subcommand_from demo' -l port -x -d 'serve on this port'
complete -c karpenter -n '__fish_seen_subcommand_from demo' -l nodes -x -d 'machines to begin with'
complete -c karpenter -n '__fish_seen_subcommand_from demo' -l speed -x -d 'machines and pods are so many times as fast'
complete -c karpenter -n '__fish_seen_subcommand_from demo' -l data -r -F -d 'keep the cluster in this file'
complete -c karpenter -n '__fish_seen_subcommand_from demo' -s h -l help -d 'summary'
