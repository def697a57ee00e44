import Pushes
import Vocabulary

/// One row of the token registry with what became of it.
package struct TokenRow: Hashable, Sendable {
  package let registration: Registration
  /// The newest rev that APNs accepted for it; nil when none.
  package let deliveredRev: Int?
  /// When it died, by APNs' word or by our refusal of it; nil while it is in use.
  package let prunedAt: UnixTime?
  package let prunedBecause: String?

  package init(
    registration: Registration, deliveredRev: Int?, prunedAt: UnixTime?, prunedBecause: String?
  ) {
    self.registration = registration
    self.deliveredRev = deliveredRev
    self.prunedAt = prunedAt
    self.prunedBecause = prunedBecause
  }
}

/// Which rows of the registry are meant; nil: any.
package struct TokenQuery: Hashable, Sendable {
  package var user: UserID?
  package var kind: TokenKind?
  package var isPruned: Bool?
  /// True: update tokens that no card is known of.
  package var isUnbound: Bool?
  package var prunedBecause: String?
  /// Pruned at this moment or later.
  package var prunedSince: UnixTime?

  package init(
    user: UserID? = nil, kind: TokenKind? = nil, isPruned: Bool? = nil, isUnbound: Bool? = nil,
    prunedBecause: String? = nil, prunedSince: UnixTime? = nil
  ) {
    self.user = user
    self.kind = kind
    self.isPruned = isPruned
    self.isUnbound = isUnbound
    self.prunedBecause = prunedBecause
    self.prunedSince = prunedSince
  }
}

/// The registry row by row, pruned ones included: for people who look after it.
package protocol TokenListing {
  /// Rows that `query` means, at most `limit` of them, after `place`; 0 begins.
  ///
  /// - Returns: each with its place, in the order of places.
  func tokenRows(_ query: TokenQuery, after place: Int64, limit: Int) throws
    -> [(place: Int64, row: TokenRow)]
}

extension TokenListing {
  /// All rows that `query` means, read page by page.
  package func tokenRows(_ query: TokenQuery) throws -> [TokenRow] {
    try pages { try tokenRows(query, after: $0, limit: $1) }
  }
}

/// Reads to the end what is read page by page: each after a place, so many rows.
func pages<Row>(_ page: (Int64, Int) throws -> [(place: Int64, row: Row)]) throws -> [Row] {
  let pageMax = 1000
  var found: [Row] = []
  var place: Int64 = 0
  while true {
    let page = try page(place, pageMax)
    found += page.map(\.row)
    guard page.count == pageMax, let last = page.last else { return found }
    place = last.place
  }
}
