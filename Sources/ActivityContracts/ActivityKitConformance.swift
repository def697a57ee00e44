// ActivityKit also lies in the SDKs of macOS and Mac Catalyst, where all of it is unavailable.
#if canImport(ActivityKit) && os(iOS) && !targetEnvironment(macCatalyst)
  import ActivityKit

  @available(iOS 16.1, *)
  extension CookSuggestActivityAttributes: ActivityAttributes {}

  @available(iOS 16.1, *)
  extension ShinyActivityAttributes: ActivityAttributes {}
#endif
