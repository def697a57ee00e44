import ServiceRuntime
import Vocabulary

extension Worker {
  /// The longest a turn waits for something to come, so that heartbeats and deadlines are kept.
  private static let waitMax: Duration = .milliseconds(500)
  /// The wait after the store failed.
  private static let storeWait: Duration = .seconds(1)

  /// Runs until `stop` is raised, or the stage has a ``defect``, then drains within `grace`. A lost
  /// broker is waited out.
  package func run(until stop: StopSignal, grace: Duration) {
    while !stop.isRaised {
      do {
        let happened = try turn()
        if defect != nil { break }
        if storeTrouble != nil {
          stop.wait(atMost: Self.storeWait)
        } else if !happened {
          Poll.wait(descriptors + [(stop.descriptor, Poll.readable)], atMost: Self.waitMax)
        }
      } catch {
        stop.wait(atMost: lost(error))
      }
    }
    drain(grace: grace) { Poll.wait(descriptors, atMost: $0) }
  }
}
