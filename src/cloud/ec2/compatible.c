/* compatible - whether a type can carry what a class asks of its machines (aws 5.7). */
#include "cloud/ec2/types.h"

static bool lists(const str *v, uint32_t n, str x)
{
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(v[i], x))
            return true;
    return false;
}

static const struct ec2_card *card_of(const struct ec2_type_info *info, int32_t index)
{
    for (uint32_t i = 0; i < info->n_cards; i++)
        if (info->cards[i].index == index)
            return &info->cards[i];
    return NULL;
}

static bool interfaces_fit(const struct ec2_type_info *info, const struct ec2_nic *v, uint32_t n)
{
    int64_t n_efa = 0;

    if (info->n_cards == 0 || str_is(info->ena, "unsupported"))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct ec2_card *card = card_of(info, v[i].card);

        if (v[i].card < 0 || (uint32_t)v[i].card >= info->n_cards || !card || v[i].device >= card->max_interfaces)
            return false;
        n_efa += str_is(v[i].type, "efa-only");
    }
    return n_efa == 0 || (info->has_efa && n_efa <= info->max_efa);
}

bool ec2_type_compatible(const struct ec2_type_info *info, const struct ec2_class *k,
                         const struct ec2_placement_group *placement)
{
    if (k->family == EC2_AL2023 && str_starts(info->name, STR("a1.")))
        return false;
    if (k->n_nics && !interfaces_fit(info, k->nics, k->n_nics))
        return false;
    if (str_is(k->nested_virtualization, "enabled") &&
        !lists(info->features, info->n_features, STR("nested-virtualization")))
        return false;
    if (placement && !lists(info->placement_strategies, info->n_placement_strategies, placement->strategy))
        return false;
    return !k->has_tracking || str_is(info->hypervisor, "nitro");
}
