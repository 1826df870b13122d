/* An EC2NodeClass out of its object. What the schema of the CRD checks with types, ranges and lists of words is checked here as well, because
 * objects come from files too; rules across fields are the API server's (aws 2.4). Of spec.kubelet only the managed keys are read, and
 * those of a wrong type not at all: ec2_kubelet_problems() says what is wrong with them. */
#include "cloud/ec2/class_int.h"

#include <strings.h>

#include "base/sort.h"

#define MAX_TERMS 30
#define MAX_TERM_TAGS 20
#define MAX_TAGS 1000
#define MAX_DEVICES 50
#define MAX_NICS 150

#define CLUSTER_GROUP_TAG "aws:eks:cluster-name" /* EKS puts it on the security group that it makes for a cluster */

/* ---- families ---- */

static const char *const families[] = {
    [EC2_CUSTOM] = "Custom",           [EC2_AL2] = "AL2",
    [EC2_AL2023] = "AL2023",           [EC2_BOTTLEROCKET] = "Bottlerocket",
    [EC2_WINDOWS2019] = "Windows2019", [EC2_WINDOWS2022] = "Windows2022",
    [EC2_WINDOWS2025] = "Windows2025",
};

const char *ec2_family_name(enum ec2_family f)
{
    return families[f];
}

bool ec2_family_parse(str name, enum ec2_family *ret)
{
    for (size_t i = 0; i < ARRAY_LEN(families); i++)
        if (strlen(families[i]) == name.n && strncasecmp(families[i], name.p, name.n) == 0) {
            *ret = (enum ec2_family)i;
            return true;
        }
    return false;
}

bool ec2_family_is_windows(enum ec2_family f)
{
    return f == EC2_WINDOWS2019 || f == EC2_WINDOWS2022 || f == EC2_WINDOWS2025;
}

/* ---- fields ---- */

static bool get_tri(const struct decoder *d, const struct tree *t, const char *key, int8_t *ret, struct err *e)
{
    bool v;

    if (!dec_bool(d, t, key, &v, e))
        return false;
    *ret = tree_get(t, key) ? (int8_t)v : -1;
    return true;
}

static bool get_text(const struct decoder *d, const struct tree *t, const char *key, str *ret, bool *ret_has,
                     struct err *e)
{
    *ret_has = tree_get(t, key) != NULL;
    return dec_str(d, t, key, ret, e);
}

static bool get_number(const struct decoder *d, const struct tree *t, const char *key, int64_t min, int64_t max,
                       int64_t *ret, bool *ret_has, struct err *e)
{
    *ret_has = tree_get(t, key) != NULL;
    return dec_int(d, t, key, min, max, ret, e);
}

/* One of some words; the list ends with NULL. */
static bool get_word(const struct decoder *d, const struct tree *t, const char *key, const char *const *words, str *ret,
                     struct err *e)
{
    if (!dec_str(d, t, key, ret, e))
        return false;
    if (!tree_get(t, key))
        return true;
    for (const char *const *w = words; *w; w++)
        if (str_is(*ret, *w))
            return true;
    return dec_fail(d, tree_get(t, key), NULL, e, "\"" STR_FMT "\" is not known here", STR_ARG(*ret));
}

/* A list of maps with a bound. */
static bool get_maps(const struct decoder *d, const struct tree *t, const char *key, uint32_t most,
                     const struct tree **ret, struct err *e)
{
    if (!dec_list(d, t, key, ret, e))
        return false;
    for (uint32_t i = 0; *ret && i < (*ret)->n; i++) {
        if (i == most)
            return dec_fail(d, *ret, NULL, e, "has %u entries, of %u at most", (*ret)->n, most);
        if (!dec_is_map(d, &(*ret)->items[i], e))
            return false;
    }
    return true;
}

static bool tag_before(const struct ec2_tag *x, const struct ec2_tag *y, const void *ctx UNUSED)
{
    return str_cmp(x->key, y->key) < 0;
}

SORT_DEFINE(sort_tags, struct ec2_tag, tag_before)

static bool get_tags(const struct decoder *d, struct arena *a, const struct tree *t, uint32_t most,
                     struct ec2_tag **ret, uint32_t *ret_n, bool *ret_has, struct err *e)
{
    const struct tree *map;

    if (!dec_map(d, t, "tags", &map, e))
        return false;
    *ret_has = map != NULL;
    *ret_n = map ? map->n : 0;
    if (*ret_n > most)
        return dec_fail(d, map, NULL, e, "has %u entries, of %u at most", map->n, most);
    *ret = arena_new_array(a, struct ec2_tag, *ret_n);
    for (uint32_t i = 0; i < *ret_n; i++) {
        if (!dec_is_str(d, &map->items[i], e))
            return false;
        (*ret)[i] = (struct ec2_tag){map->keys[i], map->items[i].text};
    }
    sort_tags(*ret, *ret_n, NULL);
    return true;
}

/* ---- selectors ---- */

static bool get_term(const struct decoder *d, struct arena *a, const struct tree *t, struct ec2_term *ret,
                     struct err *e)
{
    return dec_str(d, t, "id", &ret->id, e) && dec_str(d, t, "name", &ret->name, e) &&
           dec_str(d, t, "owner", &ret->owner, e) && dec_str(d, t, "alias", &ret->alias, e) &&
           dec_str(d, t, "ssmParameter", &ret->ssm, e) && dec_str(d, t, "instanceMatchCriteria", &ret->match, e) &&
           get_tags(d, a, t, MAX_TERM_TAGS, &ret->tags, &ret->n_tags, &ret->has_tags, e);
}

static bool get_terms(const struct decoder *d, struct arena *a, const struct tree *spec, const char *key,
                      struct ec2_terms *ret, struct err *e)
{
    const struct tree *list;

    if (!get_maps(d, spec, key, MAX_TERMS, &list, e))
        return false;
    ret->n = list ? list->n : 0;
    ret->v = arena_new_array(a, struct ec2_term, ret->n);
    for (uint32_t i = 0; i < ret->n; i++)
        if (!get_term(d, a, &list->items[i], &ret->v[i], e))
            return false;
    return true;
}

/* Of a reservation the owner is called ownerID. */
static bool get_reservations(const struct decoder *d, struct arena *a, const struct tree *spec, struct ec2_terms *ret,
                             struct err *e)
{
    const struct tree *list = tree_get(spec, "capacityReservationSelectorTerms");

    if (!get_terms(d, a, spec, "capacityReservationSelectorTerms", ret, e))
        return false;
    for (uint32_t i = 0; i < ret->n; i++)
        if (!dec_str(d, &list->items[i], "ownerID", &ret->v[i].owner, e))
            return false;
    return true;
}

static bool get_selectors(const struct decoder *d, struct arena *a, const struct tree *spec, struct ec2_class *k,
                          struct err *e)
{
    const struct tree *group;

    if (!get_terms(d, a, spec, "subnetSelectorTerms", &k->subnets, e) ||
        !get_terms(d, a, spec, "securityGroupSelectorTerms", &k->groups, e) ||
        !get_terms(d, a, spec, "amiSelectorTerms", &k->images, e) || !get_reservations(d, a, spec, &k->reservations, e))
        return false;
    if (!dec_map(d, spec, "placementGroupSelector", &group, e))
        return false;
    k->has_placement = group != NULL;
    return dec_str(d, group, "name", &k->placement_name, e) && dec_str(d, group, "id", &k->placement_id, e);
}

/* ---- devices, interfaces ---- */

static bool get_volume_size(const struct decoder *d, struct arena *a, const struct tree *ebs, struct ec2_device *ret,
                            struct err *e)
{
    const struct tree *size = tree_get(ebs, "volumeSize");
    struct sb text = {0};
    struct err why;
    int64_t milli;
    bool binary;

    if (!size)
        return true;
    if (size->kind != TREE_STRING && size->kind != TREE_NUMBER)
        return dec_fail(d, size, NULL, e, "must be a quantity, not %s", tree_kind_name(size->kind));
    if (!quantity_parse(size->text, SYM(MEMORY), &milli, &binary, &why))
        return dec_fail(d, size, NULL, e, "%s", why.msg);
    if (milli < 0)
        return dec_fail(d, size, NULL, e, "must not be negative");
    quantity_print(&text, SYM(MEMORY), milli, binary);
    ret->size = sb_dup(&text, a);
    ret->size_bytes = milli / 1000 + (milli % 1000 != 0);
    sb_fini(&text);
    return true;
}

static bool get_device(const struct decoder *d, struct arena *a, const struct tree *t, struct ec2_device *ret,
                       struct err *e)
{
    static const char *const types[] = {"standard", "io1", "io2", "gp2", "sc1", "st1", "gp3", NULL};
    const struct tree *ebs;

    if (!get_text(d, t, "deviceName", &ret->name, &ret->has_name, e) || !dec_bool(d, t, "rootVolume", &ret->root, e) ||
        !dec_map(d, t, "ebs", &ebs, e))
        return false;
    ret->has_root = tree_get(t, "rootVolume") != NULL;
    ret->has_ebs = ebs != NULL;
    ret->has_type = tree_get(ebs, "volumeType") != NULL;
    return get_tri(d, ebs, "deleteOnTermination", &ret->delete_on_termination, e) &&
           get_tri(d, ebs, "encrypted", &ret->encrypted, e) &&
           get_number(d, ebs, "iops", 0, INT64_MAX, &ret->iops, &ret->has_iops, e) &&
           get_number(d, ebs, "throughput", 0, INT64_MAX, &ret->throughput, &ret->has_throughput, e) &&
           get_number(d, ebs, "volumeInitializationRate", 0, INT32_MAX, &ret->rate, &ret->has_rate, e) &&
           get_text(d, ebs, "kmsKeyID", &ret->kms_key, &ret->has_kms_key, e) &&
           get_text(d, ebs, "snapshotID", &ret->snapshot, &ret->has_snapshot, e) &&
           get_word(d, ebs, "volumeType", types, &ret->type, e) && get_volume_size(d, a, ebs, ret, e);
}

static bool get_devices(const struct decoder *d, struct arena *a, const struct tree *spec, struct ec2_class *k,
                        struct err *e)
{
    const struct tree *list;

    if (!get_maps(d, spec, "blockDeviceMappings", MAX_DEVICES, &list, e))
        return false;
    k->has_devices = list != NULL;
    k->n_devices = list ? list->n : 0;
    k->devices = arena_new_array(a, struct ec2_device, k->n_devices);
    for (uint32_t i = 0; i < k->n_devices; i++)
        if (!get_device(d, a, &list->items[i], &k->devices[i], e))
            return false;
    return true;
}

static bool get_nics(const struct decoder *d, struct arena *a, const struct tree *spec, struct ec2_class *k,
                     struct err *e)
{
    static const char *const types[] = {"interface", "efa-only", NULL};
    const struct tree *list;

    if (!get_maps(d, spec, "networkInterfaces", MAX_NICS, &list, e))
        return false;
    k->has_nics = list != NULL;
    k->n_nics = list ? list->n : 0;
    k->nics = arena_new_array(a, struct ec2_nic, k->n_nics);
    for (uint32_t i = 0; i < k->n_nics; i++) {
        int64_t card = 0, device = 0;

        if (!dec_int(d, &list->items[i], "networkCardIndex", 0, INT32_MAX, &card, e) ||
            !dec_int(d, &list->items[i], "deviceIndex", 0, INT32_MAX, &device, e) ||
            !get_word(d, &list->items[i], "interfaceType", types, &k->nics[i].type, e))
            return false;
        k->nics[i].card = (int32_t)card;
        k->nics[i].device = (int32_t)device;
    }
    return true;
}

/* ---- options ---- */

/* The CRD fills in what is missing, the whole of it included. */
static bool get_metadata(const struct decoder *d, const struct tree *spec, struct ec2_metadata_options *ret,
                         struct err *e)
{
    static const char *const on_off[] = {"enabled", "disabled", NULL}, *const tokens[] = {"required", "optional", NULL};
    const struct tree *t;

    *ret = (struct ec2_metadata_options){.present = true, .hops = 1, .has_hops = true};
    if (!dec_map(d, spec, "metadataOptions", &t, e) || !get_word(d, t, "httpEndpoint", on_off, &ret->endpoint, e) ||
        !get_word(d, t, "httpProtocolIPv6", on_off, &ret->ipv6, e) ||
        !get_word(d, t, "httpTokens", tokens, &ret->tokens, e) ||
        !dec_int(d, t, "httpPutResponseHopLimit", 1, 64, &ret->hops, e))
        return false;
    if (!ret->endpoint.n)
        ret->endpoint = STR("enabled");
    if (!ret->ipv6.n)
        ret->ipv6 = STR("disabled");
    if (!ret->tokens.n)
        ret->tokens = STR("required");
    return true;
}

static bool get_tracking(const struct decoder *d, const struct tree *spec, struct ec2_class *k, struct err *e)
{
    const struct tree *t;
    int64_t tcp = 0, stream = 0, udp = 0;

    if (!dec_map(d, spec, "connectionTracking", &t, e) ||
        !dec_int(d, t, "tcpEstablishedTimeout", 60, 432000, &tcp, e) ||
        !dec_int(d, t, "udpStreamTimeout", 60, 180, &stream, e) || !dec_int(d, t, "udpTimeout", 30, 60, &udp, e))
        return false;
    k->has_tracking = t != NULL;
    k->tcp_established = (int32_t)tcp;
    k->udp_stream = (int32_t)stream;
    k->udp = (int32_t)udp;
    return true;
}

static bool get_options(const struct decoder *d, struct arena *a, const struct tree *spec, struct ec2_class *k,
                        struct err *e)
{
    static const char *const policies[] = {"RAID0", NULL}, *const on_off[] = {"enabled", "disabled", NULL};
    const struct tree *cpu;
    int64_t prefixes = -1;

    if (!get_tri(d, spec, "associatePublicIPAddress", &k->public_ip, e) ||
        !dec_int(d, spec, "ipPrefixCount", 0, INT32_MAX, &prefixes, e) ||
        !get_text(d, spec, "userData", &k->user_data, &k->has_user_data, e) ||
        !get_text(d, spec, "role", &k->role, &k->has_role, e) ||
        !get_text(d, spec, "instanceProfile", &k->profile, &k->has_profile, e) ||
        !get_tags(d, a, spec, MAX_TAGS, &k->tags, &k->n_tags, &k->has_tags, e) || !get_devices(d, a, spec, k, e) ||
        !get_word(d, spec, "instanceStorePolicy", policies, &k->store_policy, e) || !get_nics(d, a, spec, k, e) ||
        !get_tri(d, spec, "detailedMonitoring", &k->monitoring, e) || !get_metadata(d, spec, &k->metadata, e) ||
        !get_tracking(d, spec, k, e) || !get_text(d, spec, "context", &k->context, &k->has_context, e) ||
        !dec_map(d, spec, "cpuOptions", &cpu, e) ||
        !get_word(d, cpu, "nestedVirtualization", on_off, &k->nested_virtualization, e))
        return false;
    k->ip_prefixes = (int32_t)prefixes;
    k->has_cpu_options = cpu != NULL;
    return true;
}

/* ---- what is read in another sense than it is written ---- */

static void note(struct arena *a, struct ec2_class *k, str text)
{
    k->notes[k->n_notes++] = arena_printf(a, "EC2NodeClass " STR_FMT ": " STR_FMT, STR_ARG(k->name), STR_ARG(text));
}

/* The family of the alias, whose version is filled in if it has none. */
static bool read_alias(const struct decoder *d, struct arena *a, const struct tree *spec, struct ec2_class *k,
                       uint32_t i, enum ec2_family *ret, struct err *e)
{
    str *alias = &k->images.v[i].alias, family, version;
    const struct tree *list = tree_get(spec, "amiSelectorTerms");
    bool whole = str_cut(*alias, '@', &family, &version);

    if (!ec2_family_parse(family, ret) || *ret == EC2_CUSTOM || (whole && version.n == 0))
        return dec_fail(d, tree_get(&list->items[i], "alias"), NULL, e,
                        "\"" STR_FMT "\" is not a family and a version, such as al2023@latest", STR_ARG(*alias));
    if (whole)
        return true;
    *alias = arena_printf(a, STR_FMT "@latest", STR_ARG(family));
    note(a, k,
         arena_printf(a, "alias " STR_FMT " without a version is read as " STR_FMT, STR_ARG(family), STR_ARG(*alias)));
    return true;
}

static str lower(struct arena *a, str s)
{
    char *p = arena_memdup(a, s.p, s.n, 1);

    for (size_t i = 0; i < s.n; i++)
        if (p[i] >= 'A' && p[i] <= 'Z')
            p[i] = (char)(p[i] - 'A' + 'a');
    return (str){p, s.n};
}

static void terms_of_family(struct arena *a, struct ec2_class *k)
{
    struct ec2_term *t = arena_new_one(a, struct ec2_term);

    t->alias = arena_printf(a, STR_FMT "@latest", STR_ARG(lower(a, str_c(ec2_family_name(k->family)))));
    k->images = (struct ec2_terms){t, 1};
    note(a, k,
         arena_printf(a, "amiFamily %s without amiSelectorTerms is read as alias " STR_FMT, ec2_family_name(k->family),
                      STR_ARG(t->alias)));
}

static bool get_family(const struct decoder *d, struct arena *a, const struct tree *spec, struct ec2_class *k,
                       struct err *e)
{
    enum ec2_family of_alias;
    bool has_alias = false;
    str name;

    if (!get_text(d, spec, "amiFamily", &name, &k->has_family, e))
        return false;
    if (k->has_family && !ec2_family_parse(name, &k->family))
        return dec_fail(d, tree_get(spec, "amiFamily"), NULL, e, "\"" STR_FMT "\" is not a family of images",
                        STR_ARG(name));
    for (uint32_t i = 0; i < k->images.n; i++) {
        if (!k->images.v[i].alias.n)
            continue;
        if (!read_alias(d, a, spec, k, i, &of_alias, e))
            return false;
        if (!k->has_family && !has_alias)
            k->family = of_alias;
        has_alias = true;
    }
    if (k->has_family && k->family != EC2_CUSTOM && k->images.n == 0)
        terms_of_family(a, k);
    return true;
}

static void own_groups(struct arena *a, struct ec2_class *k, str cluster)
{
    struct ec2_term *t = arena_new_one(a, struct ec2_term);

    t->tags = arena_new_one(a, struct ec2_tag);
    t->tags[0] = (struct ec2_tag){STR(CLUSTER_GROUP_TAG), cluster};
    t->n_tags = 1;
    t->has_tags = true;
    k->groups = (struct ec2_terms){t, 1};
    note(a, k,
         arena_printf(a,
                      "no securityGroupSelectorTerms: read as the cluster's own group, tags {" CLUSTER_GROUP_TAG
                      ": " STR_FMT "}",
                      STR_ARG(cluster)));
}

struct ec2_class *ec2_class_decode(struct arena *a, struct syms *t, const struct tree *object, str cluster,
                                   struct err *e)
{
    struct objects home = {.arena = a, .syms = t};
    struct decoder d = {.o = &home, .root = object};
    struct ec2_class *k = arena_new_one(a, struct ec2_class);
    const struct tree *spec, *status;
    struct meta m;

    if (!dec_is_map(&d, object, e) || !dec_object(&d, /* namespaced= */ false, &m, &spec, &status, e))
        return NULL;
    k->object = object;
    k->name = m.name;
    k->uid = m.uid;
    k->deleting = m.deleting;
    if (!dec_int(&d, tree_get(object, "metadata"), "generation", 0, INT64_MAX, &k->generation, e))
        return NULL;
    if (!get_selectors(&d, a, spec, k, e))
        return NULL;
    k->notes = arena_new_array(a, str, k->images.n + 2);
    if (!get_family(&d, a, spec, k, e) || !get_options(&d, a, spec, k, e) ||
        !ec2_kubelet_decode(&d, a, spec, &k->kubelet, e) || !ec2_status_decode(&d, a, status, k, e))
        return NULL;
    if (k->groups.n == 0 && cluster.n)
        own_groups(a, k, cluster);
    return k;
}

/* ---- tags that are not the user's to set ---- */

/* A name of a cluster as EKS takes them. */
static bool is_cluster_name(str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');

        if (!plain && (i == 0 || (c != '-' && c != '_')))
            return false;
    }
    return s.n != 0;
}

static bool is_own_tag(str key)
{
    static const char *const own[] = {"eks:eks-cluster-name", "karpenter.sh/nodepool", "karpenter.sh/nodeclaim",
                                      "karpenter.k8s.aws/ec2nodeclass"};

    for (size_t i = 0; i < ARRAY_LEN(own); i++)
        if (str_is(key, own[i]))
            return true;
    return false;
}

str ec2_tags_problem(struct arena *a, const struct ec2_class *k, str cluster)
{
    static const char prefix[] = "kubernetes.io/cluster/";

    for (uint32_t i = 0; i < k->n_tags; i++) {
        str key = k->tags[i].key, name = str_sub(key, sizeof(prefix) - 1, key.n);
        bool owner = str_starts(key, STR(prefix));

        if (key.n == 0)
            return STR("spec.tags: a key is empty");
        if (is_own_tag(key) || (owner && str_eq(name, cluster)))
            return arena_printf(a, "spec.tags: \"" STR_FMT "\" is set by Karpenter itself", STR_ARG(key));
        if (owner && is_cluster_name(name))
            return arena_printf(a, "spec.tags: \"" STR_FMT "\" says which cluster owns a machine", STR_ARG(key));
    }
    return (str){0};
}
