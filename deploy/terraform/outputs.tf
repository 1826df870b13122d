output "iam_role_arn" {
  description = "Controller IAM role ARN"
  value       = aws_iam_role.controller.arn
}

output "node_iam_role_arn" {
  description = "Node IAM role ARN"
  value       = aws_iam_role.node.arn
}

output "node_iam_role_name" {
  description = "Node IAM role name"
  value       = aws_iam_role.node.name
}

output "instance_profile_name" {
  description = "EC2 instance profile name"
  value       = aws_iam_instance_profile.node.name
}

output "queue_name" {
  description = "SQS queue name; null when there is none"
  value       = one(aws_sqs_queue.interruption[*].name)
}

output "queue_url" {
  description = "SQS queue URL; null when there is none"
  value       = one(aws_sqs_queue.interruption[*].url)
}
