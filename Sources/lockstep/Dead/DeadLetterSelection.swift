import Pipeline
import RabbitMQBroker

/// Which dead letters are meant.
enum DeadLetterSelection {
  /// The message's id.
  case id(String)
  /// A folded reason, the whole of it.
  case reason(String)
  case all

  func takes(_ letter: DeadLetter) -> Bool {
    switch self {
    case .id(let id): letter.message.id == id
    case .reason(let reason): letter.foldedReason == reason
    case .all: true
    }
  }

  var words: String {
    switch self {
    case .id(let id): "with id \(id)"
    case .reason(let reason): "with reason \"\(reason)\""
    case .all: "at all"
    }
  }
}
