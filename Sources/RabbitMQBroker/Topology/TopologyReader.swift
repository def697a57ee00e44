import Foundation
import Pipeline
import ServiceRuntime

extension Topology {
  /// Reads queues.yaml.
  ///
  /// - Throws: ``TopologyRefused`` with everything that is wrong, each with its line and column.
  package init(file path: String) throws(TopologyRefused) {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    let data: Data
    do throws(GivenFile.Unreadable) {
      data = try GivenFile.contents(path)
    } catch {
      throw TopologyRefused(
        file: path, problems: [TopologyProblem(Mark(line: 1, column: 1), "\(error)")])
    }
    try self.init(yaml: String(decoding: data, as: UTF8.self), file: name)
  }

  /// Reads the text of queues.yaml; messages begin with the name `file`.
  ///
  /// - Throws: ``TopologyRefused`` with everything that is wrong, each with its line and column.
  package init(yaml: String, file: String = "queues.yaml") throws(TopologyRefused) {
    let node: YAMLNode
    do throws(YAMLRefused) {
      node = try YAMLReader.read(yaml)
    } catch {
      throw TopologyRefused(file: file, problems: [error.problem])
    }
    let problems = ProblemList()
    let declaration = TopologyReader(problems: problems).declaration(node)
    // Without a whole declaration, what derives from it would only repeat its problems.
    guard let declaration, problems.problems.isEmpty else {
      throw TopologyRefused(file: file, problems: problems.problems.sorted { $0.mark < $1.mark })
    }
    let (topology, derived) = TopologyDerivation.derive(declaration)
    guard derived.isEmpty else {
      throw TopologyRefused(file: file, problems: derived.sorted { $0.mark < $1.mark })
    }
    self = topology
  }
}

/// Reads the nodes of queues.yaml into a declaration.
struct TopologyReader {
  static let defaultPrefetch = 100
  static let largestPrefetch = 2000
  static let largestLimit = 1_000_000_000
  static let longestRung = Duration.seconds(24 * 3600)

  let problems: ProblemList

  func declaration(_ node: YAMLNode) -> TopologyDeclaration? {
    let file = YAMLFields(
      node, "queues.yaml",
      known: ["events", "unroutable", "dead", "retry", "work", "stages", "queues", "users"],
      problems: problems)
    let events = fields(file, "events", known: ["exchange"])?.text("exchange")
    let unroutable = fields(file, "unroutable", known: ["queue", "expect"])
    let unroutableQueue = unroutable?.text("queue")
    let dead = fields(file, "dead", known: ["exchange", "queue-type", "expect"])
    let deadExchange = dead?.text("exchange")
    let defaults = fields(file, "work", known: ["delivery-limit", "max-length"])
      .map { limits($0, defaults: nil) }
    let spread = fields(file, "retry", known: ["spread"]).map(spread) ?? []
    let stages = stages(file, defaults: defaults ?? Limits())
    let queues = file.entries("queues").map { plainQueue($0, defaults: defaults ?? Limits()) }
    let users = file.entries("users").map { user($0) }
    guard let events, let unroutableQueue, let deadExchange else { return nil }
    return TopologyDeclaration(
      events: events, unroutable: unroutableQueue,
      unroutableExpectation: unroutable.map(expectation) ?? .init(), dead: deadExchange,
      deadQueueType: dead.map(queueType) ?? "classic",
      deadExpectation: dead.map(expectation) ?? .init(), spread: spread,
      stages: stages.compactMap { $0 }, queues: queues.compactMap { $0 }, users: users)
  }

  private func fields(_ parent: YAMLFields, _ key: String, known: [String]) -> YAMLFields? {
    parent.required(key).map { YAMLFields($0, key, known: known, problems: problems) }
  }

  private struct Limits {
    var delivery = 1
    var length = 1
  }

  /// Without `defaults` both must be given.
  private func limits(_ fields: YAMLFields, defaults: Limits?) -> Limits {
    if defaults == nil {
      _ = (fields.required("delivery-limit"), fields.required("max-length"))
    }
    let known = defaults ?? Limits()
    return Limits(
      delivery: fields.integer("delivery-limit", in: 1...1_000_000) ?? known.delivery,
      length: fields.integer("max-length", in: 1...Self.largestLimit) ?? known.length)
  }

  private func queueType(_ fields: YAMLFields) -> String {
    guard let node = fields.node("queue-type") else { return "classic" }
    guard case .scalar(let type) = node.content, type == "classic" || type == "quorum" else {
      problems.add(node.mark, "dead: queue-type must be classic or quorum, not \(node.kind)")
      return "classic"
    }
    return type
  }

  private func spread(_ fields: YAMLFields) -> [Double] {
    guard let node = fields.required("spread") else { return [] }
    let items = fields.items(node, "retry: spread")
    let factors = items.compactMap { item -> Double? in
      guard case .scalar(let text) = item.content, let factor = Double(text),
        (0.5...2).contains(factor)
      else {
        problems.add(item.mark, "retry: spread: a factor from 0.5 to 2 is wanted, not \(item.kind)")
        return nil
      }
      return factor
    }
    if factors.count == items.count, factors.first != 1 || factors.count > 5 {
      problems.add(node.mark, "retry: spread must have 1 to 5 factors, the first of them 1")
    }
    return factors
  }

  private func expectation(_ fields: YAMLFields) -> Topology.Expectation {
    guard let node = fields.node("expect") else { return .init() }
    let expect = YAMLFields(
      node, "\(fields.title): expect",
      known: ["max-depth", "max-age", "min-consumers", "optional", "messages-per-worker"],
      problems: problems)
    return Topology.Expectation(
      maxDepth: expect.integer("max-depth", in: 0...Self.largestLimit),
      maxAge: expect.duration("max-age"),
      minConsumers: expect.integer("min-consumers", in: 0...10_000),
      isOptional: expect.flag("optional"),
      messagesPerWorker: expect.integer("messages-per-worker", in: 1...Self.largestLimit))
  }
}

// MARK: Stages, queues and users

extension TopologyReader {
  private typealias Entry = (key: String, mark: Mark, value: YAMLNode)

  private func stages(_ file: YAMLFields, defaults: Limits) -> [TopologyDeclaration.Stage?] {
    guard let node = file.required("stages") else { return [] }
    let entries = file.entries("stages")
    for stage in StageName.allCases where !entries.contains(where: { $0.key == stage.rawValue }) {
      problems.add(node.mark, "stages: stage \"\(stage.rawValue)\" is missing")
    }
    return entries.map { entry in
      guard let name = StageName(rawValue: entry.key) else {
        let known = StageName.allCases.map(\.rawValue).joined(separator: ", ")
        problems.add(entry.mark, "stages: unknown stage \"\(entry.key)\"; known are \(known)")
        return nil
      }
      let fields = YAMLFields(
        entry.value, "stage \(entry.key)",
        known: [
          "queue", "events", "sends", "prefetch", "rungs", "delivery-limit", "max-length",
          "arguments", "expect",
        ], problems: problems)
      let rungs = rungs(fields)
      let sends = fields.names("sends")
      for target in sends where StageName(rawValue: target.name) == nil {
        problems.add(target.mark, "stage \(entry.key): sends: no stage \"\(target.name)\"")
      }
      guard let work = workQueue(fields, entry, defaults: defaults) else { return nil }
      return TopologyDeclaration.Stage(
        name: name, work: work,
        prefetch: fields.integer("prefetch", in: 1...Self.largestPrefetch) ?? Self.defaultPrefetch,
        rungs: rungs, sends: sends)
    }
  }

  private func plainQueue(_ entry: Entry, defaults: Limits) -> TopologyDeclaration.WorkQueue? {
    let fields = YAMLFields(
      entry.value, "queue \(entry.key)",
      known: ["queue", "events", "delivery-limit", "max-length", "arguments", "expect"],
      problems: problems)
    return workQueue(fields, entry, defaults: defaults)
  }

  private func workQueue(_ fields: YAMLFields, _ entry: Entry, defaults: Limits)
    -> TopologyDeclaration.WorkQueue?
  {
    let limits = limits(fields, defaults: defaults)
    let events = fields.names("events")
    let arguments = arguments(fields)
    let expectation = expectation(fields)
    guard let queue = fields.text("queue") else { return nil }
    return TopologyDeclaration.WorkQueue(
      owner: TopologyDeclaration.Named(name: entry.key, mark: entry.mark), queue: queue,
      events: events, deliveryLimit: limits.delivery, maxLength: limits.length,
      arguments: arguments, expectation: expectation)
  }

  private func rungs(_ stage: YAMLFields) -> [TopologyDeclaration.Rung] {
    guard let node = stage.required("rungs") else { return [] }
    let rungs = stage.items(node, "\(stage.title): rungs").compactMap { rung($0, of: stage) }
    for (shorter, longer) in zip(rungs, rungs.dropFirst()) where longer.wait <= shorter.wait {
      problems.add(
        longer.mark,
        "\(stage.title): rung \(longer.name) must wait longer than \(shorter.name) before it")
    }
    return rungs
  }

  /// Either `5s`, or `{ wait: 5s, arguments: {…} }`.
  private func rung(_ node: YAMLNode, of stage: YAMLFields) -> TopologyDeclaration.Rung? {
    var (wait, arguments) = (node, [String: HeaderValue]())
    if case .mapping = node.content {
      let fields = YAMLFields(
        node, "\(stage.title): rung", known: ["wait", "arguments"], problems: problems)
      arguments = self.arguments(fields)
      guard let given = fields.required("wait") else { return nil }
      wait = given
    }
    guard case .scalar(let text) = wait.content, let duration = Duration(written: text),
      duration <= Self.longestRung
    else {
      problems.add(
        wait.mark,
        "\(stage.title): a rung must be a time such as 5s, at most 24h, not \(wait.kind)")
      return nil
    }
    return TopologyDeclaration.Rung(
      name: text, wait: duration, arguments: arguments, mark: node.mark)
  }

  /// Further arguments of the queue. Those that the derivation sets, and those that would lose
  /// messages, are refused.
  private func arguments(_ fields: YAMLFields) -> [String: HeaderValue] {
    let derived = [
      "x-queue-type", "x-delivery-limit", "x-dead-letter-exchange", "x-dead-letter-routing-key",
      "x-dead-letter-strategy", "x-overflow", "x-max-length", "x-message-ttl",
    ]
    var arguments: [String: HeaderValue] = [:]
    for entry in fields.entries("arguments") {
      guard case .scalar(let text) = entry.value.content else {
        problems.add(entry.value.mark, "\(entry.key) must be text or a number")
        continue
      }
      if entry.key == "x-expires" {
        problems.add(
          entry.mark, "\(fields.title): x-expires would delete the queue with the messages in it")
      } else if derived.contains(entry.key) {
        problems.add(
          entry.mark, "\(fields.title): \(entry.key) is derived and cannot be given as an argument")
      }
      arguments[entry.key] = Int64(text).map { .integer($0) } ?? .text(text)
    }
    return arguments
  }

  private func user(_ entry: Entry) -> TopologyDeclaration.User {
    let fields = YAMLFields(
      entry.value, "user \(entry.key)",
      known: ["tags", "configure", "work", "consume", "publish", "tap"], problems: problems)
    return TopologyDeclaration.User(
      name: TopologyDeclaration.Named(name: entry.key, mark: entry.mark),
      tags: fields.names("tags").map(\.name), configures: fields.flag("configure"),
      work: fields.names("work"), consume: fields.names("consume"),
      publish: fields.names("publish"), tap: fields.names("tap"))
  }
}
