# Everything around the controller: its role and the nodes', the queue of interruptions, its Helm release, a first NodePool.
data "aws_partition" "current" {}
data "aws_caller_identity" "current" {}

locals {
  queue_name     = coalesce(var.queue_name, "karpenter-${var.eks_cluster_name}")
  node_role_name = coalesce(var.node_iam_role_name, "KarpenterNodeRole-${var.eks_cluster_name}")

  tags = merge({ Environment = var.environment }, var.resource_tag)

  # What the policies in policies/ speak of.
  names = {
    partition = data.aws_partition.current.partition
    region    = var.aws_region
    account   = data.aws_caller_identity.current.account_id
    cluster   = var.eks_cluster_name
    node_role = local.node_role_name
    queue     = local.queue_name
  }
}
