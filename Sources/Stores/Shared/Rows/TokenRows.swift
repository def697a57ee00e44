import Pipeline
import Pushes
import Vocabulary

extension Registration: StoredRow {
  func write(to columns: inout some ColumnWriter) {
    columns.append(
      token, userID, kind, contextKey, activityID, attributesType, environment, bundleID,
      deviceID, frequentPushesEnabled, registeredAt, provenAt)
  }

  init(row: inout some SQLRow) throws {
    let token: PushToken = try row.next()
    try self.init(row: &row, of: token)
  }

  /// Reads the columns behind the token.
  init(row: inout some SQLRow, of token: PushToken) throws {
    self.init(
      userID: try row.next(), token: token, kind: try row.next(), contextKey: try row.next(),
      activityID: try row.next(), attributesType: try row.next(), environment: try row.next(),
      bundleID: try row.next(), deviceID: try row.next(), frequentPushesEnabled: try row.next(),
      registeredAt: try row.next(), provenAt: try row.next())
  }
}

extension TokenRow {
  /// Reads the registration and the columns behind it.
  init(row: inout some SQLRow) throws {
    self.init(
      registration: try Registration(row: &row), deliveredRev: try row.next(),
      prunedAt: try row.next(), prunedBecause: try row.next())
  }
}

extension PushStanding {
  /// Takes in one row of the token: the newest rev of its card, the rev delivered to it, whether it
  /// is pruned, and the columns of its registration behind the token.
  mutating func take(_ row: inout some SQLRow, of token: PushToken) throws {
    newestRev = try row.next()
    let delivered: Int? = try row.next()
    if let delivered { deliveredRev = max(deliveredRev ?? delivered, delivered) }
    let isPruned: Bool = try row.next()
    if !isPruned { registrations.append(try Registration(row: &row, of: token)) }
  }
}

extension Start: StoredRow {
  func write(to columns: inout some ColumnWriter) {
    columns.append(
      sessionID, token, contextKey, firstAskedAt, userID, deviceID, cardsMax, claimedUntil,
      acceptedAt)
  }

  init(row: inout some SQLRow) throws {
    self.init(
      sessionID: try row.next(), token: try row.next(), contextKey: try row.next(),
      firstAskedAt: try row.next(), userID: try row.next(), deviceID: try row.next(),
      cardsMax: try row.next(), claimedUntil: try row.next(), acceptedAt: try row.next())
  }
}

extension FCMRegistration: StoredRow {
  func write(to columns: inout some ColumnWriter) {
    columns.append(userID, token, deviceID, packageName, registeredAt)
  }

  init(row: inout some SQLRow) throws {
    self.init(
      userID: try row.next(), token: try row.next(), deviceID: try row.next(),
      packageName: try row.next(), registeredAt: try row.next())
  }
}

extension FCMRow {
  /// Reads the registration and the columns behind it.
  init(row: inout some SQLRow) throws {
    self.init(
      registration: try FCMRegistration(row: &row), prunedAt: try row.next(),
      prunedBecause: try row.next())
  }
}
