import CCurl
import Foundation
import HTTPClient
import Pipeline
import Pushes
import Vocabulary

/// Sends Web Pushes over libcurl, driven by its owner's poll loop. Belongs to one thread.
///
/// Every address is checked at the moment a socket is made for it, so a name cannot lead elsewhere
/// between a check and its use. Redirects are not followed and no proxy is used.
package final class WebPushTransport: WebPushCarrier {
  private let loop: TransferLoop
  private let settings: WebPushTransportSettings
  private let time: any TimeSource
  private var transfers: [UInt64: Transfer] = [:]

  /// How long after libcurl's own deadline a request is given up that libcurl still holds.
  private static let deadlineMargin: Duration = .seconds(1)

  package init(settings: WebPushTransportSettings, time: any TimeSource) {
    self.settings = settings
    self.time = time
    loop = TransferLoop(
      TransferLoop.Limits(
        connectionsPerHostMax: settings.connectionsPerHostMax,
        connectionsMax: settings.connectionsMax),
      elapsed: { time.elapsed() })
  }

  deinit { close() }

  package var descriptors: [(descriptor: Int32, events: Int16)] { loop.descriptors }
  package var capacity: Int { max(0, settings.requestsMax - transfers.count) }
  package var inFlight: Int { transfers.count }

  package func send(_ request: WebPushRequest) {
    let transfer = Transfer(request, settings, startedAt: time.elapsed())
    transfers[request.number] = transfer
    loop.add(transfer.handle)
  }

  package func advance() -> [WebPushResult] {
    let ended = loop.advance().compactMap { handle, code -> WebPushResult? in
      guard let pointer = lockstep_curl_private(handle) else { return nil }
      let transfer = Unmanaged<Transfer>.fromOpaque(pointer).takeUnretainedValue()
      return end(transfer, transfer.outcome(code, now: time.now()))
    }
    return ended + overdue()
  }

  package func close() {
    for transfer in transfers.values { loop.remove(transfer.handle) }
    transfers = [:]
  }

  /// A request that waits for a connection has no deadline of libcurl's.
  private func overdue() -> [WebPushResult] {
    let oldest = time.elapsed() - settings.requestTimeout - Self.deadlineMargin
    return transfers.values.filter { $0.startedAt < oldest }.map {
      end($0, .unanswered(because: "no answer within \(settings.requestTimeout)"))
    }
  }

  private func end(_ transfer: Transfer, _ outcome: WebPushOutcome) -> WebPushResult {
    loop.remove(transfer.handle)
    transfers[transfer.number] = nil
    return WebPushResult(number: transfer.number, outcome: outcome)
  }
}
