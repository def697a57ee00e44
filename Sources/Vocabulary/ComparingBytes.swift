import Foundation

extension String {
  /// By the bytes, as others sort keys; `<` would look at what the characters amount to.
  func isBefore(_ other: String) -> Bool {
    var (left, right) = (self, other)
    return left.withUTF8 { left in
      right.withUTF8 { right in
        let shared = min(left.count, right.count)
        guard shared > 0, let first = left.baseAddress, let second = right.baseAddress
        else { return left.count < right.count }
        let order = memcmp(first, second, shared)
        return order < 0 || order == 0 && left.count < right.count
      }
    }
  }

  /// Whether both have the same bytes; `==` looks at what the characters amount to.
  func isSame(as other: String) -> Bool {
    let isSame = utf8.withContiguousStorageIfAvailable { left in
      other.utf8.withContiguousStorageIfAvailable { right in
        guard left.count == right.count, let first = left.baseAddress,
          let second = right.baseAddress
        else { return left.count == right.count }
        return memcmp(first, second, left.count) == 0
      }
    }
    // A string that came from elsewhere may not lie in one piece.
    return isSame.flatMap(\.self) ?? utf8.elementsEqual(other.utf8)
  }
}
