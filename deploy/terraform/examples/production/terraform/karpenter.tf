module "karpenter" {
  source = "../../.."

  eks_cluster_name        = aws_eks_cluster.main.name
  eks_cluster_endpoint    = aws_eks_cluster.main.endpoint
  aws_region              = var.aws_region
  environment             = var.environment
  resource_tag            = var.tags
  enable_spot_termination = true
  replicas                = 2
  image                   = var.image
  create_default_pool     = false # nodepools.tf has three

  helm_values = [yamlencode({
    nodeSelector   = { role = "bootstrap" }
    serviceMonitor = { enabled = var.monitoring, endpointConfig = { interval = "30s" } }
    prometheusRule = { enabled = var.monitoring }
    dashboards     = { enabled = var.monitoring }
  })]

  depends_on = [aws_eks_addon.this, helm_release.monitoring]
}
