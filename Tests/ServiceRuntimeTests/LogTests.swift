import Foundation
import ServiceRuntime
import Synchronization
import TestSupport
import Testing
import Vocabulary

@Suite struct LogTests {
  private final class Lines: Sendable {
    private let kept = Mutex<[String]>([])
    var all: [String] { kept.withLock { $0 } }
    func write(_ line: String) { kept.withLock { $0.append(line) } }
  }

  private func log(_ form: Log.Form, level: Log.Level = .debug, into lines: Lines) -> Log {
    Log(form: form, level: level, role: "api", now: { Samples.noon }, write: lines.write)
  }

  @Test func `text is one line of time, level, event and fields`() {
    let lines = Lines()
    log(.text, into: lines).info("push sent", ["token": "ab12cd34", "rev": "7"])
    #expect(
      lines.all == [
        "2026-06-18T12:00:00.000Z info push sent role=api token=ab12cd34 rev=7\n"
      ])
  }

  @Test(arguments: [
    ("plain", "plain"), ("", #""""#), ("two words", #""two words""#), ("a=b", #""a=b""#),
    ("a\nb", #""a\nb""#), (#"say "x""#, #""say \"x\"""#), ("tab\there", #""tab\there""#),
    ("Größe", "Größe"), ("\u{1}", #""\u0001""#),
    ("a\u{9B}2J\u{202E}b", #"a\u{9B}2J\u{202E}b"#),
  ])
  func `a value that could be misread is quoted`(value: String, written: String) {
    let lines = Lines()
    log(.text, into: lines).error("e", ["v": value])
    #expect(lines.all == ["2026-06-18T12:00:00.000Z error e role=api v=\(written)\n"])
  }

  @Test func `a value of any length makes no line of any length`() {
    let lines = Lines()
    log(.text, into: lines).error("e", ["v": String(repeating: "é", count: 40_000)])
    let value = String(repeating: "é", count: Log.valueBytesMax / 2)
    #expect(lines.all == ["2026-06-18T12:00:00.000Z error e role=api v=\(value)…\n"])
  }

  @Test func `json is one object per line`() throws {
    let lines = Lines()
    log(.json, into: lines).warning("broker is away", ["because": "a \"quote\"\nand a line"])
    let line = try #require(lines.all.first)
    #expect(line.hasSuffix("}\n"))
    #expect(line.count { $0 == "\n" } == 1)
    let wanted: JSONValue = [
      "time": "2026-06-18T12:00:00.000Z", "level": "warning", "event": "broker is away",
      "role": "api", "because": "a \"quote\"\nand a line",
    ]
    #expect(try JSONValue(parsing: Data(line.utf8)) == wanted)
  }

  @Test func `lines that a full disk or a reader that has gone does not take are dropped`() throws {
    signal(SIGPIPE, SIG_IGN)
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    close(ends[0])
    let full = open("/dev/full", O_WRONLY)
    #expect(full >= 0)
    for descriptor in [ends[1], full] {
      let log = Log(form: .text, level: .info, role: "api", now: { Samples.noon }) {
        #expect(!StandardStream(descriptor: descriptor).write($0))
      }
      log.error("the process goes on")
      close(descriptor)
    }
  }

  @Test func `after a line that was cut short the next one begins anew`() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let (reader, writer) = (FileHandle(fileDescriptor: ends[0], closeOnDealloc: true), ends[1])
    defer { close(writer) }
    // A pipe of one page that does not wait takes a part of what is longer.
    #expect(fcntl(writer, 1031 /* F_SETPIPE_SZ */, 4096) == 4096)
    #expect(fcntl(writer, F_SETFL, O_NONBLOCK) == 0)
    let stream = StandardStream(descriptor: writer)
    let long = String(repeating: "x", count: 6000) + "\n"
    #expect(!stream.write(long))
    #expect(reader.availableData == Data(long.utf8.prefix(4096)))
    #expect(stream.write("second\n"))
    #expect(stream.write("third\n"))
    #expect(reader.availableData == Data("\nsecond\nthird\n".utf8))
    // One of which nothing was taken changes nothing.
    #expect(!stream.write(long))
    #expect(!stream.write("lost\n"))
    #expect(reader.availableData == Data(long.utf8.prefix(4096)))
    #expect(stream.write("fourth\n"))
    #expect(reader.availableData == Data("\nfourth\n".utf8))
  }

  @Test func `a disk that was full while a line was written costs that line alone`() async throws {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    let path = file.path(percentEncoded: false)
    await #expect(processExitsWith: .success) { [path = path as String] in
      signal(SIGXFSZ, SIG_IGN)
      let descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
      let stream = StandardStream(descriptor: descriptor)
      #expect(stream.write("whole\n"))
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
      let before = limit.rlim_cur
      limit.rlim_cur = 10
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      #expect(!stream.write("cut short\n"))
      #expect(!stream.write("lost\n"))
      limit.rlim_cur = before
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0)
      #expect(stream.write("next\n"))
    }
    #expect(try String(contentsOf: file, encoding: .utf8) == "whole\ncut \nnext\n")
  }

  @Test func `a line that is written in parts comes whole`() throws {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    let text = String(repeating: "ä", count: 100_000)
    let writer = ends[1]
    let thread = OwnedThread.start(named: "writer") {
      StandardStream(descriptor: writer).write(text)
      close(writer)
    }
    let read = try FileHandle(fileDescriptor: ends[0], closeOnDealloc: true).readToEnd()
    #expect(read == Data(text.utf8))
    #expect(becomesTrue { thread.hasEnded })
  }

  @Test func `a field cannot take the place of time, level or event`() throws {
    let lines = Lines()
    log(.json, into: lines).info("real", ["event": "false", "level": "error"])
    let json = try JSONValue(parsing: Data(try #require(lines.all.first).utf8))
    #expect(json["event"] == "real")
    #expect(json["level"] == "info")
  }

  @Test(arguments: [
    (Log.Level.debug, 4), (.info, 3), (.warning, 2), (.error, 1),
  ])
  func `lines below the level are not written`(level: Log.Level, count: Int) {
    let lines = Lines()
    let log = log(.text, level: level, into: lines)
    log.debug("d")
    log.info("i")
    log.warning("w")
    log.error("e")
    #expect(lines.all.count == count)
  }
}
