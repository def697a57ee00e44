import CRabbitMQ
import Foundation
import Pipeline

/// Memory for values on their way to librabbitmq: everything made here lives until ``recycle()``.
/// Owned by one thread.
final class AMQPPool {
  private static let page_bytes = 16 * 1024
  private let pool: UnsafeMutablePointer<amqp_pool_t>

  init() {
    pool = .allocate(capacity: 1)
    init_amqp_pool(pool, Self.page_bytes)
  }

  deinit {
    empty_amqp_pool(pool)
    pool.deallocate()
  }

  func recycle() { recycle_amqp_pool(pool) }

  func bytes(_ text: String) -> amqp_bytes_t {
    var text = text
    return text.withUTF8 { source in
      guard let base = source.baseAddress, !source.isEmpty else { return amqp_bytes_t() }
      guard let copy = amqp_pool_alloc(pool, source.count) else {
        preconditionFailure("no memory for \(source.count) bytes")
      }
      copy.copyMemory(from: base, byteCount: source.count)
      return amqp_bytes_t(len: source.count, bytes: copy)
    }
  }

  func table(_ values: [String: HeaderValue]) -> amqp_table_t {
    table(values.map { (key: bytes($0.key), value: field($0.value)) })
  }

  func table(of headers: MessageHeaders) -> amqp_table_t {
    table(headers.map { (key: bytes($0.key), value: field($0.value)) })
  }

  /// A table of one table, as the client's properties need it.
  func table(_ key: String, of values: [String: HeaderValue], and text: [String: HeaderValue])
    -> amqp_table_t
  {
    var nested = amqp_field_value_t()
    nested.kind = UInt8(AMQP_FIELD_KIND_TABLE.rawValue)
    nested.value.table = table(values)
    return table(
      text.map { (key: bytes($0.key), value: field($0.value)) } + [(bytes(key), nested)])
  }

  private func table(_ fields: [(key: amqp_bytes_t, value: amqp_field_value_t)]) -> amqp_table_t {
    guard !fields.isEmpty else { return amqp_table_t() }
    let size = fields.count * MemoryLayout<amqp_table_entry_t>.stride
    guard let memory = amqp_pool_alloc(pool, size) else {
      preconditionFailure("no memory for \(size) bytes")
    }
    let entries = memory.bindMemory(to: amqp_table_entry_t.self, capacity: fields.count)
    for (index, field) in fields.enumerated() {
      (entries + index).initialize(to: amqp_table_entry_t(key: field.key, value: field.value))
    }
    return amqp_table_t(num_entries: Int32(fields.count), entries: entries)
  }

  private func field(_ value: HeaderValue) -> amqp_field_value_t {
    var field = amqp_field_value_t()
    switch value {
    case .text(let text):
      field.kind = UInt8(AMQP_FIELD_KIND_UTF8.rawValue)
      field.value.bytes = bytes(text)
    case .integer(let integer):
      field.kind = UInt8(AMQP_FIELD_KIND_I64.rawValue)
      field.value.i64 = integer
    case .flag(let flag):
      field.kind = UInt8(AMQP_FIELD_KIND_BOOLEAN.rawValue)
      field.value.boolean = flag ? 1 : 0
    }
    return field
  }
}

// MARK: The way back: everything is copied, since the library's memory ends with the frame.

extension String {
  init(_ bytes: amqp_bytes_t) {
    self.init(decoding: UnsafeRawBufferPointer(start: bytes.bytes, count: bytes.len), as: UTF8.self)
  }
}

extension MessageHeaders {
  /// Text, whole numbers of any width, times and flags. Values of other kinds (tables such as
  /// `x-death`, lists, fractions, nothing) are left out: no stage reads them.
  init(_ table: amqp_table_t) {
    self.init(capacity: Int(table.num_entries))
    for entry in UnsafeBufferPointer(start: table.entries, count: Int(table.num_entries)) {
      self[String(entry.key)] = HeaderValue(entry.value)
    }
  }
}

extension HeaderValue {
  fileprivate init?(_ field: amqp_field_value_t) {
    let value = field.value
    switch amqp_field_value_kind_t(rawValue: UInt32(field.kind)) {
    case AMQP_FIELD_KIND_UTF8, AMQP_FIELD_KIND_BYTES: self = .text(String(value.bytes))
    case AMQP_FIELD_KIND_BOOLEAN: self = .flag(value.boolean != 0)
    case AMQP_FIELD_KIND_I8: self = .integer(Int64(value.i8))
    case AMQP_FIELD_KIND_U8: self = .integer(Int64(value.u8))
    case AMQP_FIELD_KIND_I16: self = .integer(Int64(value.i16))
    case AMQP_FIELD_KIND_U16: self = .integer(Int64(value.u16))
    case AMQP_FIELD_KIND_I32: self = .integer(Int64(value.i32))
    case AMQP_FIELD_KIND_U32: self = .integer(Int64(value.u32))
    case AMQP_FIELD_KIND_I64: self = .integer(value.i64)
    case AMQP_FIELD_KIND_U64, AMQP_FIELD_KIND_TIMESTAMP: self = .integer(Int64(clamping: value.u64))
    default: return nil
    }
  }
}
