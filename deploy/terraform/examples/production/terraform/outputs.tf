output "cluster_endpoint" {
  description = "Where the API server is"
  value       = aws_eks_cluster.main.endpoint
}

output "configure_kubectl" {
  description = "Command that makes kubectl know the cluster"
  value       = "aws eks update-kubeconfig --region ${var.aws_region} --name ${aws_eks_cluster.main.name}"
}

output "node_iam_role_name" {
  description = "Role of the nodes that Karpenter makes"
  value       = module.karpenter.node_iam_role_name
}

output "queue_name" {
  description = "Queue with notices of interruptions"
  value       = module.karpenter.queue_name
}
