import Activities
import Foundation
import Vocabulary

// What each kind of push does to a phone.
extension VirtualPhone {
  mutating func start(
    _ payload: PushPayload, of push: AcceptedPush, at now: UnixTime, mint: inout TokenMint
  ) -> [PhoneEffect] {
    guard let timestamp = usableStamp(payload, at: now) else { return [] }
    let contract = identity.app.contract
    guard payload.text("attributes-type") == contract.attributesType else {
      counts.dropped += 1
      let given = payload.text("attributes-type") ?? "absent"
      return [.found(Finding(.attributesType, "\(given), want \(contract.attributesType)"))]
    }
    let attributes: JSONValue
    let state: JSONValue
    do {
      attributes = try decoded(
        payload, "attributes", .attributes, contract.decodedAttributes)
      state = try decoded(
        payload, "content-state", .contentState, contract.decodedContentState)
    } catch {
      counts.dropped += 1
      return [.found(error.finding)]
    }
    counts.starts += 1
    let hasSound = payload.aps["alert"]?["sound"] != nil || payload.aps["sound"] != nil
    let subject = subject(of: attributes, collapseID: push.collapseID)
    let isDoubled = cards.contains { $0.sessionID == subject }
    var effects = add(
      attributes, showing: state, subject: subject, origin: .push, timestamp: timestamp,
      staleAt: payload.staleAt, listeningTo: payload.text("input-push-channel"), at: now,
      mint: &mint)
    if hasSound { effects += sound(Sound(source: .start, subject: subject.text)) }
    if isDoubled {
      effects.append(
        .found(Finding(.doubledStart, "\(subject) was started again on this phone")))
    }
    return effects
  }

  /// A cook session's card says whose it is. Of others APNs knows what it would take for the same
  /// start; without that, equal attributes are the same activity.
  private func subject(of attributes: JSONValue, collapseID: String?) -> SessionID {
    if identity.app.isCook, case .string(let session)? = attributes["sessionId"] {
      return SessionID(session)
    }
    return SessionID(collapseID ?? String(decoding: attributes.encoded, as: UTF8.self))
  }

  mutating func change(_ payload: PushPayload, token: String, at now: UnixTime) -> [PhoneEffect] {
    guard let index = cards.firstIndex(where: { $0.updateToken == token }),
      cards[index].standing.isLive
    else {
      counts.dropped += 1
      return []
    }
    guard let timestamp = usableStamp(payload, at: now) else { return [] }
    guard timestamp >= cards[index].timestamp else {
      counts.olderIgnored += 1
      return []
    }
    let shown = cards[index].contentState
    var state = shown
    do {
      // An end may come without a state and keeps what is shown.
      if payload.event != .end || payload.aps["content-state"] != nil {
        state = try decoded(
          payload, "content-state", .contentState, identity.app.contract.decodedContentState)
      }
    } catch {
      counts.dropped += 1
      return [.found(error.finding)]
    }
    if case (.integer(let rev)?, .integer(let before)?) = (state["rev"], shown["rev"]), rev < before
    {
      // Only the app's own guard holds this one back: ActivityKit looks at the stamp alone.
      counts.olderIgnored += 1
      let detail = "rev \(rev) came after rev \(before) with a stamp that iOS would take"
      return [.found(Finding(.olderRev, detail))]
    }
    cards[index].contentState = state
    cards[index].timestamp = timestamp
    cards[index].staleAt = payload.staleAt
    cards[index].standing = .active
    cards[index].changedAt = now
    // It stands inside of the alert; the start before it was another matter.
    if payload.event == .update, payload.aps["alert"]?["sound"] != nil { counts.sounds += 1 }
    if payload.event == .end {
      end(index, at: now, dismissAt: payload.dismissAt)
      return [.call(identity.report("ended", of: cards[index]))]
    }
    return [.call(identity.report("active", of: cards[index]))]
  }

  mutating func show(_ payload: PushPayload, of push: AcceptedPush, at now: UnixTime)
    -> [PhoneEffect]
  {
    let banner = Banner(
      title: payload.alertTitle ?? "", body: payload.alertBody ?? "",
      link: payload.customText("link"), collapseID: push.collapseID,
      dedupeKey: payload.customText("dedupe_key"), apnsID: push.apnsID,
      hasSound: payload.aps["sound"] != nil, shownAt: now)
    var effects: [PhoneEffect] = []
    // A retry is the same push: what it says was said.
    let isRetry = banner.apnsID != nil && banners.contains { $0.apnsID == banner.apnsID }
    if banner.hasSound, !isRetry {
      effects += sound(Sound(source: .alert, subject: banner.subject))
    }
    // A push with the same collapse id takes the place of the banner before it.
    if let collapseID = push.collapseID {
      let isDoubled = banners.contains {
        // A retry keeps its id; the same words under a new one were sent twice.
        $0.collapseID == collapseID && $0.title == banner.title && $0.body == banner.body
          && $0.apnsID != banner.apnsID
      }
      banners.removeAll { $0.collapseID == collapseID }
      if isDoubled {
        effects.append(.found(Finding(.doubledAlert, "\(collapseID) came under a new apns-id")))
      }
    }
    banners.insert(banner, at: 0)
    banners.removeLast(max(0, banners.count - Self.bannersMax))
    return effects
  }

  /// Takes the banner of a notification away.
  mutating func resolve(_ dedupeKey: String) {
    let before = banners.count
    banners.removeAll { $0.isAbout(dedupeKey) }
    counts.resolved += before - banners.count
  }

  /// Counts a sound. The two channels that may announce one session must not both make one.
  private mutating func sound(_ sound: Sound) -> [PhoneEffect] {
    counts.sounds += 1
    let other = sounds.first { $0.subject == sound.subject && $0.source != sound.source }
    sounds.insert(sound, at: 0)
    sounds.removeLast(max(0, sounds.count - Self.soundsMax))
    guard let other else { return [] }
    let detail = "\(sound.source.rawValue) and \(other.source.rawValue) for \(sound.subject)"
    return [.found(Finding(.doubledSound, "\(detail) both made one, want one"))]
  }

  /// Nil, and counted, when iOS would not look further.
  private mutating func usableStamp(_ payload: PushPayload, at now: UnixTime) -> Int64? {
    guard let stamp = payload.timestamp, stamp <= (now + Self.aheadMax).seconds else {
      counts.dropped += 1
      return nil
    }
    return stamp
  }

  /// What the app's own type makes of it, through the plain decoder.
  private func decoded(
    _ payload: PushPayload, _ name: String, _ rule: Finding.Rule,
    _ decode: (Data) throws -> JSONValue
  ) throws(Finding.Failure) -> JSONValue {
    guard let json = payload.json(name) else { throw Finding.Failure(rule, "\(name) is absent") }
    do {
      return try decode(json)
    } catch {
      throw Finding.Failure(rule, "\(name) does not decode: \(error)")
    }
  }
}

extension Banner {
  /// Whether this banner shows the notification of that key.
  package func isAbout(_ key: String) -> Bool { dedupeKey == key || collapseID == key }

  /// The session that the link leads to; else what names the banner.
  var subject: String {
    link?.split(separator: "/").last.map(String.init) ?? dedupeKey ?? collapseID ?? apnsID ?? ""
  }
}

extension PushPayload {
  fileprivate func customText(_ name: String) -> String? {
    guard case .string(let text) = custom[name] else { return nil }
    return text
  }
}
