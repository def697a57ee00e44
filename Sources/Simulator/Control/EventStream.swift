import Foundation
import HTTPServing
import ServiceRuntime
import Synchronization
import Vocabulary

/// What one viewer of the page is told, as server-sent events: `phones`, `androids` and `browsers`
/// (those that changed) and `pushes` (those that came). The first of each holds everything.
///
/// A viewer asks, nothing is queued for it: a slow one sees fewer steps and always the newest.
final class EventStream: Sendable {
  /// How many phones, Android phones and browsers a viewer sees, of each.
  static let phonesMax = 48
  /// How many pushes one event tells of.
  static let pushesMax = 60
  /// How often the fleet is looked at.
  static let interval = Duration.milliseconds(50)
  /// A comment is sent after so many quiet looks, so that a viewer who left is noticed.
  static let quietLooksMax = 200

  private struct Place {
    /// -1: nothing was told yet.
    var change = -1
    var browserChange = -1
    var androidChange = -1
    var push = 0
    var quietLooks = 0

    func hasNews(since told: Place) -> Bool {
      change != told.change || browserChange != told.browserChange
        || androidChange != told.androidChange
    }
  }

  private let world: World
  private let stopping: StopSignal
  private let place = Mutex(Place())

  init(world: World, stopping: StopSignal) {
    self.world = world
    self.stopping = stopping
  }

  func next() -> StreamChunk {
    let told = place.withLock { $0 }
    guard told.change < 0 || !stopping.wait(atMost: Self.interval) else { return .end }
    let (now, phones, androids, browsers, pushes) = world.read { state in
      let pushes =
        told.change == state.fleet.changeNumber
        ? [] : state.fleet.pushes(after: told.push, atMost: Self.pushesMax)
      return (
        Place(
          change: state.fleet.changeNumber, browserChange: state.browsers.changeNumber,
          androidChange: state.androids.changeNumber, push: pushes.last?.number ?? told.push),
        state.fleet.phones(changedAfter: told.change, among: Self.phonesMax),
        state.androids.phones(changedAfter: told.androidChange, among: Self.phonesMax),
        state.browsers.browsers(changedAfter: told.browserChange, among: Self.phonesMax), pushes
      )
    }
    guard now.hasNews(since: told) else { return quiet() }
    place.withLock { $0 = now }
    var text = Data()
    if !phones.isEmpty || told.change < 0 {
      text += Self.event("phones", phones.map { PhoneView($0) })
    }
    if !androids.isEmpty { text += Self.event("androids", androids.map { AndroidView($0) }) }
    if !browsers.isEmpty { text += Self.event("browsers", browsers.map { BrowserView($0) }) }
    if !pushes.isEmpty { text += Self.event("pushes", pushes) }
    return text.isEmpty ? .wait : .data(text)
  }

  private func quiet() -> StreamChunk {
    place.withLock { place in
      place.quietLooks += 1
      guard place.quietLooks >= Self.quietLooksMax else { return .wait }
      place.quietLooks = 0
      return .data(Data(": still here\n\n".utf8))
    }
  }

  private static func event(_ name: String, _ value: some Encodable) -> Data {
    Data("event: \(name)\ndata: ".utf8) + JSON.encoded(value) + Data("\n\n".utf8)
  }
}
