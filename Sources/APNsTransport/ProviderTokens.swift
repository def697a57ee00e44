import Pipeline
import ServiceRuntime
import Synchronization
import Vocabulary

/// Makes and keeps the provider token of one team and key, for all transports of the process.
package final class ProviderTokens: ProviderTokenSource {
  private struct State: Sendable {
    var policy = ProviderTokenPolicy()
    var signer: ProviderTokenSigner
    var token: ProviderToken?
    var keyFile: KeyFile?
  }

  private let state: Mutex<State>
  private let load: @Sendable (KeyFile.Content) throws -> ProviderTokenSigner
  private let time: any TimeSource
  private let log: Log
  private let minted: Counter

  /// Reads the key (`.p8`) now and looks for a changed file or link target when a token is asked
  /// for. Without a key id it is taken from the file's name, `AuthKey_<KEYID>.p8`.
  ///
  /// - Throws: when the key cannot be read, or no key id is known.
  package convenience init(
    keyFile: String, keyID: String?, teamID: String, time: any TimeSource, log: Log,
    metrics: Metrics
  ) throws {
    try self.init(keyFile: keyFile, time: time, log: log, metrics: metrics) { content in
      guard let keyID = keyID ?? content.keyID else {
        throw APNsTransportError(
          "no key id is set and \(content.path) is not called AuthKey_<KEYID>.p8")
      }
      return try ProviderTokenSigner(pem: content.text, keyID: keyID, teamID: teamID)
    }
  }

  /// `load` makes a signer of what the file holds.
  package init(
    keyFile path: String, time: any TimeSource, log: Log, metrics: Metrics,
    load: @escaping @Sendable (KeyFile.Content) throws -> ProviderTokenSigner
  ) throws {
    var keyFile = KeyFile(path: path)
    guard let content = try keyFile.change(elapsed: time.elapsed()) else {
      throw APNsTransportError("APNs key \(path) is empty")
    }
    state = Mutex(State(signer: try load(content), keyFile: keyFile))
    self.load = load
    self.time = time
    self.log = log
    minted = Self.counter(metrics)
    showAge(metrics)
  }

  /// A key that never changes.
  package init(signer: ProviderTokenSigner, time: any TimeSource, log: Log, metrics: Metrics) {
    state = Mutex(State(signer: signer))
    load = { _ in signer }
    self.time = time
    self.log = log
    minted = Self.counter(metrics)
    showAge(metrics)
  }

  private static func counter(_ metrics: Metrics) -> Counter {
    metrics.counter("lockstep_provider_tokens_total", help: "APNs provider tokens made.")
  }

  private func showAge(_ metrics: Metrics) {
    metrics.reading(
      "lockstep_provider_token_age_seconds",
      help: "Age of the newest APNs provider token; 0 before the first. APNs takes one hour."
    ) { [weak self] in self?.age.secondsAndFraction ?? 0 }
  }

  private var age: Duration {
    state.withLock { $0.token == nil ? .zero : time.elapsed() - $0.policy.mintedAt }
  }

  package func token() throws -> ProviderToken {
    try state.withLock { state in
      let occasion = lookForNewKey(&state) ? ProviderTokenPolicy.Occasion.keyChange : .use
      return try renew(&state, occasion)
    }
  }

  @discardableResult
  package func expired(generation: Int) -> Bool {
    state.withLock { state in
      do {
        return try renew(&state, .expired(generation: generation)).generation != generation
      } catch {
        log.error("provider_token_not_signed", ["because": "\(error)"])
        return false
      }
    }
  }

  private func renew(_ state: inout State, _ occasion: ProviderTokenPolicy.Occasion) throws
    -> ProviderToken
  {
    // Decided on a copy: a token that could not be signed was not made.
    var policy = state.policy
    let now = time.now()
    let isNew = policy.mints(occasion, elapsed: time.elapsed(), now: now)
    if !isNew, let token = state.token { return token }
    let token = ProviderToken(
      authorization: "bearer " + (try state.signer.sign(now)), generation: policy.generation,
      keyID: state.signer.keyID, refreshAt: policy.mintedAt + ProviderTokenPolicy.refreshAge)
    state.policy = policy
    state.token = token
    minted.add()
    log.info(
      "provider_token_made",
      ["because": "\(occasion)", "key": token.keyID, "generation": "\(token.generation)"])
    return token
  }

  /// A file that cannot be read just now is often one that is just being replaced: the old key goes
  /// on, and the next look tells.
  private func lookForNewKey(_ state: inout State) -> Bool {
    do {
      guard let content = try state.keyFile?.change(elapsed: time.elapsed()) else { return false }
      state.signer = try load(content)
      log.info("apns_key_changed", ["key": state.signer.keyID])
      return true
    } catch {
      log.warning("apns_key_not_read", ["because": "\(error)"])
      return false
    }
  }
}
