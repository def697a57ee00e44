import Foundation
import HTTP2
import Pipeline
import Pushes
import ServiceRuntime
import Vocabulary

/// Carries pushes to APNs for one team and key, to both environments. Owned by one thread; wants
/// ``advance()`` whenever a descriptor is ready, and at least every 100 ms while something is in
/// flight, for the deadlines.
package final class APNsTransport: PushTransport {
  let settings: APNsTransportSettings
  let tls: ClientTLS
  let resolver: AddressResolver
  let tokens: any ProviderTokenSource
  let time: any TimeSource
  let log: Log
  let metrics: APNsTransportMetrics
  let groups: [ConnectionGroup]
  let writer = HeaderWriter()
  var reader = AnswerReader()
  var flights = FlightTable()
  /// In the order taken, which is the order in which they are due: all have the same time.
  var deadlines = Queue<FlightID>()
  var results: [PushResult] = []
  /// The monotonic clock at the last call.
  var now: Duration
  var connectionsMade = 0
  private var isClosed = false

  /// Connects to nobody yet.
  ///
  /// - Throws: ``TLSError`` when the authority's file cannot be read.
  package init(
    settings: APNsTransportSettings, tokens: any ProviderTokenSource, time: any TimeSource,
    log: Log, metrics: Metrics, resolver: AddressResolver = .system
  ) throws {
    self.settings = settings
    self.tokens = tokens
    self.time = time
    self.log = log
    self.resolver = resolver
    self.metrics = APNsTransportMetrics(metrics)
    tls = try ClientTLS(authorityFile: settings.authorityFile)
    now = time.elapsed()
    groups = PushEnvironment.allCases.flatMap { environment in
      ConnectionGroup.Purpose.allCases.map { purpose in
        ConnectionGroup(environment: environment, purpose: purpose, settings: settings)
      }
    }
  }

  package var descriptors: [(descriptor: Int32, events: Int16)] {
    groups.flatMap { $0.connections.compactMap(\.client.interest) }
  }

  package var inFlight: Int { flights.count }

  package var capacity: Int {
    guard !isClosed else { return 0 }
    let used = groups.filter { !$0.connections.isEmpty || $0.isAway }
    if !used.isEmpty, used.allSatisfy(\.isAway) { return 0 }
    var free = settings.waitingMax
    for group in groups {
      free += group.room(now: now, streamsMax: settings.streamsMax) - group.waiting.count
    }
    return max(0, min(free, settings.inFlightMax - inFlight))
  }

  package func send(_ request: PushRequest) {
    guard !isClosed, inFlight < settings.inFlightMax else {
      let reason = isClosed ? "the transport is closed" : "the transport is full"
      results.append(
        PushResult(number: request.number, outcome: .neverProcessed(because: reason)))
      return
    }
    let group = group(of: request)
    // The last advance may be long ago, if nothing was in flight.
    now = time.elapsed()
    let id = flights.insert(Flight(request: request, takenAt: now))
    group.waiting.append(id)
    deadlines.append(id)
  }

  package func advance() -> [PushResult] {
    now = time.elapsed()
    for group in groups where !group.connections.isEmpty { exchange(group) }
    expireOverdue()
    for group in groups where group.client == nil { refuseAll(group) }
    for group in groups where group.waiting.count > 0 || group.isAway { dispatch(group) }
    defer { results.removeAll(keepingCapacity: true) }
    return results
  }

  package func close() {
    isClosed = true
    for group in groups {
      for connection in group.connections { connection.client.close() }
      group.close()
    }
    showConnections()
    flights.removeAll()
    deadlines.removeAll()
    results.removeAll()
  }

  func group(of request: PushRequest) -> ConnectionGroup {
    let first = PushEnvironment.allCases.firstIndex(of: request.environment) ?? 0
    return groups[first * ConnectionGroup.Purpose.allCases.count + (request.isProven ? 0 : 1)]
  }

  func settle(slot: Int, _ outcome: PushOutcome) {
    results.append(PushResult(number: flights[slot].request.number, outcome: outcome))
    flights.remove(slot: slot)
  }

  // MARK: Deadlines

  private func expireOverdue() {
    while let id = deadlines.first {
      guard flights.isLive(id) else {
        _ = deadlines.popFirst()
        continue
      }
      guard now - flights[id.slot].takenAt >= settings.requestTimeout else { break }
      _ = deadlines.popFirst()
      giveUp(id.slot)
    }
    for group in groups where group.waiting.count > 0 { group.waiting.forgetEnded(flights.isLive) }
  }

  private func giveUp(_ slot: Int) {
    let flight = flights[slot]
    let limit = "\(settings.requestTimeout.milliseconds) ms"
    guard let connection = flight.connection, let stream = flight.stream else {
      let problem = group(of: flight.request).problem.map { ": \($0)" } ?? ""
      return settle(slot: slot, .neverProcessed(because: "not sent within \(limit)\(problem)"))
    }
    // Nothing at all since it left: likely a connection that swallows everything.
    if connection.lastAnswerAt <= flight.submittedAt {
      connection.retire(because: "no answer within \(limit)")
    }
    let wasSent = connection.client.abandon(stream)
    let reason = "no answer within \(limit)"
    settle(
      slot: slot, wasSent ? .unanswered(because: reason) : .neverProcessed(because: reason))
  }

  private func refuseAll(_ group: ConnectionGroup) {
    while let id = group.waiting.popFirst() {
      guard flights.isLive(id) else { continue }
      settle(slot: id.slot, .neverProcessed(because: group.problem ?? "no server"))
    }
  }
}
