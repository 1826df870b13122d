variable "cluster_name" {
  description = "Cluster name"
  type        = string
  default     = "backend"
}

variable "k8s_version" {
  description = "Version of Kubernetes"
  type        = string
}

variable "subnet_ids" {
  description = "Subnets Ids"
  type        = list(string)
  default     = []
}

variable "tags" {
  description = "A map of tags to add to all resources"
  type        = map(string)
}

variable "addon_cni_version" {
  description = "VPC CNI addon version; null: the default of the cluster's version"
  type        = string
  default     = null
}

variable "addon_coredns_version" {
  description = "CoreDNS addon version; null: the default of the cluster's version"
  type        = string
  default     = null
}

variable "addon_kubeproxy_version" {
  description = "KubeProxy addon version; null: the default of the cluster's version"
  type        = string
  default     = null
}

variable "node_groups" {
  description = "config block for node groups"
  type = list(object({
    name                       = string
    labels                     = map(string)
    instance_types             = list(string)
    capacity_type              = string
    max_unavailable_percentage = number
    desired_capacity           = number
    max_capacity               = number
    min_capacity               = number
  }))
}

variable "karpenter_provider" {
  description = "Set capacity for Karpenter nodes: each entry becomes a NodePool"
  type = list(object({
    provider_name      = string
    capacity_type      = list(string)
    instance_family    = list(string)
    instance_sizes     = list(string)
    availability_zones = list(string)
    cpu_limit          = number
    memory_limit       = string
    ttl_scaling_empty  = number
    ttl_nodes          = number
  }))
}

variable "service_account" {
  description = "Create Services Accounts, each with a role of its own that may be assumed by it alone"
  type = list(object({
    name      = string
    namespace = string
  }))
}

variable "map_roles" {
  description = "Additional IAM roles to add to the aws-auth configmap."
  type = list(object({
    rolearn  = string
    username = string
    groups   = list(string)
  }))
  default = []
}

variable "map_users" {
  description = "Additional IAM users to add to the aws-auth configmap."
  type = list(object({
    userarn  = string
    username = string
    groups   = list(string)
  }))
  default = []
}

variable "map_accounts" {
  description = "Additional AWS account numbers to add to the aws-auth configmap."
  type        = list(string)
  default     = []
}

variable "image" {
  description = "Image of the controller and of the termination handler, in a registry of yours and for the architecture of node_groups. There is no published one"
  type = object({
    repository = string
    tag        = string
    digest     = optional(string, "")
  })
  default = null
}
