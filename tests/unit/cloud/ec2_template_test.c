/* What launch templates say, option by option (aws 4.6.4, 4.6.5; 11.8 LT1, LT4 to LT6, LT17, LT18, LT20 to LT27). */
#include "support/check.h"
#include "support/provider_lab.h"

#define NIC(card, device, type)                                                                                        \
    "{\"networkCardIndex\":" #card ",\"deviceIndex\":" #device ",\"interfaceType\":\"" type "\"}"
#define NICS "\"networkInterfaces\":[" NIC(0, 0, "interface") "," NIC(1, 1, "efa-only") "]"
#define TRACKING "\"connectionTracking\":{\"tcpEstablishedTimeout\":300,\"udpTimeout\":45}"
#define TRACKED "\"ConnectionTrackingSpecification\":{\"TcpEstablishedTimeout\":300,\"UdpTimeout\":45}"
#define DISK(more) "\"blockDeviceMappings\":[{\"deviceName\":\"/dev/xvda\",\"ebs\":{" more "}}]"

enum { PLAIN = 0, EFA = 1, SPOT = 2, IPV6 = 4, DEDICATED = 8, NO_GATE = 16 };

static const struct {
    const char *name, *spec;
    unsigned how;
    const char *want, *lack; /* NULL: nothing in particular */
} cases[] = {
    {"LT4 the profile",
     "{\"instanceProfile\":\"own-profile\",\"subnetSelectorTerms\":[{\"tags\":{\"foo\":\"bar\"}}],"
     "\"securityGroupSelectorTerms\":[{\"tags\":{\"foo\":\"bar\"}}],\"amiSelectorTerms\":[{\"alias\":"
     "\"al2023@latest\"}]}",
     PLAIN, "\"IamInstanceProfile\":{\"Name\":\"own-profile\"}", NULL},
    {"LT5 tags of interfaces", LAB_SPEC_WITH("\"tags\":{\"team\":\"blue\"}"), PLAIN, "\"team\":\"blue\"",
     "spot-instances-request"},
    {"LT5 and of spot requests", LAB_SPEC_WITH("\"tags\":{\"team\":\"blue\"}"), SPOT, "spot-instances-request", NULL},
    {"LT5 names of the user's own", LAB_SPEC_WITH("\"tags\":{\"Name\":\"mine\"}"), PLAIN, "\"Name\":\"mine\"", NULL},
    {"LT6 AL2023", LAB_SPEC("al2023@latest"), PLAIN,
     "\"BlockDeviceMappings\":[{\"DeviceName\":\"/dev/xvda\",\"Ebs\":{\"Encrypted\":true,\"VolumeSize\":20,\"VolumeType\":"
     "\"gp3\"}}]",
     NULL},
    {"LT6 Bottlerocket has two", LAB_SPEC("bottlerocket@latest"), PLAIN, "\"DeviceName\":\"/dev/xvdb\"", NULL},
    {"LT6 Windows", LAB_SPEC("windows2022@latest"), PLAIN,
     "\"DeviceName\":\"/dev/sda1\",\"Ebs\":{\"Encrypted\":true,\"VolumeSize\":50", NULL},
    {"LT6 Custom has none",
     "{\"role\":\"test-role\",\"amiFamily\":\"Custom\",\"subnetSelectorTerms\":[{\"tags\":{\"foo\":\"bar\"}}],"
     "\"securityGroupSelectorTerms\":[{\"tags\":{\"foo\":\"bar\"}}],\"amiSelectorTerms\":[{\"alias\":\"al2023@latest\"}]}",
     PLAIN, NULL, "BlockDeviceMappings"},
    {"LT6 rounded up", LAB_SPEC_WITH(DISK("\"volumeSize\":\"200G\"")), PLAIN, "\"VolumeSize\":187", NULL},
    {"LT6 nothing is nothing", LAB_SPEC_WITH(DISK("\"volumeSize\":\"4G\",\"iops\":0,\"throughput\":0")), PLAIN,
     "\"VolumeSize\":4", "\"Iops\""},
    {"LT17 a public address", LAB_SPEC_WITH("\"associatePublicIPAddress\":true"), PLAIN,
     "\"AssociatePublicIpAddress\":true", NULL},
    {"LT17 none", LAB_SPEC_WITH("\"associatePublicIPAddress\":false"), PLAIN, "\"AssociatePublicIpAddress\":false",
     NULL},
    {"LT17 as the subnet says", LAB_SPEC("al2023@latest"), PLAIN, NULL, "AssociatePublicIpAddress"},
    {"LT17 with EFA", LAB_SPEC_WITH("\"associatePublicIPAddress\":true"), EFA, "\"AssociatePublicIpAddress\":true",
     NULL},
    {"LT18 no prefixes", LAB_SPEC_WITH("\"ipPrefixCount\":0"), PLAIN, "\"Ipv4PrefixCount\":0", "Ipv6PrefixCount"},
    {"LT18 one", LAB_SPEC_WITH("\"ipPrefixCount\":1"), PLAIN, "\"Ipv4PrefixCount\":1", NULL},
    {"LT18 many", LAB_SPEC_WITH("\"ipPrefixCount\":100"), PLAIN, "\"Ipv4PrefixCount\":100", NULL},
    {"LT18 not said", LAB_SPEC("al2023@latest"), PLAIN, NULL, "PrefixCount"},
    {"LT18 IPv6", LAB_SPEC_WITH("\"ipPrefixCount\":10"), IPV6, "\"Ipv6PrefixCount\":10", "Ipv4PrefixCount"},
    {"LT20 no monitoring", LAB_SPEC("al2023@latest"), PLAIN, "\"Monitoring\":{\"Enabled\":false}", NULL},
    {"LT20 monitoring", LAB_SPEC_WITH("\"detailedMonitoring\":true"), PLAIN, "\"Monitoring\":{\"Enabled\":true}", NULL},
    {"LT20 no enclave", LAB_SPEC("al2023@latest"), PLAIN, "\"EnclaveOptions\":{\"Enabled\":false}", NULL},
    {"LT21 what the CRD fills in",
     LAB_SPEC_WITH("\"metadataOptions\":{\"httpEndpoint\":\"enabled\",\"httpProtocolIPv6\":\"disabled\","
                   "\"httpPutResponseHopLimit\":1,\"httpTokens\":\"required\"}"),
     PLAIN,
     "\"MetadataOptions\":{\"HttpEndpoint\":\"enabled\",\"HttpProtocolIpv6\":\"disabled\",\"HttpPutResponseHopLimit\":1,"
     "\"HttpTokens\":\"required\",\"InstanceMetadataTags\":\"disabled\"}",
     NULL},
    {"LT22 one address of IPv6", LAB_SPEC("al2023@latest"), IPV6, "\"PrimaryIpv6\":true", NULL},
    {"LT22 with EFA", LAB_SPEC("al2023@latest"), IPV6 | EFA, "\"Ipv6AddressCount\":1", NULL},
    {"LT22 not without", LAB_SPEC("al2023@latest"), PLAIN, NULL, "Ipv6AddressCount"},
    {"LT23 no tracking", LAB_SPEC("al2023@latest"), PLAIN, NULL, "ConnectionTracking"},
    {"LT23 tracking", LAB_SPEC_WITH(TRACKING), PLAIN, TRACKED, "UdpStreamTimeout"},
    {"LT23 with EFA", LAB_SPEC_WITH(TRACKING), EFA, TRACKED, NULL},
    {"LT24 interfaces as the class says", LAB_SPEC_WITH(NICS), PLAIN, "\"InterfaceType\":\"efa-only\"", NULL},
    {"LT24 whoever asks for EFA", LAB_SPEC_WITH(NICS), EFA, "\"InterfaceType\":\"efa-only\"",
     "\"InterfaceType\":\"efa\","},
    {"6.5 an empty list of DNS servers is like none", LAB_SPEC_WITH("\"kubelet\":{\"clusterDNS\":[]}"), PLAIN,
     "clusterDNS:\\n      - 10.0.100.10\\n", "clusterDNS: []"},
    {"LT25 among others", LAB_SPEC("al2023@latest"), PLAIN, "\"Placement\":{\"Tenancy\":\"default\"}", NULL},
    {"LT25 alone", LAB_SPEC("al2023@latest"), DEDICATED, "\"Placement\":{\"Tenancy\":\"dedicated\"}", NULL},
    {"LT26 no reservation", LAB_SPEC("al2023@latest"), PLAIN, "\"CapacityReservationPreference\":\"none\"", NULL},
    {"LT26 not a word without the gate", LAB_SPEC("al2023@latest"), NO_GATE, NULL, "CapacityReservation"},
    {"LT27 not said", LAB_SPEC("al2023@latest"), PLAIN, NULL, "CpuOptions"},
    {"LT27 empty", LAB_SPEC_WITH("\"cpuOptions\":{}"), PLAIN, NULL, "CpuOptions"},
    {"LT27 off", LAB_SPEC_WITH("\"cpuOptions\":{\"nestedVirtualization\":\"disabled\"}"), PLAIN,
     "\"CpuOptions\":{\"NestedVirtualization\":\"disabled\"}", NULL},
};

static void open_for(struct provider_lab *x, const char *spec, unsigned how)
{
    struct ec2_settings s = provider_lab_settings();

    s.reserved_capacity = !(how & NO_GATE);
    provider_lab_reopen(x, NULL, &s);
    x->dns = how & IPV6 ? STR("fd00::a") : STR("10.0.100.10");
    provider_lab_class(x, "default", spec, "pool");
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    provider_lab_want(x, "karpenter.sh/capacity-type", how & SPOT ? "spot" : "on-demand");
    if (how & DEDICATED)
        provider_lab_want(x, "karpenter.k8s.aws/instance-tenancy", "dedicated");
    if (how & EFA || str_contains(str_c(spec), STR("efa-only")))
        provider_lab_want(x, "node.kubernetes.io/instance-type", "dl1.24xlarge");
    if (how & EFA)
        provider_lab_ask(x, "vpc.amazonaws.com/efa", 1000);
}

static void options(void **state)
{
    struct provider_lab *x = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        open_for(x, cases[i].spec, cases[i].how);
        check_ok(cases[i].name, provider_lab_go(x, LAB_LAUNCH), &x->e);
        if (cases[i].want && !str_contains(x->l->template, str_c(cases[i].want)))
            check_str(cases[i].name, x->l->template, cases[i].want);
        check_true(cases[i].name, !cases[i].lack || !str_contains(x->l->template, str_c(cases[i].lack)));
    }
}

/* LT1: who keeps taints as they are. */
static void lt1_taints_are_not_synced(void **state)
{
    static const struct {
        const char *spec;
        bool said;
    } families[] = {
        {LAB_SPEC("al2@latest"), true},
        {LAB_SPEC("al2023@latest"), true},
        {LAB_SPEC("bottlerocket@latest"), true},
        {LAB_SPEC("windows2022@latest"), true},
        {"{\"role\":\"test-role\",\"amiFamily\":\"Custom\",\"userData\":\"x\",\"subnetSelectorTerms\":[{\"tags\":{\"foo\":"
         "\"bar\"}}],\"securityGroupSelectorTerms\":[{\"tags\":{\"foo\":\"bar\"}}],\"amiSelectorTerms\":[{\"alias\":"
         "\"al2023@latest\"}]}",
         false},
    };
    struct provider_lab *x = *state;

    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        open_for(x, families[i].spec, PLAIN);
        check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
        check_true(families[i].spec,
                   str_contains(x->l->template, STR("karpenter.sh/do-not-sync-taints")) == families[i].said);
    }
}

/* The innermost object of the text that has this in it. */
static str object_with(str text, const char *what)
{
    size_t from = 0, to = text.n;

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '{')
            from = i;
        if (text.p[i] == '}' && str_contains(str_sub(text, from, i), str_c(what))) {
            to = i;
            break;
        }
    }
    return str_sub(text, from, to);
}

/* An interface for EFA alone has no addresses, so nothing is tracked there. */
static void efa_only(void **state)
{
    struct provider_lab *x = *state;

    open_for(x, LAB_SPEC_WITH(NICS "," TRACKING ",\"ipPrefixCount\":1,\"associatePublicIPAddress\":true"), IPV6);
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    str bare = object_with(x->l->template, "\"efa-only\"");
    check_true("LT24 it is there", str_contains(bare, STR("\"NetworkCardIndex\":1")));
    check_true("LT17, LT18, LT22 no addresses",
               !str_contains(bare, STR("Ipv6")) && !str_contains(bare, STR("AssociatePublicIpAddress")));
    check_true("LT23 no tracking", !str_contains(bare, STR("ConnectionTracking")));
    check_true("the other one has all of it",
               str_contains(x->l->template, STR("\"Ipv6PrefixCount\":1")) &&
                   str_contains(x->l->template, STR("\"Ipv6AddressCount\":1")) &&
                   str_contains(x->l->template, STR(TRACKED)) &&
                   str_contains(x->l->template, STR("\"AssociatePublicIpAddress\":true")));
}

/* LT21: some regions do not know the option. */
static void lt21_isolated_regions(void **state)
{
    struct provider_lab *x = *state;

    provider_lab_reopen(x, "{\"region\":\"us-iso-east-1\"}", NULL);
    provider_lab_class(x, "default", LAB_SPEC("al2023@latest"), "pool");
    check_ok("start", provider_lab_go(x, LAB_START), &x->e);
    check_ok("launch", provider_lab_go(x, LAB_LAUNCH), &x->e);
    check_true("the others", str_contains(x->l->template, STR("\"HttpTokens\":\"required\"")));
    check_true("not this one", !str_contains(x->l->template, STR("HttpProtocolIpv6")));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, provider_lab_setup, provider_lab_teardown)
    const struct CMUnitTest tests[] = {T(options), T(lt1_taints_are_not_synced), T(efa_only), T(lt21_isolated_regions)};

    return cmocka_run_group_tests_name("cloud/ec2_template", tests, NULL, NULL);
}
