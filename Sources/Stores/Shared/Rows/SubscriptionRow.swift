import Cryptography
import Pipeline
import Pushes
import Vocabulary

/// Keys are kept in base64url, as browsers write them.
extension WebPushSubscription: SQLColumns {
  func write(to columns: inout some ColumnWriter) {
    columns.append(
      endpoint, id, userID, storedP256dh, Base64URL.encode(auth), vapidKeyID, createdAt,
      resubscribeSince)
  }

  var storedP256dh: String { Base64URL.encode(p256dh) }

  /// Reads its columns but for the id, which is made of the endpoint.
  init(row: inout some SQLRow) throws {
    let user: UserID = try row.next()
    let endpoint: PushEndpoint = try row.next()
    let p256dh = Base64URL.decode(try row.next() as String) ?? []
    let auth = Base64URL.decode(try row.next() as String) ?? []
    let keys: WebPushKeys
    do {
      keys = try WebPushKeys(storedP256dh: p256dh, storedAuth: auth)
    } catch {
      throw StoreError("the database is damaged: a subscription's key \(error)")
    }
    self.init(
      userID: user, endpoint: endpoint, keys: keys, vapidKeyID: try row.next(),
      createdAt: try row.next(), resubscribeSince: try row.next())
  }
}
