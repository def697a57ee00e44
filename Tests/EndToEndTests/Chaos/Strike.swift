import TestSupport

/// One fault, and how long it lasts.
struct Strike: Hashable, Sendable, CustomStringConvertible {
  enum What: Hashable, Sendable {
    /// `link` nil: every link.
    case blow(LinkBlow, link: String?, FaultProxy.Reach)
    case conduct(LinkConduct, link: String?)
    /// SIGKILL; started again when the strike is over.
    case kill(Role)
    /// SIGSTOP, then SIGCONT.
    case freeze(Role)
    /// SIGTERM, as a rolling deploy does; started again at once.
    case end(Role)
    case killBroker
    case freezeBroker

    var isBlackHole: Bool {
      if case .conduct(let conduct, _) = self { conduct.isBlackHole } else { false }
    }
  }

  let what: What
  let lasts: Duration

  var description: String {
    let name =
      switch what {
      case .blow(let blow, let link, let reach): "\(blow) \(reach) of \(link ?? "every link")"
      case .conduct(let conduct, let link):
        (conduct.isBlackHole ? "black hole" : "delay \(conduct.delay)")
          + " on \(link ?? "every link")"
      case .kill(let role): "SIGKILL \(role.rawValue)"
      case .freeze(let role): "SIGSTOP \(role.rawValue)"
      case .end(let role): "SIGTERM \(role.rawValue)"
      case .killBroker: "SIGKILL the broker"
      case .freezeBroker: "SIGSTOP the broker"
      }
    return "\(name) for \(lasts)"
  }
}

/// Which faults strike in one round, in order. A value: the same seed strikes the same.
struct StrikeSchedule {
  /// The players' link; the others have the names of roles.
  static let playersLink = "players"

  let strikes: [Strike]

  /// A black hole is noticed by its silence only, so it lasts longer than other faults.
  static let blackHoleFactor = 3

  /// Each kind of fault at least once, then `more` by chance; none lasts longer than `longest`, a
  /// black hole ``blackHoleFactor`` times that.
  init(seed: UInt64, more: Int, longest: Duration) {
    var random = SeededRandom(seed: seed)
    var kinds = Self.everyKind(&random)
    kinds += (0..<more).map { _ in
      let again = Self.everyKind(&random)
      return again[Int.random(in: again.indices, using: &random)]
    }
    kinds.shuffle(using: &random)
    let most_ms = Int(longest / .milliseconds(1))
    strikes = kinds.map { what in
      let lasts_ms = Int.random(in: min(200, most_ms)...most_ms, using: &random)
      let factor = what.isBlackHole ? Self.blackHoleFactor : 1
      return Strike(what: what, lasts: .milliseconds(lasts_ms * factor))
    }
  }

  private static func everyKind(_ random: inout SeededRandom) -> [Strike.What] {
    func role() -> String { Role.competing.randomElement(using: &random)?.rawValue ?? "" }
    var kinds: [Strike.What] = LinkBlow.allCases.flatMap { blow in
      [
        .blow(blow, link: role(), .newest), .blow(blow, link: nil, .all),
        .blow(blow, link: playersLink, .all),
      ]
    }
    let slow = LinkConduct(delay: .milliseconds(Int.random(in: 20...400, using: &random)))
    let blackHole = LinkConduct(isBlackHole: true)
    kinds += [
      .conduct(slow, link: nil), .conduct(slow, link: role()),
      .conduct(blackHole, link: nil), .conduct(blackHole, link: role()),
      .conduct(blackHole, link: playersLink),
    ]
    for role in Role.separate { kinds += [.kill(role), .freeze(role), .end(role)] }
    return kinds + [.killBroker, .freezeBroker]
  }
}
