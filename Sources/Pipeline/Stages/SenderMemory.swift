import Pushes

/// What the sender has learnt of lanes, services and devices. It changes while answers are settled,
/// and is taken back as a whole when they could not be stored.
struct SenderMemory {
  var lanes = LaneBook()
  var breakers: [Lane: FailureBreaker] = [:]
  var prunedJobs = PrunedJobs<PushToken>()
}
