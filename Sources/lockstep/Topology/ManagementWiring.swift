import RabbitMQBroker
import ServiceRuntime

/// RabbitMQ's management API as settings say.
enum ManagementWiring {
  private static let name = "AMQP_MANAGEMENT_URL"

  /// Nil, with the problem noted in `settings`, when the URL is missing or wrong.
  static func required(_ settings: inout SettingsReader, broker: BrokerWiring?)
    -> BrokerManagement?
  {
    settings.required(name, want: "http://user:password@host:15672", isSecret: true) {
      try make($0, broker)
    }
  }

  static func optional(_ settings: inout SettingsReader, broker: BrokerWiring?)
    -> BrokerManagement?
  {
    settings.text(name) == nil ? nil : required(&settings, broker: broker)
  }

  /// The same for a thread of its own: made there. Nil without a URL.
  static func optionalURL(_ settings: inout SettingsReader, broker: BrokerWiring?)
    -> @Sendable () -> BrokerManagement?
  {
    guard optional(&settings, broker: broker) != nil, let url = settings.text(name) else {
      return { nil }
    }
    // It was made of this URL a moment ago.
    return { try? make(url, broker) }
  }

  private static func make(_ url: String, _ broker: BrokerWiring?) throws -> BrokerManagement {
    try BrokerManagement(
      url: url, virtualHost: broker?.address.virtualHost ?? "/",
      authoritiesFile: broker?.address.isTLS == true ? broker?.address.authoritiesFile : nil)
  }

  static func attempt<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let failure as ManagementFailure {
      throw CommandFailure(.unavailable, "\(failure)")
    }
  }
}
