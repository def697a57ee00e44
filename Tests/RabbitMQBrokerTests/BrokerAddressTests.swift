import Testing

@testable import RabbitMQBroker

@Suite struct BrokerAddressTests {
  @Test func `all parts are read`() throws {
    let address = try BrokerAddress(
      url: "amqps://a%40b:p%3A%2Fw@mq.example:5999/v%2Fh", authoritiesFile: "/ca.pem")
    #expect(address.isTLS)
    #expect(address.host == "mq.example")
    #expect(address.port == 5999)
    #expect(address.user == "a@b")
    #expect(address.password == "p:/w")
    #expect(address.virtualHost == "v/h")
    #expect(address.authoritiesFile == "/ca.pem")
  }

  @Test(arguments: [
    ("amqp://h", "/", 5672), ("amqp://h/", "/", 5672), ("amqps://h/x", "x", 5671),
    ("amqp://h/%2F", "/", 5672), ("amqp://u:p@[::1]:7/x", "x", 7),
  ])
  func `what is left out has its default`(url: String, virtualHost: String, port: Int) throws {
    let address = try BrokerAddress(url: url)
    #expect(address.virtualHost == virtualHost)
    #expect(Int(address.port) == port)
  }

  @Test(arguments: [
    "", "h:5672", "http://h", "amqp://", "amqp://u@h", "amqp://:p@h", "amqp://u:p@h:0",
    "amqp://u:p@h:70000", "amqp://u:p@h:x", "amqp://u:p@h/a/b", "amqp://u:p@h/a?b=c",
    "amqp://u:%zz@h",
  ])
  func `what cannot be meant is refused`(url: String) {
    #expect(throws: BrokerAddressRefused.self) { try BrokerAddress(url: url) }
  }

  @Test func `the password never shows`() throws {
    let address = try BrokerAddress(url: "amqp://u:secret@h/v")
    #expect("\(address)" == "amqp://u@h:5672/v")
    let refusal = #expect(throws: BrokerAddressRefused.self) {
      try BrokerAddress(url: "amqp://u:secret@h:x/v")
    }
    #expect(refusal?.description.contains("secret") == false)
  }
}
