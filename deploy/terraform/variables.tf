variable "eks_cluster_name" {
  description = "EKS cluster name"
  type        = string
}

variable "eks_cluster_endpoint" {
  description = "EKS cluster API endpoint"
  type        = string
}

variable "environment" {
  description = "Environment name; a tag of everything that is made"
  type        = string
  default     = "dev"
}

variable "aws_region" {
  description = "AWS region"
  type        = string
}

variable "namespace" {
  description = "Kubernetes namespace of the controller"
  type        = string
  default     = "karpenter"
}

variable "service_account_name" {
  description = "Name of the controller's ServiceAccount"
  type        = string
  default     = "karpenter"
}

variable "helm_chart_version" {
  description = "Version of the Helm chart, when it comes from a registry (helm_chart). The chart beside this module has the module's own version, and this is not looked at"
  type        = string
  default     = "1.0.0"
}

variable "resource_tag" {
  description = "Tags for resources"
  type        = map(string)
  default     = {}
}

variable "helm_chart" {
  description = "Where the chart is: a directory, or an oci:// address. Default: the chart beside this module"
  type        = string
  default     = null
}

variable "helm_values" {
  description = "More values for the chart, as YAML texts; the later win"
  type        = list(string)
  default     = []
}

variable "image" {
  description = "Image of the controller: repository and tag, and a digest if wanted"
  type = object({
    repository = string
    tag        = string
    digest     = optional(string, "")
  })
  default = null
}

variable "replicas" {
  description = "Replicas of the controller; one leads"
  type        = number
  default     = 2
}

variable "authentication" {
  description = "How the controller comes by its role: pod-identity (needs the add-on eks-pod-identity-agent) or irsa (needs oidc_provider_arn)"
  type        = string
  default     = "pod-identity"

  validation {
    condition     = contains(["pod-identity", "irsa"], var.authentication)
    error_message = "authentication is pod-identity or irsa."
  }
}

variable "oidc_provider_arn" {
  description = "ARN of the cluster's OIDC provider in IAM, for irsa"
  type        = string
  default     = null
}

variable "enable_spot_termination" {
  description = "Make the queue and the rules that bring notices of interruptions"
  type        = bool
  default     = true
}

variable "queue_name" {
  description = "Name of the queue. Default: karpenter-<cluster>"
  type        = string
  default     = null
}

variable "node_iam_role_name" {
  description = "Name of the nodes' role. Default: KarpenterNodeRole-<cluster>"
  type        = string
  default     = null
}

variable "node_iam_role_additional_policies" {
  description = "ARNs of more policies for nodes, by a name"
  type        = map(string)
  default     = {}
}

variable "create_access_entry" {
  description = "Let nodes with the nodes' role join by an access entry. false: the cluster still uses the ConfigMap aws-auth"
  type        = bool
  default     = true
}

variable "create_default_pool" {
  description = "Make the NodePool and the EC2NodeClass called default"
  type        = bool
  default     = true
}

variable "default_pool" {
  description = "What the default NodePool may have"
  type = object({
    architectures     = optional(list(string), ["amd64"])
    capacity_types    = optional(list(string), ["spot", "on-demand"])
    categories        = optional(list(string), ["c", "m", "r"])
    min_generation    = optional(number, 3)
    cpu_limit         = optional(string, "1000")
    memory_limit      = optional(string)
    ami_alias         = optional(string, "al2023@latest")
    expire_after      = optional(string, "720h")
    consolidation     = optional(string, "WhenEmptyOrUnderutilized")
    consolidate_after = optional(string, "1m")
  })
  default = {}
}
