# What the proof of concept has beside Karpenter.
locals {
  releases = {
    kube-state-metrics = { repository = "https://prometheus-community.github.io/helm-charts", namespace = "kube-system" }
    metrics-server     = { repository = "https://kubernetes-sigs.github.io/metrics-server", namespace = "kube-system" }
    keda               = { repository = "https://kedacore.github.io/charts", namespace = "keda" }
    vpa                = { repository = "https://charts.fairwinds.com/stable", namespace = "vpa" }
    kube-ops-view      = { repository = "https://geek-cookbook.github.io/charts", namespace = "kube-ops-view" }
  }
}

resource "helm_release" "addon" {
  for_each = local.releases

  name             = each.key
  chart            = each.key
  repository       = each.value.repository
  namespace        = each.value.namespace
  create_namespace = true

  depends_on = [aws_eks_node_group.this]
}

# Drains machines of the node groups before spot interruptions; those of Karpenter are told by the queue.
resource "helm_release" "node_termination_handler" {
  name      = "node-termination-handler"
  namespace = "kube-system"
  chart     = "${path.module}/../../../charts/termination-handler"

  values = [yamlencode(merge(
    { enableScheduledEventDraining = false, affinity = local.not_karpenter },
    var.image == null ? {} : { image = var.image },
  ))]

  depends_on = [aws_eks_node_group.this]
}

locals {
  not_karpenter = { nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution = { nodeSelectorTerms = [{
    matchExpressions = [{ key = "karpenter.sh/nodepool", operator = "DoesNotExist" }]
  }] } } }
}

# Service accounts of applications, each with a role that nobody else may take.
locals {
  issuer   = replace(aws_eks_cluster.master.identity[0].oidc[0].issuer, "https://", "")
  accounts = { for account in var.service_account : "${account.namespace}/${account.name}" => account }
}

data "aws_iam_policy_document" "service_account" {
  for_each = local.accounts

  statement {
    actions = ["sts:AssumeRoleWithWebIdentity"]

    principals {
      type        = "Federated"
      identifiers = [aws_iam_openid_connect_provider.eks.arn]
    }

    condition {
      test     = "StringEquals"
      variable = "${local.issuer}:sub"
      values   = ["system:serviceaccount:${each.value.namespace}:${each.value.name}"]
    }
  }
}

resource "aws_iam_role" "service_account" {
  for_each = local.accounts

  name               = "${var.cluster_name}-${each.value.namespace}-${each.value.name}"
  assume_role_policy = data.aws_iam_policy_document.service_account[each.key].json
  tags               = var.tags
}

resource "kubernetes_namespace" "this" {
  for_each = toset([for account in var.service_account : account.namespace if !contains(["default", "kube-system"], account.namespace)])

  metadata {
    name = each.key
  }
}

resource "kubernetes_service_account" "this" {
  for_each = local.accounts

  metadata {
    name        = each.value.name
    namespace   = each.value.namespace
    annotations = { "eks.amazonaws.com/role-arn" = aws_iam_role.service_account[each.key].arn }
  }

  depends_on = [kubernetes_namespace.this]
}
