import Vocabulary

/// How long a token counts after its phone last registered it. An app that was uninstalled is
/// answered with 200 for weeks, and a phone that lies in a drawer for years: APNs alone never
/// clears the registry of them.
///
/// An app registers its tokens at each start, so that one that is in use is always young.
package struct TokenLife: Hashable, Sendable {
  /// Why a token is pruned that outlived this: kept with it, and counted.
  package static let reason = "NotSeen"
  /// A Live Activity is active for 8 hours and stays on the Lock Screen for 4 more; its token is
  /// registered as it starts.
  ///
  /// Source: developer.apple.com, "Displaying live data with Live Activities".
  package static let update: Duration = .seconds(12 * 3600)

  /// Of an alert or push-to-start token, and of an Android phone's: FCM itself takes a token for
  /// dead that no phone has used for 270 days.
  ///
  /// Source: firebase.google.com, "Best practices for FCM registration token management".
  package let device: Duration

  package init(device: Duration) { self.device = device }

  /// Of a token of this kind.
  package func life(of kind: TokenKind) -> Duration {
    switch kind {
    case .alert, .pushToStart: device
    case .update: Self.update
    }
  }
}
