import Pipeline
import RabbitMQBroker
import Vocabulary

/// The alerts that follow from the expectations in queues.yaml, on what RabbitMQ's own Prometheus
/// plugin tells of each queue (`/metrics/detailed`) and on what the workers tell.
struct QueueAlerts {
  let topology: Topology

  var rules: [AlertRule] {
    let work = topology.queues.filter { if case .work = $0.purpose { true } else { false } }
    let dead = topology.queues.filter { if case .dead = $0.purpose { true } else { false } }
    return work.flatMap(tooDeep) + work.flatMap(unread) + work.flatMap(tooOld)
      + topology.routes.all.map(stuck) + dead.flatMap(deadLetters)
      + topology.queues.filter { $0.purpose == .unroutable }.flatMap(unroutable)
  }

  private func metric(_ name: String, _ queue: String) -> String {
    "rabbitmq_detailed_queue_\(name){queue=\"\(queue)\"}"
  }

  private func tooDeep(_ queue: Topology.Queue) -> [AlertRule] {
    guard let most = queue.expectation.maxDepth else { return [] }
    return [
      AlertRule(
        name: "LockstepQueueTooDeep", queue: queue.name,
        expression: "\(metric("messages_ready", queue.name)) > \(most)", lasting: .seconds(120),
        severity: .ticket,
        summary: "{{ $value }} messages wait in queue \(queue.name); at most \(most) are expected.")
    ]
  }

  private func unread(_ queue: Topology.Queue) -> [AlertRule] {
    guard let least = queue.expectation.minConsumers, least > 0 else { return [] }
    let few = "\(metric("consumers", queue.name)) < \(least)"
    return [
      AlertRule(
        name: "LockstepQueueUnread", queue: queue.name,
        expression: queue.expectation.isOptional
          ? "\(few)\n  and on () sum(\(metric("messages", queue.name))) > 0" : few,
        lasting: .seconds(120), severity: .page,
        summary: "{{ $value }} consumers read queue \(queue.name); at least \(least) are expected.")
    ]
  }

  private func tooOld(_ queue: Topology.Queue) -> [AlertRule] {
    guard let most = queue.expectation.maxAge, case .work(let owner) = queue.purpose else {
      return []
    }
    let expression =
      topology.routes.all.contains { $0.stage.rawValue == owner }
      ? ageOfTaken(owner, most) : ageByFlow(queue.name, most)
    return [
      AlertRule(
        name: "LockstepQueueTooOld", queue: queue.name, expression: expression,
        lasting: .seconds(60),
        severity: .page,
        summary:
          "Messages of queue \(queue.name) are older than \(AlertRule.written(most)), which is"
          + " the most that is expected.")
    ]
  }

  /// The workers tell how old the messages are that they take.
  private func ageOfTaken(_ stage: String, _ most: Duration) -> String {
    let buckets = "lockstep_stage_age_seconds_bucket{stage=\"\(stage)\"}"
    return "histogram_quantile(0.9, sum by (le) (rate(\(buckets)[2m]))) > "
      + "\(most.components.seconds)"
  }

  /// Other programs do not. If fewer messages were acknowledged since a moment than were there
  /// then, one of those is still there: what `lockstep queues` says too.
  private func ageByFlow(_ queue: String, _ most: Duration) -> String {
    let (depth, span) = (metric("messages", queue), AlertRule.written(most))
    let acked = "rabbitmq_detailed_channel_messages_acked_total{queue=\"\(queue)\"}"
    return """
      (sum(\(depth) offset \(span)) > (sum(increase(\(acked)[\(span)])) or vector(0)))
        and on () sum(\(depth)) > 0
      """
  }

  private func stuck(_ route: StageRoute) -> AlertRule {
    let settled = "lockstep_stage_messages_total{stage=\"\(route.stage.rawValue)\"}"
    return AlertRule(
      name: "LockstepQueueStuck", queue: route.queue,
      expression: """
        \(metric("messages", route.queue)) > 0
          unless on () sum(rate(\(settled)[5m])) > 0
        """,
      lasting: .seconds(300), severity: .page,
      summary:
        "{{ $value }} messages are in queue \(route.queue), and none was settled for minutes.")
  }

  private func deadLetters(_ queue: Topology.Queue) -> [AlertRule] {
    guard let most = queue.expectation.maxDepth else { return [] }
    return [
      AlertRule(
        name: "LockstepDeadLetters", queue: queue.name,
        expression: "\(metric("messages", queue.name)) > \(most)",
        lasting: .seconds(60), severity: .ticket,
        summary: "{{ $value }} messages are in \(queue.name): no repetition helped.")
    ]
  }

  private func unroutable(_ queue: Topology.Queue) -> [AlertRule] {
    guard let most = queue.expectation.maxDepth else { return [] }
    return [
      AlertRule(
        name: "LockstepUnroutable", queue: queue.name,
        expression: "\(metric("messages", queue.name)) > \(most)",
        lasting: .seconds(60), severity: .ticket,
        summary: "{{ $value }} events were taken by no queue.")
    ]
  }
}
