import Activities
import Cryptography
import HTTPServing
import Pipeline
import ServiceRuntime
import Sessions
import Vocabulary

/// The public HTTP API: from a request to its answer. Knows nothing of sockets.
///
/// A mutation, its event and its idempotent answer are stored in one transaction, or none of them
/// is. What an event causes is the workers' business.
package struct API: Sendable {
  private static let router = Router(
    routes: profileRoutes + registrationRoutes + sessionRoutes + kitchenRoutes + notificationRoutes
      + reportRoutes + webPushRoutes + fcmRoutes + activityRoutes + bindingRoutes)

  let settings: APISettings
  let metrics: APIMetrics
  let contracts: ContractCatalog
  private let store: any Store
  private let keys: JSONWebKeySet
  private let time: any TimeSource
  private let log: Log
  private let outbox: OutboxGate
  private let tracer: Tracer?
  private let onCommit: @Sendable () -> Void
  let newSessionID: @Sendable () -> SessionID
  private let rateLimit: RateLimit
  private let inProgress = RequestsInProgress()

  /// `outbox` says when no more events fit. `contracts`: what apps can decode. `tracer` nil: nobody
  /// traces. `onCommit` is called after an event was stored, on the request's thread: it wakes the
  /// relay. `newSessionID` must give ids that nobody can guess.
  package init(
    store: any Store, keys: JSONWebKeySet, time: any TimeSource, settings: APISettings, log: Log,
    metrics: Metrics, outbox: OutboxGate, contracts: ContractCatalog = .builtIn,
    tracer: Tracer? = nil,
    onCommit: @escaping @Sendable () -> Void,
    newSessionID: @escaping @Sendable () -> SessionID = API.unguessableSessionID
  ) {
    self.store = store
    self.keys = keys
    self.time = time
    self.settings = settings
    self.log = log
    self.metrics = APIMetrics(metrics)
    self.outbox = outbox
    self.contracts = contracts
    self.tracer = tracer
    self.onCommit = onCommit
    self.newSessionID = newSessionID
    rateLimit = RateLimit(
      perSecond: settings.requestsPerSecond, burst: settings.requestBurst)
  }

  /// 128 random bits, so that no id can be guessed.
  package static let unguessableSessionID: @Sendable () -> SessionID = {
    SessionID("cs_\(Base64URL.encode(RandomBytes.make(16)))")
  }

  /// What the API says about a request that the server refused before it got here.
  package static let refusal: @Sendable (HTTPRefusal) -> HTTPResponse = { Problem($0).response }

  /// Answers one request; may be called on several threads at once.
  package func handle(_ request: HTTPRequest) -> HTTPResponse {
    let begun = time.elapsed()
    let trace = RequestTrace(request, tracer: tracer, now: time.now())
    var pattern = "none"
    var response: HTTPResponse
    do {
      let (route, parameters) = try Self.router.route(of: request)
      pattern = route.pattern
      response = try answer(request, route, parameters, trace.step.traceparent)
    } catch {
      response = problem(error, request, trace.step).response
    }
    let spent = time.elapsed() - begun
    metrics.answered(request.method, pattern, status: response.status, after: spent)
    trace.answered(pattern, status: response.status, after: spent)
    log.debug(
      "http.answered",
      [
        "method": request.method, "route": pattern, "status": "\(response.status)",
        "ms": "\(spent.milliseconds)", "request_id": request.id,
        "trace_id": trace.step.traceID,
      ])
    return response
  }

  private func answer(
    _ request: HTTPRequest, _ route: Route, _ parameters: [String: String], _ traceparent: String
  ) throws -> HTTPResponse {
    let now = time.now()
    let caller = try Caller(of: request, keys: keys, now: now)
    try caller.require(oneOf: route.scopes)
    // The kitchen answers for everybody, so no one user's rate fits it.
    if !caller.scopes.contains(.service),
      let seconds = rateLimit.take(for: caller.userID, at: time.elapsed())
    {
      throw Problem.tooManyRequests(retryAfter: seconds)
    }
    let call = Call(
      request: request, caller: caller, parameters: parameters, now: now, traceparent: traceparent)
    if route.method != .get, let key = try Idempotency(request, of: caller.userID) {
      return try inProgress.during(key) { try once(key, route, call) }
    }
    let work = try route.handler(self, call)
    if route.method == .get { return try store.read(work).response }
    return try committed { try store.write { try perform(work, $0) } }
  }

  /// Does the work and stores its event.
  private func perform(_ work: Work, _ rows: any StoreTransaction) throws -> Answer {
    let answer = try work(rows)
    if let event = answer.event {
      guard !outbox.isFull else { throw Problem.outboxFull() }
      try rows.append(event)
    }
    return answer
  }

  private func committed(_ transaction: () throws -> Answer) throws -> HTTPResponse {
    let answer = try transaction()
    answer.onCommit()
    if let event = answer.event {
      outbox.eventStored()
      metrics.accepted(event)
      onCommit()
    }
    return answer.response
  }

  /// Does the work unless this key has an answer already.
  private func once(_ key: Idempotency, _ route: Route, _ call: Call) throws -> HTTPResponse {
    // Read before the transaction, so that nobody waits for it.
    let work = Result { try route.handler(self, call) }
    do {
      return try committed {
        try store.write { rows in
          if let stored = try key.storedAnswer(rows, at: call.now) { return Answer(stored) }
          do {
            let answer = try perform(work.get(), rows)
            try key.store(answer.response, rows, at: call.now)
            return answer
          } catch let problem as Problem {
            throw Refused(problem: problem)
          }
        }
      }
    } catch let refused as Refused {
      // The transaction is rolled back, so that a refusal changes nothing whatever a handler did;
      // its answer is stored on its own.
      let response = refused.problem.response
      return try store.write { rows in
        // Another API may have worked on the same request meanwhile: what had an effect counts.
        if let stored = try key.storedAnswer(rows, at: call.now) { return stored }
        try key.store(response, rows, at: call.now)
        return response
      }
    }
  }

  /// A handler's refusal, told apart from one of the key itself, which is not stored.
  private struct Refused: Error { let problem: Problem }

  private func problem(_ error: any Error, _ request: HTTPRequest, _ step: TraceContext)
    -> Problem
  {
    if let problem = error as? Problem { return problem }
    log.error(
      error is StoreError ? "http.store_failed" : "http.failed",
      [
        "error": "\(error)", "request_id": request.id,
        "trace_id": step.traceID,
      ])
    return error is StoreError ? .storeUnavailable() : .internalFault()
  }
}
