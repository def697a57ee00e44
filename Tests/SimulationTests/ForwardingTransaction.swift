import Foundation
import Pipeline
import Pushes
import Sessions
import Vocabulary

/// Hands everything on to another transaction. A broken rule overrides what it breaks.
class ForwardingTransaction: StoreTransaction {
  let inner: any StoreTransaction

  init(_ inner: any StoreTransaction) { self.inner = inner }

  // MARK: ProfileRows

  func profiles(of users: [UserID]) throws -> [UserID: Profile] {
    try inner.profiles(of: users)
  }
  func save(_ profile: Profile) throws {
    try inner.save(profile)
  }

  // MARK: SessionRows

  func session(_ id: SessionID) throws -> Session? {
    try inner.session(id)
  }
  func save(_ session: Session) throws {
    try inner.save(session)
  }
  func liveSessionCount(of user: UserID) throws -> Int {
    try inner.liveSessionCount(of: user)
  }
  func expiredSessions(at moment: UnixTime, limit: Int) throws -> [Session] {
    try inner.expiredSessions(at: moment, limit: limit)
  }
  func sessionsInKitchen(unchangedSince moment: UnixTime, limit: Int) throws -> [Session] {
    try inner.sessionsInKitchen(unchangedSince: moment, limit: limit)
  }
  func earliestDue() throws -> (expiry: UnixTime?, inKitchenSince: UnixTime?) {
    try inner.earliestDue()
  }
  func replace(_ seen: Session, with next: Session) throws -> Bool {
    try inner.replace(seen, with: next)
  }
  func saveAnswers(_ json: Data, of user: UserID, in session: SessionID) throws {
    try inner.saveAnswers(json, of: user, in: session)
  }
  func answers(in session: SessionID) throws -> [UserID: Data] {
    try inner.answers(in: session)
  }

  // MARK: TokenRows

  func register(_ registration: Registration) throws {
    try inner.register(registration)
  }
  func unregister(_ token: PushToken, of user: UserID, kind: TokenKind?, attributesType: String?)
    throws -> Int
  {
    try inner.unregister(token, of: user, kind: kind, attributesType: attributesType)
  }
  func updateTokens(of contexts: [ContextKey]) throws -> [ContextKey: [Registration]] {
    try inner.updateTokens(of: contexts)
  }
  func tokens(of users: [UserID], kind: TokenKind) throws -> [UserID: [Registration]] {
    try inner.tokens(of: users, kind: kind)
  }
  func registrations(of tokens: [PushToken]) throws -> [PushToken: [Registration]] {
    try inner.registrations(of: tokens)
  }
  func markProven(_ token: PushToken, at moment: UnixTime) throws {
    try inner.markProven(token, at: moment)
  }
  func prune(_ token: PushToken, because reason: String, unlessRegisteredAfter moment: UnixTime)
    throws -> Int
  {
    try inner.prune(token, because: reason, unlessRegisteredAfter: moment)
  }
  func restore(_ tokens: [PushToken], prunedBecause reason: String) throws -> Int {
    try inner.restore(tokens, prunedBecause: reason)
  }
  func moveToken(_ token: PushToken, to environment: PushEnvironment) throws {
    try inner.moveToken(token, to: environment)
  }
  func removeRegistrations(prunedBefore moment: UnixTime, limit: Int) throws -> Int {
    try inner.removeRegistrations(prunedBefore: moment, limit: limit)
  }

  func prune(
    _ kind: TokenKind, registeredBefore moment: UnixTime, because reason: String, at now: UnixTime,
    limit: Int
  ) throws -> Int {
    try inner.prune(
      kind, registeredBefore: moment, because: reason, at: now, limit: limit)
  }
  func unheardStart(of token: PushToken, acceptedBy moment: UnixTime) throws -> Start? {
    try inner.unheardStart(of: token, acceptedBy: moment)
  }

  // MARK: ActivityRows

  func activityStates(_ contexts: [ContextKey]) throws -> [ContextKey: ActivityState] {
    try inner.activityStates(contexts)
  }
  func liveActivityStates(of user: UserID) throws -> [ActivityState] {
    try inner.liveActivityStates(of: user)
  }
  func save(_ states: [ActivityState]) throws {
    try inner.save(states)
  }
  func save(_ report: PhoneReport) throws {
    try inner.save(report)
  }
  func dismissed(among contexts: [ContextKey]) throws -> Set<ContextKey> {
    try inner.dismissed(among: contexts)
  }
  func contextKey(ofActivity activityID: String, of user: UserID) throws -> ContextKey? {
    try inner.contextKey(ofActivity: activityID, of: user)
  }

  // MARK: StartRows

  func starts(of sessions: [SessionID]) throws -> [Start] {
    try inner.starts(of: sessions)
  }
  func save(_ start: Start) throws {
    try inner.save(start)
  }
  func start(of session: SessionID, token: PushToken) throws -> Start? {
    try inner.start(of: session, token: token)
  }
  func claimStart(of session: SessionID, token: PushToken, until: UnixTime?) throws {
    try inner.claimStart(of: session, token: token, until: until)
  }
  func uncountCard(of session: SessionID, token: PushToken) throws {
    try inner.uncountCard(of: session, token: token)
  }
  func startsSent(to user: UserID, on device: String?, since moment: UnixTime) throws -> [Start] {
    try inner.startsSent(to: user, on: device, since: moment)
  }
  func acceptStart(of session: SessionID, token: PushToken, at moment: UnixTime) throws {
    try inner.acceptStart(of: session, token: token, at: moment)
  }

  // MARK: DeliveryRows

  func save(_ records: [DeliveryRecord]) throws {
    try inner.save(records)
  }
  func deliveries(of session: SessionID) throws -> [DeliveryRecord] {
    try inner.deliveries(of: session)
  }
  func standings(of pushes: [(token: PushToken, context: ContextKey?)]) throws -> [PushStanding] {
    try inner.standings(of: pushes)
  }
  func raiseDeliveredRevs(_ accepted: [AcceptedRev]) throws -> [Int?] {
    try inner.raiseDeliveredRevs(accepted)
  }
  func forgetDeliveredRev(of token: PushToken) throws {
    try inner.forgetDeliveredRev(of: token)
  }
  func acceptedJobs(among ids: [String]) throws -> Set<String> {
    try inner.acceptedJobs(among: ids)
  }
  func unansweredJobs(among ids: [String]) throws -> Set<String> {
    try inner.unansweredJobs(among: ids)
  }
  func removeDeliveries(settledBefore moment: UnixTime, limit: Int) throws -> Int {
    try inner.removeDeliveries(settledBefore: moment, limit: limit)
  }

  // MARK: NotificationRows

  func insert(_ notification: Pipeline.Notification) throws -> Bool {
    try inner.insert(notification)
  }
  func notifications(
    of user: UserID, before cursor: (createdAt: UnixTime, id: String)?, updatedSince: UnixTime?,
    limit: Int
  ) throws -> [Pipeline.Notification] {
    try inner.notifications(of: user, before: cursor, updatedSince: updatedSince, limit: limit)
  }
  func notification(_ id: String, of user: UserID) throws -> Pipeline.Notification? {
    try inner.notification(id, of: user)
  }
  func save(_ notification: Pipeline.Notification) throws {
    try inner.save(notification)
  }
  func resolve(dedupeKey: String, because reason: String, at moment: UnixTime) throws -> [Pipeline
    .Notification]
  {
    try inner.resolve(dedupeKey: dedupeKey, because: reason, at: moment)
  }
  func resolvedKeys(among dedupeKeys: [String]) throws -> Set<String> {
    try inner.resolvedKeys(among: dedupeKeys)
  }

  // MARK: IdempotencyRows

  func answer(forKey key: String, of user: UserID, route: String) throws -> StoredAnswer? {
    try inner.answer(forKey: key, of: user, route: route)
  }
  func save(_ answer: StoredAnswer, forKey key: String, of user: UserID, route: String) throws {
    try inner.save(answer, forKey: key, of: user, route: route)
  }
  func removeAnswers(storedBefore moment: UnixTime, limit: Int) throws {
    try inner.removeAnswers(storedBefore: moment, limit: limit)
  }

  // MARK: OutboxRows

  func append(_ event: OutboxEvent) throws {
    try inner.append(event)
  }
  func hasFreeEvents(now: UnixTime) throws -> Bool {
    try inner.hasFreeEvents(now: now)
  }
  func leaseEvents(atMost count: Int, now: UnixTime, until: UnixTime) throws -> [OutboxEvent] {
    try inner.leaseEvents(atMost: count, now: now, until: until)
  }
  func removeEvents(_ sequences: [Int64]) throws {
    try inner.removeEvents(sequences)
  }
  func releaseEvents(_ sequences: [Int64]) throws {
    try inner.releaseEvents(sequences)
  }
  func postponeEvents(_ sequences: [Int64], until: UnixTime, parking: Bool) throws {
    try inner.postponeEvents(sequences, until: until, parking: parking)
  }
  func parkedEvents() throws -> Int { try inner.parkedEvents() }
  func outboxDepth() throws -> (events: Int, oldest: UnixTime?) {
    try inner.outboxDepth()
  }

  // MARK: FCMRows that a broken rule overrides

  func deliveredRev(of context: ContextKey, to token: FCMToken) throws -> Int? {
    try inner.deliveredRev(of: context, to: token)
  }
  func raiseDeliveredRev(of context: ContextKey, to token: FCMToken, rev: Int, at moment: UnixTime)
    throws -> Int
  {
    try inner.raiseDeliveredRev(of: context, to: token, rev: rev, at: moment)
  }
  func forgetDeliveredRev(of context: ContextKey, to token: FCMToken) throws {
    try inner.forgetDeliveredRev(of: context, to: token)
  }

  // MARK: HistoryRows

  func save(_ mutation: MutationRecord) throws {
    try inner.save(mutation)
  }
  func mutations(of session: SessionID) throws -> [MutationRecord] {
    try inner.mutations(of: session)
  }
  func save(_ builds: [BuildRecord]) throws {
    try inner.save(builds)
  }
  func builds(of session: SessionID) throws -> [BuildRecord] {
    try inner.builds(of: session)
  }
  func reports(of contexts: [ContextKey]) throws -> [PhoneReport] {
    try inner.reports(of: contexts)
  }
  func unpublished(among events: [EventID]) throws -> Set<EventID> {
    try inner.unpublished(among: events)
  }
  func removeHistory(before moment: UnixTime, limit: Int) throws -> Int {
    try inner.removeHistory(before: moment, limit: limit)
  }

  // MARK: TokenListing

  func tokenRows(_ query: TokenQuery, after place: Int64, limit: Int) throws
    -> [(place: Int64, row: TokenRow)]
  {
    try inner.tokenRows(query, after: place, limit: limit)
  }
}
