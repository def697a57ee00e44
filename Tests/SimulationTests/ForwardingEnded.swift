import Pipeline
import Vocabulary

extension ForwardingTransaction {
  func removeEnded(expiredBefore moment: UnixTime, limit: Int) throws -> Int {
    try inner.removeEnded(expiredBefore: moment, limit: limit)
  }
  func removeNotifications(createdBefore moment: UnixTime, limit: Int) throws -> Int {
    try inner.removeNotifications(createdBefore: moment, limit: limit)
  }
}
