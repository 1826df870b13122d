/* EC2NodeClasses: what is read, what is filled in, what is read in another sense, what is refused. */
#include "cloud/ec2/class.h"

#include "support/check.h"
#include "support/fixture.h"
#include "support/trees.h"

static struct ec2_class *try_class(struct fixture *f, const char *spec, struct err *e)
{
    str object = arena_printf(
        f->a, "{kind: EC2NodeClass, metadata: {name: default, uid: u-1, generation: 3}, spec: %s}%c", spec, 0);

    return ec2_class_decode(f->a, f->t, tree_yaml(f->a, object.p), STR("prod"), e);
}

static struct ec2_class *class_of(struct fixture *f, const char *spec)
{
    struct err e = {0};
    struct ec2_class *k = try_class(f, spec, &e);

    check_ok(spec, k != NULL, &e);
    return k;
}

static void defaults(void **state)
{
    struct ec2_class *k = class_of(*state, "{}");

    check_str("name", k->name, "default");
    check_i64("generation", k->generation, 3);
    check_true("family", k->family == EC2_CUSTOM && !k->has_family);
    check_true("metadata", k->metadata.present && k->metadata.has_hops && k->metadata.hops == 1);
    check_str("endpoint", k->metadata.endpoint, "enabled");
    check_str("ipv6", k->metadata.ipv6, "disabled");
    check_str("tokens", k->metadata.tokens, "required");
    check_true("not said", k->public_ip == -1 && k->ip_prefixes == -1 && k->monitoring == -1 && !k->has_tags &&
                               !k->has_devices && !k->has_nics && !k->has_user_data && !k->has_context);
    check_true("kubelet", !k->kubelet.raw && k->kubelet.max_pods == -1 && k->kubelet.cpu_cfs_quota == -1);
    k = class_of(*state,
                 "{metadataOptions: {httpTokens: optional}, tags: {}, blockDeviceMappings: [], networkInterfaces: []}");
    check_str("others are filled in", k->metadata.endpoint, "enabled");
    check_str("tokens", k->metadata.tokens, "optional");
    check_true("there, and empty", k->has_tags && k->has_devices && k->has_nics);
}

static void everything(void **state)
{
    struct ec2_class *k = class_of(
        *state,
        "{amiFamily: Bottlerocket, role: r, context: c, userData: '', associatePublicIPAddress: false, ipPrefixCount: 0, "
        "subnetSelectorTerms: [{id: subnet-1}, {tags: {b: '2', a: '*'}}], securityGroupSelectorTerms: [{name: g, tags: {}}], "
        "amiSelectorTerms: [{name: im, owner: self}, {ssmParameter: /p}, {id: ami-1}], placementGroupSelector: {id: pg-1}, "
        "capacityReservationSelectorTerms: [{ownerID: '012345678901', tags: {x: w}, instanceMatchCriteria: open}], "
        "tags: {z: '1', a: '2'}, instanceStorePolicy: RAID0, detailedMonitoring: true, cpuOptions: {nestedVirtualization: enabled}, "
        "connectionTracking: {udpTimeout: 45}, networkInterfaces: [{networkCardIndex: 0, deviceIndex: 0, interfaceType: interface}, "
        "{networkCardIndex: 1, deviceIndex: 2, interfaceType: efa-only}], blockDeviceMappings: [{deviceName: /dev/xvda, rootVolume: "
        "true, ebs: {volumeSize: 1024Mi, iops: 0, encrypted: true, volumeType: gp3}}, {ebs: {snapshotID: s, "
        "volumeInitializationRate: 100}}]}");

    check_true("family", k->family == EC2_BOTTLEROCKET && k->has_family);
    check_true("texts", k->has_user_data && k->user_data.n == 0 && str_is(k->context, "c") && k->public_ip == 0 &&
                            k->ip_prefixes == 0);
    check_true("subnets", k->subnets.n == 2 && str_is(k->subnets.v[0].id, "subnet-1") && !k->subnets.v[0].has_tags);
    check_str("tags are sorted", k->subnets.v[1].tags[0].key, "a");
    check_true("an empty map is there", k->groups.v[0].has_tags && k->groups.v[0].n_tags == 0);
    check_true("images", str_is(k->images.v[0].owner, "self") && str_is(k->images.v[1].ssm, "/p") &&
                             str_is(k->images.v[2].id, "ami-1"));
    check_str("owner", k->reservations.v[0].owner, "012345678901");
    check_str("match", k->reservations.v[0].match, "open");
    check_true("placement", k->has_placement && str_is(k->placement_id, "pg-1"));
    check_str("tag", k->tags[1].key, "z");
    check_true("tracking", k->has_tracking && k->udp == 45 && k->udp_stream == 0);
    check_true("interfaces", k->n_nics == 2 && k->nics[1].card == 1 && k->nics[1].device == 2);
    const struct ec2_device *d = k->devices;
    check_true("root",
               d[0].root && d[0].has_iops && d[0].iops == 0 && d[0].encrypted == 1 && d[0].delete_on_termination == -1);
    check_str("the one way to write a size", d[0].size, "1Gi");
    check_i64("bytes", d[0].size_bytes, 1 << 30);
    check_true("snapshot", d[1].has_ebs && d[1].has_snapshot && d[1].rate == 100 && !d[1].has_name && d[1].size.n == 0);
    check_true("no notes", k->n_notes == 0);
}

static const struct {
    const char *name, *spec, *alias;
    enum ec2_family family;
} families[] = {
    {"an alias", "{amiSelectorTerms: [{alias: al2023@v20240807}]}", "al2023@v20240807", EC2_AL2023},
    {"an alias of Windows", "{amiSelectorTerms: [{alias: windows2022@latest}]}", "windows2022@latest", EC2_WINDOWS2022},
    {"the family wins", "{amiFamily: Custom, amiSelectorTerms: [{alias: al2@latest}]}", "al2@latest", EC2_CUSTOM},
    {"by name only", "{amiFamily: AL2, amiSelectorTerms: [{name: x}]}", "", EC2_AL2},
};

static void families_of_images(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        struct ec2_class *k = class_of(*state, families[i].spec);

        check_str(families[i].name, k->images.v[0].alias, families[i].alias);
        check_true(families[i].name, k->family == families[i].family);
    }
    check_true("windows", ec2_family_is_windows(EC2_WINDOWS2019) && !ec2_family_is_windows(EC2_AL2));
}

static void older_spellings(void **state)
{
    struct ec2_class *k =
        class_of(*state, "{securityGroupSelectorTerms: [{id: sg-1}], amiSelectorTerms: [{alias: al2023}]}");

    check_str("no version", k->images.v[0].alias, "al2023@latest");
    check_true("its family", k->family == EC2_AL2023 && k->n_notes == 1);
    check_str("is noted", k->notes[0], "EC2NodeClass default: alias al2023 without a version is read as al2023@latest");

    k = class_of(*state, "{securityGroupSelectorTerms: [{id: sg-1}], amiFamily: Bottlerocket}");
    check_str("no terms", k->images.v[0].alias, "bottlerocket@latest");
    check_str(
        "is noted", k->notes[0],
        "EC2NodeClass default: amiFamily Bottlerocket without amiSelectorTerms is read as alias bottlerocket@latest");

    k = class_of(*state, "{amiFamily: Custom}");
    check_true("not for Custom", k->images.n == 0);
    check_true("the cluster's own group", k->groups.n == 1 && k->groups.v[0].n_tags == 1);
    check_str("its tag", k->groups.v[0].tags[0].key, "aws:eks:cluster-name");
    check_str("and its value", k->groups.v[0].tags[0].value, "prod");
    check_str("is noted", k->notes[0],
              "EC2NodeClass default: no securityGroupSelectorTerms: read as the cluster's own group, tags "
              "{aws:eks:cluster-name: prod}");
}

static const struct {
    const char *spec, *want;
} mistakes[] = {
    {"{role: 1}", "spec.role: must be a string, not a number: put it in quotes"},
    {"{tags: {a: 1}}", "spec.tags.a: must be a string, not a number: put it in quotes"},
    {"{amiFamily: Ubuntu}", "spec.amiFamily: \"Ubuntu\" is not a family of images"},
    {"{amiSelectorTerms: [{alias: ubuntu@latest}]}",
     "spec.amiSelectorTerms[0].alias: \"ubuntu@latest\" is not a family and a version, such as al2023@latest"},
    {"{amiSelectorTerms: [{alias: al2023@}]}",
     "spec.amiSelectorTerms[0].alias: \"al2023@\" is not a family and a version, such as al2023@latest"},
    {"{amiSelectorTerms: {alias: al2023@latest}}", "spec.amiSelectorTerms: must be a list, not a map"},
    {"{subnetSelectorTerms: [x]}", "spec.subnetSelectorTerms[0]: must be a map, not a string"},
    {"{blockDeviceMappings: [{ebs: {volumeSize: 20Gx}}]}",
     "spec.blockDeviceMappings[0].ebs.volumeSize: quantity \"20Gx\" has an unknown suffix"},
    {"{blockDeviceMappings: [{ebs: {volumeSize: -1Gi}}]}",
     "spec.blockDeviceMappings[0].ebs.volumeSize: must not be negative"},
    {"{blockDeviceMappings: [{ebs: {iops: x}}]}", "spec.blockDeviceMappings[0].ebs.iops: must be an integer"},
    {"{blockDeviceMappings: [{ebs: {volumeType: gp9}}]}",
     "spec.blockDeviceMappings[0].ebs.volumeType: \"gp9\" is not known here"},
    {"{metadataOptions: {httpPutResponseHopLimit: 65}}",
     "spec.metadataOptions.httpPutResponseHopLimit: must be between 1 and 64"},
    {"{metadataOptions: {httpTokens: never}}", "spec.metadataOptions.httpTokens: \"never\" is not known here"},
    {"{connectionTracking: {udpTimeout: 61}}", "spec.connectionTracking.udpTimeout: must be between 30 and 60"},
    {"{networkInterfaces: [{networkCardIndex: -1}]}",
     "spec.networkInterfaces[0].networkCardIndex: must not be less than 0"},
    {"{kubelet: []}", "spec.kubelet: must be a map, not a list"},
    {"{detailedMonitoring: 'yes'}", "spec.detailedMonitoring: must be a boolean, not a string"},
};

static void refusals_name_the_field(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(mistakes); i++) {
        struct err e = {0};

        check_true(mistakes[i].spec, !try_class(*state, mistakes[i].spec, &e) && e.kind == ERR_INVALID);
        check_true(mistakes[i].spec,
                   str_ends(str_c(e.msg), str_c(mistakes[i].want)) || (print_message("%s\n", e.msg), false));
    }
}

static void lists_are_bounded(void **state)
{
    static const struct {
        const char *field, *item;
        int most;
    } lists[] = {
        {"subnetSelectorTerms", "{id: x}", 30},
        {"amiSelectorTerms", "{id: x}", 30},
        {"blockDeviceMappings", "{}", 50},
        {"networkInterfaces", "{}", 150},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        for (int more = 0; more < 2; more++) {
            struct err e = {0};

            sb_reset(&f->b);
            sb_printf(&f->b, "{%s: [", lists[i].field);
            for (int n = 0; n < lists[i].most + more; n++)
                sb_printf(&f->b, "%s%s", n ? ", " : "", lists[i].item);
            sb_c(&f->b, "]}");
            check_true(lists[i].field, (try_class(f, sb_cstr(&f->b), &e) != NULL) == !more);
        }
}

static void status(void **state)
{
    struct fixture *f = *state;
    struct err e = {0};
    struct ec2_class *k = ec2_class_decode(
        f->a, f->t,
        tree_yaml(
            f->a,
            "{metadata: {name: x, deletionTimestamp: '2026-01-01T00:00:00Z'}, spec: {}, status: {subnets: [{id: subnet-1, zone: "
            "a, zoneID: a1}], securityGroups: [{id: sg-1, name: g}], amis: [{id: ami-1, name: im, deprecated: true, "
            "requirements: [{key: kubernetes.io/arch, operator: In, values: [amd64]}]}], capacityReservations: [{id: cr-1, "
            "instanceType: m5.large, availabilityZone: a, endTime: '1970-01-01T00:00:01Z', interruptible: true}, {id: cr-2}], "
            "instanceProfile: p}}"),
        STR(""), &e);

    check_ok("decode", k != NULL, &e);
    check_true("deleting", k->deleting);
    check_str("zone id", k->status.subnets[0].zone_id, "a1");
    check_str("group", k->status.groups[0].name, "g");
    check_true("image", k->status.amis[0].deprecated && k->status.amis[0].n_requirements == 1 &&
                            sym_eq(k->status.amis[0].requirements[0].key, SYM(ARCH)));
    check_true("block", k->status.reservations[0].ends_ms == 1000 && k->status.reservations[0].interruptible);
    check_true("for ever", k->status.reservations[1].ends_ms == INT64_MIN);
    check_str("kind", k->status.reservations[1].kind, "default");
    check_str("state", k->status.reservations[1].state, "active");
    check_str("profile", k->status.profile, "p");
}

static const struct {
    const char *tags, *want;
} tags[] = {
    {"{}", ""},
    {"{team: a, kubernetes.io/clusters: x, 'karpenter.sh/other': w}", ""},
    {"{eks:eks-cluster-name: x}", "spec.tags: \"eks:eks-cluster-name\" is set by Karpenter itself"},
    {"{karpenter.sh/nodepool: x}", "spec.tags: \"karpenter.sh/nodepool\" is set by Karpenter itself"},
    {"{karpenter.sh/nodeclaim: x}", "spec.tags: \"karpenter.sh/nodeclaim\" is set by Karpenter itself"},
    {"{karpenter.k8s.aws/ec2nodeclass: x}", "spec.tags: \"karpenter.k8s.aws/ec2nodeclass\" is set by Karpenter itself"},
    {"{kubernetes.io/cluster/prod: owned}", "spec.tags: \"kubernetes.io/cluster/prod\" is set by Karpenter itself"},
    {"{kubernetes.io/cluster/Other_1-x: owned}",
     "spec.tags: \"kubernetes.io/cluster/Other_1-x\" says which cluster owns a machine"},
    {"{kubernetes.io/cluster/-x: owned}", ""},
    {"{'': x}", "spec.tags: a key is empty"},
};

static void restricted_tags(void **state)
{
    struct fixture *f = *state;

    for (size_t i = 0; i < ARRAY_LEN(tags); i++) {
        struct ec2_class *k = class_of(f, arena_printf(f->a, "{tags: %s}%c", tags[i].tags, 0).p);

        check_str(tags[i].tags, ec2_tags_problem(f->a, k, STR("prod")), tags[i].want);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(defaults, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(everything, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(families_of_images, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(older_spellings, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(refusals_name_the_field, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(lists_are_bounded, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(status, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(restricted_tags, fixture_setup, fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
