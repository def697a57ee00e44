import Pipeline
import Pushes
import Vocabulary

/// One row of either registry: an iPhone's token or an Android phone's.
enum ListedToken {
  case apns(TokenRow)
  case fcm(FCMRow)

  /// What `--kind` says.
  enum Kind {
    case apns(TokenKind)
    case fcm

    static let names = TokenKind.allCases.map(\.rawValue) + [TokenRegistered.fcmKind]

    init?(name: String) {
      if name == TokenRegistered.fcmKind {
        self = .fcm
      } else if let kind = TokenKind(name: name) {
        self = .apns(kind)
      } else {
        return nil
      }
    }
  }

  /// Which rows are meant; nil: any.
  struct Query {
    var user: UserID?
    var kind: Kind?
    var isPruned: Bool?
    /// True: update tokens that no card is known of.
    var isUnbound: Bool?
    var prunedBecause: String?
    /// Pruned at this moment or later.
    var prunedSince: UnixTime?

    /// - Throws: ``StoreError``.
    func rows(in transaction: any StoreTransaction) throws -> [ListedToken] {
      var found: [ListedToken] = []
      let isOfAPNs: Bool
      var query = TokenQuery(
        user: user, isPruned: isPruned, isUnbound: isUnbound, prunedBecause: prunedBecause,
        prunedSince: prunedSince)
      switch kind {
      case .fcm: isOfAPNs = false
      case .apns(let kind):
        isOfAPNs = true
        query.kind = kind
      case nil: isOfAPNs = true
      }
      if isOfAPNs { found += try transaction.tokenRows(query).map { .apns($0) } }
      // An Android phone's token is of no card, and of no kind of APNs.
      if isUnbound != true, query.kind == nil {
        let query = FCMQuery(
          user: user, isPruned: isPruned, prunedBecause: prunedBecause, prunedSince: prunedSince)
        found += try transaction.fcmRows(query).map { .fcm($0) }
      }
      return found
    }
  }

  var fingerprint: String {
    switch self {
    case .apns(let row): row.registration.token.fingerprint
    case .fcm(let row): row.registration.token.fingerprint
    }
  }

  static let columns = [
    "user_id", "kind", "fingerprint", "environment", "bundle_id", "context_key", "device_id",
    "registered_at", "proven_at", "pruned_at", "reason",
  ]

  /// An Android app's package stands where a bundle id does.
  var cells: [JSONValue] {
    switch self {
    case .apns(let row):
      let registration = row.registration
      return [
        .string(registration.userID.text), .string(registration.kind.rawValue),
        .string(registration.token.fingerprint), .string(registration.environment.rawValue),
        .text(registration.bundleID), .text(registration.contextKey?.text),
        .text(registration.deviceID), .string(registration.registeredAt.rfc3339),
        .text(registration.provenAt?.rfc3339), .text(row.prunedAt?.rfc3339),
        .text(row.prunedBecause),
      ]
    case .fcm(let row):
      let registration = row.registration
      return [
        .string(registration.userID.text), .string(TokenRegistered.fcmKind),
        .string(registration.token.fingerprint), .null, .text(registration.packageName), .null,
        .text(registration.deviceID), .string(registration.registeredAt.rfc3339), .null,
        .text(row.prunedAt?.rfc3339), .text(row.prunedBecause),
      ]
    }
  }

  /// - Returns: how many rows changed.
  /// - Throws: ``StoreError``.
  func prune(because reason: String, at now: UnixTime, in rows: any StoreTransaction) throws -> Int
  {
    switch self {
    case .apns(let row):
      return try rows.prune(row.registration.token, because: reason, unlessRegisteredAfter: now)
    case .fcm(let row):
      let isPruned = try rows.prune(
        row.registration.token, because: reason, unlessRegisteredAfter: now, at: now)
      return isPruned ? 1 : 0
    }
  }

  /// - Returns: how many rows changed.
  /// - Throws: ``StoreError``.
  func restore(in rows: any StoreTransaction) throws -> Int {
    switch self {
    case .apns(let row):
      guard let reason = row.prunedBecause else { return 0 }
      return try rows.restore([row.registration.token], prunedBecause: reason)
    case .fcm(let row):
      guard let reason = row.prunedBecause else { return 0 }
      return try rows.restore([row.registration.token], prunedBecause: reason)
    }
  }
}
