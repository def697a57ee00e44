/// What a database says of its schema.
struct SchemaVersion {
  /// The number of its last step; 0: it has none.
  let reached: Int
  /// How many steps a program must know to use it.
  let wanted: Int

  /// Why a program that knows `newest` steps must leave it alone; nil when it need not. A database
  /// that a newer program only added to is none of them.
  func refusal(knowing newest: Int) -> String? {
    guard reached > newest, wanted > newest else { return nil }
    return "has schema \(reached), which wants a program that knows \(wanted); this one knows up to"
      + " \(newest): start the newer program"
  }

  /// Why a program that may not change it cannot read it; nil when it can.
  func refusalToLook(knowing newest: Int) -> String? {
    guard reached < newest else { return refusal(knowing: newest) }
    return reached == 0
      ? Self.isForeign
      : "has schema \(reached), this program wants \(newest): start one of its roles once"
  }

  /// Why nothing is made in a database that holds tables of others.
  static func refusal(foreignTable name: String) -> String {
    "\(isForeign): it has a table \(name) but no schema number"
  }

  private static let isForeign = "is not a Lockstep database"
}
