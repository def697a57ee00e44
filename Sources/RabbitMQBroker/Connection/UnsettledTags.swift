/// The delivery tags of one channel that the broker still waits for, in rising order.
///
/// Settling a tag twice, or one that was never given, closes the channel: such tags are left out.
struct UnsettledTags {
  /// One call to the broker: this tag, or all unsettled ones up to it.
  struct Settlement: Hashable {
    let tag: UInt64
    let multiple: Bool
  }

  private var tags: [UInt64] = []

  var count: Int { tags.count }

  /// Tags come from the broker, each larger than the one before.
  mutating func delivered(_ tag: UInt64) { tags.append(tag) }

  /// The fewest calls that settle exactly these: one for those that nothing older is open before,
  /// one each for the rest.
  mutating func settle(_ settled: some Sequence<UInt64>) -> [Settlement] {
    let wanted = Set(settled)
    let prefix = tags.prefix { wanted.contains($0) }.count
    var calls: [Settlement] = []
    if prefix > 0 { calls.append(Settlement(tag: tags[prefix - 1], multiple: prefix > 1)) }
    guard prefix < wanted.count else {
      tags.removeFirst(prefix)
      return calls
    }
    var kept: [UInt64] = []
    for tag in tags[prefix...] {
      if wanted.contains(tag) {
        calls.append(Settlement(tag: tag, multiple: false))
      } else {
        kept.append(tag)
      }
    }
    tags = kept
    return calls
  }
}
