/* reply - what a handler said, in the words of the service's protocol: EC2's XML, XML of query services, JSON.
 *
 * Handlers speak in JSON member names. EC2's XML begins them with a small letter and has names of its own for most lists; the table has those that this account
 * uses, and the reverse check (tests/e2e/aws_sim.py) holds it against AWS's published model.
 */
#include <ctype.h>
#include <stdio.h>

#include "data/json.h"
#include "data/xml.h"
#include "sim/aws/call.h"

#define ANY ""

static const struct {
    str in; /* the member that holds it, or the action; ANY: anything */
    str member;
    const char *wire;
} ec2_names[] = {
    {STR_INIT("CreateFleet"), STR_INIT("Instances"), "fleetInstanceSet"},
    {STR_INIT("DescribeFleets"), STR_INIT("Fleets"), "fleetSet"},
    {STR_INIT("DescribeSecurityGroups"), STR_INIT("SecurityGroups"), "securityGroupInfo"},
    {STR_INIT("DescribeTags"), STR_INIT("Tags"), "tagSet"},
    {STR_INIT("EbsInfo"), STR_INIT("EbsCards"), "ebsCardSet"},
    {STR_INIT("Fleets"), STR_INIT("Instances"), "fleetInstanceSet"},
    {STR_INIT("Gpus"), STR_INIT("Workloads"), "workloadSet"},
    {STR_INIT("Images"), STR_INIT("BlockDeviceMappings"), "blockDeviceMapping"},
    {STR_INIT("Images"), STR_INIT("OwnerId"), "imageOwnerId"},
    {STR_INIT("Images"), STR_INIT("Public"), "isPublic"},
    {STR_INIT("Images"), STR_INIT("State"), "imageState"},
    {STR_INIT("InstanceStatuses"), STR_INIT("Events"), "eventsSet"},
    {STR_INIT("Instances"), STR_INIT("BlockDeviceMappings"), "blockDeviceMapping"},
    {STR_INIT("Instances"), STR_INIT("Licenses"), "licenseSet"},
    {STR_INIT("Instances"), STR_INIT("PublicDnsName"), "dnsName"},
    {STR_INIT("Instances"), STR_INIT("PublicIpAddress"), "ipAddress"},
    {STR_INIT("Instances"), STR_INIT("SecurityGroups"), "groupSet"},
    {STR_INIT("Instances"), STR_INIT("State"), "instanceState"},
    {STR_INIT("Instances"), STR_INIT("StateTransitionReason"), "reason"},
    {STR_INIT("LaunchTemplateData"), STR_INIT("BlockDeviceMappings"), "blockDeviceMappingSet"},
    {STR_INIT("LaunchTemplateData"), STR_INIT("SecurityGroups"), "securityGroupSet"},
    {STR_INIT("Regions"), STR_INIT("Endpoint"), "regionEndpoint"},
    {STR_INIT("Reservations"), STR_INIT("Instances"), "instancesSet"},
    {STR_INIT("RunInstances"), STR_INIT("Instances"), "instancesSet"},
    {STR_INIT("AvailabilityZones"), STR_INIT("State"), "zoneState"},
    {STR_INIT("SecurityGroups"), STR_INIT("Description"), "groupDescription"},
    {STR_INIT(ANY), STR_INIT("AvailabilityZones"), "availabilityZoneInfo"},
    {STR_INIT(ANY), STR_INIT("CapacityAllocations"), "capacityAllocationSet"},
    {STR_INIT(ANY), STR_INIT("CapacityReservations"), "capacityReservationSet"},
    {STR_INIT(ANY), STR_INIT("Errors"), "errorSet"},
    {STR_INIT(ANY), STR_INIT("Groups"), "groupSet"},
    {STR_INIT(ANY), STR_INIT("Images"), "imagesSet"},
    {STR_INIT(ANY), STR_INIT("InstanceStatuses"), "instanceStatusSet"},
    {STR_INIT(ANY), STR_INIT("InstanceTypeOfferings"), "instanceTypeOfferingSet"},
    {STR_INIT(ANY), STR_INIT("InstanceTypes"), "instanceTypeSet"},
    {STR_INIT(ANY), STR_INIT("Ipv4Prefixes"), "ipv4PrefixSet"},
    {STR_INIT(ANY), STR_INIT("Ipv6Addresses"), "ipv6AddressesSet"},
    {STR_INIT(ANY), STR_INIT("Ipv6Prefixes"), "ipv6PrefixSet"},
    {STR_INIT(ANY), STR_INIT("LaunchTemplateVersions"), "launchTemplateVersionSet"},
    {STR_INIT(ANY), STR_INIT("NetworkInterfaces"), "networkInterfaceSet"},
    {STR_INIT(ANY), STR_INIT("PlacementGroups"), "placementGroupSet"},
    {STR_INIT(ANY), STR_INIT("PrivateIpAddresses"), "privateIpAddressesSet"},
    {STR_INIT(ANY), STR_INIT("Regions"), "regionInfo"},
    {STR_INIT(ANY), STR_INIT("ReservationTypes"), "reservationTypeSet"},
    {STR_INIT(ANY), STR_INIT("Reservations"), "reservationSet"},
    {STR_INIT(ANY), STR_INIT("SecurityGroupIds"), "securityGroupIdSet"},
    {STR_INIT(ANY), STR_INIT("SpotPriceHistory"), "spotPriceHistorySet"},
    {STR_INIT(ANY), STR_INIT("Subnets"), "subnetSet"},
    {STR_INIT(ANY), STR_INIT("TagSpecifications"), "tagSpecificationSet"},
    {STR_INIT(ANY), STR_INIT("Tags"), "tagSet"},
    {STR_INIT(ANY), STR_INIT("TerminatingInstances"), "instancesSet"},
    {STR_INIT(ANY), STR_INIT("VolumeInitializationRate"), "VolumeInitializationRate"},
    {STR_INIT(ANY), STR_INIT("Vpcs"), "vpcSet"},
};

static const struct {
    const char *code;
    int status;
} statuses[] = {
    {"AccessDenied", 403},         {"AuthFailure", 401},           {"DeleteConflict", 409},
    {"DryRunOperation", 412},      {"EntityAlreadyExists", 409},   {"ExpiredToken", 403},
    {"IncompleteSignature", 403},  {"InternalError", 500},         {"InternalFailure", 500},
    {"InvalidClientTokenId", 403}, {"LimitExceeded", 409},         {"MissingAuthenticationToken", 403},
    {"NoSuchEntity", 404},         {"RequestLimitExceeded", 503},  {"ResourceNotFoundException", 404},
    {"ServiceUnavailable", 503},   {"SignatureDoesNotMatch", 403}, {"UnauthorizedOperation", 403},
};

int reply_http_status(enum protocol p, str code)
{
    if (p == PROTOCOL_JSON && str_is(code, "ServerException"))
        return 500;
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
        if (str_is(code, statuses[i].code))
            return statuses[i].status;
    return 400;
}

/* ---- XML ---- */

/* A list is asked for in the thousands: what is written is written once, and copied for the end. */
static void ec2_name(struct sb *out, str in, str member)
{
    for (size_t i = 0; i < ARRAY_LEN(ec2_names); i++)
        if (str_eq(member, ec2_names[i].member) && (ec2_names[i].in.n == 0 || str_eq(in, ec2_names[i].in))) {
            sb_c(out, ec2_names[i].wire);
            return;
        }
    sb_char(out, (char)tolower((unsigned char)member.p[0]));
    sb_str(out, str_sub(member, 1, member.n));
}

/* An account's file may have members that no element can be called after. */
static bool xml_name(str key)
{
    for (size_t i = 0; i < key.n; i++)
        if (!isalnum((unsigned char)key.p[i]) && key.p[i] != '_' && key.p[i] != '-')
            return false;
    return key.n > 0 && isalpha((unsigned char)key.p[0]);
}

static void xml_value(struct sb *out, const struct tree *t, str name, bool ec2);

static void xml_members(struct sb *out, const struct tree *map, str in, bool ec2)
{
    for (uint32_t i = 0; i < map->n; i++) {
        if (map->items[i].kind == TREE_NULL || !xml_name(map->keys[i]))
            continue;
        sb_char(out, '<');
        size_t from = out->n;

        if (ec2)
            ec2_name(out, in, map->keys[i]);
        else
            sb_str(out, map->keys[i]);
        size_t n = out->n - from;

        sb_char(out, '>');
        xml_value(out, &map->items[i], map->keys[i], ec2);
        sb_c(out, "</");
        sb_room(out, n + 1); /* so that the name does not move while it is copied */
        sb_bytes(out, out->p + from, n);
        sb_char(out, '>');
    }
}

static void xml_value(struct sb *out, const struct tree *t, str name, bool ec2)
{
    switch (t->kind) {
    case TREE_MAP:
        xml_members(out, t, name, ec2);
        return;
    case TREE_LIST:
        for (uint32_t i = 0; i < t->n; i++) {
            bool group = ec2 && str_is(name, "Groups") && t->items[i].kind == TREE_STRING;
            const char *item = group ? "groupId>" : ec2 ? "item>" : "member>";

            sb_char(out, '<');
            sb_c(out, item);
            xml_value(out, &t->items[i], name, ec2);
            sb_c(out, "</");
            sb_c(out, item);
        }
        return;
    case TREE_BOOL:
        sb_c(out, t->truth ? "true" : "false");
        return;
    case TREE_NUMBER:
    case TREE_STRING:
        xml_escape(out, t->text);
        return;
    case TREE_NULL:
        return;
    }
}

static const char *namespace_of(enum service v)
{
    switch (v) {
    case IAM:
        return "https://iam.amazonaws.com/doc/2010-05-08/";
    case STS:
        return "https://sts.amazonaws.com/doc/2011-06-15/";
    case EC2:
    case SSM:
    case SQS:
    case EKS:
    case EVENTS:
    case PRICING:
    case ZONAL_SHIFT:
        return "http://ec2.amazonaws.com/doc/2016-11-15/";
    }
    return "";
}

/* A name for one request, for those who complain about it. */
static void request_id(const struct call *c, char ret[40])
{
    (void)snprintf(ret, 40, "00000000-0000-4000-8000-%012llx", (unsigned long long)++c->s->serial);
}

str reply_text(const struct call *c)
{
    enum protocol p = service_protocol(c->action->service);
    struct sb b = {0};
    const char *name = c->action->name;
    char id[40];

    if (p == PROTOCOL_JSON) {
        json_compact(&b, c->out, false);
    } else {
        request_id(c, id);
        sb_printf(&b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<%sResponse xmlns=\"%s\">", name,
                  namespace_of(c->action->service));
        if (p == PROTOCOL_QUERY)
            sb_printf(&b, "<%sResult>", name);
        else
            sb_printf(&b, "<requestId>%s</requestId>", id);
        xml_members(&b, c->out, str_c(name), p == PROTOCOL_EC2);
        if (p == PROTOCOL_QUERY)
            sb_printf(&b, "</%sResult><ResponseMetadata><RequestId>%s</RequestId></ResponseMetadata>", name, id);
        sb_printf(&b, "</%sResponse>", name);
    }
    str text = sb_dup(&b, c->a);
    sb_fini(&b);
    return text;
}

str reply_error_text(const struct call *c)
{
    enum protocol p = service_protocol(c->action->service);
    int status = reply_http_status(p, c->code);
    struct sb b = {0};
    char id[40];

    request_id(c, id);
    if (p == PROTOCOL_JSON) {
        struct jw w = {.out = &b};

        jw_map(&w);
        jw_key(&w, "__type");
        str type =
            c->action->service == SQS ? arena_printf(c->a, "com.amazonaws.sqs#" STR_FMT, STR_ARG(c->code)) : c->code;
        jw_str(&w, type);
        jw_key(&w, "message");
        jw_str(&w, c->message);
        jw_end(&w);
    } else {
        bool ec2 = p == PROTOCOL_EC2;

        sb_c(&b, ec2 ? "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Response><Errors><Error><Code>"
                     : "<ErrorResponse><Error><Type>");
        if (!ec2)
            sb_printf(&b, "%s</Type><Code>", status >= 500 ? "Receiver" : "Sender");
        xml_escape(&b, c->code);
        sb_c(&b, "</Code><Message>");
        xml_escape(&b, c->message);
        sb_c(&b, "</Message></Error>");
        sb_printf(&b,
                  ec2 ? "</Errors><RequestID>%s</RequestID></Response>" : "<RequestId>%s</RequestId></ErrorResponse>",
                  id);
    }
    str text = sb_dup(&b, c->a);
    sb_fini(&b);
    return text;
}

void reply_send(struct call *c, int status, str body)
{
    enum protocol p = service_protocol(c->action->service);
    char id[40];
    struct http_header h[4];
    uint32_t n = 0;

    if (c->break_off) {
        reply_abort(c->x);
        return;
    }
    request_id(c, id);
    const char *type = p != PROTOCOL_JSON                                               ? "text/xml;charset=UTF-8"
                       : c->action->service == EKS || c->action->service == ZONAL_SHIFT ? "application/json"
                       : c->action->service == SQS                                      ? "application/x-amz-json-1.0"
                                                                                        : "application/x-amz-json-1.1";

    h[n++] = (struct http_header){STR("Content-Type"), str_c(type)};
    h[n++] = (struct http_header){STR("x-amzn-RequestId"), str_c(id)};
    if (c->code.n && p == PROTOCOL_JSON) {
        h[n++] = (struct http_header){STR("x-amzn-ErrorType"), c->code};
        if (c->action->service == SQS && str_is(c->code, "QueueDoesNotExist"))
            h[n++] =
                (struct http_header){STR("x-amzn-query-error"), STR("AWS.SimpleQueueService.NonExistentQueue;Sender")};
    }
    reply_begin(c->x, status, h, n);
    reply_data(c->x, body);
    reply_end(c->x);
}
