variable "aws_region" {
  description = "AWS region"
  type        = string
}

variable "cluster_name" {
  description = "Name of the EKS cluster"
  type        = string
}

variable "kubernetes_version" {
  description = "Version of Kubernetes"
  type        = string
  default     = "1.33"
}

variable "private_subnet_ids" {
  description = "Private subnets, in at least two zones"
  type        = list(string)

  validation {
    condition     = length(var.private_subnet_ids) >= 2
    error_message = "At least two subnets are needed: nodes and control plane are spread over zones."
  }
}

variable "environment" {
  description = "Environment name"
  type        = string
  default     = "prod"
}

variable "monitoring" {
  description = "Install Prometheus and Grafana (kube-prometheus-stack) and hand them Karpenter's metrics, alerts and dashboards"
  type        = bool
  default     = true
}

variable "tags" {
  description = "Tags of everything"
  type        = map(string)
  default     = {}
}

variable "image" {
  description = "Image of the controller in a registry of yours. The bootstrap group is arm64: tools/image --arch arm64 makes one for it"
  type = object({
    repository = string
    tag        = string
    digest     = optional(string, "")
  })
}
