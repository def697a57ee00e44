import Testing

/// The real programs on a real broker and the simulator. One at a time: each starts five processes,
/// and what they measure is whether things arrive, not how fast.
@Suite(.serialized) struct EndToEnd {}
