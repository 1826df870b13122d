# The manifests are the ones in ../manifests, with the names of this cluster.
locals {
  manifests = "${path.module}/../manifests"

  classes = [for file in sort(fileset(local.manifests, "ec2nodeclasses/*.yaml")) :
    yamldecode(replace(replace(file("${local.manifests}/${file}"),
      "KarpenterNodeRole-my-cluster", module.karpenter.node_iam_role_name),
    "karpenter.sh/discovery: my-cluster", "karpenter.sh/discovery: ${var.cluster_name}"))
  ]
  pools = [for file in sort(fileset(local.manifests, "nodepools/*.yaml")) : yamldecode(file("${local.manifests}/${file}"))]
}

resource "helm_release" "nodepools" {
  name      = "nodepools"
  namespace = "karpenter"
  chart     = "${path.module}/../../../pools"
  values    = [yamlencode({ objects = concat(local.classes, local.pools) })]

  depends_on = [module.karpenter, aws_ec2_tag.discovery]
}
