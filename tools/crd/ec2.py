"""EC2NodeClass: machines of AWS."""
from parts import AGE, READY, boolean, column, conditions, definition, integer, items, obj, rule, text

FAMILIES = {"al2": "AL2", "al2023": "AL2023", "bottlerocket": "Bottlerocket", "windows2019": "Windows2019", "windows2022": "Windows2022",
            "windows2025": "Windows2025"}
VOLUME_SIZE = (r"^((?:[1-9][0-9]{0,3}|[1-4][0-9]{4}|[5][0-8][0-9]{3}|59000)Gi|(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|[6][0-3][0-9]{3}|64000)G"
               r"|([1-9]||[1-5][0-7]|58)Ti|([1-9]||[1-5][0-9]|6[0-3]|64)T)$")
RESTRICTED_TAGS = [
    ("self.all(k, k != '')", "empty tag keys aren't supported"),
    ("self.all(x, x != 'eks:eks-cluster-name')", "tag contains a restricted tag matching eks:eks-cluster-name"),
    ("self.all(k, !k.startsWith('kubernetes.io/cluster') )", "tag contains a restricted tag matching kubernetes.io/cluster/"),
    ("self.all(k, k != 'karpenter.sh/nodepool')", "tag contains a restricted tag matching karpenter.sh/nodepool"),
    ("self.all(k, k != 'karpenter.sh/nodeclaim')", "tag contains a restricted tag matching karpenter.sh/nodeclaim"),
    ("self.all(k, k !='karpenter.k8s.aws/ec2nodeclass')", "tag contains a restricted tag matching karpenter.k8s.aws/ec2nodeclass"),
]


def selector_tags():
    return {"description": "Tags that it must have; * as a value: any.", "type": "object", "maxProperties": 20,
            "additionalProperties": {"type": "string"},
            "x-kubernetes-validations": [rule("self.all(k, k != '' && self[k] != '')", "empty tag keys or values aren't supported")]}


def terms(fields, description, rules, **more):
    return items(obj(fields), description, maxItems=30, **more, **{"x-kubernetes-validations": [rule(*r) for r in rules]})


def subnet_terms():
    return terms({
        "id": text("Id of the subnet.", pattern="subnet-[0-9a-z]+"),
        "tags": selector_tags(),
    }, "Which subnets nodes are launched in: every subnet that one of the terms matches.", [
        ("self.size() != 0", "subnetSelectorTerms cannot be empty"),
        ("self.all(x, has(x.tags) || has(x.id))", "expected at least one, got none, ['tags', 'id']"),
        ("!self.all(x, has(x.id) && has(x.tags))", "'id' is mutually exclusive, cannot be set with a combination of other fields in a subnet selector term"),
    ])


def security_group_terms():
    return terms({
        "id": text("Id of the security group.", pattern="sg-[0-9a-z]+"),
        "name": text("Name of the security group (not its Name tag)."),
        "tags": selector_tags(),
    }, "Which security groups nodes get: every one that one of the terms matches. Left out, it is the cluster's own.", [
        ("self.size() != 0", "securityGroupSelectorTerms cannot be empty"),
        ("self.all(x, has(x.tags) || has(x.id) || has(x.name))", "expected at least one, got none, ['tags', 'id', 'name']"),
        ("!self.all(x, has(x.id) && (has(x.tags) || has(x.name)))",
         "'id' is mutually exclusive, cannot be set with a combination of other fields in a security group selector term"),
        ("!self.all(x, has(x.name) && (has(x.tags) || has(x.id)))",
         "'name' is mutually exclusive, cannot be set with a combination of other fields in a security group selector term"),
    ])


def capacity_reservation_terms():
    return terms({
        "id": text("Id of the capacity reservation.", pattern="^cr-[0-9a-z]+$"),
        "instanceMatchCriteria": text("Only reservations that any matching instance uses (open), or only those that must be named (targeted).",
                                      enum=["open", "targeted"]),
        "ownerID": text("Account that owns the reservation.", pattern="^[0-9]{12}$"),
        "tags": selector_tags(),
    }, "Which capacity reservations nodes may use.", [
        ("self.all(x, has(x.tags) || has(x.id) || has(x.instanceMatchCriteria))", "expected at least one, got none, ['tags', 'id', 'instanceMatchCriteria']"),
        ("!self.all(x, has(x.id) && (has(x.tags) || has(x.ownerID) || has(x.instanceMatchCriteria)))",
         "'id' is mutually exclusive, cannot be set along with other fields in a capacity reservation selector term"),
    ])


def ami_terms():
    names = ", ".join(f"'{f}'" for f in FAMILIES)
    alias = text("A family and a version, such as al2023@v20240807 or bottlerocket@latest. Without a version it means the latest.", maxLength=30,
                 **{"x-kubernetes-validations": [
                     rule("self.matches('^[a-zA-Z0-9]+(@.+)?$')", "'alias' is improperly formatted, must match the format 'family@version'"),
                     rule(f"self.split('@')[0] in [{names}]",
                          "family is not supported, must be one of the following: " + ", ".join(f"'{f}'" for f in FAMILIES)),
                     rule("!self.startsWith('windows') || self.split('@').size() == 1 || self.split('@')[1] == 'latest'",
                          "windows families may only specify version 'latest'"),
                 ]})
    return terms({
        "alias": alias,
        "id": text("Id of the image.", pattern="ami-[0-9a-z]+"),
        "name": text("Name of the image, * allowed."),
        "owner": text("Owner of the image: an account, or self, amazon, aws-marketplace."),
        "ssmParameter": text("SSM parameter, by name or ARN, that holds the image's id."),
        "tags": selector_tags(),
    }, "Which images nodes boot: the newest that a term matches. Left out, it is the latest of amiFamily.", [
        ("self.all(x, has(x.tags) || has(x.id) || has(x.name) || has(x.alias) || has(x.ssmParameter))",
         "expected at least one, got none, ['tags', 'id', 'name', 'alias', 'ssmParameter']"),
        ("!self.exists(x, has(x.id) && (has(x.alias) || has(x.tags) || has(x.name) || has(x.owner)))",
         "'id' is mutually exclusive, cannot be set with a combination of other fields in amiSelectorTerms"),
        ("!self.exists(x, has(x.alias) && (has(x.id) || has(x.tags) || has(x.name) || has(x.owner)))",
         "'alias' is mutually exclusive, cannot be set with a combination of other fields in amiSelectorTerms"),
        ("!(self.exists(x, has(x.alias)) && self.size() != 1)", "'alias' is mutually exclusive, cannot be set with a combination of other amiSelectorTerms"),
    ], minItems=1)


def block_devices():
    ebs = obj({
        "deleteOnTermination": boolean("Whether the volume goes with the instance."),
        "encrypted": boolean("Whether the volume is encrypted."),
        "iops": integer("Operations per second.", format="int64"),
        "kmsKeyID": text("Key to encrypt with: id, alias or ARN."),
        "snapshotID": text("Snapshot to start from."),
        "throughput": integer("MiB per second, for gp3.", format="int64"),
        "volumeInitializationRate": integer("MiB per second at which the snapshot is loaded.", format="int32", minimum=100, maximum=300),
        "volumeSize": text("Size, such as 20Gi.", pattern=VOLUME_SIZE),
        "volumeType": text("Type of the volume.", enum=["standard", "io1", "io2", "gp2", "sc1", "st1", "gp3"]),
    }, description="The volume.", **{"x-kubernetes-validations": [
        rule("has(self.snapshotID) || has(self.volumeSize)", "snapshotID or volumeSize must be defined"),
        rule("!has(self.volumeInitializationRate) || (has(self.snapshotID) && self.snapshotID != '')",
             "snapshotID must be set when volumeInitializationRate is set"),
    ]})
    return items(obj({
        "deviceName": text("Name of the device, such as /dev/xvda."),
        "ebs": ebs,
        "rootVolume": boolean("Whether the kubelet's data is on this volume."),
    }), "Volumes of the instances.", maxItems=50, **{"x-kubernetes-validations": [
        rule("self.filter(x, has(x.rootVolume)?x.rootVolume==true:false).size() <= 1", "must have only one blockDeviceMappings with rootVolume")]})


def network_interfaces():
    return items(obj({
        "deviceIndex": integer("Index of the interface on its card.", format="int32", minimum=0),
        "interfaceType": text("Kind of interface.", enum=["interface", "efa-only"]),
        "networkCardIndex": integer("Index of the network card.", format="int32", minimum=0),
    }, ["deviceIndex", "interfaceType", "networkCardIndex"]), "Network interfaces of the instances.", maxItems=150, **{"x-kubernetes-validations": [
        rule("self.size() == 0 || self.exists(x, x.networkCardIndex == 0 && x.deviceIndex == 0 && x.interfaceType == 'interface')",
             "must have a primary network interface with networkCardIndex 0, deviceIndex 0 and interfaceType 'interface'"),
        rule("self.all(x, self.exists_one(y, x.networkCardIndex == y.networkCardIndex && x.deviceIndex == y.deviceIndex))",
             "each combination of networkCardIndex and deviceIndex must be unique"),
        rule("self.all(x, x.interfaceType != 'efa-only' || self.exists_one(y, y.interfaceType == 'efa-only' && "
             "y.networkCardIndex == x.networkCardIndex))", "there may be at most one efa-only interface per network card"),
    ]})


def metadata_options():
    return obj({
        "httpEndpoint": text("Whether instances can read their metadata.", default="enabled", enum=["enabled", "disabled"]),
        "httpProtocolIPv6": text("Whether the metadata is served over IPv6.", default="disabled", enum=["enabled", "disabled"]),
        "httpPutResponseHopLimit": integer("How many hops an answer may travel.", default=1, format="int64", minimum=1, maximum=64),
        "httpTokens": text("Whether a session token is needed.", default="required", enum=["required", "optional"]),
    }, description="Access to the instance metadata.",
        default={"httpEndpoint": "enabled", "httpProtocolIPv6": "disabled", "httpPutResponseHopLimit": 1, "httpTokens": "required"})


def spec_schema():
    alias_of = "(has(self.amiSelectorTerms) && self.amiSelectorTerms.exists(x, has(x.alias)))"
    rules = [
        rule("has(self.role) != has(self.instanceProfile)", "must specify exactly one of ['role', 'instanceProfile']"),
        rule(f"has(self.amiFamily) || {alias_of}", "must specify amiFamily if amiSelectorTerms does not contain an alias"),
    ]
    for name, family in FAMILIES.items():
        rules.append(rule(
            f"!(has(self.amiSelectorTerms) && self.amiSelectorTerms.exists(x, has(x.alias) && x.alias.find('^[^@]+') == '{name}')) || "
            f"!has(self.amiFamily) || self.amiFamily in ['{family}', 'Custom']",
            f"if set, amiFamily must be '{family}' or 'Custom' when using an {family} alias"))
    return obj({
        "amiFamily": text("Family of images: decides user data and defaults. Known from the alias when there is one.",
                          enum=["AL2", "AL2023", "Bottlerocket", "Custom", "Windows2019", "Windows2022", "Windows2025"]),
        "amiSelectorTerms": ami_terms(),
        "associatePublicIPAddress": boolean("Whether instances get a public address; left out, the subnet decides."),
        "blockDeviceMappings": block_devices(),
        "capacityReservationSelectorTerms": capacity_reservation_terms(),
        "connectionTracking": obj({
            "tcpEstablishedTimeout": integer("Seconds after which an idle TCP connection is forgotten.", format="int32", minimum=60, maximum=432000),
            "udpStreamTimeout": integer("Seconds for UDP flows with answers.", format="int32", minimum=60, maximum=180),
            "udpTimeout": integer("Seconds for UDP flows without.", format="int32", minimum=30, maximum=60),
        }, description="How long the network remembers connections.", **{"x-kubernetes-validations": [
            rule("has(self.tcpEstablishedTimeout) || has(self.udpStreamTimeout) || has(self.udpTimeout)",
                 "at least one of tcpEstablishedTimeout, udpStreamTimeout, or udpTimeout must be specified")]}),
        "context": text("Handed to CreateFleet as it is."),
        "cpuOptions": obj({"nestedVirtualization": text("Whether instances may run virtual machines.", enum=["enabled", "disabled"])},
                          description="Options of the processors."),
        "detailedMonitoring": boolean("Whether instances send metrics every minute."),
        "instanceProfile": text("Instance profile of the nodes, made elsewhere.",
                                **{"x-kubernetes-validations": [rule("self != ''", "instanceProfile cannot be empty")]}),
        "instanceStorePolicy": text("How disks of the instance are used: RAID0 makes them the kubelet's storage.", enum=["RAID0"]),
        "ipPrefixCount": integer("How many IP prefixes the primary interface gets.", format="int32", minimum=0),
        "kubelet": {"description": "Configuration of the kubelet, by its own keys. The controller checks it.", "type": "object",
                    "x-kubernetes-preserve-unknown-fields": True},
        "metadataOptions": metadata_options(),
        "networkInterfaces": network_interfaces(),
        "placementGroupSelector": obj({
            "id": text("Id of the placement group.", pattern="^pg-[0-9a-z]+$"),
            "name": text("Name of the placement group.", minLength=1),
        }, description="Placement group of the instances.", **{"x-kubernetes-validations": [
            rule("has(self.name) || has(self.id)", "expected at least one, got none, ['name', 'id']"),
            rule("!(has(self.name) && has(self.id))", "'id' and 'name' are mutually exclusive")]}),
        "role": text("Role of the nodes; an instance profile is made for it.",
                     **{"x-kubernetes-validations": [rule("self != ''", "role cannot be empty")]}),
        "securityGroupSelectorTerms": security_group_terms(),
        "subnetSelectorTerms": subnet_terms(),
        "tags": {"description": "Tags of instances, volumes and launch templates.", "type": "object", "additionalProperties": {"type": "string"},
                 "x-kubernetes-validations": [rule(*r) for r in RESTRICTED_TAGS]},
        "userData": text("User data, in the form of the image family; merged with what the node needs to join."),
    }, ["subnetSelectorTerms"], "How instances are launched.", **{"x-kubernetes-validations": rules})


def status_schema():
    requirement = obj({
        "key": text("Label."),
        "operator": text("How the value relates to the values."),
        "values": items({"type": "string"}, "Values.", **{"x-kubernetes-list-type": "atomic"}),
    }, ["key", "operator"])
    reservation = obj({
        "availabilityZone": text("Zone."),
        "endTime": text("When it ends.", format="date-time"),
        "id": text("Id.", pattern="^cr-[0-9a-z]+$"),
        "instanceMatchCriteria": text("Who may use it.", enum=["open", "targeted"]),
        "instanceType": text("Instance type."),
        "interruptible": boolean("Whether its owner may take it back."),
        "ownerID": text("Account that owns it.", pattern="^[0-9]{12}$"),
        "reservationType": text("Kind of reservation.", default="default", enum=["default", "capacity-block"]),
        "state": text("Whether it can still be used.", default="active", enum=["active", "expiring"]),
    }, ["availabilityZone", "id", "instanceMatchCriteria", "instanceType", "ownerID"])
    return obj({
        "amis": items(obj({
            "deprecated": boolean("Whether its owner has withdrawn it."),
            "id": text("Id."),
            "name": text("Name."),
            "requirements": items(requirement, "Which nodes it is for."),
        }, ["id", "requirements"]), "Images found."),
        "capacityReservations": items(reservation, "Capacity reservations found."),
        "conditions": conditions(),
        "instanceProfile": text("Instance profile in use."),
        "securityGroups": items(obj({"id": text("Id."), "name": text("Name.")}, ["id"]), "Security groups found."),
        "subnets": items(obj({"id": text("Id."), "zone": text("Zone."), "zoneID": text("Id of the zone.")}, ["id", "zone"]), "Subnets found."),
    }, description="What was found in the account.")


def ec2nodeclass():
    return definition("karpenter.k8s.aws", "v1", "EC2NodeClass", "ec2nodeclasses", "EC2NodeClass says how instances of AWS are launched.",
                      [column("Ready", READY), AGE, column("Role", ".spec.role", priority=1)], spec_schema(), status_schema(),
                      short_names=["ec2nc", "ec2ncs"], required=())
