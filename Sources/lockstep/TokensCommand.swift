import Activities
import Cryptography
import Foundation
import Pipeline
import Pushes
import ServiceRuntime
import Vocabulary

/// `lockstep tokens list | prune | restore | bind`: looks after the token registry. A token is
/// named by its fingerprint and never shown whole.
enum TokensCommand {
  static let options: [(flag: String, help: String)] = [
    ("--user=", "list, prune: of this user"),
    ("--kind=", "list: alert, la-pushToStart, la-update or fcm"),
    ("--pruned", "list: only pruned ones"),
    ("--unbound", "list: only update tokens of which no card is known"),
    ("--context=", "bind: which card, activity:{activity_key}:{user}. Required"),
    ("--token=", "prune, restore, bind: the one with this fingerprint, eight digits"),
    ("--because=", "prune: why; kept with the token. Required"),
    ("--reason=", "restore: all that were pruned for this reason …"),
    ("--since=", "restore: … at this moment or later, 2026-06-18T12:00:00Z"),
    ("--json", "list: an array of flat objects"),
  ]

  /// Tokens changed in one transaction.
  private static let batchMax = 500
  /// Longest reason, in characters.
  private static let reasonMax = 200

  static func run(_ invocation: Invocation) throws {
    let words = invocation.arguments.words
    guard words.count == 1, let word = words.first else {
      throw CommandFailure(.usage, "tokens wants: list, prune, restore or bind")
    }
    let options = invocation.arguments.options
    let allowed: [String: Set<String>] = [
      "list": ["user", "kind", "pruned", "unbound", "json"], "bind": ["token", "context"],
      "prune": ["user", "token", "because"],
      "restore": ["token", "reason", "since"],
    ]
    if let foreign = options.keys.sorted().first(where: { allowed[word]?.contains($0) != true }) {
      throw CommandFailure(.usage, "tokens \(word) has no flag --\(foreign)")
    }
    let plan = try Plan(word, options)
    var settings = invocation.settings
    let address = StoreWiring.address(reading: &settings)
    guard settings.problems.isEmpty, let address else { throw Reading.failure(settings) }
    switch plan {
    case .list(let query):
      try list(query, address, Prints(invocation))
    case .prune(let query, let fingerprint, let reason):
      try prune(query, fingerprint, because: reason, address)
    case .restore(let query, let fingerprint): try restore(query, fingerprint, address)
    case .bind(let fingerprint, let context): try bind(fingerprint, to: context, address)
    }
  }

  /// What is asked for, once it is known to make sense.
  private enum Plan {
    case list(ListedToken.Query)
    case prune(ListedToken.Query, fingerprint: String?, because: String)
    case restore(ListedToken.Query, fingerprint: String?)
    case bind(fingerprint: String, ContextKey)

    init(_ word: String, _ options: [String: String]) throws {
      let user = options["user"].map { UserID($0) }
      let fingerprint = try options["token"].map(TokensCommand.fingerprint)
      switch word {
      case "list":
        let isPruned = options["pruned"] == nil ? nil : true
        let kind = try options["kind"].map(TokensCommand.kind)
        let isUnbound = options["unbound"] == nil ? nil : true
        self = .list(
          ListedToken.Query(user: user, kind: kind, isPruned: isPruned, isUnbound: isUnbound))
      case "bind":
        guard let fingerprint, let context = options["context"] else {
          throw CommandFailure(.usage, "tokens bind wants --token FINGERPRINT and --context KEY")
        }
        self = .bind(fingerprint: fingerprint, ContextKey(context))
      case "prune":
        guard (user == nil) != (fingerprint == nil) else {
          throw CommandFailure(.usage, "tokens prune wants --token FINGERPRINT or --user NAME")
        }
        guard let reason = options["because"], !reason.isEmpty,
          reason.count <= TokensCommand.reasonMax
        else {
          throw CommandFailure(
            .usage, "tokens prune wants --because TEXT of at most \(TokensCommand.reasonMax)")
        }
        self = .prune(
          ListedToken.Query(user: user, isPruned: false), fingerprint: fingerprint,
          because: reason)
      default:
        let since = try options["since"].map(TokensCommand.moment)
        let reason = options["reason"]
        let isByReason = reason != nil && since != nil && fingerprint == nil
        let isByToken = reason == nil && since == nil && fingerprint != nil
        guard isByReason || isByToken else {
          throw CommandFailure(
            .usage, "tokens restore wants --reason R --since TIME, or --token FINGERPRINT")
        }
        self = .restore(
          ListedToken.Query(isPruned: true, prunedBecause: reason, prunedSince: since),
          fingerprint: fingerprint)
      }
    }
  }

  // MARK: What is done

  private static func list(
    _ query: ListedToken.Query, _ address: StoreWiring.Address, _ prints: Prints
  ) throws {
    let store = try StoreWiring.look(address)
    let rows = try StoreWiring.using(address) { try store.read { try query.rows(in: $0) } }
    var table = Table(ListedToken.columns)
    for row in rows { table.add(row.cells) }
    prints.table(table, otherwise: "no tokens")
  }

  private static func prune(
    _ query: ListedToken.Query, _ fingerprint: String?, because reason: String,
    _ address: StoreWiring.Address
  ) throws {
    let now = SystemTime().now()
    let count = try change(query, fingerprint, address) { row, rows in
      try row.prune(because: reason, at: now, in: rows)
    }
    print("\(count) pruned")
  }

  private static func restore(
    _ query: ListedToken.Query, _ fingerprint: String?, _ address: StoreWiring.Address
  ) throws {
    let count = try change(query, fingerprint, address) { row, rows in try row.restore(in: rows) }
    print("\(count) restored")
  }

  /// The builder hears of it by the same event as of a token that a phone registers.
  private static func bind(
    _ fingerprint: String, to context: ContextKey, _ address: StoreWiring.Address
  ) throws {
    let now = SystemTime().now()
    let count = try change(
      ListedToken.Query(isPruned: false, isUnbound: true), fingerprint, address
    ) { row, rows in
      guard case .apns(let row) = row else { return 0 }
      let user = row.registration.userID
      guard Activity.key(of: context, user: user) != nil,
        try rows.activityStates([context])[context] != nil
      else { throw CommandFailure(.noInput, "\(context) is no card of \(user)") }
      var registration = row.registration
      registration.contextKey = context
      registration.registeredAt = now
      try rows.register(registration)
      try rows.append(
        Event.outboxEntry(
          registered: registration, id: EventID(UUIDText.v7(now: now)), at: now, traceparent: nil))
      return 1
    }
    print("\(count) bound")
  }

  /// - Returns: how many rows changed.
  /// - Throws: ``CommandFailure`` when a fingerprint names no row.
  private static func change(
    _ query: ListedToken.Query, _ fingerprint: String?, _ address: StoreWiring.Address,
    _ body: (ListedToken, any StoreTransaction) throws -> Int
  ) throws -> Int {
    // A mistyped path must not make a new database and find nothing in it.
    _ = try StoreWiring.look(address)
    let store = try StoreWiring.open(address)
    return try StoreWiring.using(address) {
      let meant = try store.read { try query.rows(in: $0) }.filter {
        fingerprint == nil || $0.fingerprint == fingerprint
      }
      if meant.isEmpty, let fingerprint {
        let state = query.isPruned == true ? "pruned" : "usable"
        throw CommandFailure(.noInput, "no \(state) token has the fingerprint \(fingerprint)")
      }
      var count = 0
      for begin in stride(from: 0, to: meant.count, by: batchMax) {
        count += try store.write { rows in
          try meant[begin..<min(begin + batchMax, meant.count)].reduce(0) {
            try $0 + body($1, rows)
          }
        }
      }
      return count
    }
  }

  // MARK: Reading options

  private static func fingerprint(_ text: String) throws -> String {
    guard text.count == 8, text.allSatisfy({ $0.isHexDigit && $0.isASCII }) else {
      // Perhaps it is a whole token: not shown.
      throw CommandFailure(
        .usage, "--token wants the eight digits that tokens list shows, not \(text.count)")
    }
    return text.lowercased()
  }

  private static func kind(_ text: String) throws -> ListedToken.Kind {
    guard let kind = ListedToken.Kind(name: text) else {
      let kinds = ListedToken.Kind.names.joined(separator: ", ")
      throw CommandFailure(.usage, "--kind \(text): want one of \(kinds)")
    }
    return kind
  }

  private static func moment(_ text: String) throws -> UnixTime {
    guard let moment = UnixTime(text) else {
      throw CommandFailure(.usage, "--since \(text): want a moment as 2026-06-18T12:00:00Z")
    }
    return moment
  }
}
