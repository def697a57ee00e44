import Vocabulary

/// What the management API remembers of one queue: how many messages it held, and how many had left
/// it, at moments at equal distances.
///
/// From it comes the age of the oldest message, which RabbitMQ itself does not tell of a quorum
/// queue, and which taking a message to look at would change. If fewer messages have left since a
/// moment than were there at that moment, then one of those is still here.
package struct QueueHistory: Hashable, Sendable {
  package struct Sample: Hashable, Sendable {
    /// By the broker's clock.
    package let at: UnixTime
    /// Ready and unacknowledged.
    package let depth: Int
    /// Acknowledged, or taken without, since the broker started.
    package let gone: Int

    package init(at: UnixTime, depth: Int, gone: Int) {
      self.at = at
      self.depth = depth
      self.gone = gone
    }
  }

  /// RabbitMQ's queues and channels tell their figures this often, each at its own moment
  /// (`collect_statistics_interval`).
  package static let toldEvery: Duration = .seconds(5)
  /// What rates are averaged over.
  package static let rateSpan: Duration = .seconds(30)

  /// The newest first.
  package let samples: [Sample]
  /// Between two samples.
  package let interval: Duration

  /// `samples`: in any order.
  package init(_ samples: [Sample], interval: Duration) {
    self.samples = samples.sorted { $0.at > $1.at }
    self.interval = interval
  }

  /// How far a figure may be from the moment it stands for.
  private var margin: Duration { interval + Self.toldEvery }

  /// How far back it reaches; nil when it is empty.
  package var span: Duration? {
    guard let newest = samples.first, let oldest = samples.last else { return nil }
    return newest.at - oldest.at
  }

  // MARK: Age

  /// How long the oldest message has been in the queue, as of the newest sample; of an empty queue,
  /// what is in it by now. Nil when that is not known.
  package var oldest: QueueAge? {
    guard let newest = samples.first else { return nil }
    let age = QueueAge(atLeast: ageAtLeast(newest), atMost: ageAtMost(newest))
    return age.atLeast == .zero && age.atMost == nil ? nil : age
  }

  /// True whatever the order in which messages leave: all that may have left counts as gone.
  private func ageAtLeast(_ newest: Sample) -> Duration {
    // gone[i]: what at most has left from sample i until the newest.
    var gone = [0]
    for (later, earlier) in zip(samples, samples.dropFirst()) {
      let left = max(later.gone - earlier.gone, earlier.depth - later.depth, 0)
      gone.append((gone.last ?? 0) + left)
    }
    var age = Duration.zero
    var since = 0
    for sample in samples {
      while since < samples.count, samples[since].at > sample.at - margin { since += 1 }
      // What left before the oldest sample is not known.
      guard since < samples.count else { break }
      if sample.depth > gone[since] { age = newest.at - sample.at }
    }
    return age
  }

  /// As long as messages leave in their order: those that were there then have all left.
  private func ageAtMost(_ newest: Sample) -> Duration? {
    samples.first { $0.depth <= newest.gone - $0.gone }.map { newest.at - $0.at + margin }
  }

  // MARK: Rates

  /// Messages per second that came and went, over the last ``rateSpan``; nil when not known.
  package var rates: (arriving: Double, leaving: Double)? {
    guard let newest = samples.first,
      let before = samples.first(where: { newest.at - $0.at >= Self.rateSpan }) ?? samples.last,
      before.at < newest.at
    else { return nil }
    let seconds = (newest.at - before.at).secondsAndFraction
    let leaving = max(0, Double(newest.gone - before.gone) / seconds)
    // What came is not asked of the broker: it does not count what returns from a retry rung.
    let arriving = max(0, leaving + Double(newest.depth - before.depth) / seconds)
    return (arriving, leaving)
  }
}

/// How long the oldest message has been in its queue, as far as that is known.
package struct QueueAge: Hashable, Sendable {
  package let atLeast: Duration
  /// Nil: not known.
  package let atMost: Duration?

  package init(atLeast: Duration, atMost: Duration?) {
    self.atLeast = atLeast
    self.atMost = atMost
  }
}

// MARK: Reading

extension QueueHistory {
  /// The management API's answer for one queue: samples of `messages_details`, and of the counters
  /// in `message_stats` that mean that a message left.
  init(reading queue: JSONValue, interval: Duration) {
    let counters = ["ack_details", "deliver_no_ack_details", "get_no_ack_details"].map {
      Self.series(queue["message_stats"]?[$0])
    }
    let samples = Self.series(queue["messages_details"]).map { at, depth in
      Sample(at: at, depth: depth, gone: counters.reduce(0) { $0 + Self.value(of: $1, at: at) })
    }
    self.init(samples, interval: interval)
  }

  /// In rising order.
  private static func series(_ details: JSONValue?) -> [(at: UnixTime, value: Int)] {
    guard case .array(let samples)? = details?["samples"] else { return [] }
    return samples.compactMap { sample in
      guard case .integer(let at)? = sample["timestamp"],
        case .integer(let value)? = sample["sample"]
      else { return nil }
      return (UnixTime(milliseconds: at), Int(clamping: value))
    }.sorted { $0.at < $1.at }
  }

  /// Of a counter; before its first sample that one's, without any 0: nothing was counted.
  private static func value(of series: [(at: UnixTime, value: Int)], at moment: UnixTime) -> Int {
    (series.last { $0.at <= moment } ?? series.first)?.value ?? 0
  }
}
