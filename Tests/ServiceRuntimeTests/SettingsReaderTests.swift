import ServiceRuntime
import TestSupport
import Testing

@Suite struct SettingsReaderTests {
  @Test func `a flag goes before the environment`() {
    let settings = SettingsReader(
      environment: ["LOCKSTEP_HTTP_ADDR": "a"], flags: ["HTTP_ADDR": "b"])
    #expect(settings.text("HTTP_ADDR") == "b")
    #expect(SettingsReader.flag("HTTP_ADDR") == "--http-addr")
  }

  @Test(arguments: [
    ("1", 1), ("10", 10), ("", 7),
  ])
  func `a number within its range is taken, an empty one is not set`(text: String, wanted: Int) {
    var settings = SettingsReader(environment: ["LOCKSTEP_RATE": text], flags: [:])
    #expect(settings.integer("RATE", in: 1...10, default: 7) == wanted)
    #expect(settings.problems.isEmpty)
  }

  @Test(arguments: ["0", "11", "x", "1.5", " 1"])
  func `any other is a problem that says what was given and what was wanted`(text: String) {
    var settings = SettingsReader(environment: ["LOCKSTEP_RATE": text], flags: [:])
    _ = settings.integer("RATE", in: 1...10, default: 7)
    #expect(settings.problems == ["LOCKSTEP_RATE=\(text): want a whole number from 1 to 10"])
  }

  @Test func `a problem that two readers meet is noted once`() {
    var settings = SettingsReader(environment: ["LOCKSTEP_RATE": "x"], flags: [:])
    for _ in 0..<2 {
      _ = settings.integer("RATE", in: 1...10, default: 7)
      _ = settings.requiredText("A", want: "a name")
    }
    #expect(settings.problems.count == 2)
  }

  @Test func `a secret is not shown`() {
    struct Wrong: Error, CustomStringConvertible { let description = "is no URL" }
    var settings = SettingsReader(environment: ["LOCKSTEP_AMQP_URL": "hunter2"], flags: [:])
    let value: Int? = settings.value("AMQP_URL", isSecret: true) { _ in throw Wrong() }
    #expect(value == nil)
    #expect(settings.problems == ["LOCKSTEP_AMQP_URL=…: is no URL"])
  }

  @Test func `all problems are collected`() {
    var settings = SettingsReader(environment: [:], flags: ["B": "x"])
    _ = settings.requiredText("A", want: "a name")
    _ = settings.seconds("B", in: 1...2, default: 1)
    let missing: Int? = settings.required("C", want: "a path") { Int($0) ?? 0 }
    #expect(missing == nil)
    #expect(
      settings.problems == [
        "LOCKSTEP_A is not set: want a name", "--b=x: want whole seconds from 1 to 2",
        "LOCKSTEP_C is not set: want a path",
      ])
  }

  @Test(
    arguments: [
      ("HTPP_ADDR", "HTTP_ADDR"), ("HTTP_ADR", "HTTP_ADDR"), ("HTTP_ADDDR", "HTTP_ADDR"),
      ("HTTP_ADDRES", "HTTP_ADDR"), ("LGO", "LOG"), ("LOGS", "LOG"), ("http_addr", nil),
      ("HTTP_ADDRESS", nil), ("BIN", nil), ("BUILD", nil), ("TEST_AMQP_URL", nil), ("LOG", nil),
      ("", nil),
    ] as [(String, String?)])
  func `what is almost a setting is refused with the one that is meant`(
    given: String, meant: String?
  ) {
    var settings = SettingsReader(environment: ["LOCKSTEP_\(given)": "1"], flags: [:])
    settings.refuseMisspelled(among: ["HTTP_ADDR", "LOG", "AMQP_URL"])
    let problem = meant.map {
      "LOCKSTEP_\(given): there is no such setting; is LOCKSTEP_\($0) meant?"
    }
    #expect(settings.problems == [problem].compactMap(\.self))
  }
}
