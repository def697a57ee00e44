import Activities
import Foundation
import Vocabulary

/// What a recording holds, found by reading it once.
package struct RecordingSummary: Hashable, Sendable {
  /// Users beyond it get no phone.
  package static let usersMax = 20_000
  /// Notes beyond it are only counted.
  package static let notesMax = 50

  package private(set) var header: RecordingHeader?
  /// In the order they appear.
  package private(set) var users: [RecordedUser] = []
  package private(set) var usersLeftOut = 0
  /// Those that are played: of sessions, and of activities of a known contract.
  package private(set) var events = 0
  /// Events of activities that are not, by attributes type.
  package private(set) var unplayed: [String: Int] = [:]
  package private(set) var first: UnixTime?
  package private(set) var last: UnixTime?
  package private(set) var notes: [RecordingReader.Note] = []
  package private(set) var noteCount = 0

  package var span: Duration {
    guard let first, let last else { return .zero }
    return max(.zero, last - first)
  }

  /// Users by the app of the activities that name them.
  private var owners: [String: Set<UserID>] = [:]
  /// Those that a cook session names.
  private var cooks: Set<UserID> = []

  package init() {}

  /// `contracts`: of the activities that can be played.
  ///
  /// - Throws: ``RecordingUnreadable``.
  package init(path: String, contracts: ContractCatalog = .builtIn) throws(RecordingUnreadable) {
    self.init()
    let noted = Noted()
    var reader = try RecordingReader(path: path) { noted.take($0) }
    var known: Set<UserID> = []
    while let line = try reader.next() { take(line, contracts, &known) }
    notes = noted.notes
    noteCount = noted.count
  }

  private final class Noted {
    var notes: [RecordingReader.Note] = []
    var count = 0
    func take(_ note: RecordingReader.Note) {
      count += 1
      if notes.count < RecordingSummary.notesMax { notes.append(note) }
    }
  }

  private mutating func take(
    _ line: RecordedLine, _ contracts: ContractCatalog, _ known: inout Set<UserID>
  ) {
    switch line {
    case .header(let header): self.header = self.header ?? header
    case .user(let user): take(user, &known)
    case .event(let event):
      let isPlayed = event.isPlayed(with: contracts)
      switch event.subject {
      case .session: cooks.formUnion(event.users)
      case .activity(let activity) where isPlayed:
        owners[activity.attributesType, default: []].formUnion(event.users)
      case .activity(let activity): unplayed[activity.attributesType, default: 0] += 1
      case .token: break
      }
      guard isPlayed else { return }
      events += 1
      first = first ?? event.at
      last = event.at
      // A line that told of the user may be broken.
      for user in event.users {
        take(
          RecordedUser(
            user: user, tokens: RecordedUser.usualTokens, assumed: true, locale: nil), &known)
      }
    case .missed, .end: break
    }
  }

  private mutating func take(_ user: RecordedUser, _ known: inout Set<UserID>) {
    guard known.insert(user.user).inserted else { return }
    guard users.count < Self.usersMax else {
      usersLeftOut += 1
      return
    }
    users.append(user)
  }
}

extension RecordingSummary {
  /// The phones that are made, each user's one after the other; at most ``usersMax``.
  package var phones: [RecordedPhone] {
    let apps = owners.keys.sorted()
    let all = users.flatMap { user -> [RecordedPhone] in
      let own = apps.filter { owners[$0]?.contains(user.user) == true }
      // Who is named by activities alone has no other app.
      let cook = own.isEmpty || cooks.contains(user.user) ? [RecordedPhone(user)] : []
      return cook
        + own.filter { has(app: $0, user) }.map { RecordedPhone(user.user, app: $0) }
    }
    return Array(all.prefix(Self.usersMax))
  }

  private func has(app: String, _ user: RecordedUser) -> Bool {
    user.apps.map { $0.contains(app) } ?? true
  }

  /// Those on whose phones no card of an app can begin, by its attributes type.
  package var appless: [String: Set<UserID>] {
    var found: [String: Set<UserID>] = [:]
    for user in users {
      for app in owners.keys where !has(app: app, user) {
        found[app, default: []].insert(user.user)
      }
    }
    return found
  }
}
