data "aws_region" "current" {}

data "aws_eks_cluster_auth" "default" {
  name = aws_eks_cluster.master.name
}

data "aws_iam_policy_document" "assume" {
  for_each = toset(["eks", "ec2"])

  statement {
    actions = ["sts:AssumeRole"]

    principals {
      type        = "Service"
      identifiers = ["${each.key}.amazonaws.com"]
    }
  }
}

resource "aws_iam_role" "master" {
  name               = "${var.cluster_name}-master"
  assume_role_policy = data.aws_iam_policy_document.assume["eks"].json
  tags               = var.tags
}

resource "aws_iam_role_policy_attachment" "master" {
  for_each = toset(["AmazonEKSClusterPolicy", "AmazonEKSVPCResourceController"])

  role       = aws_iam_role.master.name
  policy_arn = "arn:aws:iam::aws:policy/${each.key}"
}

resource "aws_eks_cluster" "master" {
  name     = var.cluster_name
  role_arn = aws_iam_role.master.arn
  version  = var.k8s_version
  tags     = var.tags

  access_config {
    authentication_mode                         = "API_AND_CONFIG_MAP"
    bootstrap_cluster_creator_admin_permissions = true
  }

  vpc_config {
    subnet_ids = var.subnet_ids
  }

  depends_on = [aws_iam_role_policy_attachment.master]
}

data "tls_certificate" "eks" {
  url = aws_eks_cluster.master.identity[0].oidc[0].issuer
}

resource "aws_iam_openid_connect_provider" "eks" {
  url             = aws_eks_cluster.master.identity[0].oidc[0].issuer
  client_id_list  = ["sts.amazonaws.com"]
  thumbprint_list = [data.tls_certificate.eks.certificates[0].sha1_fingerprint]
  tags            = var.tags
}

resource "aws_eks_addon" "this" {
  for_each = {
    vpc-cni    = var.addon_cni_version
    coredns    = var.addon_coredns_version
    kube-proxy = var.addon_kubeproxy_version
  }

  cluster_name  = aws_eks_cluster.master.name
  addon_name    = each.key
  addon_version = each.value
  depends_on    = [aws_eks_node_group.this]
}

resource "aws_ec2_tag" "karpenter" {
  for_each = merge(
    { for i, id in var.subnet_ids : "subnet-${i}" => id },
    { cluster = aws_eks_cluster.master.vpc_config[0].cluster_security_group_id },
  )

  resource_id = each.value
  key         = "karpenter.sh/discovery"
  value       = var.cluster_name
}
