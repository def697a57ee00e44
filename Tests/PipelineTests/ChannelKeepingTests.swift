import Activities
import Cryptography
import Foundation
import Pipeline
import Pushes
import ServiceRuntime
import TestSupport
import Testing
import Vocabulary

/// From the wish for a channel to its deletion, and the pushes between; Apple says what a test
/// wants it to.
@Suite struct ChannelKeepingTests {
  /// Takes calls and answers the next that is written down.
  private final class ScriptedService: ChannelService {
    var creating: [ChannelAnswer<String>] = []
    var reading: [ChannelAnswer<Bool>] = []
    var calls: [String] = []
    var whileAsked: () -> Void = {}

    func create(storingNewest: Bool, in app: ChannelApp) -> ChannelAnswer<String> {
      calls.append("create \(storingNewest) \(app.bundleID) \(app.environment.rawValue)")
      whileAsked()
      return creating.isEmpty ? .unanswered(because: "no script") : creating.removeFirst()
    }
    func read(_ id: String, in app: ChannelApp) -> ChannelAnswer<Bool> {
      calls.append("read \(id)")
      return reading.isEmpty ? .unanswered(because: "no script") : reading.removeFirst()
    }
    func delete(_ id: String, in app: ChannelApp) -> ChannelAnswer<Void> {
      calls.append("delete \(id)")
      return .done(())
    }
    func list(in app: ChannelApp) -> ChannelAnswer<[String]> { .done([]) }
  }

  private static let key = ActivityKey("match-1")
  private static let fans = [UserID("u_dennis"), UserID("u_alina")]
  private let time = ManualTime()
  private let store = InMemoryStore()
  private let service = ScriptedService()
  private let keeper: ChannelKeeping
  private let builder: PayloadBuilder

  init() throws {
    keeper = ChannelKeeping(
      store: store, service: service, bundleID: Samples.bundle, kept: .seconds(3600), time: time,
      log: .discarding, metrics: Metrics())
    builder = PayloadBuilder(store: store, pushes: Samples.routes[.apns], time: time)
    for (number, fan) in Self.fans.enumerated() {
      try store.write {
        try $0.register(
          Samples.registration(
            Samples.token(number + 1), of: fan, .pushToStart, device: "phone-\(number)",
            at: time.now()))
      }
    }
  }

  private func state(_ title: String) -> ActivityContent {
    ActivityContent(
      states: Self.fans.map { ($0, ["title": .string(title), "data": [:]]) },
      alert: Activity.Alert(title: "Match", body: "begins"))
  }

  /// Stored and on its way, as the API does it.
  @discardableResult
  private func begin(channel id: String? = nil) throws -> [PushJob] {
    let change = Activity.start(
      Self.key, attributesType: "ShinyActivityAttributes", attributes: ["values": [:]],
      state("0:0"), channel: ActivityChannel(id: id, at: time.now()), at: time.now())
    return try jobs(of: change)
  }

  private func jobs(of change: ActivityChange) throws -> [PushJob] {
    try store.write { try $0.save(change.activity) }
    return try jobs(
      of: Event.outboxEntry(
        for: change, by: nil, id: EventID(UUIDText.v7(now: time.now())), at: time.now(),
        traceparent: nil
      ).message)
  }

  private func jobs(of message: Message) throws -> [PushJob] {
    try builder.take([Samples.delivery(message)]).flatMap(\.outgoing).map {
      try PushJob(reading: $0.message)
    }
  }

  private func stored() throws -> Activity {
    let found = try store.read { try $0.activity(Self.key) }
    return try #require(found)
  }

  @Test func `no card begins before its channel is there, then each listens to it`() throws {
    #expect(try begin() == [])
    service.creating = [.done("aWQ=")]
    #expect(try keeper.turn() == 1)
    #expect(service.calls == ["create true \(Samples.bundle) production"])
    let activity = try stored()
    #expect(activity.rev == 1)
    #expect(activity.usableChannel?.id == "aWQ=")
    let jobs = try self.jobs(of: activity.tellingOfChannel)
    #expect(jobs.filter { $0.event == .start }.count == 2)
    #expect(
      jobs.filter { $0.event == .start }.allSatisfy {
        String(decoding: $0.payload, as: UTF8.self).contains(#""input-push-channel":"aWQ=""#)
      })
    let broadcast = try #require(jobs.first { $0.isBroadcast })
    #expect(jobs.filter { $0.isBroadcast }.count == 1)
    #expect(broadcast.broadcastAddress(bundle: "x")?.channelID == "aWQ=")
    #expect(try keeper.turn() == 0)
  }

  @Test func `an update of many cards is one job, and an older event makes none`() throws {
    try begin()
    service.creating = [.done("aWQ=")]
    _ = try keeper.turn()
    _ = try jobs(of: stored().tellingOfChannel)
    let before = try stored()
    let updated = try before.updated(with: state("1:0"), at: time.now())
    let change = try #require(updated)
    let jobs = try self.jobs(of: change)
    #expect(jobs.filter { $0.event == .update }.map(\.isBroadcast) == [true])
    #expect(jobs.first { $0.isBroadcast }?.rev == 2)
    #expect(try self.jobs(of: before.tellingOfChannel).filter { $0.isBroadcast } == [])
  }

  @Test func `without an answer it is tried again, later each time`() throws {
    try begin()
    service.creating = [.unanswered(because: "away"), .refused(status: 503, reason: "Shutdown")]
    #expect(try keeper.turn() == 1)
    #expect(try keeper.turn() == 0)
    time.advance(by: .seconds(2))
    #expect(try keeper.turn() == 1)
    time.advance(by: .seconds(2))
    #expect(try keeper.turn() == 0)
    time.advance(by: .seconds(2))
    service.creating = [.done("aWQ=")]
    #expect(try keeper.turn() == 1)
    #expect(try stored().usableChannel != nil)
    #expect(service.calls.count == 3)
  }

  @Test func `what Apple refuses for good lets the cards go by themselves`() throws {
    try begin(channel: "Z29uZQ==")
    service.reading = [.refused(status: 400, reason: "ChannelNotRegistered")]
    _ = try keeper.turn()
    #expect(try stored().channel?.problem == "400 ChannelNotRegistered")
    let jobs = try self.jobs(of: stored().tellingOfChannel)
    #expect(jobs.map(\.event) == [.start, .start])
    #expect(
      jobs.allSatisfy {
        String(decoding: $0.payload, as: UTF8.self).contains(#""input-push-token":1"#)
      })
  }

  @Test func `a second keeper leaves alone what one holds`() throws {
    try begin()
    let other = ChannelKeeping(
      store: store, service: ScriptedService(), bundleID: Samples.bundle, kept: .zero, time: time,
      log: .discarding, metrics: Metrics())
    var seen: Int?
    service.whileAsked = { seen = try? other.turn() }
    service.creating = [.done("aWQ=")]
    _ = try keeper.turn()
    #expect(seen == 0)
  }

  @Test func `an end while Apple is asked leaves no channel behind`() throws {
    try begin()
    service.creating = [.done("aWQ=")]
    service.whileAsked = { [store, time] in
      try? store.write { rows in
        let live = try rows.activity(Self.key)
        if let ended = live?.ended(.ended, at: time.now()) { try rows.save(ended.activity) }
      }
    }
    _ = try keeper.turn()
    time.advance(by: .seconds(3599))
    _ = try keeper.turn()
    #expect(service.calls.count == 1)
    time.advance(by: .seconds(1))
    _ = try keeper.turn()
    #expect(service.calls.last == "delete aWQ=")
    time.advance(by: .seconds(9999))
    #expect(try keeper.turn() == 0)
  }

  @Test func `a channel of others is not deleted`() throws {
    try begin(channel: "b3RoZXI=")
    service.reading = [.done(false)]
    _ = try keeper.turn()
    #expect(try stored().channel?.storage == ActivityChannel.Storage.none)
    let live = try stored()
    let end = try #require(live.ended(.ended, at: time.now()))
    let jobs = try self.jobs(of: end)
    // Nothing is kept of it, and Apple takes no other expiration.
    #expect(jobs.map { $0.expiration(now: time.now()) } == [0])
    time.advance(by: .seconds(9999))
    #expect(try keeper.turn() == 0)
    #expect(service.calls == ["read b3RoZXI="])
  }
}
