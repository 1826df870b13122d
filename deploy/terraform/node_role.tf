# What machines are: a role, a profile that carries it, and the right to join the cluster.
locals {
  node_policies = merge(
    { for name in ["AmazonEKS_CNI_Policy", "AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly", "AmazonSSMManagedInstanceCore"] :
    name => "arn:${data.aws_partition.current.partition}:iam::aws:policy/${name}" },
    var.node_iam_role_additional_policies,
  )
}

resource "aws_iam_role" "node" {
  name               = local.node_role_name
  description        = "Nodes that Karpenter makes for ${var.eks_cluster_name}"
  assume_role_policy = templatefile("${path.module}/policies/trust-node.json.tftpl", {})
  tags               = local.tags
}

resource "aws_iam_role_policy_attachment" "node" {
  for_each = local.node_policies

  role       = aws_iam_role.node.name
  policy_arn = each.value
}

# EC2NodeClasses with `instanceProfile` name it. Those with `role` let the controller make profiles of its own.
resource "aws_iam_instance_profile" "node" {
  name = local.node_role_name
  role = aws_iam_role.node.name
  tags = local.tags
}

resource "aws_eks_access_entry" "node" {
  count = var.create_access_entry ? 1 : 0

  cluster_name  = var.eks_cluster_name
  principal_arn = aws_iam_role.node.arn
  type          = "EC2_LINUX"
  tags          = local.tags
}
