import Vocabulary

/// All virtual browsers. A value, like ``Fleet``.
package struct BrowserFleet: Sendable {
  /// How many browsers one simulator holds.
  package static let browsersMax = 20_000

  package private(set) var browsers: [String: VirtualBrowser] = [:]
  /// In the order they were added.
  package private(set) var ids: [String] = []
  /// Rises with each change of any browser.
  package private(set) var changeNumber = 0
  private var changes: [String: Int] = [:]
  private var places: [String: String] = [:]

  package init() {}

  /// - Throws: ``SettingsError`` when there are too many or the id is taken.
  package mutating func add(
    id: String?, userID: UserID, name: String, vapidKey: String, mint: inout TokenMint
  ) throws(SettingsError) -> BrowserIdentity {
    guard browsers.count < Self.browsersMax else {
      throw SettingsError([
        "browsers: there are \(browsers.count), want at most \(Self.browsersMax)"
      ])
    }
    let id = id ?? freeID(for: userID)
    guard browsers[id] == nil else { throw SettingsError(["id: \(id) is taken, want a new one"]) }
    let identity = BrowserIdentity(
      id: id, userID: userID, name: name, vapidKey: vapidKey, mint: &mint)
    browsers[id] = VirtualBrowser(identity)
    ids.append(id)
    places[identity.subscription] = id
    touch(id)
    return identity
  }

  private func freeID(for user: UserID) -> String {
    var number = 1
    while browsers["\(user)-browser-\(number)"] != nil { number += 1 }
    return "\(user)-browser-\(number)"
  }

  /// Whose subscription it is; nil when nobody ever had it.
  package func id(ofSubscription subscription: String) -> String? { places[subscription] }

  /// Lets something happen to one browser.
  ///
  /// - Returns: what was found wrong.
  package mutating func act(
    on id: String, _ happening: (inout VirtualBrowser) -> [Finding]
  ) -> [Finding] {
    guard var browser = browsers[id] else { return [] }
    let findings = happening(&browser)
    browsers[id] = browser
    touch(id)
    return findings
  }

  private mutating func touch(_ id: String) {
    changeNumber += 1
    changes[id] = changeNumber
  }

  /// Those of the first `limit` that changed after `number`, in the order they were added.
  package func browsers(changedAfter number: Int, among limit: Int) -> [VirtualBrowser] {
    guard number < changeNumber else { return [] }
    return ids.prefix(limit).filter { changes[$0, default: 0] > number }
      .compactMap { browsers[$0] }
  }
}
