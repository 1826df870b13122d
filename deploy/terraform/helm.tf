locals {
  own_chart = var.helm_chart == null
  values = {
    replicas = var.replicas
    serviceAccount = {
      name        = var.service_account_name
      annotations = var.authentication == "irsa" ? { "eks.amazonaws.com/role-arn" = aws_iam_role.controller.arn } : {}
    }
    settings = {
      clusterName       = var.eks_cluster_name
      clusterEndpoint   = var.eks_cluster_endpoint
      interruptionQueue = var.enable_spot_termination ? local.queue_name : ""
    }
    controller = merge(
      { resources = { requests = { cpu = "1", memory = "1Gi" } } },
      var.image == null ? {} : { image = var.image },
    )
  }
}

# A warning and no error: the image may be on the machines already, or helm_values may name it.
check "image" {
  assert {
    condition     = var.image != null || !local.own_chart || anytrue([for text in var.helm_values : strcontains(text, "repository")])
    error_message = "image is not said. There is no published one: build it (tools/image), push it to a registry of yours, and say image = { repository = …, tag = … }."
  }
}

resource "helm_release" "karpenter" {
  name             = "karpenter"
  namespace        = var.namespace
  create_namespace = true
  chart            = local.own_chart ? "${path.module}/../charts/karpenter" : var.helm_chart
  version          = local.own_chart ? null : var.helm_chart_version
  values           = concat([yamlencode(local.values)], var.helm_values)

  depends_on = [
    aws_iam_role_policy_attachment.controller,
    aws_eks_pod_identity_association.controller,
    aws_cloudwatch_event_target.interruption,
    aws_sqs_queue_policy.interruption,
  ]
}

# A NodePool can only be planned for when its CRD is there, so it is a release of its own, with a chart that says what it is given.
resource "helm_release" "pools" {
  count = var.create_default_pool ? 1 : 0

  name      = "karpenter-pools"
  namespace = var.namespace
  chart     = "${path.module}/pools"
  values    = [yamlencode({ objects = local.default_objects })]

  depends_on = [helm_release.karpenter, aws_eks_access_entry.node]
}

locals {
  discovery = [{ tags = { "karpenter.sh/discovery" = var.eks_cluster_name } }]

  default_objects = [
    {
      apiVersion = "karpenter.k8s.aws/v1"
      kind       = "EC2NodeClass"
      metadata   = { name = "default" }
      spec = {
        role                       = aws_iam_role.node.name
        amiSelectorTerms           = [{ alias = var.default_pool.ami_alias }]
        subnetSelectorTerms        = local.discovery
        securityGroupSelectorTerms = local.discovery
        tags                       = local.tags
      }
    },
    {
      apiVersion = "karpenter.sh/v1"
      kind       = "NodePool"
      metadata   = { name = "default" }
      spec = {
        template = {
          spec = {
            nodeClassRef = { group = "karpenter.k8s.aws", kind = "EC2NodeClass", name = "default" }
            expireAfter  = var.default_pool.expire_after
            requirements = [
              { key = "kubernetes.io/arch", operator = "In", values = var.default_pool.architectures },
              { key = "kubernetes.io/os", operator = "In", values = ["linux"] },
              { key = "karpenter.sh/capacity-type", operator = "In", values = var.default_pool.capacity_types },
              { key = "karpenter.k8s.aws/instance-category", operator = "In", values = var.default_pool.categories },
              { key = "karpenter.k8s.aws/instance-generation", operator = "Gt", values = [tostring(var.default_pool.min_generation - 1)] },
            ]
          }
        }
        limits = { for name, limit in { cpu = var.default_pool.cpu_limit, memory = var.default_pool.memory_limit } : name => limit if limit != null }
        disruption = {
          consolidationPolicy = var.default_pool.consolidation
          consolidateAfter    = var.default_pool.consolidate_after
        }
      }
    },
  ]
}
