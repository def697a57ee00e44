/// How a person is told of faults: what `lockstep simulator --help` prints.
extension Fault {
  /// The shape of a file, each action, and what may stand beside it.
  package static let guide: String = {
    let width = Action.allCases.map(\.rawValue.count).max() ?? 0
    let actions = Action.allCases.map { action in
      let name = action.rawValue + String(repeating: " ", count: width - action.rawValue.count)
      return "  \(name)  \(action.words)"
    }
    return """
      A file of faults is a JSON array; the first that fits a push strikes it:
        [{"action": "answer", "status": 503, "match": {"push_type": "liveactivity"}, "count": 9}]

      action
      \(actions.joined(separator: "\n"))

      beside it
        match     push_type, event (start, update, end), token, phone, priority, percent:
                  everything that is given must fit
        every     each so-manieth of those that fit: "goaway" with 300 is one per 300 pushes
        count     how often it strikes; then the next takes over
        delivers  true: the phone gets the push all the same; the answer was lost, not the push

      Without faults it is as Apple: one stream on a new connection until the first 200, then 1000;
      a provider token older than an hour, or changed within 20 minutes, is refused; one push is
      kept for a phone that is offline. POST /faults on the control port replaces them.
      """
  }()
}

extension Fault.Action {
  /// One line.
  var words: String {
    switch self {
    case .answer:
      "this status and reason, with retry_after_seconds; 403 ExpiredProviderToken, 429, 503 …"
    case .delay: "as usual, delay_ms later"
    case .never: "no answer; the connection lives"
    case .drop: "the TCP connection closes after the body"
    case .reset: "RST_STREAM after the body"
    case .goaway: "GOAWAY below this stream, with reason"
    case .deaf: "a black hole: nothing is read or written on the connection any more"
    case .poison: "this connection answers status and reason (500) for ever; others are well"
    case .narrow: "stands: a 400 holds its connection to one stream until its next 200"
    case .limit: "as usual, and SETTINGS: its connection may have so many streams; absent: all"
    case .start: "stands: so many streams on a new connection until its first 200; absent: all"
    }
  }
}
