# The controller's role: six policies, each for one purpose. Conditions on tags keep it to what it made itself.
locals {
  oidc_issuer = var.oidc_provider_arn == null ? "" : element(split("oidc-provider/", var.oidc_provider_arn), 1)

  trust = var.authentication == "pod-identity" ? "policies/trust-pod-identity.json.tftpl" : "policies/trust-irsa.json.tftpl"

  policies = toset(concat(
    ["node-lifecycle", "iam-integration", "eks-integration", "zonal-shift", "resource-discovery"],
    var.enable_spot_termination ? ["interruption"] : [],
  ))
  policy_names = {
    "node-lifecycle"     = "KarpenterControllerNodeLifecyclePolicy"
    "iam-integration"    = "KarpenterControllerIAMIntegrationPolicy"
    "eks-integration"    = "KarpenterControllerEKSIntegrationPolicy"
    "interruption"       = "KarpenterControllerInterruptionPolicy"
    "zonal-shift"        = "KarpenterControllerZonalShiftPolicy"
    "resource-discovery" = "KarpenterControllerResourceDiscoveryPolicy"
  }
}

resource "aws_iam_role" "controller" {
  name        = "KarpenterController-${var.eks_cluster_name}"
  description = "Karpenter's controller in ${var.eks_cluster_name}"
  tags        = local.tags
  assume_role_policy = templatefile("${path.module}/${local.trust}", {
    oidc_provider_arn = var.oidc_provider_arn == null ? "" : var.oidc_provider_arn
    oidc_issuer       = local.oidc_issuer
    namespace         = var.namespace
    service_account   = var.service_account_name
  })

  lifecycle {
    precondition {
      condition     = var.authentication != "irsa" || var.oidc_provider_arn != null
      error_message = "authentication = \"irsa\" needs oidc_provider_arn."
    }
  }
}

resource "aws_iam_policy" "controller" {
  for_each = local.policies

  name   = "${local.policy_names[each.key]}-${var.eks_cluster_name}"
  policy = templatefile("${path.module}/policies/${each.key}.json.tftpl", local.names)
  tags   = local.tags
}

resource "aws_iam_role_policy_attachment" "controller" {
  for_each = local.policies

  role       = aws_iam_role.controller.name
  policy_arn = aws_iam_policy.controller[each.key].arn
}

resource "aws_eks_pod_identity_association" "controller" {
  count = var.authentication == "pod-identity" ? 1 : 0

  cluster_name    = var.eks_cluster_name
  namespace       = var.namespace
  service_account = var.service_account_name
  role_arn        = aws_iam_role.controller.arn
  tags            = local.tags
}
