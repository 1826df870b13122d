module "karpenter" {
  source = "../.."

  eks_cluster_name     = aws_eks_cluster.master.name
  eks_cluster_endpoint = aws_eks_cluster.master.endpoint
  aws_region           = data.aws_region.current.name
  environment          = "poc"
  resource_tag         = var.tags
  image                = var.image
  authentication       = "irsa"
  oidc_provider_arn    = aws_iam_openid_connect_provider.eks.arn
  create_default_pool  = false

  depends_on = [aws_eks_node_group.this]
}

# What used to be a Provisioner and an AWSNodeTemplate: `karpenter convert` does the same with manifests.
locals {
  pools = [for p in var.karpenter_provider : {
    apiVersion = "karpenter.sh/v1"
    kind       = "NodePool"
    metadata   = { name = p.provider_name }
    spec = {
      template = {
        spec = {
          nodeClassRef = { group = "karpenter.k8s.aws", kind = "EC2NodeClass", name = "default" }
          expireAfter  = "${p.ttl_nodes}s"
          requirements = [
            { key = "karpenter.sh/capacity-type", operator = "In", values = p.capacity_type },
            { key = "karpenter.k8s.aws/instance-family", operator = "In", values = p.instance_family },
            { key = "karpenter.k8s.aws/instance-size", operator = "In", values = p.instance_sizes },
            { key = "topology.kubernetes.io/zone", operator = "In", values = p.availability_zones },
          ]
        }
      }
      limits     = { cpu = tostring(p.cpu_limit), memory = p.memory_limit }
      disruption = { consolidationPolicy = "WhenEmpty", consolidateAfter = "${p.ttl_scaling_empty}s" }
    }
  }]

  class = {
    apiVersion = "karpenter.k8s.aws/v1"
    kind       = "EC2NodeClass"
    metadata   = { name = "default" }
    spec = {
      role                       = module.karpenter.node_iam_role_name
      amiSelectorTerms           = [{ alias = "al2023@latest" }]
      subnetSelectorTerms        = [{ tags = { "karpenter.sh/discovery" = var.cluster_name } }]
      securityGroupSelectorTerms = [{ tags = { "karpenter.sh/discovery" = var.cluster_name } }]
      tags                       = var.tags
    }
  }
}

resource "helm_release" "pools" {
  name      = "karpenter-pools"
  namespace = "karpenter"
  chart     = "${path.module}/../../pools"
  values    = [yamlencode({ objects = concat([local.class], local.pools) })]

  depends_on = [module.karpenter, aws_ec2_tag.karpenter]
}
