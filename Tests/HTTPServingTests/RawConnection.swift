import Glibc

/// A socket to a server under test, for what no well-behaved client sends.
final class RawConnection {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  struct Answer: Equatable {
    var status: Int
    var headers: [String: String]
    var body: String
  }

  /// How long anything may take before the test fails.
  static let patience_ms: Int32 = 10_000

  private let socket: Int32
  private var buffer: [UInt8] = []

  init(port: UInt16) throws {
    socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let code = withUnsafeBytes(of: &address) {
      connect(
        socket, $0.assumingMemoryBound(to: sockaddr.self).baseAddress,
        socklen_t(MemoryLayout<sockaddr_in>.size))
    }
    guard code == 0 else { throw Failure(description: String(cString: strerror(errno))) }
  }

  deinit { close(socket) }

  /// - Returns: whether all of it was taken.
  @discardableResult
  func send(_ text: String) -> Bool {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let sent = bytes.withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { return false }
      bytes = bytes.dropFirst(sent)
    }
    return true
  }

  /// Sends the end, and can still read.
  func endSending() { shutdown(socket, Int32(SHUT_WR)) }

  /// Waits for something to read.
  ///
  /// - Returns: whether there is something, be it the end.
  func isReadable(within milliseconds: Int32) -> Bool {
    var watched = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
    return poll(&watched, 1, milliseconds) > 0
  }

  /// - Returns: whether anything came; false at the end.
  private func fill() throws -> Bool {
    guard isReadable(within: Self.patience_ms) else {
      throw Failure(description: "nothing came within \(Self.patience_ms) ms")
    }
    var piece = [UInt8](repeating: 0, count: 65536)
    let count = recv(socket, &piece, piece.count, 0)
    guard count >= 0 else { throw Failure(description: String(cString: strerror(errno))) }
    buffer += piece.prefix(count)
    return count > 0
  }

  /// Whatever comes until the server closes the connection.
  func readToEnd() throws -> String {
    while try fill() {}
    defer { buffer = [] }
    return String(decoding: buffer, as: UTF8.self)
  }

  /// Waits until what came contains `text`, and takes it all.
  func read(until text: String) throws -> String {
    while !String(decoding: buffer, as: UTF8.self).contains(text) {
      guard try fill() else { throw Failure(description: "the end came before \(text)") }
    }
    defer { buffer = [] }
    return String(decoding: buffer, as: UTF8.self)
  }

  /// Reads one answer with a content-length, and leaves what follows it.
  func answer() throws -> Answer {
    var head: String?
    while head == nil {
      if let end = buffer.firstRange(of: Array("\r\n\r\n".utf8)) {
        head = String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
        buffer.removeSubrange(..<end.upperBound)
      } else if try !fill() {
        throw Failure(description: "the end came instead of an answer")
      }
    }
    var lines = (head ?? "").split(separator: "\r\n")
    let status = lines.removeFirst().split(separator: " ")[1]
    var headers: [String: String] = [:]
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1)
      headers[parts[0].lowercased()] = parts[1].drop { $0 == " " }.description
    }
    let length = Int(headers["content-length"] ?? "0") ?? 0
    while buffer.count < length {
      guard try fill() else { throw Failure(description: "the end came within a body") }
    }
    let body = String(decoding: buffer.prefix(length), as: UTF8.self)
    buffer.removeFirst(length)
    return Answer(status: Int(status) ?? 0, headers: headers, body: body)
  }

  /// Waits for the server to close the connection.
  ///
  /// - Returns: whether it did, and nothing more came.
  func isClosed() -> Bool {
    guard buffer.isEmpty, isReadable(within: Self.patience_ms) else { return false }
    var byte: UInt8 = 0
    return recv(socket, &byte, 1, 0) <= 0
  }
}
