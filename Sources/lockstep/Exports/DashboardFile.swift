import Foundation
import Pipeline
import RabbitMQBroker
import Vocabulary

/// `deploy/grafana/lockstep.json`: from the phones' point of view downwards, then each queue beside
/// what queues.yaml expects of it, then the processes.
struct DashboardFile {
  let topology: Topology

  static func text(_ topology: Topology) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
    return String(
      decoding: try encoder.encode(DashboardFile(topology: topology).json), as: UTF8.self)
  }

  private var json: JSONValue {
    [
      "title": "Lockstep", "uid": "lockstep", "schemaVersion": 38, "version": 1,
      "tags": ["lockstep"], "timezone": "", "refresh": "10s", "editable": .bool(true),
      "description": .string(GeneratedFile.head("--dashboard", [])[0]),
      "time": ["from": "now-1h", "to": "now"],
      "templating": [
        "list": [
          [
            "name": "datasource", "label": "Prometheus", "type": "datasource",
            "query": "prometheus",
          ]
        ]
      ],
      "panels": .array(placed),
    ]
  }

  /// From left to right, as long as there is room.
  private var placed: [JSONValue] {
    var (x, y, height) = (0, 0, 0)
    return panels.enumerated().map { place, panel in
      if x + panel.size.width > 24 { (x, y, height) = (0, y + height, 0) }
      defer {
        x += panel.size.width
        height = max(height, panel.size.height)
      }
      return panel.json(id: place + 1, x: x, y: y)
    }
  }

  private var panels: [DashboardPanel] {
    figures + [.row("Pushes")] + pushes + [.row("Queues, with what queues.yaml expects")] + queues
      + [.row("Sessions and people")] + sessions + [.row("Outbox and stages")] + stages
      + [.row("Processes")] + processes
  }

  private static func quantile(_ share: String, _ metric: String, by labels: String = "le")
    -> String
  {
    "histogram_quantile(\(share), sum by (\(labels)) (rate(\(metric)_bucket[$__rate_interval])))"
  }

  private static func rate(_ metric: String, by labels: String) -> String {
    "sum by (\(labels)) (rate(\(metric)[$__rate_interval]))"
  }

  // MARK: Rows

  private var figures: [DashboardPanel] {
    let waiting = topology.watched.map(\.name).joined(separator: "|")
    return [
      DashboardPanel(
        .figure, "Critical time, p99", "From a mutation to APNs' acceptance of its push.",
        unit: "s", [(Self.quantile("0.99", "lockstep_critical_time_seconds"), "")]),
      DashboardPanel(
        .figure, "Mutations", "Events stored, per second.", unit: "ops",
        [("sum(rate(lockstep_events_accepted_total[$__rate_interval]))", "")]),
      DashboardPanel(
        .figure, "Pushes", "Answered by APNs, per second.", unit: "ops",
        [("sum(rate(lockstep_pushes_total[$__rate_interval]))", "")]),
      DashboardPanel(
        .figure, "Waiting", "Messages ready in all work queues.",
        [("sum(rabbitmq_detailed_queue_messages_ready{queue=~\"\(waiting)\"})", "")]),
      DashboardPanel(
        .figure, "Dead letters", "Messages that a person must look at.",
        [("sum(rabbitmq_detailed_queue_messages{queue=~\"dead[.].*\"})", "")]),
      DashboardPanel(
        .figure, "Open lanes", "Services and topics that only get probes.",
        [("sum(lockstep_lane_open) or vector(0)", "")]),
    ]
  }

  private var pushes: [DashboardPanel] {
    let critical = "lockstep_critical_time_seconds"
    return [
      DashboardPanel(
        .series, "Critical time", "From a mutation to APNs' acceptance, by activity.", unit: "s",
        [
          (Self.quantile("0.5", critical, by: "le, activity"), "{{activity}} p50"),
          (Self.quantile("0.99", critical, by: "le, activity"), "{{activity}} p99"),
        ]),
      DashboardPanel(
        .series, "APNs' answers", "Per second; `none` is no answer.", unit: "ops",
        [(Self.rate("lockstep_pushes_total", by: "status, reason"), "{{status}} {{reason}}")]),
      DashboardPanel(
        .series, "In flight and connections", "Pushes without an answer yet; open connections.",
        [
          ("sum(lockstep_pushes_in_flight)", "in flight"),
          ("sum(lockstep_webpushes_in_flight)", "Web Pushes in flight"),
          ("sum(lockstep_fcm_in_flight)", "FCM messages in flight"),
          ("sum(lockstep_apns_connections)", "connections"),
        ]),
      DashboardPanel(
        .series, "Tokens pruned", "Per second, by reason.", unit: "ops",
        [
          (Self.rate("lockstep_tokens_pruned_total", by: "reason"), "{{reason}}"),
          ("sum(rate(lockstep_guard_trips_total[$__rate_interval]))", "mass guard trips"),
        ]),
      DashboardPanel(
        .series, "Lanes open", "1 while only probes are sent.",
        [("max by (environment, topic) (lockstep_lane_open)", "{{environment}} {{topic}}")]),
      DashboardPanel(
        .series, "Provider token age", "APNs takes a token for one hour.", unit: "s",
        [("lockstep_provider_token_age_seconds", "{{instance}}")]),
    ]
  }

  private var queues: [DashboardPanel] {
    let each = topology.watched.map { queue in
      let selector = "{queue=\"\(queue.name)\"}"
      var queries = [
        ("sum(rabbitmq_detailed_queue_messages_ready\(selector))", "waiting"),
        ("sum(rabbitmq_detailed_queue_messages_unacked\(selector))", "in hand"),
        ("sum(rabbitmq_detailed_queue_consumers\(selector))", "readers"),
      ]
      if let most = queue.expectation.maxDepth { queries.append(("vector(\(most))", "expected")) }
      return DashboardPanel(.series, queue.name, "Expected: at most so many waiting.", queries)
    }
    let ready = "rabbitmq_detailed_queue_messages_ready"
    return each + [
      DashboardPanel(
        .series, "Retry rungs", "What waits to be tried again.",
        [("sum by (queue) (\(ready){queue=~\"retry[.].*\"}) > 0", "{{queue}}")]),
      DashboardPanel(
        .series, "Dead letters", "Expected: none.",
        [
          (
            "sum by (queue) (rabbitmq_detailed_queue_messages{queue=~\"dead[.].*\"})", "{{queue}}"
          )
        ]),
    ]
  }

  private var sessions: [DashboardPanel] {
    [
      DashboardPanel(
        .series, "Mutations", "Events stored, by type.", unit: "ops",
        [(Self.rate("lockstep_events_accepted_total", by: "type"), "{{type}}")]),
      DashboardPanel(
        .series, "Notifications", "By channel and what became of them.", unit: "ops",
        [
          (
            Self.rate("lockstep_notifications_total", by: "channel, outcome"),
            "{{channel}} {{outcome}}"
          )
        ]),
      DashboardPanel(
        .series, "Phones behind", "How many revs a phone's report lay behind.",
        [
          (Self.quantile("0.5", "lockstep_phone_lag_revs"), "p50"),
          (Self.quantile("0.9", "lockstep_phone_lag_revs"), "p90"),
        ]),
      DashboardPanel(
        .series, "Expiry lateness", "From a session's deadline to its end.", unit: "s",
        [(Self.quantile("0.99", "lockstep_expiry_lateness_seconds"), "p99")]),
      DashboardPanel(
        .series, "API requests", "Per second, by status.", unit: "ops",
        [(Self.rate("lockstep_http_requests_total", by: "status"), "{{status}}")]),
      DashboardPanel(
        .series, "API time", "From a whole request to its answer.", unit: "s",
        [
          (Self.quantile("0.5", "lockstep_http_request_seconds"), "p50"),
          (Self.quantile("0.99", "lockstep_http_request_seconds"), "p99"),
        ]),
    ]
  }

  private var stages: [DashboardPanel] {
    [
      DashboardPanel(
        .series, "Outbox", "Events that wait for the broker's confirm.",
        [
          ("max(lockstep_outbox_events)", "waiting"),
          ("max(lockstep_outbox_oldest_seconds)", "oldest, seconds"),
          ("max(lockstep_outbox_parked_events)", "parked"),
        ]),
      DashboardPanel(
        .series, "Confirm latency", "Publishing a window until its last confirm.", unit: "s",
        [
          (Self.quantile("0.5", "lockstep_confirm_latency_seconds"), "p50"),
          (Self.quantile("0.99", "lockstep_confirm_latency_seconds"), "p99"),
        ]),
      DashboardPanel(
        .series, "Age when taken", "Since the mutation, p90.", unit: "s",
        [(Self.quantile("0.9", "lockstep_stage_age_seconds", by: "le, stage"), "{{stage}}")]),
    ]
      + topology.routes.all.map { route in
        DashboardPanel(
          .series, "Stage \(route.stage.rawValue)", "Messages settled, by outcome.", unit: "ops",
          [
            (
              Self.rate(
                "lockstep_stage_messages_total{stage=\"\(route.stage.rawValue)\"}", by: "outcome"),
              "{{outcome}}"
            )
          ])
      }
  }

  private var processes: [DashboardPanel] {
    [
      DashboardPanel(
        .series, "CPU", "Cores used.",
        [("rate(process_cpu_seconds_total{job=\"lockstep\"}[$__rate_interval])", "{{instance}}")]),
      DashboardPanel(
        .series, "Memory", "Resident.", unit: "bytes",
        [("process_resident_memory_bytes{job=\"lockstep\"}", "{{instance}}")]),
      DashboardPanel(
        .series, "Descriptors", "Open.", [("process_open_fds{job=\"lockstep\"}", "{{instance}}")]),
    ]
  }
}
