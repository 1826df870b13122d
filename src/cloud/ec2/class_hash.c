/* The hash that says whether a class has changed since a node was launched with it (aws 2.9).
 *
 * It must agree to the bit with what clusters carry in annotations. The names of Go's types and fields are part of it (base/gohash.h),
 * in the order of their declaration; a pointer to a zero is not the same as none, and takes part. */
#include "base/gohash.h"
#include "base/utf8.h"
#include "cloud/ec2/class.h"

/* ---- the kubelet's settings as Go writes JSON ---- */

static void put_text(struct sb *b, str s)
{
    static const char letter[] = {['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};

    sb_char(b, '"');
    for (size_t at = 0; at < s.n;) {
        uint32_t c;
        size_t n = utf8_step(s, at, &c);

        if (c == '"' || c == '\\')
            sb_printf(b, "\\%c", (int)c);
        else if (c < sizeof(letter) && letter[c])
            sb_printf(b, "\\%c", letter[c]);
        else if (c < 0x20 || c == '<' || c == '>' || c == '&' || c == 0x2028 || c == 0x2029)
            sb_printf(b, "\\u%04x", c);
        else
            utf8_put(b, c);
        at += n;
    }
    sb_char(b, '"');
}

/* API servers store a fraction in its shortest form; objects that come from files have it as it was written. */
static void put_number(struct sb *b, str text)
{
    int64_t whole;
    double v;

    if (!str_to_i64(text, &whole) && str_to_double(text, &v))
        sb_double(b, v);
    else
        sb_str(b, text);
}

/* API servers store keys in order; objects that come from files have them in any. */
static void put_json(struct sb *b, struct arena *a, const struct tree *t);

static void put_map(struct sb *b, struct arena *a, const struct tree *t)
{
    uint32_t *order = tree_key_order(a, t);

    sb_char(b, '{');
    for (uint32_t i = 0; i < t->n; i++) {
        sb_c(b, i ? "," : "");
        put_text(b, t->keys[order[i]]);
        sb_char(b, ':');
        put_json(b, a, &t->items[order[i]]);
    }
    sb_char(b, '}');
}

static void put_json(struct sb *b, struct arena *a, const struct tree *t)
{
    switch (t->kind) {
    case TREE_NULL:
        sb_c(b, "null");
        return;
    case TREE_BOOL:
        sb_c(b, t->truth ? "true" : "false");
        return;
    case TREE_NUMBER:
        put_number(b, t->text);
        return;
    case TREE_STRING:
        put_text(b, t->text);
        return;
    case TREE_LIST:
        sb_char(b, '[');
        for (uint32_t i = 0; i < t->n; i++) {
            sb_c(b, i ? "," : "");
            put_json(b, a, &t->items[i]);
        }
        sb_char(b, ']');
        return;
    case TREE_MAP:
        put_map(b, a, t);
        return;
    }
}

static uint64_t hash_kubelet_json(const struct ec2_kubelet *k)
{
    AUTO(arena) struct arena *a = arena_new(0);
    struct sb b = {0};

    if (k->raw && k->raw->n)
        put_json(&b, a, k->raw);
    else
        sb_c(&b, "null");
    uint64_t h = gohash_str(sb_view(&b));
    sb_fini(&b);
    return h;
}

/* ---- the kubelet's settings as a struct ---- */

static void number_field(uint64_t *h, const char *name, int64_t v)
{
    if (v >= 0)
        gohash_field(h, name, gohash_i32((int32_t)v));
}

static void map_field(uint64_t *h, const char *name, const struct ec2_kvs *m)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < m->n; i++)
        all ^= gohash_entry(gohash_str(m->v[i].key), gohash_str(m->v[i].value));
    if (m->present)
        gohash_field(h, name, gohash_map(all));
}

static uint64_t hash_duration(str text)
{
    uint64_t h = gohash_struct("Duration");
    struct err e;
    int64_t ns;

    if (duration_parse(text, &ns, &e) && ns != 0)
        gohash_field(&h, "Duration", gohash_i64(ns));
    return h;
}

static void grace_field(uint64_t *h, const struct ec2_kvs *m)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < m->n; i++)
        all ^= gohash_entry(gohash_str(m->v[i].key), hash_duration(m->v[i].value));
    if (m->present)
        gohash_field(h, "EvictionSoftGracePeriod", gohash_map(all));
}

static uint64_t hash_kubelet(const struct ec2_kubelet *k)
{
    uint64_t h = gohash_struct("KubeletConfiguration"), dns = 0;

    for (uint32_t i = 0; i < k->n_dns; i++)
        dns ^= gohash_str(k->dns[i]);
    if (k->has_dns)
        gohash_field(&h, "ClusterDNS", dns);
    number_field(&h, "MaxPods", k->max_pods);
    number_field(&h, "PodsPerCore", k->pods_per_core);
    map_field(&h, "SystemReserved", &k->system_reserved);
    map_field(&h, "KubeReserved", &k->kube_reserved);
    map_field(&h, "EvictionHard", &k->eviction_hard);
    map_field(&h, "EvictionSoft", &k->eviction_soft);
    grace_field(&h, &k->eviction_soft_grace);
    number_field(&h, "EvictionMaxPodGracePeriod", k->eviction_max_grace);
    number_field(&h, "ImageGCHighThresholdPercent", k->image_gc_high);
    number_field(&h, "ImageGCLowThresholdPercent", k->image_gc_low);
    if (k->cpu_cfs_quota >= 0)
        gohash_field(&h, "CPUCFSQuota", gohash_bool(k->cpu_cfs_quota));
    return h;
}

/* ---- the spec ---- */

static void pointer_field(uint64_t *h, const char *name, str value, bool has)
{
    if (has)
        gohash_field(h, name, gohash_str(value));
}

static void tri_field(uint64_t *h, const char *name, int8_t v)
{
    if (v >= 0)
        gohash_field(h, name, gohash_bool(v));
}

static uint64_t hash_ebs(const struct ec2_device *d)
{
    uint64_t h = gohash_struct("BlockDevice");

    tri_field(&h, "DeleteOnTermination", d->delete_on_termination);
    tri_field(&h, "Encrypted", d->encrypted);
    if (d->has_iops)
        gohash_field(&h, "IOPS", gohash_i64(d->iops));
    pointer_field(&h, "KMSKeyID", d->kms_key, d->has_kms_key);
    pointer_field(&h, "SnapshotID", d->snapshot, d->has_snapshot);
    if (d->has_throughput)
        gohash_field(&h, "Throughput", gohash_i64(d->throughput));
    if (d->has_rate)
        gohash_field(&h, "VolumeInitializationRate", gohash_i32((int32_t)d->rate));
    gohash_text(&h, "VolumeSize", d->size);
    pointer_field(&h, "VolumeType", d->type, d->has_type);
    return h;
}

static uint64_t hash_devices(const struct ec2_class *k)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < k->n_devices; i++) {
        const struct ec2_device *d = &k->devices[i];
        uint64_t h = gohash_struct("BlockDeviceMapping");

        pointer_field(&h, "DeviceName", d->name, d->has_name);
        if (d->has_ebs)
            gohash_field(&h, "EBS", hash_ebs(d));
        if (d->root)
            gohash_field(&h, "RootVolume", gohash_bool(true));
        all ^= h;
    }
    return all;
}

static uint64_t hash_nics(const struct ec2_class *k)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < k->n_nics; i++) {
        uint64_t h = gohash_struct("NetworkInterface");

        if (k->nics[i].card)
            gohash_field(&h, "NetworkCardIndex", gohash_i32(k->nics[i].card));
        if (k->nics[i].device)
            gohash_field(&h, "DeviceIndex", gohash_i32(k->nics[i].device));
        gohash_text(&h, "InterfaceType", k->nics[i].type);
        all ^= h;
    }
    return all;
}

static uint64_t hash_placement(const struct ec2_class *k)
{
    uint64_t h = gohash_struct("PlacementGroupSelector");

    gohash_text(&h, "Name", k->placement_name);
    gohash_text(&h, "ID", k->placement_id);
    return h;
}

static uint64_t hash_tags(const struct ec2_class *k)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < k->n_tags; i++)
        all ^= gohash_entry(gohash_str(k->tags[i].key), gohash_str(k->tags[i].value));
    return gohash_map(all);
}

static uint64_t hash_metadata(const struct ec2_metadata_options *m)
{
    uint64_t h = gohash_struct("MetadataOptions");

    gohash_text(&h, "HTTPEndpoint", m->endpoint);
    gohash_text(&h, "HTTPProtocolIPv6", m->ipv6);
    if (m->has_hops)
        gohash_field(&h, "HTTPPutResponseHopLimit", gohash_i64(m->hops));
    gohash_text(&h, "HTTPTokens", m->tokens);
    return h;
}

static uint64_t hash_tracking(const struct ec2_class *k)
{
    uint64_t h = gohash_struct("ConnectionTracking");

    if (k->tcp_established)
        gohash_field(&h, "TCPEstablishedTimeout", gohash_i32(k->tcp_established));
    if (k->udp_stream)
        gohash_field(&h, "UDPStreamTimeout", gohash_i32(k->udp_stream));
    if (k->udp)
        gohash_field(&h, "UDPTimeout", gohash_i32(k->udp));
    return h;
}

static uint64_t hash_cpu_options(const struct ec2_class *k)
{
    uint64_t h = gohash_struct("CPUOptions");

    gohash_text(&h, "NestedVirtualization", k->nested_virtualization);
    return h;
}

static uint64_t hash_spec(const struct ec2_class *k, bool kubelet)
{
    uint64_t h = gohash_struct("EC2NodeClassSpec");

    if (k->has_placement)
        gohash_field(&h, "PlacementGroupSelector", hash_placement(k));
    tri_field(&h, "AssociatePublicIPAddress", k->public_ip);
    pointer_field(&h, "UserData", k->user_data, k->has_user_data);
    gohash_text(&h, "Role", k->role);
    pointer_field(&h, "InstanceProfile", k->profile, k->has_profile);
    if (k->has_tags)
        gohash_field(&h, "Tags", hash_tags(k));
    if (kubelet && k->kubelet.raw)
        gohash_field(&h, "Kubelet", hash_kubelet(&k->kubelet));
    if (k->has_devices)
        gohash_field(&h, "BlockDeviceMappings", hash_devices(k));
    gohash_text(&h, "InstanceStorePolicy", k->store_policy);
    if (k->has_nics)
        gohash_field(&h, "NetworkInterfaces", hash_nics(k));
    tri_field(&h, "DetailedMonitoring", k->monitoring);
    if (k->metadata.present)
        gohash_field(&h, "MetadataOptions", hash_metadata(&k->metadata));
    if (k->has_tracking)
        gohash_field(&h, "ConnectionTracking", hash_tracking(k));
    pointer_field(&h, "Context", k->context, k->has_context);
    if (k->has_cpu_options)
        gohash_field(&h, "CPUOptions", hash_cpu_options(k));
    return h;
}

uint64_t ec2_class_hash(const struct ec2_class *k, str ca_bundle)
{
    return hash_spec(k, /* kubelet= */ false) ^ gohash_str(str_c(ec2_family_name(k->family))) ^ gohash_str(ca_bundle) ^
           hash_kubelet_json(&k->kubelet);
}

uint64_t ec2_class_hash_v5(const struct ec2_class *k, str ca_bundle)
{
    return hash_spec(k, /* kubelet= */ true) ^ gohash_str(str_c(ec2_family_name(k->family))) ^ gohash_str(ca_bundle);
}
