# Prometheus and Grafana on the bootstrap group. Both look at every namespace.
resource "helm_release" "monitoring" {
  count = var.monitoring ? 1 : 0

  name             = "monitoring"
  namespace        = "monitoring"
  create_namespace = true
  repository       = "https://prometheus-community.github.io/helm-charts"
  chart            = "kube-prometheus-stack"

  values = [yamlencode({
    prometheus = {
      prometheusSpec = {
        serviceMonitorSelectorNilUsesHelmValues = false
        ruleSelectorNilUsesHelmValues           = false
        tolerations                             = local.bootstrap
      }
    }
    # The jobs that make its certificate run before there is a controller to make other nodes.
    prometheusOperator = { tolerations = local.bootstrap, admissionWebhooks = { patch = { tolerations = local.bootstrap } } }
    kube-state-metrics = { tolerations = local.bootstrap }
    alertmanager       = { alertmanagerSpec = { tolerations = local.bootstrap } }
    grafana = {
      tolerations = local.bootstrap
      sidecar     = { dashboards = { searchNamespace = "ALL" } }
    }
  })]

  depends_on = [aws_eks_node_group.bootstrap]
}

locals {
  bootstrap = [{ key = "CriticalAddonsOnly", operator = "Exists" }]
}
