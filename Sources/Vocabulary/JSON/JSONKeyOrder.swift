extension String {
  /// By the bytes, as others sort keys; `<` would look at what the characters amount to.
  @inline(__always)
  func isBefore(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
