import Foundation
import Vocabulary

extension LiveActivityPayload {
  /// The body of an update or an end around a content state that is JSON text already: nearly every
  /// push, and to read and write that text again would cost ten times as much.
  ///
  /// `contentState`: as ``Vocabulary/JSON`` writes it; the body is then the one that ``encoded()``
  /// gives.
  ///
  /// - Returns: nil for all that only ``encoded()`` does: a start, additions, a text to shorten.
  package static func spliced(
    _ event: Event, contentState: Data, staleAt: UnixTime?, additions: Additions = Additions()
  ) -> Data? {
    guard additions == Additions(), let words = words(of: event) else { return nil }
    let end = words + (staleAt.map { #","stale-date":\#($0.seconds)"# } ?? "") + "}}"
    var body = Data(capacity: contentState.count + 128)
    body.append(contentsOf: #"{"aps":{"content-state":"#.utf8)
    body.append(contentState)
    body.append(contentsOf: end.utf8)
    return body.count + stampBytes > bytesMax ? nil : body
  }

  private static func words(of event: Event) -> String? {
    switch event {
    case .start: nil
    case .update: #","event":"update""#
    case .end(nil): #","event":"end""#
    case .end(let dismissAt?): #","dismissal-date":\#(dismissAt.seconds),"event":"end""#
    }
  }
}
