import Pipeline
import RabbitMQBroker
import ServiceRuntime
import Sessions
import Vocabulary

/// The generator of proposals, as an outside program would be: reads jobs from its queue and
/// answers through the API with a service credential.
///
/// A job that comes twice is answered twice; the second answer changes nothing, by its `job_id`.
final class Kitchen: Sendable {
  private static let dishes = ["Kürbiscurry", "Pilzrisotto", "Ofengemüse mit Feta"]
  private static let queueName = "kitchen"

  private let settings: DemoSettings
  private let times: MutationTimes
  private let stop: StopSignal

  init(settings: DemoSettings, times: MutationTimes, stop: StopSignal) {
    self.settings = settings
    self.times = times
    self.stop = stop
  }

  /// Runs until stopped; a lost broker is waited out.
  func run() {
    let link = RabbitMQLink(
      settings.broker, queue: Self.queueName, prefetch: 10, name: "kitchen", time: SystemTime(),
      log: .discarding)
    var backoff = Backoff()
    while !stop.isRaised {
      do {
        try link.open()
        try link.keepAlive()
        for delivery in try link.receive(atMost: 10) {
          cook(delivery)
          try link.acknowledge([delivery.tag])
          backoff.reset()
        }
        let waited = link.descriptors.map { (descriptor: $0, events: Poll.readable) }
        Poll.wait(waited + [(stop.descriptor, Poll.readable)], atMost: .milliseconds(250))
      } catch {
        link.close()
        stop.wait(atMost: backoff.next())
      }
    }
    link.close()
  }

  private func cook(_ delivery: Delivery) {
    do {
      let event = try Event(reading: delivery.message)
      guard case .session(let session, _) = event.subject, let job = session.job else { return }
      let token = try settings.token(user: "kitchen", scope: "service", now: MutationTimes.now)
      let caller = Caller(baseURL: settings.apiURL, token: token, stop: stop)
      stop.wait(atMost: settings.pace)
      let path = "/api/cook-suggest/sessions/\(session.id)"
      let jobID = JSONValue.string(job.jobID.text)
      switch job.kind {
      case .proposals:
        let proposals = Self.dishes.enumerated().map { place, title -> JSONValue in
          ["id": .string("p\(place + 1)"), "title": .string(title)]
        }
        _ = try times.measured {
          try caller.call(
            "POST", path + "/proposals", ["job_id": jobID, "proposals": .array(proposals)])
        }
      case .decision:
        let chosen = session.participants.first?.confirmedProposalID
        let title = session.proposals.first { $0.id == chosen }?.title ?? Self.dishes[0]
        _ = try times.measured {
          try caller.call(
            "POST", path + "/decision", ["job_id": jobID, "title": .string(title)])
        }
      }
    } catch {
      print("  the kitchen dropped a job: \(error)")
    }
  }
}
