import Testing

/// What C keeps beyond the call that it was given in.
///
/// Swift's memory is promised for one call: the array behind a pointer, and the object behind an
/// unretained reference, may be gone right after their last use in the text, and in a release build
/// they are. So each way for C to keep one is here, with the files that may use it and who sees to
/// it that it stays.
@Suite struct MemoryTests {
  private struct Keeper {
    /// Whole words of the code.
    let words: [String]
    /// Nobody: there is another way.
    var files: Set<String> = []
    let instead: String
  }

  private static let ownMemory = "copy into memory that one owner allocates and frees"

  private static let keepers = [
    Keeper(words: ["BIO_new_mem_buf"], instead: "BIO_new(BIO_s_mem()) and BIO_write, which copies"),
    Keeper(
      words: ["lockstep_bio_memory"], files: ["Sources/Cryptography/AsymmetricKey.swift"],
      instead: "BIO_read"),
    Keeper(words: ["OSSL_PARAM_BLD_new"], instead: "a function in COpenSSL's shim.h"),
    Keeper(
      words: ["OSSL_PARAM_construct_octet_string", "OSSL_PARAM_construct_utf8_string"],
      instead: "a function in COpenSSL's shim.h"),
    Keeper(words: ["SQLITE_STATIC"], instead: "the transient destructor: SQLite copies"),
    Keeper(words: ["sqlite3_bind_pointer"], instead: "bind a value"),
    Keeper(
      words: ["RESPMEM_PERSISTENT", "MHD_create_response_from_data"],
      instead: ".RESPMEM_MUST_COPY"),
    Keeper(words: ["NGHTTP2_NV_FLAG_NO_COPY_VALUE"], instead: "let nghttp2 copy"),
    // Names are StaticStrings, which are never freed.
    Keeper(
      words: ["NGHTTP2_NV_FLAG_NO_COPY_NAME"], files: ["Sources/HTTP2/HeaderWriter.swift"],
      instead: "let nghttp2 copy"),
    // Performs within the closure that has the body.
    Keeper(
      words: ["CURLOPT_POSTFIELDS"], files: ["Sources/HTTPClient/HTTPClient.swift"],
      instead: "CURLOPT_COPYPOSTFIELDS"),
    // Allocated by the object that frees the handle, and after it.
    Keeper(
      words: ["CURLOPT_ERRORBUFFER"],
      files: [
        "Sources/HTTPClient/HTTPClient.swift", "Sources/HTTPClient/HTTPTransfers.swift",
        "Sources/WebPushTransport/Transfer.swift",
      ], instead: ownMemory),
    Keeper(
      words: ["yaml_parser_set_input_string"],
      files: ["Sources/RabbitMQBroker/Topology/YAMLReader.swift"], instead: ownMemory),
    // Set anew before each call into zlib, within the closures that have the memory.
    Keeper(
      words: ["next_in", "next_out"],
      files: [
        "Sources/Replay/Recording/GzipReader.swift", "Sources/Replay/Recording/GzipWriter.swift",
      ], instead: "GzipReader or GzipWriter"),
    Keeper(words: ["setvbuf", "putenv"], instead: ownMemory),
    Keeper(
      words: ["passUnretained"],
      files: [
        // A stand-in of one call, whose maker reads it afterwards.
        "Sources/HTTPClient/HTTPClient.swift",
        // In a table until their handle is out of the loop.
        "Sources/HTTPClient/HTTPTransfers.swift", "Sources/WebPushTransport/Transfer.swift",
        // It takes itself out of libcurl's handle before that is freed.
        "Sources/HTTPClient/TransferLoop.swift",
        // They own the session that knows them; it calls only within their own methods.
        "Sources/HTTP2/ClientConnecting.swift", "Sources/HTTP2/ServerConnection.swift",
        // In their connection's list until their stream is closed.
        "Sources/HTTP2/HTTP2Client.swift", "Sources/HTTP2/ServerStream.swift",
        // Held by the server, which stops the library's threads before it lets go.
        "Sources/HTTPServing/Service.swift",
      ], instead: "passRetained, and release when C is done with it"),
  ]

  private struct Use {
    let file: String
    let line: Int
    let word: String
  }

  /// Every use of those words.
  private static let uses: [Use] = {
    let words = Set(keepers.flatMap(\.words))
    return (SourceTree.sources + SourceTree.testsButTidy).flatMap { file in
      file.code.enumerated().flatMap { place, line in
        line.utf8.split { !isPartOfWord($0) }.map { String(Substring($0)) }
          .filter(words.contains).map { Use(file: file.path, line: place + 1, word: $0) }
      }
    }
  }()

  private static func isPartOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  @Test func `C keeps no memory that Swift may free`() {
    for keeper in Self.keepers {
      expectNone(
        Self.uses.filter { keeper.words.contains($0.word) && !keeper.files.contains($0.file) }.map {
          Finding(
            $0.file, line: $0.line,
            "has C keep what it is given, by \($0.word). Instead: \(keeper.instead). Or say in "
              + "MemoryTests who sees to it that it stays")
        })
    }
  }

  @Test func `a file that may have C keep something does`() {
    for keeper in Self.keepers {
      let used = Set(Self.uses.filter { keeper.words.contains($0.word) }.map(\.file))
      expectNone(
        keeper.files.subtracting(used).sorted().map {
          Finding($0, "does not use \(keeper.words[0]): take it out of MemoryTests")
        })
    }
  }

  @Test func `a pointer stays in the closure that is given it`() {
    let returned =
      #/withUnsafe\w*(?:\([^)]*\))?\s*\{\s*(?:\$0|(\w+) in \1)(?:\.baseAddress!?)?\s*\}/#
    expectNone(
      (SourceTree.sources + SourceTree.testsButTidy).filter { file in
        file.code.contains { $0.contains("withUnsafe") }
      }.findings(
        returned, "hands a pointer out of the call that it is good for: use it within the closure"))
  }
}
