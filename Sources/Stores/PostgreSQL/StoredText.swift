import Glibc

/// Text as PostgreSQL can keep it. Its `text` holds every character but U+0000, which a caller may
/// well send. So U+0000 is kept as U+10FFFF and `0`, and U+10FFFF, which stands for nothing, as
/// itself and `1`: no two texts are kept alike, and hardly any is kept otherwise than it is.
enum StoredText {
  /// U+10FFFF in UTF-8.
  private static let mark: [UInt8] = [0xF4, 0x8F, 0xBF, 0xBF]
  private static let forNull = UInt8(ascii: "0")
  private static let forMark = UInt8(ascii: "1")

  static func write(_ text: UnsafeBufferPointer<UInt8>, to bytes: inout [UInt8]) {
    guard holds(0, text) || holds(mark[0], text) else { return bytes.append(contentsOf: text) }
    var place = text.startIndex
    while place < text.endIndex {
      if text[place] == 0 {
        bytes += mark + [forNull]
        place += 1
      } else if isMark(text, at: place) {
        bytes += mark + [forMark]
        place += mark.count
      } else {
        bytes.append(text[place])
        place += 1
      }
    }
  }

  /// Calls `make` with the text as it was written.
  static func read<Result>(
    _ stored: UnsafeBufferPointer<UInt8>, _ make: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    guard holds(mark[0], stored) else { return make(stored) }
    var text: [UInt8] = []
    var place = stored.startIndex
    while place < stored.endIndex {
      if isMark(stored, at: place), place + mark.count < stored.endIndex {
        text += stored[place + mark.count] == forNull ? [0] : mark
        place += mark.count + 1
      } else {
        text.append(stored[place])
        place += 1
      }
    }
    return text.withUnsafeBufferPointer(make)
  }

  private static func holds(_ byte: UInt8, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
    guard let start = text.baseAddress else { return false }
    return memchr(start, Int32(byte), text.count) != nil
  }

  private static func isMark(_ text: UnsafeBufferPointer<UInt8>, at place: Int) -> Bool {
    place + mark.count <= text.endIndex
      && text[place..<place + mark.count].elementsEqual(mark)
  }
}
