/// Every setting: its name without prefix, and what it means. `deploy/environment.example` shows
/// the same list, and a test compares the two.
enum SettingCatalog {
  struct Setting: Sendable {
    let name: String
    let help: String
  }

  static let all: [Setting] = [
    .init(name: "LOG", help: "text or json, with a level: json:info. Default text:info"),
    .init(
      name: "DATABASE_URL",
      help: "sqlite:///absolute/path or postgresql://user:password@host/database. Required"),
    .init(name: "AMQP_URL", help: "amqp://user:password@host/vhost, or amqps://. Required"),
    .init(
      name: "AMQP_MANAGEMENT_URL",
      help: "http(s)://user:password@host:15672. Only topology and queues need it"),
    .init(name: "AMQP_CA_FILE", help: "PEM authorities for amqps. Default: the system's"),
    .init(name: "QUEUES_FILE", help: "queues.yaml. Default: queues.yaml in the working folder"),
    .init(name: "ADMIN_ADDR", help: "host:port of /livez /readyz /metrics. Default 127.0.0.1:9090"),
    .init(
      name: "OPS_SENDERS",
      help: "admin addresses of apns- and fcm-senders for the page's lanes, host:port,host:port"),
    .init(name: "HTTP_ADDR", help: "host:port of the API. Default 127.0.0.1:8080"),
    .init(
      name: "AUTH_KEYS_FILE",
      help: "JWK Set whose keys callers' tokens are verified with. Required"),
    .init(name: "AUTH_ISSUER", help: "what a caller's token must have as iss. Default: anything"),
    .init(
      name: "AUTH_AUDIENCE",
      help: "what a caller's token must have as aud, or among it. Default: anything"),
    .init(name: "RATE_PER_USER", help: "requests per second and user, 1 to 10000. Default 20"),
    .init(
      name: "SESSION_TTL_SECONDS", help: "life after the last mutation, 5 to 28800. Default 7200"),
    .init(
      name: "CONTRACTS_DIR",
      help: "folder of declared contracts, *.json. Default: only the cook session's and Shiny's"),
    .init(
      name: "RECORDS_DAYS", help: "how long what is over is kept, 1 to 365 days. Default 14"),
    .init(
      name: "TOKENS_DAYS",
      help: "how long a device's token counts without being registered again, 30 to 3650 days. "
        + "Default 270"),
    .init(name: "OUTBOX_EVENTS_MAX", help: "events held for an absent broker. Default 1000000"),
    .init(name: "APNS_KEY_FILE", help: "the provider key, .p8 (PEM PKCS#8)"),
    .init(name: "APNS_KEY_ID", help: "ten characters. Default: from a file AuthKey_<KEYID>.p8"),
    .init(name: "APNS_TEAM_ID", help: "ten characters"),
    .init(name: "APNS_BUNDLE_ID", help: "the app's bundle id, without any suffix"),
    .init(name: "APNS_URL_PRODUCTION", help: "https://host[:port]. Default: Apple's"),
    .init(name: "APNS_URL_SANDBOX", help: "https://host[:port]. Default: Apple's"),
    .init(name: "APNS_CA_FILE", help: "PEM authorities for APNs. Default: the system's"),
    .init(name: "APNS_CONNECTIONS", help: "connections per service, 1 to 16. Default 2"),
    .init(name: "APNS_TIMEOUT_SECONDS", help: "wait for an answer, 1 to 60. Default 10"),
    .init(name: "APNS_CHANNELS_URL_PRODUCTION", help: "management of channels. Default: Apple's"),
    .init(name: "APNS_CHANNELS_URL_SANDBOX", help: "management of channels. Default: Apple's"),
    .init(
      name: "APNS_CHANNELS_KEPT_SECONDS",
      help: "from an activity's end to its channel's, 0 to 86400. Default 28800"),
    .init(
      name: "VAPID_KEY_FILE",
      help: "PEM keys; the first is for new subscriptions. Without it Web Push is off"),
    .init(name: "VAPID_SUBJECT", help: "mailto:name@domain or https://domain"),
    .init(
      name: "WEBPUSH_ALLOW", help: "push services: host, *.host, host:port. Default: browsers'"),
    .init(name: "WEBPUSH_CA_FILE", help: "PEM authorities for Web Push. Default: the system's"),
    .init(
      name: "WEB_ORIGIN", help: "https://host[:port] of the web app; unset, no browser is told"),
    .init(
      name: "FCM_CREDENTIALS_FILE",
      help: "the Firebase project's service account, JSON. Without it FCM is off in run"),
    .init(name: "FCM_URL", help: "https://host[:port]. Default: Google's"),
    .init(name: "FCM_CA_FILE", help: "PEM authorities for FCM. Default: the system's"),
    .init(
      name: "FCM_PACKAGES",
      help: "package names of Android apps whose phones may register: com.example.app,…"),
    .init(
      name: "OTEL_EXPORTER_OTLP_ENDPOINT",
      help: "where traces go, http(s)://host:4318. Unset: nobody traces"),
    .init(
      name: "OTEL_EXPORTER_OTLP_HEADERS", help: "name=value,… sent with traces, as credentials"),
    .init(
      name: "OTEL_TRACES_SAMPLER_ARG",
      help: "share of the traces begun here that is kept, 0 to 1. Default 1"),
    .init(name: "PREFETCH", help: "deliveries in hand, 1 to 2000. Default: queues.yaml's"),
    .init(
      name: "SHUTDOWN_GRACE_SECONDS", help: "time to finish what is in hand, 1 to 300. Default 20"),
  ]
}
