import CNghttp2
import Glibc

/// The headers of one message on its way out, in memory that is used again for the next.
package final class HeaderWriter {
  /// APNs needs 13.
  package static let fieldsMax = 64

  private let fields = UnsafeMutablePointer<nghttp2_nv>.allocate(capacity: fieldsMax)
  private var bytes: UnsafeMutablePointer<UInt8>
  private var capacity = 4096
  private var used = 0
  package private(set) var count = 0

  package init() { bytes = .allocate(capacity: capacity) }

  deinit {
    fields.deallocate()
    bytes.deallocate()
  }

  package func removeAll() {
    count = 0
    used = 0
  }

  /// What `isVaried` hardly comes twice, so it stays out of the compression table, where it would
  /// drive out what does.
  package func append(_ name: StaticString, _ value: String, isVaried: Bool = false) {
    let flags = NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue | (isVaried ? noIndex : 0)
    reserve(value.utf8.count)
    append(
      nghttp2_nv(
        name: UnsafeMutablePointer(mutating: name.utf8Start), value: copy(value),
        namelen: name.utf8CodeUnitCount, valuelen: value.utf8.count, flags: UInt8(flags)))
  }

  /// A value in two parts.
  package func append(_ name: StaticString, prefix: StaticString, _ rest: String) {
    let count = prefix.utf8CodeUnitCount + rest.utf8.count
    reserve(count)
    let place = bytes + used
    memcpy(place, prefix.utf8Start, prefix.utf8CodeUnitCount)
    used += prefix.utf8CodeUnitCount
    _ = copy(rest)
    append(
      nghttp2_nv(
        name: UnsafeMutablePointer(mutating: name.utf8Start), value: place,
        namelen: name.utf8CodeUnitCount, valuelen: count,
        flags: UInt8(NGHTTP2_NV_FLAG_NO_COPY_NAME.rawValue)))
  }

  package func append(_ name: String, _ value: String) {
    reserve(name.utf8.count + value.utf8.count)
    append(
      nghttp2_nv(
        name: copy(name), value: copy(value), namelen: name.utf8.count,
        valuelen: value.utf8.count, flags: 0))
  }

  private var noIndex: UInt32 { NGHTTP2_NV_FLAG_NO_INDEX.rawValue }

  private func append(_ field: nghttp2_nv) {
    precondition(count < Self.fieldsMax, "more than \(Self.fieldsMax) header fields")
    fields[count] = field
    count += 1
  }

  private func copy(_ text: String) -> UnsafeMutablePointer<UInt8> {
    var text = text
    return text.withUTF8 { source in
      let place = bytes + used
      if let base = source.baseAddress { memcpy(place, base, source.count) }
      used += source.count
      return place
    }
  }

  private func reserve(_ more: Int) {
    guard used + more > capacity else { return }
    let old = bytes
    let oldRange = UnsafeMutableBufferPointer(start: old, count: capacity)
    capacity = max(capacity * 2, used + more)
    bytes = .allocate(capacity: capacity)
    memcpy(bytes, old, used)
    for index in 0..<count {
      fields[index].name = moved(fields[index].name, from: oldRange)
      fields[index].value = moved(fields[index].value, from: oldRange)
    }
    old.deallocate()
  }

  private func moved(
    _ pointer: UnsafeMutablePointer<UInt8>?, from range: UnsafeMutableBufferPointer<UInt8>
  ) -> UnsafeMutablePointer<UInt8>? {
    guard let pointer, let start = range.baseAddress, pointer >= start,
      pointer < start + range.count
    else { return pointer }
    return bytes + (pointer - start)
  }

  /// The fields as nghttp2 takes them, until the next change.
  var pointer: UnsafeMutablePointer<nghttp2_nv> { fields }
}
