import Pushes
import Vocabulary

/// Which card an update token belongs to that came without a context key.
package enum Binding {
  /// No card lives longer: eight hours active, four more ended.
  static let cardLife: Duration = .seconds(12 * 3600)

  /// The registration with its context key, as far as it can be known: by what the token or its
  /// activity id was bound to before, else by the one start on this device that no token came for.
  /// When there are several such starts it stays unbound, for nothing tells them apart: a card that
  /// showed somebody else's state would be worse than one that stands still.
  package static func bound(_ registration: Registration, in rows: any StoreTransaction) throws
    -> Registration
  {
    guard registration.kind == .update, registration.contextKey == nil else { return registration }
    var bound = registration
    bound.contextKey =
      try rows.registrations(of: [registration.token])[registration.token]?.lazy
      .filter { $0.userID == registration.userID }.compactMap(\.contextKey).first
      ?? registration.activityID.flatMap {
        try rows.contextKey(ofActivity: $0, of: registration.userID)
      }
    guard bound.contextKey == nil else { return bound }
    let open = try candidates(for: registration, at: registration.registeredAt, in: rows)
    if open.count == 1 { bound.contextKey = open.first }
    return bound
  }

  /// Cards that were or may have been started on the token's device and that no token came for, the
  /// oldest start first. A start whose answer was lost may have made two; what was swiped away on
  /// another phone of the user may still be here.
  package static func candidates(
    for registration: Registration, at now: UnixTime, in rows: any StoreTransaction
  ) throws -> [ContextKey] {
    let sent = try rows.startsSent(
      to: registration.userID, on: registration.deviceID, since: now - cardLife)
    guard !sent.isEmpty else { return [] }
    // A token that is dead by now came for its card all the same.
    let known = try rows.tokenRows(TokenQuery(user: registration.userID, kind: .update))
      .map(\.registration).filter { $0.deviceID == registration.deviceID }
    var open: [ContextKey: Int] = [:]
    for start in sent { open[start.contextKey, default: 0] += start.cardsMax }
    for token in known {
      if let context = token.contextKey { open[context]? -= 1 }
    }
    let states = try rows.activityStates(Array(open.keys))
    var seen: Set<ContextKey> = []
    return sent.map(\.contextKey).filter { context in
      let type = states[context]?.attributesType
      return seen.insert(context).inserted && (open[context] ?? 0) > 0
        && (registration.attributesType == nil || registration.attributesType == type)
    }
  }
}
