/// Something that APNs or a phone would swallow in silence and that is wrong all the same. One of
/// them fails the run's verdict.
package struct Finding: Hashable, Sendable {
  package enum Rule: String, Codable, Hashable, Sendable, CaseIterable {
    case contentType = "content-type"
    case json
    case aps
    case event
    case tokenUse = "token-use"
    case timestamp
    case contentState = "content-state"
    case attributesType = "attributes-type"
    case attributes
    case alert
    case inputPushToken = "input-push-token"
    case staleDate = "stale-date"
    case dismissalDate = "dismissal-date"
    case relevanceScore = "relevance-score"
    case contentAvailable = "content-available"
    case doubledStart = "doubled-start"
    case doubledAlert = "doubled-alert"
    case doubledSound = "doubled-sound"
    case priority
    case resolve
    case webPushBody = "web-push-body"
    case webPushTopic = "web-push-topic"
    case webPushTTL = "web-push-ttl"
    case declarative = "declarative-web-push"
    case olderRev = "older-rev"
    case api
  }

  package let rule: Rule
  /// What was found and what was wanted.
  package let detail: String

  package init(_ rule: Rule, _ detail: String) {
    self.rule = rule
    self.detail = detail
  }
}
