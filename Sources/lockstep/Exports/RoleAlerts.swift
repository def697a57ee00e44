import Vocabulary

/// The alerts on what the roles count themselves, and on the broker as a whole. Their limits are
/// the service's aims; queues.yaml has no say in them.
enum RoleAlerts {
  /// The names of the jobs in `deploy/prometheus/prometheus.yaml`.
  private static let rolesJob = "lockstep"
  private static let queuesJob = "rabbitmq-queues"

  static let rules: [AlertRule] = processes + broker + outbox + pushes + sessions

  private static let processes = [
    AlertRule(
      name: "LockstepRoleDown", expression: "up{job=\"\(rolesJob)\"} == 0", lasting: .seconds(60),
      severity: .page, summary: "{{ $labels.instance }} does not answer on its admin port."),
    AlertRule(
      name: "LockstepDescriptorsShort",
      expression: "process_open_fds{job=\"\(rolesJob)\"} / process_max_fds > 0.8",
      lasting: .seconds(300), severity: .ticket,
      summary: "{{ $labels.instance }} uses most of the descriptors it may have."),
  ]

  private static let broker = [
    AlertRule(
      name: "LockstepBrokerUnseen",
      expression: "up{job=\"\(queuesJob)\"} == 0 or absent(up{job=\"\(queuesJob)\"})",
      lasting: .seconds(60), severity: .page,
      summary: "RabbitMQ tells no figures: it is down, or every alert on queues is blind."),
    AlertRule(
      name: "LockstepBrokerAlarm",
      expression: """
        max(rabbitmq_alarms_memory_used_watermark) == 1
          or max(rabbitmq_alarms_free_disk_space_watermark) == 1
        """,
      lasting: .zero, severity: .page,
      summary: "RabbitMQ is short of memory or disk and takes no messages."),
    AlertRule(
      name: "LockstepPublishRefused",
      expression: """
        sum(increase(lockstep_stage_publish_refused_total[5m])) > 0
          or sum(increase(lockstep_events_publish_refused_total[5m])) > 0
        """,
      lasting: .zero, severity: .ticket,
      summary:
        "RabbitMQ returned or refused {{ $value }} messages; they are kept and offered again."),
  ]

  private static let outbox = [
    AlertRule(
      name: "LockstepOutboxOld", expression: "max(lockstep_outbox_oldest_seconds) > 30",
      lasting: .seconds(60), severity: .page,
      summary: "An event has waited {{ $value }} s in the outbox for the broker."),
    AlertRule(
      name: "LockstepOutboxParked", expression: "max(lockstep_outbox_parked_events) > 0",
      lasting: .seconds(300), severity: .ticket,
      summary: "{{ $value }} events were refused by the broker again and again."),
  ]

  private static let pushes = [
    AlertRule(
      name: "LockstepLaneOpen",
      expression: "max by (environment, topic) (lockstep_lane_open) == 1", lasting: .seconds(60),
      severity: .page,
      summary: "Nothing but probes is sent to {{ $labels.topic }} in {{ $labels.environment }}."),
    AlertRule(
      name: "LockstepCriticalTimeLong",
      expression: """
        histogram_quantile(0.99,
          sum by (le, activity) (rate(lockstep_critical_time_seconds_bucket[5m]))) > 5
        """,
      lasting: .seconds(300), severity: .page,
      summary: "One push of {{ $labels.activity }} in a hundred takes {{ $value }} s to APNs."),
    AlertRule(
      name: "LockstepPushesRefused",
      expression: """
        sum(rate(lockstep_pushes_total{status!="200",status!="410"}[5m]))
          / sum(rate(lockstep_pushes_total[5m])) > 0.05
        """,
      lasting: .seconds(300), severity: .page,
      summary: "APNs refuses or does not answer {{ $value | humanizePercentage }} of all pushes."),
    AlertRule(
      name: "LockstepRetriesMany",
      expression: """
        sum by (stage) (rate(lockstep_stage_messages_total{outcome="retried"}[5m]))
          / sum by (stage) (rate(lockstep_stage_messages_total[5m])) > 0.2
        """,
      lasting: .seconds(300), severity: .ticket,
      summary:
        "{{ $value | humanizePercentage }} of what {{ $labels.stage }} does must be repeated."),
    AlertRule(
      name: "LockstepGuardTripped",
      expression: "sum(increase(lockstep_guard_trips_total[15m])) > 0",
      lasting: .zero, severity: .page,
      summary: "Many tokens were refused alike; pruning stopped and was taken back."),
    AlertRule(
      name: "LockstepFCMIncident",
      expression: "sum(increase(lockstep_fcm_incidents_total[15m])) > 0",
      lasting: .zero, severity: .page,
      summary: "FCM refuses the project or its credentials: no Android phone is told."),
    AlertRule(
      name: "LockstepProviderTokenOld",
      expression: """
        lockstep_provider_token_age_seconds > 3500
          and on (instance) sum by (instance) (rate(lockstep_pushes_total[5m])) > 0
        """,
      lasting: .seconds(60), severity: .page,
      summary: "{{ $labels.instance }} pushes with a provider token that APNs will refuse."),
  ]

  private static let sessions = [
    AlertRule(
      name: "LockstepExpiryLate",
      expression: """
        histogram_quantile(0.99,
          sum by (le) (rate(lockstep_expiry_lateness_seconds_bucket[5m]))) > 30
        """,
      lasting: .seconds(300), severity: .ticket,
      summary: "Sessions end {{ $value }} s after their time."),
    AlertRule(
      name: "LockstepKitchenSilent",
      expression: "sum(increase(lockstep_jobs_timed_out_total[10m])) > 3", lasting: .zero,
      severity: .page, summary: "The kitchen left {{ $value }} jobs without an answer."),
    AlertRule(
      name: "LockstepPhonesBehind",
      expression: """
        histogram_quantile(0.9,
          sum by (le) (rate(lockstep_phone_lag_revs_bucket[15m]))) > 5
        """,
      lasting: .seconds(900), severity: .ticket,
      summary: "One phone in ten shows a state that is more than five revs old."),
  ]
}
