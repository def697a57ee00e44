import Vocabulary

// Cards that listen to a channel.
extension Fleet {
  /// Brings a broadcast to every card that listens to the channel.
  mutating func broadcast(
    _ push: AcceptedPush, over channel: String, in environment: APNsEnvironment?, at now: UnixTime
  ) -> [OwnedEffect] {
    for finding in PayloadContract.findings(in: push) {
      complain(finding, of: nil, apnsID: push.apnsID, at: now)
    }
    return phoneIDs.flatMap { id -> [OwnedEffect] in
      guard let phone = phones[id], environment == nil || phone.identity.environment == environment
      else { return [] }
      return phone.cards.filter { $0.channelID == channel && $0.standing.isLive }.flatMap { card in
        act(on: id, at: now, apnsID: push.apnsID) { phone, mint in
          phone.receive(push.meant(for: card), at: now, mint: &mint)
        }
      }
    }
  }

  /// A card that has just begun to listen gets what its channel keeps.
  mutating func catchUp(on id: String, with channels: ChannelBook, at now: UnixTime)
    -> [OwnedEffect]
  {
    guard let card = phones[id]?.cards.last, let channel = card.channelID,
      let newest = channels.channels[channel]?.newest, newest.isDeliverable(at: now),
      case .success(let payload) = newest.payload, (payload.timestamp ?? 0) >= card.timestamp
    else { return [] }
    return act(on: id, at: now, apnsID: newest.apnsID) { phone, mint in
      phone.receive(newest.meant(for: card), at: now, mint: &mint)
    }
  }
}

extension AcceptedPush {
  /// A broadcast as one card gets it.
  func meant(for card: LockScreenCard) -> AcceptedPush {
    AcceptedPush(
      token: card.updateToken, use: use, type: type, topic: topic, priority: priority,
      expiration: expiration, apnsID: apnsID, collapseID: collapseID, contentType: contentType,
      payload: payload, isBroadcast: isBroadcast)
  }
}
