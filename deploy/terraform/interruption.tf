# Notices of interruptions: EventBridge brings them to a queue that the controller reads.
locals {
  events = var.enable_spot_termination ? jsondecode(file("${path.module}/policies/events.json")) : {}
}

resource "aws_sqs_queue" "interruption" {
  count = var.enable_spot_termination ? 1 : 0

  name                      = local.queue_name
  message_retention_seconds = 300
  sqs_managed_sse_enabled   = true
  tags                      = local.tags
}

resource "aws_sqs_queue_policy" "interruption" {
  count = var.enable_spot_termination ? 1 : 0

  queue_url = aws_sqs_queue.interruption[0].url
  policy    = templatefile("${path.module}/policies/queue.json.tftpl", local.names)
}

resource "aws_cloudwatch_event_rule" "interruption" {
  for_each = local.events

  name          = substr("Karpenter${each.key}-${var.eks_cluster_name}", 0, 64)
  description   = each.value.description
  event_pattern = jsonencode({ source = [each.value.source], "detail-type" = [each.value.detail_type] })
  tags          = local.tags
}

resource "aws_cloudwatch_event_target" "interruption" {
  for_each = local.events

  rule      = aws_cloudwatch_event_rule.interruption[each.key].name
  target_id = "KarpenterInterruptionQueueTarget"
  arn       = aws_sqs_queue.interruption[0].arn
}
