import Activities
import ActivityContracts
import Vocabulary

/// All virtual phones, and what the stand-in for APNs knows of them.
///
/// A value: the server holds it under a lock and does the effects afterwards.
package struct Fleet: Sendable {
  /// How many phones one fleet holds.
  package static let phonesMax = 20_000
  /// How many complaints are kept in words; beyond, they are only counted.
  package static let complaintsMax = 500
  /// How many pushes the log keeps: who reads on from a number misses none for some seconds, at any
  /// rate this machine can make.
  package static let pushesMax = 50_000

  package let rules: APNsRules
  package internal(set) var mint: TokenMint
  package internal(set) var phones: [String: VirtualPhone] = [:]
  /// In the order they were added.
  package private(set) var phoneIDs: [String] = []
  package private(set) var complaints: [Complaint] = []
  package private(set) var complaintCount = 0
  /// Pushes that would have put an older state over a newer one.
  package private(set) var olderShown = 0
  /// Oldest first.
  package private(set) var pushes: [PushRecord] = []
  /// How many pushes got which answer: `200`, `410 Unregistered`, or what a fault did.
  package private(set) var pushCounts: [String: Int] = [:]
  /// Rises with each change of any phone and with each push.
  package private(set) var changeNumber = 0
  /// At which change number a phone changed last.
  private var changes: [String: Int] = [:]
  private var places: [String: Place] = [:]
  /// The phones with a card on their Lock Screen: time passes only there.
  private var showing: Set<String> = []
  private var pushesSeen = 0

  /// Where a token leads.
  struct Place: Hashable, Sendable {
    let phoneID: String
    let environment: APNsEnvironment
    let use: TokenUse
    /// Milliseconds since 1970 since when it is dead; nil while it lives.
    var deadSince: Int64?
  }

  package init(rules: APNsRules, seed: UInt64) {
    self.rules = rules
    mint = TokenMint(seed: seed)
  }

  /// - Throws: ``SettingsError`` when the fleet is full or the id is taken.
  package mutating func add(
    id: String?, userID: UserID, name: String, environment: APNsEnvironment,
    budget: PushBudget = PushBudget(), app: any ActivityContract = CookSuggestContract()
  ) throws(SettingsError) -> PhoneIdentity {
    guard phones.count < Self.phonesMax else {
      throw SettingsError(["phones: there are \(phones.count), want at most \(Self.phonesMax)"])
    }
    let id = id ?? freeID(for: userID)
    guard phones[id] == nil else { throw SettingsError(["id: \(id) is taken, want a new one"]) }
    let identity = PhoneIdentity(
      id: id, userID: userID, name: name, environment: environment, bundleID: rules.bundleID,
      app: InstalledContract(app), mint: &mint)
    phones[id] = VirtualPhone(identity, budget: budget)
    phoneIDs.append(id)
    places[identity.alertToken] = Place(
      phoneID: id, environment: environment, use: .alert)
    places[identity.pushToStartToken] = Place(
      phoneID: id, environment: environment, use: .pushToStart)
    touch(id)
    return identity
  }

  /// Takes away the phones of every user whose id begins so. Their tokens are dead from now on, as
  /// those of phones that lost their app.
  ///
  /// - Returns: how many went.
  package mutating func removePhones(ofUsersWith prefix: String, at now: UnixTime) -> Int {
    let gone = phones.filter { $1.identity.userID.text.hasPrefix(prefix) }
    for (id, phone) in gone {
      var phone = phone
      phone.uninstall(at: now)
      settle(phone, at: now)
      phones[id] = nil
      changes[id] = nil
    }
    phoneIDs.removeAll { gone[$0] != nil }
    if !gone.isEmpty { changeNumber += 1 }
    return gone.count
  }

  private func freeID(for user: UserID) -> String {
    var number = 1
    while phones["\(user)-\(number)"] != nil { number += 1 }
    return "\(user)-\(number)"
  }

  /// Which phone a token leads to; nil for a token nobody has.
  package func phoneID(ofToken token: String) -> String? { places[token]?.phoneID }

  /// Whose card a push is for: a start says so itself, an update token has one card.
  func session(ofToken token: String, _ payload: PushPayload?) -> String? {
    if case .string(let session)? = payload?.aps["attributes"]?["sessionId"] { return session }
    guard let place = places[token], place.use == .update else { return nil }
    return phones[place.phoneID]?.cards.first { $0.updateToken == token }?.sessionID.text
  }

  /// What APNs knows of a token in an environment; nil when one port serves both.
  package func standing(of token: String, in environment: APNsEnvironment?) -> TokenStanding {
    guard let place = places[token] else { return .unknown }
    // A token of the other environment is not known here: that is what Apple answers.
    if let environment, place.environment != environment { return .unknown }
    if let since = place.deadSince { return .unregistered(since: since) }
    return .reachable(place.use)
  }

  /// Delivers a push that the rules accepted.
  package mutating func deliver(_ push: AcceptedPush, at now: UnixTime) -> [OwnedEffect] {
    guard let place = places[push.token] else { return [] }
    for finding in PayloadContract.findings(in: push) {
      complain(finding, of: place.phoneID, apnsID: push.apnsID, at: now)
    }
    return act(on: place.phoneID, at: now, apnsID: push.apnsID) { phone, mint in
      phone.receive(push, at: now, mint: &mint)
    }
  }

  /// Lets time do its work on every phone.
  package mutating func pass(to now: UnixTime) -> [OwnedEffect] {
    showing.flatMap { id in act(on: id, at: now) { phone, _ in phone.pass(to: now) } }
  }

  /// Lets something happen to one phone.
  ///
  /// - Returns: the calls that its app wants made; findings have become complaints.
  package mutating func act(
    on id: String, at now: UnixTime, apnsID: String? = nil,
    _ happening: (inout VirtualPhone, inout TokenMint) -> [PhoneEffect]
  ) -> [OwnedEffect] {
    guard var phone = phones[id] else { return [] }
    let before = phone
    let effects = happening(&phone, &mint)
    guard phone != before || !effects.isEmpty else { return [] }
    phones[id] = phone
    touch(id)
    settle(phone, at: now)
    return effects.compactMap { effect in
      switch effect {
      case .call(let call): return OwnedEffect(phoneID: id, call: call)
      case .found(let finding):
        complain(finding, of: id, apnsID: apnsID, at: now)
        return nil
      }
    }
  }

  /// A token lives as long as its app, and that of an activity as long as the activity.
  private mutating func settle(_ phone: VirtualPhone, at now: UnixTime) {
    func settle(_ token: String, _ use: TokenUse, lives: Bool) {
      var place =
        places[token]
        ?? Place(
          phoneID: phone.identity.id, environment: phone.identity.environment, use: use)
      if !lives, place.deadSince == nil { place.deadSince = now.milliseconds }
      places[token] = place
    }
    if phone.cards.contains(where: \.standing.isShown) {
      showing.insert(phone.identity.id)
    } else {
      showing.remove(phone.identity.id)
    }
    let (identity, lives) = (phone.identity, phone.isInstalled)
    // Each of them has its place by now, which knows what it was for.
    for token in phone.retiredTokens { settle(token, .update, lives: false) }
    for card in phone.cards { settle(card.updateToken, .update, lives: card.standing.isLive) }
    settle(identity.pushToStartToken, .pushToStart, lives: lives)
    if !lives { settle(identity.alertToken, .alert, lives: false) }
  }
}

/// A call that one phone's app wants made.
package struct OwnedEffect: Hashable, Sendable {
  package let phoneID: String
  package let call: PhoneCall

  package init(phoneID: String, call: PhoneCall) {
    self.phoneID = phoneID
    self.call = call
  }
}

// MARK: What is written down

extension Fleet {
  package mutating func complain(
    _ finding: Finding, of phoneID: String?, apnsID: String?, at now: UnixTime
  ) {
    complaintCount += 1
    if finding.rule == .olderRev { olderShown += 1 }
    guard complaints.count < Self.complaintsMax else { return }
    complaints.append(
      Complaint(
        rule: finding.rule, detail: finding.detail, phone: phoneID, apnsID: apnsID, at: now))
  }

  /// Counts one request and what came of it.
  ///
  /// - Returns: the record with its number.
  @discardableResult
  package mutating func note(_ record: PushRecord) -> PushRecord {
    pushesSeen += 1
    changeNumber += 1
    var numbered = record
    numbered.number = pushesSeen
    pushCounts[record.outcome, default: 0] += 1
    pushes.append(numbered)
    // Trimmed in bulk: removing the first of an array moves all others.
    if pushes.count >= Self.pushesMax * 2 { pushes.removeFirst(pushes.count - Self.pushesMax) }
    return numbered
  }

  private mutating func touch(_ id: String) {
    changeNumber += 1
    changes[id] = changeNumber
  }

  /// Those of the first `limit` phones that changed after `number`, in the order they were added.
  package func phones(changedAfter number: Int, among limit: Int) -> [VirtualPhone] {
    guard number < changeNumber else { return [] }
    return phoneIDs.prefix(limit).filter { changes[$0, default: 0] > number }
      .compactMap { phones[$0] }
  }

  /// The oldest `limit` records after `number`, oldest first. Where the first of them is not
  /// `number` + 1, those between are gone.
  package func pushes(following number: Int, atMost limit: Int) -> [PushRecord] {
    guard let first = pushes.first?.number else { return [] }
    return Array(pushes.dropFirst(number < first ? 0 : number - first + 1).prefix(limit))
  }

  /// The newest `limit` records after `number`, oldest first.
  package func pushes(after number: Int, atMost limit: Int) -> [PushRecord] {
    Array(pushes.suffix(limit).drop { $0.number <= number })
  }
}
