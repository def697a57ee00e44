import Testing

/// The one-way order of the house: which module may import what.
@Suite struct ImportTests {
  /// What a module may import of the system besides our own modules.
  private static let valuesMayImport: Set<String> = ["Foundation"]
  private static let runnersMayImport: Set<String> = [
    "Foundation", "Glibc", "Synchronization", "Dispatch",
  ]

  /// Everything of ours that each module may import; lowest first, so that only names above it
  /// stand in a line.
  static let table: [(module: String, own: Set<String>, system: Set<String>)] = [
    // Glibc for the calendar alone.
    ("Vocabulary", [], valuesMayImport.union(["Glibc"])),
    ("ActivityContracts", [], valuesMayImport.union(["ActivityKit"])),
    ("Activities", ["Vocabulary", "ActivityContracts"], valuesMayImport),
    ("Sessions", ["Vocabulary", "ActivityContracts"], valuesMayImport),
    ("Cryptography", ["Vocabulary", "COpenSSL"], valuesMayImport),
    ("Pushes", ["Vocabulary", "Cryptography"], valuesMayImport),
    ("ServiceRuntime", ["Vocabulary", "CLinux"], runnersMayImport),
    (
      "Pipeline",
      [
        "Vocabulary", "ActivityContracts", "Activities", "Sessions", "Pushes", "Cryptography",
        "ServiceRuntime",
      ], runnersMayImport
    ),
    (
      "HTTPServing", ["Vocabulary", "ServiceRuntime", "CMicroHTTPD", "CLinux"], runnersMayImport
    ),
    ("HTTPClient", ["CCurl", "CLinux"], runnersMayImport),
    ("OTLPExport", ["Vocabulary", "ServiceRuntime", "HTTPClient"], runnersMayImport),
    ("HTTP2", ["ServiceRuntime", "COpenSSL", "CNghttp2", "CLinux"], runnersMayImport),
    (
      "RabbitMQBroker",
      [
        "Vocabulary", "Cryptography", "ServiceRuntime", "Pipeline", "HTTPClient", "CRabbitMQ",
        "CYAML", "CLinux",
      ],
      runnersMayImport
    ),
    (
      "APNsTransport",
      [
        "Vocabulary", "Cryptography", "Pushes", "ServiceRuntime", "Pipeline", "HTTPClient", "HTTP2",
      ],
      runnersMayImport
    ),
    (
      "WebPushTransport",
      [
        "Vocabulary", "Pushes", "ServiceRuntime", "Pipeline", "HTTPClient", "CCurl", "CLinux",
      ], runnersMayImport
    ),
    (
      "FCMTransport", ["Vocabulary", "Pushes", "Pipeline", "HTTPClient"], runnersMayImport
    ),
    // No target: compiled into both stores.
    (
      "SharedStore",
      ["Vocabulary", "Activities", "Sessions", "Cryptography", "Pushes", "Pipeline"],
      runnersMayImport
    ),
    (
      "SQLiteStore",
      ["Vocabulary", "Activities", "Sessions", "Cryptography", "Pushes", "Pipeline", "CSQLite"],
      runnersMayImport
    ),
    (
      "PostgreSQLStore",
      [
        "Vocabulary", "Activities", "Sessions", "Cryptography", "Pushes", "ServiceRuntime",
        "Pipeline", "CPostgreSQL",
      ], runnersMayImport
    ),
    (
      "HTTPAPI",
      [
        "Vocabulary", "ActivityContracts", "Activities", "Sessions", "Cryptography", "Pushes",
        "ServiceRuntime", "Pipeline", "HTTPServing",
      ], runnersMayImport
    ),
    (
      "Simulator",
      [
        "Vocabulary", "ActivityContracts", "Activities", "Cryptography", "ServiceRuntime",
        "HTTPServing", "HTTPClient", "HTTP2", "CLinux",
      ], runnersMayImport
    ),
    (
      "Replay",
      [
        "Vocabulary", "ActivityContracts", "Activities", "Sessions", "Cryptography", "Pushes",
        "ServiceRuntime", "Pipeline", "HTTPClient", "CZlib",
      ], runnersMayImport
    ),
    (
      "lockstep",
      [
        "Vocabulary", "ActivityContracts", "Activities", "Sessions", "Cryptography", "Pushes",
        "ServiceRuntime", "Pipeline", "HTTPServing", "HTTPClient", "OTLPExport", "RabbitMQBroker",
        "APNsTransport", "WebPushTransport", "FCMTransport", "SQLiteStore", "PostgreSQLStore",
        "HTTPAPI", "Simulator", "Replay",
      ], runnersMayImport
    ),
    (
      "Demo",
      [
        "Vocabulary", "Sessions", "Cryptography", "ServiceRuntime", "Pipeline", "HTTPClient",
        "RabbitMQBroker", "CLinux",
      ], runnersMayImport
    ),
  ]

  /// Which modules may import each C library.
  static let libraries: [String: Set<String>] = [
    "CSQLite": ["SQLiteStore"], "CPostgreSQL": ["PostgreSQLStore"],
    "CRabbitMQ": ["RabbitMQBroker"], "CYAML": ["RabbitMQBroker"],
    "CMicroHTTPD": ["HTTPServing"], "CCurl": ["HTTPClient", "WebPushTransport"],
    "CNghttp2": ["HTTP2"], "CZlib": ["Replay"],
    "COpenSSL": ["HTTP2", "Cryptography"],
    "CLinux": [
      "ServiceRuntime", "HTTPServing", "HTTP2", "RabbitMQBroker", "WebPushTransport", "HTTPClient",
      "Simulator", "Demo",
    ],
  ]

  private struct Import {
    let file: SourceTree.File
    let line: Int
    let module: String
  }

  private static func imports(of files: [SourceTree.File]) -> [Import] {
    files.flatMap { file in
      file.code.enumerated().compactMap { place, line in
        guard line.contains("import"),
          let match = line.firstMatch(
            of: #/^\s*(?:@\w+\s+)?(?:\w+\s+)?import\s+(?:(?:struct|class|enum|func)\s+)?(\w+)/#)
        else { return nil }
        return Import(file: file, line: place + 1, module: String(match.1))
      }
    }
  }

  @Test func `every module stands in the table`() {
    let known = Set(Self.table.map(\.module))
    let modules = Set(SourceTree.sources.map(\.module))
    expectNone(
      modules.subtracting(known).sorted().map {
        Finding("Sources/\($0)", "is not in ImportTests.table: say there what it may import")
      })
    expectNone(
      known.subtracting(modules).sorted().map {
        Finding("Tests/TidyTests/ImportTests.swift", "names module \($0), which has no folder")
      })
  }

  @Test func `imports go one way`() {
    let allowed = Dictionary(
      uniqueKeysWithValues: Self.table.map { ($0.module, $0.own.union($0.system)) })
    expectNone(
      Self.imports(of: SourceTree.sources).filter {
        allowed[$0.file.module]?.contains($0.module) == false
      }.map {
        Finding(
          $0.file.path, line: $0.line,
          "\($0.file.module) may not import \($0.module): turn the dependence round with a port, "
            + "or take the value as a parameter")
      })
  }

  @Test func `the table itself goes one way`() {
    var above: Set<String> = Set(Self.libraries.keys)
    for (module, own, _) in Self.table {
      #expect(own.isSubset(of: above), "\(module): \(own.subtracting(above)) stand below it")
      above.insert(module)
    }
  }

  @Test func `adapters never see each other`() {
    let adapters: Set<String> = [
      "RabbitMQBroker", "APNsTransport", "SQLiteStore", "PostgreSQLStore", "HTTPAPI",
    ]
    for (module, own, _) in Self.table where adapters.contains(module) {
      #expect(own.isDisjoint(with: adapters), "\(module)")
    }
  }

  @Test func `a C library is imported by its adapter alone`() {
    expectNone(
      Self.imports(of: SourceTree.sources + SourceTree.tests).compactMap { found in
        guard let owners = Self.libraries[found.module], !owners.contains(found.file.module) else {
          return nil
        }
        return Finding(
          found.file.path, line: found.line,
          "imports \(found.module): only \(owners.sorted().joined(separator: ", ")) may; ask it")
      })
  }
}
