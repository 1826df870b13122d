/* What is said of candidates that stay: Karpenter's sentence, what is in the way, and what would have to be different. */
#include "machines.h"
#include "support/scenario.h"

#define SINGLE "method single\n" TYPES

static const struct scenario scenarios[] = {
    {"a pod without a place", SINGLE POOL SMALL("n") "\npod p node=n cpu=500m mem=1Gi sel=foo=bar",
     "text.n=Not_all_pods_would_schedule,_default/p_=>_incompatible_requirements,_label_\"foo\"_does_not_have_known_values_ "
     "fix.n=make_room_for_Pod_default/p_(cpu_500m,_memory_1Gi):_on_another_node,_or_with_a_NodePool_that_suits_it "
     "object.n=Pod_default/p"},
    {"five of them", SINGLE POOL SMALL("n") "\npod p x5 node=n sel=foo=bar",
     "text.n=Not_all_pods_would_schedule,_default/p-0_=>_incompatible_requirements,_label_\"foo\"_does_not_have_known_values_default/p-1_=>_incompatible_requirements,_label_\"foo\"_does_not_have_known_values_default/p-2_=>_incompatible_requirements,_label_\"foo\"_does_not_have_known_values_default/p-3_=>_incompatible_requirements,_label_\"foo\"_does_not_have_known_values_default/p-4_=>_incompatible_requirements,_label_\"foo\"_does_not_have_known_values__and_0_other(s) "
     "fix.n=make_room_for_Pod_default/p-0:_on_another_node,_or_with_a_NodePool_that_suits_it "
     "object.n=Pod_default/p-0"},
    {"a node that is not initialized", SINGLE POOL SMALL("n") "\n" SMALL("new") " registered\npod p node=n cpu=1",
     "text.n=Not_all_pods_would_schedule,_default/p_=>_would_schedule_against_uninitialized_nodeclaim/new-claim,_node/new_ "
     "fix.n=wait_until_Node_new_is_initialized "
     "object.n=Pod_default/p"},
    {"several new nodes", SINGLE "pool default budget=100% req='itype In small'\n" BIG("n") "\npod p x3 node=n cpu=1.5",
     "text.n=Can't_remove_without_creating_3_candidates "
     "fix.n=let_NodePool_default_use_types_that_hold_its_3_pods_together,_or_make_room_on_other_nodes "
     "object.n=NodePool_default"},
    {"minValues", SINGLE "pool default budget=100% req='itype Exists min 3'\n" BIG("n") "\npod p node=n cpu=1",
     "text.n=Filtering_by_price:_minValues_requirement_is_not_met_for_label(s)_(label(s)=[node.kubernetes.io/instance-type]) "
     "fix.n=lower_minValues_of_NodePool_default:_2_instance_types_cost_less_than_its_$0.4000_an_hour "
     "object.n=NodePool_default"},
    {"nothing cheaper", SINGLE POOL MEDIUM("n") "\npod p x3 node=n cpu=1",
     "text.n=Can't_replace_with_a_cheaper_node "
     "fix.n=ask_for_less,_or_allow_types_below_its_$0.2000_an_hour:_the_cheapest_that_holds_its_3_pods_costs_$0.2000 "
     "object.n=Node_n"},
    {"cheaper, but not everywhere",
     "type a cpu=8 mem=32Gi offer='on-demand z1 0.4'\ntype b cpu=4 mem=16Gi offer='spot z1 0.1|spot z2 0.41'\n"
     "method single\npool default budget=100%\nnode n cpu=8 mem=32Gi label=itype=a,ct=on-demand,zone=z1\npod p node=n cpu=1",
     "text.n=Can't_replace_with_a_cheaper_node "
     "fix.n=keep_to_zones_and_capacity_types_below_its_$0.4000_an_hour:_replacements_start_at_$0.1000,_but_may_cost_more "
     "object.n=Node_n"},
    {"its price is not known",
     SINGLE POOL "node n cpu=8 mem=32Gi label=itype=big,ct=on-demand,zone=z3\npod p node=n cpu=1",
     "text.n=Can't_replace_with_a_cheaper_node "
     "fix.n=use_a_catalogue_with_a_price_for_its_type,_zone_and_capacity_type "
     "object.n=Node_n"},
    {"spot for spot",
     "method single\ncatalog fake:40\npool default budget=100% req='ct In spot'\nnode n cpu=30 mem=60Gi label=itype=fake-it-30,ct=spot,zone=z1\npod p node=n cpu=0.1",
     "text.n=SpotToSpotConsolidation_is_disabled,_can't_replace_a_spot_node_with_a_spot_node "
     "fix.n=set_FEATURE_GATES=SpotToSpotConsolidation=true:_its_pods_fit_on_a_node_for_$0.3147_an_hour,_it_costs_$9.7572 "
     "object.n=-"},
    {"spot for spot, few types",
     "set FEATURE_GATES=SpotToSpotConsolidation=true\nmethod single\ncatalog fake:40\npool default budget=100% req='ct In spot'\nnode n cpu=30 mem=60Gi label=itype=fake-it-9,ct=spot,zone=z1\npod p node=n cpu=0.1",
     "text.n=SpotToSpotConsolidation_requires_15_cheaper_instance_type_options_than_the_current_candidate_to_consolidate,_got_9 "
     "fix.n=let_NodePool_default_use_more_instance_types_below_its_$3.1475_an_hour:_9_of_15_are_there "
     "object.n=NodePool_default"},
    {"Balanced",
     SINGLE "pool default policy=Balanced budget=100%\n" ROOM BIG("a") " note=dnd=true\n" SMALL(
         "b") "\npod p node=a cpu=1\npod q x15 node=b cpu=0.1",
     "text.b=Balanced:_score_0.23_<_threshold_0.50_(k:_2,_savings_20.0%,_disruption_88.9%) "
     "fix.b=set_consolidationPolicy_of_NodePool_default_to_WhenEmptyOrUnderutilized:_any_saving_counts "
     "object.b=NodePool_default"},
    {"too little saved", "set CONSOLIDATION_MIN_SAVINGS=0.3\n" SINGLE POOL BIG("n") "\npod p node=n cpu=3",
     "text.n=Would_save_$0.2000_an_hour_(50.0%),_less_than_CONSOLIDATION_MIN_SAVINGS_asks_for "
     "fix.n=set_CONSOLIDATION_MIN_SAVINGS_to_0.2000_or_less "
     "object.n=-"},
    {"a closed budget", SINGLE "pool default budget=0\n" ROOM SMALL("n x3") "\npod p x3 node=n-# cpu=1",
     "text.n-0=No_allowed_disruptions_for_disruption_reason_Underutilized_due_to_blocking_budget "
     "fix.n-0=let_a_budget_of_NodePool_default_allow_a_disruption:_it_allows_0_of_3_nodes_now "
     "object.n-0=NodePool_default"},
    {"a budget that is used up",
     SINGLE "pool default budget=2\n" ROOM SMALL("gone x2") " deleting\n" SMALL("n x3") "\npod p x3 node=n-# cpu=1",
     "text.n-0=No_allowed_disruptions_for_disruption_reason_Underutilized_due_to_blocking_budget "
     "fix.n-0=wait,_or_let_NodePool_default_give_up_more_than_2_of_its_5_nodes_at_once:_2_on_the_way_already,_0_in_this_plan "
     "object.n-0=NodePool_default"},
    {"a budget that this plan uses up",
     "method thorough\n" TYPES "pool default budget=2\n" ROOM SMALL("n x3") "\npod p x3 node=n-# cpu=1.2",
     "text.n-2=No_allowed_disruptions_for_disruption_reason_Underutilized_due_to_blocking_budget "
     "fix.n-2=wait,_or_let_NodePool_default_give_up_more_than_2_of_its_3_nodes_at_once:_0_on_the_way_already,_2_in_this_plan "
     "object.n-2=NodePool_default"},
    {"a budget that cannot be read",
     SINGLE "pool default budget='1 for=1h at=0 0 * * tue-mon'\n" ROOM SMALL("n") "\npod p node=n cpu=1",
     "text.n=No_allowed_disruptions_for_disruption_reason_Underutilized_due_to_blocking_budget "
     "fix.n=correct_NodePool_default:_budget_1:_schedule_\"0_0_*_*_tue-mon\":_day_of_week_\"tue-mon\"_starts_after_its_end "
     "object.n=NodePool_default"},
    {"no pool", SINGLE "pool default ready=False budget=100%\n" ROOM SMALL("n") "\npod p node=n cpu=1",
     "text.n=No_nodepools_found "
     "fix.n=make_a_NodePool_ready_that_is_not_static "
     "object.n=-"},
    {"one a pass", SINGLE POOL ROOM SMALL("n x2") "\npod p x2 node=n-# cpu=1.5",
     "text.n-1=Another_command_comes_first:_there_is_one_a_pass "
     "fix.n-1=wait_for_the_next_pass "
     "object.n-1=-"},
    {"takes pods", "method thorough\n" TYPES POOL SMALL("n x2") "\npod p x2 node=n-# cpu=0.5",
     "text.n-1=Takes_pods_in_this_plan:_those_of_nodes_that_go,_or_pods_that_wait_for_a_place "
     "fix.n-1=plan_again_when_they_run_there "
     "object.n-1=-"},
    {"pods that cost nothing, and no place for them",
     "method thorough\n" TYPES POOL SMALL("n") "\npod p node=n cpu=0.5 note=cost=-134217728",
     "text.n=Its_pods_cost_nothing_to_evict,_but_have_no_place_on_the_other_nodes "
     "fix.n=make_room_for_its_1_pod_on_other_nodes "
     "object.n=-"},
    {"pods that cost nothing, and no place at all",
     "method thorough\n" TYPES POOL SMALL("n") "\npod p node=n cpu=0.5 note=cost=-134217728 sel=foo=bar",
     "text.n=Not_all_pods_would_schedule,_default/p_=>_incompatible_requirements,_label_\"foo\"_does_not_have_known_values_ "
     "fix.n=make_room_for_Pod_default/p_(cpu_500m):_on_another_node,_or_with_a_NodePool_that_suits_it "
     "object.n=Pod_default/p"},
};

int main(void)
{
    static const struct scenarios tables[] = {SCENARIOS(scenarios)};

    return scenarios_main(tables, ARRAY_LEN(tables));
}
