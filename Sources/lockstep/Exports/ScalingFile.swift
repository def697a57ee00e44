import Pipeline
import RabbitMQBroker

/// `deploy/kubernetes/keda.yaml`: how many of each worker there should be, by what waits for them.
///
/// Over http, because only so unacknowledged messages count too: over AMQP a busy worker seems idle
/// and is taken away.
enum ScalingFile {
  private static let pollSeconds = 15
  private static let cooldownSeconds = 300
  /// Two never leave a gap while one is replaced.
  private static let replicasMin = 2
  private static let replicasMax = 8
  private static let namespace = "lockstep"

  static func text(_ topology: Topology) -> String {
    let head = GeneratedFile.head(
      "--keda",
      [
        "Wants a Secret `lockstep-broker` whose `management-url` is",
        "http(s)://user:password@host:15672/vhost, with an account of tag monitoring.",
        "With SQLite all replicas must be on the node that has the database.",
      ])
    let workers = WorkerRole.all.compactMap { scaled($0, topology) }
    return ([head.map { "# \($0)" }, authentication] + workers).map { $0.joined(separator: "\n") }
      .joined(separator: "\n---\n")
  }

  private static let authentication = [
    "apiVersion: keda.sh/v1alpha1", "kind: TriggerAuthentication",
    "metadata: { name: lockstep-broker, namespace: \(namespace) }", "spec:", "  secretTargetRef:",
    "    - { parameter: host, name: lockstep-broker, key: management-url }",
  ]

  /// Nil for a queue without `messages-per-worker`.
  private static func scaled(_ role: WorkerRole, _ topology: Topology) -> [String]? {
    let route = topology.routes[role.stage]
    guard let queue = topology.queue(route.queue),
      let each = queue.expectation.messagesPerWorker
    else { return nil }
    return [
      "apiVersion: keda.sh/v1alpha1", "kind: ScaledObject",
      "metadata: { name: \(role.name), namespace: \(namespace) }", "spec:",
      "  scaleTargetRef: { name: \(role.name) }", "  pollingInterval: \(pollSeconds)",
      "  cooldownPeriod: \(cooldownSeconds)",
      "  minReplicaCount: \(max(replicasMin, queue.expectation.minConsumers ?? 0))",
      "  maxReplicaCount: \(replicasMax)", "  triggers:", "    - type: rabbitmq",
      "      metadata:", "        protocol: http", "        queueName: \(route.queue)",
      "        mode: QueueLength", "        value: \"\(each)\"",
      "        excludeUnacknowledged: \"false\"",
      "      authenticationRef: { name: lockstep-broker }",
    ]
  }
}
