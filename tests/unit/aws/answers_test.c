/* What comes of AWS's answers: every element that is read, in answers as AWS writes them. */
#include <math.h>

#include "aws/services.h"
#include "support/aws_lab.h"
#include "support/check.h"

static const char *const env[] = {"AWS_REGION=eu-west-3", "AWS_ENDPOINT_URL=https://aws.test", "AWS_ACCESS_KEY_ID=AKID",
                                  "AWS_SECRET_ACCESS_KEY=hush", NULL};
static const char *const env_china[] = {"AWS_REGION=cn-north-1", "AWS_ENDPOINT_URL=https://aws.test",
                                        "AWS_ACCESS_KEY_ID=AKID", "AWS_SECRET_ACCESS_KEY=hush", NULL};

/* A test is a fiber that calls; the server answers all that it asks with the same text. */
struct ask {
    struct aws_lab lab;
    struct arena *a;
    struct err e;
    const char *answer;
    void (*fn)(struct ask *k, struct aws *c);
};

static void serve(struct aws_lab *l, struct exchange *x)
{
    const struct ask *k = l->ctx;

    lab_reply(x, 200, k->answer);
}

static void begin(void *arg)
{
    struct ask *k = arg;

    k->fn(k, k->lab.aws);
}

static void ask(const char *const *vars, void (*fn)(struct ask *k, struct aws *c), const char *answer)
{
    struct ask k = {.a = arena_new(0), .answer = answer, .fn = fn, .lab = {.serve = serve}};

    k.lab.ctx = &k;
    aws_lab_init(&k.lab, 1, vars);
    aws_lab_go(&k.lab, begin, &k);
    aws_lab_run(&k.lab, 60000);
    aws_lab_fini(&k.lab);
    arena_free(k.a);
}

/* ---- EC2: what there is to buy ---- */

static const char types_xml[] =
    "<DescribeInstanceTypesResponse xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><requestId>r</requestId><instanceTypeSet>"
    "<item><instanceType>p4d.24xlarge</instanceType><currentGeneration>true</currentGeneration>"
    "<supportedUsageClasses><item>on-demand</item><item>spot</item></supportedUsageClasses><hypervisor>nitro</hypervisor>"
    "<bareMetal>false</bareMetal><processorInfo><supportedArchitectures><item>x86_64</item></supportedArchitectures>"
    "<sustainedClockSpeedInGhz>3.0</sustainedClockSpeedInGhz><supportedFeatures><item>amd-sev-snp</item></supportedFeatures>"
    "<manufacturer>Intel</manufacturer></processorInfo><vCpuInfo><defaultVCpus>96</defaultVCpus></vCpuInfo>"
    "<memoryInfo><sizeInMiB>1179648</sizeInMiB></memoryInfo><instanceStorageInfo><totalSizeInGB>8000</totalSizeInGB>"
    "<nvmeSupport>required</nvmeSupport></instanceStorageInfo><ebsInfo><ebsOptimizedSupport>default</ebsOptimizedSupport>"
    "<ebsOptimizedInfo><maximumBandwidthInMbps>19000</maximumBandwidthInMbps></ebsOptimizedInfo></ebsInfo><networkInfo>"
    "<defaultNetworkCardIndex>0</defaultNetworkCardIndex><networkCards><item><networkCardIndex>0</networkCardIndex>"
    "<maximumNetworkInterfaces>15</maximumNetworkInterfaces></item><item><networkCardIndex>1</networkCardIndex>"
    "<maximumNetworkInterfaces>14</maximumNetworkInterfaces></item></networkCards>"
    "<ipv4AddressesPerInterface>50</ipv4AddressesPerInterface><enaSupport>required</enaSupport><efaInfo>"
    "<maximumEfaInterfaces>4</maximumEfaInterfaces></efaInfo><encryptionInTransitSupported>true</encryptionInTransitSupported>"
    "</networkInfo><gpuInfo><gpus><item><name>A100</name><manufacturer>NVIDIA</manufacturer><count>8</count><memoryInfo>"
    "<sizeInMiB>40960</sizeInMiB></memoryInfo></item></gpus></gpuInfo><inferenceAcceleratorInfo><accelerators><item>"
    "<name>Inferentia</name><manufacturer>AWS</manufacturer><count>2</count></item></accelerators></inferenceAcceleratorInfo>"
    "<neuronInfo><neuronDevices><item><name>Trainium</name><count>16</count><coreInfo><count>2</count></coreInfo></item>"
    "</neuronDevices></neuronInfo><placementGroupInfo><supportedStrategies><item>cluster</item><item>spread</item>"
    "</supportedStrategies></placementGroupInfo><nitroEnclavesSupport>supported</nitroEnclavesSupport></item>"
    "<item><instanceType>t1.micro</instanceType><bareMetal>true</bareMetal></item>"
    "</instanceTypeSet><nextToken/></DescribeInstanceTypesResponse>";

static void read_types(struct ask *k, struct aws *c)
{
    struct ec2_type_infos all;

    check_ok("types", ec2_describe_types(c, k->a, &all, &k->e), &k->e);
    check_u64("two", all.n, 2);
    const struct ec2_type_info *t = &all.v[0], *least = &all.v[1];
    check_str("name", t->name, "p4d.24xlarge");
    check_true("usage", t->n_usage_classes == 2 && str_is(t->usage_classes[1], "spot"));
    check_true("words", str_is(t->hypervisor, "nitro") && str_is(t->manufacturer, "Intel") &&
                            str_is(t->nvme, "required") && str_is(t->ebs_optimized, "default") &&
                            str_is(t->ena, "required") && str_is(t->enclaves, "supported"));
    check_true("processor", t->has_processor && t->clock_ghz == 3.0 && t->n_archs == 1 &&
                                str_is(t->archs[0], "x86_64") && t->n_features == 1 && t->vcpus == 96 &&
                                t->memory_mib == 1179648 && !t->bare_metal);
    check_true("storage", t->has_storage && t->storage_gb == 8000 && t->ebs_mbps == 19000);
    check_true("network", t->default_card == 0 && t->n_cards == 2 && t->cards[1].index == 1 &&
                              t->cards[1].max_interfaces == 14 && t->ipv4_per_interface == 50 && t->has_efa &&
                              t->max_efa == 4 && t->encryption_in_transit);
    check_true("gpus", t->n_gpus == 1 && str_is(t->gpus[0].name, "A100") && str_is(t->gpus[0].manufacturer, "NVIDIA") &&
                           t->gpus[0].count == 8 && t->gpus[0].memory_mib == 40960);
    check_true("accelerators", t->n_accelerators == 1 && t->accelerators[0].count == 2);
    check_true("neurons", t->has_neuron && t->n_neurons == 1 && t->neurons[0].count == 16 && t->neurons[0].cores == 2);
    check_true("strategies", t->n_placement_strategies == 2 && str_is(t->placement_strategies[0], "cluster"));
    check_true("what is not said", least->bare_metal && !least->has_processor && !least->has_storage &&
                                       !least->has_efa && !least->has_neuron && !least->n_gpus && !least->n_cards &&
                                       !least->vcpus);
}

static void read_zones_and_prices(struct ask *k, struct aws *c)
{
    struct ec2_type_zone *zones;
    struct ec2_spot_price *prices;
    uint32_t n;

    check_ok("zones", ec2_describe_type_zones(c, k->a, &zones, &n, &k->e), &k->e);
    check_true("zones", n == 1 && str_is(zones[0].type, "m5.large") && str_is(zones[0].zone, "eu-west-3a"));
    check_ok("prices", ec2_describe_spot_prices(c, k->a, &prices, &n, &k->e), &k->e);
    check_u64("prices", n, 3);
    check_true("price", prices[0].usd == 0.0351 && prices[0].at_ms == INT64_C(1767225600000) &&
                            str_is(prices[0].type, "m5.large") && str_is(prices[0].zone, "eu-west-3a"));
    check_true("nonsense", isnan(prices[1].usd) && isnan(prices[2].usd) && prices[2].at_ms == INT64_MIN);
}

static void reads_what_there_is_to_buy(void **state)
{
    (void)state;
    ask(env, read_types, types_xml);
    ask(env, read_zones_and_prices,
        "<R><instanceTypeOfferingSet><item><instanceType>m5.large</instanceType><locationType>availability-zone</locationType>"
        "<location>eu-west-3a</location></item></instanceTypeOfferingSet><spotPriceHistorySet><item>"
        "<instanceType>m5.large</instanceType><availabilityZone>eu-west-3a</availabilityZone><spotPrice>0.035100</spotPrice>"
        "<timestamp>2026-01-01T00:00:00.000Z</timestamp></item><item><spotPrice>free</spotPrice>"
        "<timestamp>2026-01-01T00:00:00.000Z</timestamp></item><item/></spotPriceHistorySet></R>");
}

/* ---- EC2: what there is of the user's ---- */

static void read_found(struct ask *k, struct aws *c)
{
    struct ec2_subnet *subnets;
    struct ec2_group *groups;
    struct ec2_image *images;
    struct ec2_reservation *reserved;
    struct ec2_placement_group placement;
    uint32_t n;

    check_ok("subnets", ec2_describe_subnets(c, k->a, NULL, 0, &subnets, &n, &k->e), &k->e);
    check_true("subnet", n == 1 && str_is(subnets[0].id, "subnet-1") && str_is(subnets[0].zone, "eu-west-3a") &&
                             str_is(subnets[0].zone_id, "euw3-az1") && subnets[0].free_ips == 4091);
    check_ok("groups", ec2_describe_groups(c, k->a, NULL, 0, &groups, &n, &k->e), &k->e);
    check_true("group", n == 1 && str_is(groups[0].id, "sg-1") && str_is(groups[0].name, "nodes"));
    check_ok("images", ec2_describe_images(c, k->a, NULL, 0, NULL, 0, &images, &n, &k->e), &k->e);
    check_true("image", n == 2 && str_is(images[0].id, "ami-1") && str_is(images[0].name, "al2023") &&
                            str_is(images[0].arch, "arm64") && str_is(images[0].state, "available"));
    check_true("dates",
               images[0].created_ms == INT64_C(1514764800000) && images[0].deprecated_ms == INT64_C(1767225600000));
    check_true("no dates", images[1].created_ms == INT64_MIN && images[1].deprecated_ms == INT64_MIN);
    check_ok("reserved", ec2_describe_reservations(c, k->a, (str){0}, NULL, 0, &reserved, &n, &k->e), &k->e);
    check_true("reservation", n == 1 && str_is(reserved[0].id, "cr-1") && str_is(reserved[0].owner, "1") &&
                                  str_is(reserved[0].type, "m5.large") && str_is(reserved[0].zone, "eu-west-3a") &&
                                  str_is(reserved[0].match, "targeted") && str_is(reserved[0].kind, "default") &&
                                  reserved[0].ends_ms == INT64_C(1767225600000) && reserved[0].available == 3 &&
                                  reserved[0].interruptible);
    check_ok("placement", ec2_describe_placement_group(c, k->a, STR("pg-1"), (str){0}, &placement, &k->e), &k->e);
    check_true("placement", str_is(placement.id, "pg-1") && str_is(placement.name, "mine") &&
                                str_is(placement.strategy, "partition") && str_is(placement.spread_level, "rack") &&
                                placement.partitions == 7);
}

static void reads_what_is_the_users(void **state)
{
    (void)state;
    ask(env, read_found,
        "<R><subnetSet><item><subnetId>subnet-1</subnetId><availabilityZone>eu-west-3a</availabilityZone>"
        "<availabilityZoneId>euw3-az1</availabilityZoneId><availableIpAddressCount>4091</availableIpAddressCount></item></subnetSet>"
        "<securityGroupInfo><item><groupId>sg-1</groupId><groupName>nodes</groupName><ipPermissions/></item></securityGroupInfo>"
        "<imagesSet><item><imageId>ami-1</imageId><name>al2023</name><architecture>arm64</architecture><imageState>available"
        "</imageState><creationDate>2018-01-01T00:00:00.000Z</creationDate><deprecationTime>2026-01-01T00:00:00.000Z"
        "</deprecationTime></item><item><creationDate>long ago</creationDate></item></imagesSet>"
        "<capacityReservationSet><item><capacityReservationId>cr-1</capacityReservationId><ownerId>1</ownerId>"
        "<instanceType>m5.large</instanceType><availabilityZone>eu-west-3a</availabilityZone><instanceMatchCriteria>targeted"
        "</instanceMatchCriteria><reservationType>default</reservationType><endDate>2026-01-01T00:00:00.000Z</endDate>"
        "<availableInstanceCount>3</availableInstanceCount><interruptible>true</interruptible></item></capacityReservationSet>"
        "<placementGroupSet><item><groupId>pg-1</groupId><groupName>mine</groupName><strategy>partition</strategy>"
        "<spreadLevel>rack</spreadLevel><partitionCount>7</partitionCount></item></placementGroupSet></R>");
}

/* ---- EC2: templates, fleets, machines ---- */

static void read_launch(struct ask *k, struct aws *c)
{
    struct ec2_template_data d = {.image = STR("ami-1")};
    struct ec2_fleet r = {.capacity_type = "spot", .count = 3};
    struct ec2_template one, *many;
    struct ec2_fleet_answer f;
    uint32_t n;

    check_ok("create", ec2_create_template(c, k->a, STR("one"), &d, NULL, &one, NULL, &k->e), &k->e);
    check_true("created", str_is(one.id, "lt-1") && str_is(one.name, "one"));
    check_ok("describe", ec2_describe_template(c, k->a, STR("two"), &one, NULL, &k->e), &k->e);
    check_true("described", str_is(one.id, "lt-2") && str_is(one.name, "two"));
    check_ok("list", ec2_describe_templates(c, k->a, NULL, 0, &many, &n, &k->e), &k->e);
    check_u64("listed", n, 1);
    check_ok("fleet", ec2_create_fleet(c, k->a, &r, &f, NULL, &k->e), &k->e);
    check_true("fleet", str_is(f.id, "fleet-1") && f.n_groups == 2 && f.n_errors == 2);
    check_true("group", f.groups[0].n == 2 && str_is(f.groups[0].ids[1], "i-2") &&
                            str_is(f.groups[0].type, "m5.large") && str_is(f.groups[0].lifecycle, "spot") &&
                            f.groups[1].n == 1);
    check_true("override",
               str_is(f.groups[0].override.type, "m5.large") && str_is(f.groups[0].override.subnet, "subnet-1") &&
                   str_is(f.groups[0].override.zone, "eu-west-3a") && str_is(f.groups[0].override.image, "ami-1"));
    check_true("error", str_is(f.errors[0].code, "InsufficientInstanceCapacity") &&
                            str_is(f.errors[0].message, "none") && str_is(f.errors[0].override.zone, "eu-west-3b"));
    check_true("an error that says little", str_is(f.errors[1].code, "Odd") && !f.errors[1].override.type.n);
}

static void read_machines(struct ask *k, struct aws *c)
{
    struct ec2_filter f = {"event.code", NULL, 0};
    struct ec2_instances all;
    struct ec2_state_change *changes;
    struct ec2_status *status;
    str id = STR("i-1");
    uint32_t n;

    check_ok("describe", ec2_describe_instances(c, k->a, &id, 1, NULL, 0, &all, &k->e), &k->e);
    check_u64("of all reservations", all.n, 3);
    const struct ec2_instance *i = &all.v[0];
    check_true("ids", str_is(i->id, "i-1") && str_is(i->image, "ami-1") && str_is(i->type, "m5.large") &&
                          str_is(i->state, "running") && str_is(i->subnet, "subnet-1"));
    check_true("place", str_is(i->zone, "eu-west-3a") && str_is(i->zone_id, "euw3-az1") &&
                            str_is(i->tenancy, "default") && i->partition == 2);
    check_true("market", str_is(i->spot_request, "sir-1") && str_is(i->lifecycle, "spot") &&
                             str_is(i->reservation, "cr-1") &&
                             str_is(i->reservation_preference, "capacity-reservations-only"));
    check_true("more", i->launched_ms == INT64_C(1767225600000) && i->n_groups == 2 && str_is(i->groups[1], "sg-2") &&
                           i->n_tags == 2 && str_is(i->tags[1].key, "empty") && !i->tags[1].value.n && i->n_efa == 2);
    check_true("the last", str_is(all.v[2].id, "i-3") && all.v[2].launched_ms == INT64_MIN && !all.v[2].n_tags);
    check_ok("terminate", ec2_terminate(c, k->a, &id, 1, &changes, &n, &k->e), &k->e);
    check_true("terminated", n == 1 && str_is(changes[0].id, "i-1") && str_is(changes[0].is, "shutting-down") &&
                                 str_is(changes[0].was, "running"));
    check_ok("status", ec2_describe_status(c, k->a, &f, &status, &n, &k->e), &k->e);
    check_true("status", n == 1 && str_is(status[0].id, "i-1") && status[0].n_instance == 1 &&
                             status[0].n_system == 0 && status[0].n_ebs == 1 && status[0].n_events == 2 &&
                             str_is(status[0].events[1], "system-reboot"));
    check_true("check", str_is(status[0].instance[0].name, "reachability") &&
                            str_is(status[0].instance[0].status, "failed") &&
                            status[0].instance[0].since_ms == INT64_C(1767225600000));
    check_true("a check that passed", status[0].ebs[0].since_ms == INT64_MIN);
}

static void reads_launches_and_machines(void **state)
{
    (void)state;
    ask(env, read_launch,
        "<R><launchTemplate><launchTemplateId>lt-1</launchTemplateId><launchTemplateName>one</launchTemplateName></launchTemplate>"
        "<launchTemplates><item><launchTemplateId>lt-2</launchTemplateId><launchTemplateName>two</launchTemplateName></item>"
        "</launchTemplates><fleetId>fleet-1</fleetId><fleetInstanceSet><item><instanceIds><item>i-1</item><item>i-2</item>"
        "</instanceIds><instanceType>m5.large</instanceType><lifecycle>spot</lifecycle><launchTemplateAndOverrides><overrides>"
        "<instanceType>m5.large</instanceType><subnetId>subnet-1</subnetId><availabilityZone>eu-west-3a</availabilityZone>"
        "<imageId>ami-1</imageId></overrides></launchTemplateAndOverrides></item><item><instanceIds><item>i-3</item></instanceIds>"
        "</item></fleetInstanceSet><errorSet><item><errorCode>InsufficientInstanceCapacity</errorCode><errorMessage>none"
        "</errorMessage><launchTemplateAndOverrides><overrides><availabilityZone>eu-west-3b</availabilityZone></overrides>"
        "</launchTemplateAndOverrides></item><item><errorCode>Odd</errorCode></item></errorSet></R>");
    ask(env, read_machines,
        "<R><reservationSet><item><groupSet/><instancesSet><item><instanceId>i-1</instanceId><imageId>ami-1</imageId>"
        "<instanceState><code>16</code><name>running</name></instanceState><instanceType>m5.large</instanceType>"
        "<launchTime>2026-01-01T00:00:00.000Z</launchTime><placement><availabilityZone>eu-west-3a</availabilityZone>"
        "<availabilityZoneId>euw3-az1</availabilityZoneId><tenancy>default</tenancy><partitionNumber>2</partitionNumber>"
        "</placement><subnetId>subnet-1</subnetId><spotInstanceRequestId>sir-1</spotInstanceRequestId><instanceLifecycle>spot"
        "</instanceLifecycle><capacityReservationId>cr-1</capacityReservationId><capacityReservationSpecification>"
        "<capacityReservationPreference>capacity-reservations-only</capacityReservationPreference>"
        "</capacityReservationSpecification><groupSet><item><groupId>sg-1</groupId></item><item><groupId>sg-2</groupId></item>"
        "</groupSet><tagSet><item><key>Name</key><value>a</value></item><item><key>empty</key><value/></item></tagSet>"
        "<networkInterfaceSet><item><interfaceType>efa</interfaceType></item><item><interfaceType>efa-only</interfaceType></item>"
        "<item><interfaceType>interface</interfaceType></item></networkInterfaceSet></item><item><instanceId>i-2</instanceId>"
        "</item></instancesSet></item><item><instancesSet><item><instanceId>i-3</instanceId></item></instancesSet></item>"
        "</reservationSet><instancesSet><item><instanceId>i-1</instanceId><currentState><name>shutting-down</name></currentState>"
        "<previousState><name>running</name></previousState></item></instancesSet><instanceStatusSet><item>"
        "<instanceId>i-1</instanceId><instanceStatus><status>impaired</status><details><item><name>reachability</name>"
        "<status>failed</status><impairedSince>2026-01-01T00:00:00.000Z</impairedSince></item></details></instanceStatus>"
        "<systemStatus><status>ok</status><details/></systemStatus><attachedEbsStatus><details><item><name>reachability</name>"
        "<status>passed</status></item></details></attachedEbsStatus><eventsSet><item><code>instance-stop</code></item><item>"
        "<code>system-reboot</code></item></eventsSet></item></instanceStatusSet></R>");
}

/* ---- other services ---- */

static void read_profiles(struct ask *k, struct aws *c)
{
    struct iam_profile p, *all;
    uint32_t n;

    check_ok("get", iam_get_profile(c, k->a, STR("p"), &p, &k->e), &k->e);
    check_true("got", str_is(p.name, "p") && str_is(p.path, "/karpenter/a/") && str_is(p.role, "nodes"));
    check_ok("list", iam_list_profiles(c, k->a, STR("/karpenter/"), &all, &n, &k->e), &k->e);
    check_true("those of another path are left out", n == 2 && str_is(all[0].name, "p") && str_is(all[1].name, "q"));
    check_true("one has no role", !all[0].role.n && str_is(all[1].role, "first"));
}

static void read_json(struct ask *k, struct aws *c)
{
    struct eks_cluster cluster;
    struct sqs_message *m;
    struct zonal_shift *s;
    uint32_t n;
    str text;

    check_ok("parameter", ssm_get_parameter(c, k->a, STR("/p"), &text, &k->e), &k->e);
    check_str("parameter", text, "ami-1");
    check_ok("cluster", eks_describe_cluster(c, k->a, STR("c"), &cluster, NULL, &k->e), &k->e);
    check_true("cluster", str_is(cluster.name, "c") && str_is(cluster.arn, "arn:c") &&
                              str_is(cluster.endpoint, "https://c") && str_is(cluster.version, "1.36") &&
                              str_is(cluster.ca_data, "Q0E=") && str_is(cluster.service_ipv4, "10.100.0.0/16") &&
                              !cluster.service_ipv6.n);
    check_ok("queue", sqs_queue_url(c, k->a, STR("q"), &text, &k->e), &k->e);
    check_str("queue", text, "https://sqs/1/q");
    check_ok("receive", sqs_receive(c, k->a, text, &m, &n, &k->e), &k->e);
    check_true("message", n == 2 && str_is(m[0].body, "{\"a\": 1}") && str_is(m[0].receipt, "r1") &&
                              m[0].sent_ms == INT64_C(1767225600001));
    check_true("when is not said", m[1].sent_ms == INT64_MIN && !m[1].body.n);
    check_ok("shifts", zonal_shifts(c, k->a, STR("arn:c"), &s, &n, &k->e), &k->e);
    check_true("shifts", n == 2 && str_is(s[0].zone_id, "euw3-az1") && s[0].expires_ms == INT64_C(1767225600500) &&
                             s[0].applied && !s[1].applied);
}

static void read_nothing(struct ask *k, struct aws *c)
{
    struct sqs_message *m;
    struct zonal_shift *s;
    uint32_t n;

    check_ok("receive", sqs_receive(c, k->a, STR("u"), &m, &n, &k->e), &k->e);
    check_u64("no message", n, 0);
    check_ok("shifts", zonal_shifts(c, k->a, STR("arn:c"), &s, &n, &k->e), &k->e);
    check_u64("no shift", n, 0);
}

static void reads_other_services(void **state)
{
    (void)state;
    ask(env, read_profiles,
        "<R><GetInstanceProfileResult><InstanceProfile><InstanceProfileName>p</InstanceProfileName><Path>/karpenter/a/</Path>"
        "<Roles><member><RoleName>nodes</RoleName></member></Roles></InstanceProfile></GetInstanceProfileResult>"
        "<ListInstanceProfilesResult><IsTruncated>false</IsTruncated><Marker>stale</Marker><InstanceProfiles><member>"
        "<InstanceProfileName>p</InstanceProfileName><Path>/karpenter/</Path><Roles/></member><member>"
        "<InstanceProfileName>x</InstanceProfileName><Path>/</Path></member><member><InstanceProfileName>q</InstanceProfileName>"
        "<Path>/karpenter/b/</Path><Roles><member><RoleName>first</RoleName></member><member><RoleName>second</RoleName></member>"
        "</Roles></member></InstanceProfiles></ListInstanceProfilesResult></R>");
    ask(env, read_json,
        "{\"Parameter\": {\"Name\": \"/p\", \"Value\": \"ami-1\", \"Version\": 3}, \"cluster\": {\"name\": \"c\", \"arn\": "
        "\"arn:c\", \"endpoint\": \"https://c\", \"version\": \"1.36\", \"certificateAuthority\": {\"data\": \"Q0E=\"}, "
        "\"kubernetesNetworkConfig\": {\"serviceIpv4Cidr\": \"10.100.0.0/16\", \"serviceIpv6Cidr\": null}}, \"QueueUrl\": "
        "\"https://sqs/1/q\", \"Messages\": [{\"Body\": \"{\\\"a\\\": 1}\", \"ReceiptHandle\": \"r1\", \"Attributes\": "
        "{\"SentTimestamp\": \"1767225600001\"}}, {\"ReceiptHandle\": \"r2\"}], \"zonalShifts\": [{\"awayFrom\": \"euw3-az1\", "
        "\"expiryTime\": 1767225600.5, \"appliedStatus\": \"APPLIED\"}, {\"awayFrom\": \"euw3-az2\", \"expiryTime\": 1, "
        "\"appliedStatus\": \"NOT_APPLIED\"}]}");
    ask(env, read_nothing, "{}");
}

/* ---- prices ---- */

#define RECORD(type, dimensions)                                                                                       \
    "\"{\\\"product\\\":{\\\"attributes\\\":{\\\"instanceType\\\":\\\"" type                                           \
    "\\\"}},\\\"terms\\\":{\\\"OnDemand\\\":{\\\"T\\\":{\\\"priceDimensions\\\":{" dimensions "}}}}}\""
#define DIMENSION(name, currency, price)                                                                               \
    "\\\"" name "\\\":{\\\"pricePerUnit\\\":{\\\"" currency "\\\":\\\"" price "\\\"}}"

/* clang-format off */
static const char price_list[] = "{\"FormatVersion\":\"aws_v1\",\"PriceList\":["
    RECORD("m5.large", DIMENSION("D", "USD", "0.0960000000")) ","
    RECORD("zero", DIMENSION("D", "USD", "0.0000000000")) ","
    RECORD("odd", DIMENSION("D", "USD", "much")) ","
    RECORD("", DIMENSION("D", "USD", "1")) ","
    RECORD("m5.xlarge", DIMENSION("A", "USD", "0") "," DIMENSION("B", "USD", "0.192")) ","
    RECORD("cn.large", DIMENSION("D", "CNY", "7.5")) ","
    "\"{}\"]}";
/* clang-format on */

static void read_prices(struct ask *k, struct aws *c)
{
    struct aws_price *p;
    uint32_t n;

    check_ok("prices", pricing_on_demand(c, k->a, false, &p, &n, &k->e), &k->e);
    check_true("those that are some", n == 2 && str_is(p[0].type, "m5.large") && p[0].per_hour == 0.096 &&
                                          str_is(p[1].type, "m5.xlarge") && p[1].per_hour == 0.192);
}

static void read_prices_in_yuan(struct ask *k, struct aws *c)
{
    struct aws_price *p;
    uint32_t n;

    check_ok("prices", pricing_on_demand(c, k->a, true, &p, &n, &k->e), &k->e);
    check_true("in yuan", n == 1 && str_is(p[0].type, "cn.large") && p[0].per_hour == 7.5);
}

static void refuse_prices(struct ask *k, struct aws *c)
{
    struct aws_price *p;
    uint32_t n;

    check_true("not JSON", !pricing_on_demand(c, k->a, false, &p, &n, &k->e));
    check_str("not JSON", str_c(k->e.msg), "GetProducts: a record of the price list is not JSON");
}

static void reads_prices(void **state)
{
    (void)state;
    ask(env, read_prices, price_list);
    ask(env_china, read_prices_in_yuan, price_list);
    ask(env, refuse_prices, "{\"PriceList\": [\"{\"]}");
    ask(env, refuse_prices, "{\"PriceList\": [{}]}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_there_is_to_buy),
        cmocka_unit_test(reads_what_is_the_users),
        cmocka_unit_test(reads_launches_and_machines),
        cmocka_unit_test(reads_other_services),
        cmocka_unit_test(reads_prices),
    };

    return cmocka_run_group_tests_name("aws/answers", tests, NULL, NULL);
}
