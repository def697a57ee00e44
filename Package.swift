// swift-tools-version: 6.2
import PackageDescription

// Targets stand lowest first: a target may only name targets above it, so this file is the order
// of dependence. `swift build --explicit-target-dependency-import-check error` holds every import
// to it.

let strict: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .treatAllWarnings(as: .error),
]

func library(
  _ name: String, path: String? = nil, _ dependencies: [Target.Dependency] = [],
  resources: [Resource] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: path ?? "Sources/\(name)", resources: resources,
    swiftSettings: strict)
}

func clibrary(_ name: String, pkgConfig: String? = nil, package: String? = nil) -> Target {
  .systemLibrary(
    name: name, path: "Sources/CLibraries/\(name)", pkgConfig: pkgConfig,
    providers: package.map { [.apt([$0])] })
}

func tests(_ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = [])
  -> Target
{
  .testTarget(
    name: "\(name)Tests", dependencies: dependencies + ["TestSupport"], path: "Tests/\(name)Tests",
    resources: resources, swiftSettings: strict)
}

let package = Package(
  name: "lockstep",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "ActivityContracts", targets: ["ActivityContracts"]),
    .executable(name: "lockstep", targets: ["lockstep"]),
  ],
  targets: [
    clibrary("CLinux"),
    clibrary("COpenSSL", pkgConfig: "openssl", package: "libssl-dev"),
    clibrary("CNghttp2", pkgConfig: "libnghttp2", package: "libnghttp2-dev"),
    clibrary("CRabbitMQ", pkgConfig: "librabbitmq", package: "librabbitmq-dev"),
    clibrary("CMicroHTTPD", pkgConfig: "libmicrohttpd", package: "libmicrohttpd-dev"),
    clibrary("CCurl", pkgConfig: "libcurl", package: "libcurl4-openssl-dev"),
    clibrary("CSQLite", pkgConfig: "sqlite3", package: "libsqlite3-dev"),
    clibrary("CPostgreSQL", pkgConfig: "libpq", package: "libpq-dev"),
    clibrary("CYAML", pkgConfig: "yaml-0.1", package: "libyaml-dev"),
    clibrary("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),

    // Values: no I/O, no clock.
    library("Vocabulary"),
    library("ActivityContracts"),
    library("Activities", ["Vocabulary", "ActivityContracts"]),
    library("Sessions", ["Vocabulary", "ActivityContracts"]),
    library("Cryptography", ["COpenSSL", "Vocabulary"]),
    library("Pushes", ["Vocabulary", "Cryptography"]),

    // What any long-running process needs; has never heard of a push.
    library("ServiceRuntime", ["CLinux", "Vocabulary"]),

    // The loop, the stages and the ports they need. Start reading here.
    library(
      "Pipeline",
      [
        "Vocabulary", "ActivityContracts", "Activities", "Sessions", "Pushes", "Cryptography",
        "ServiceRuntime",
      ]),

    // Adapters. They never see each other; `lockstep` joins them.
    library("HTTPServing", ["CMicroHTTPD", "CLinux", "ServiceRuntime", "Vocabulary"]),
    library("HTTPClient", ["CCurl", "CLinux"]),
    library("OTLPExport", ["HTTPClient", "ServiceRuntime", "Vocabulary"]),
    library("HTTP2", ["COpenSSL", "CNghttp2", "CLinux", "ServiceRuntime"]),
    library(
      "RabbitMQBroker",
      [
        "CRabbitMQ", "CYAML", "CLinux", "Cryptography", "HTTPClient", "Pipeline", "ServiceRuntime",
        "Vocabulary",
      ]),
    library(
      "APNsTransport",
      [
        "HTTP2", "HTTPClient", "Cryptography", "Pushes", "Pipeline", "ServiceRuntime", "Vocabulary",
      ]),
    library(
      "WebPushTransport",
      ["CCurl", "CLinux", "HTTPClient", "Pushes", "Pipeline", "ServiceRuntime", "Vocabulary"]),
    library("FCMTransport", ["HTTPClient", "Pushes", "Pipeline", "Vocabulary"]),
    // The folder Sources/Stores/Shared is compiled into both stores, by a link in each: so the
    // compiler fits its generic code to each database.
    library(
      "SQLiteStore", path: "Sources/Stores/SQLite",
      ["CSQLite", "Cryptography", "Pipeline", "Activities", "Sessions", "Pushes", "Vocabulary"]),
    library(
      "PostgreSQLStore", path: "Sources/Stores/PostgreSQL",
      [
        "CPostgreSQL", "Cryptography", "Pipeline", "Activities", "Sessions", "Pushes",
        "ServiceRuntime", "Vocabulary",
      ]),
    library(
      "HTTPAPI",
      [
        "HTTPServing", "Pipeline", "Activities", "Sessions", "Pushes", "ActivityContracts",
        "Cryptography", "ServiceRuntime", "Vocabulary",
      ]),
    library(
      "Simulator",
      [
        "HTTP2", "HTTPServing", "HTTPClient", "ActivityContracts", "Activities", "Cryptography",
        "ServiceRuntime", "Vocabulary", "CLinux",
      ],
      resources: [
        .embedInCode("Page/page.html"), .embedInCode("Page/page.css"),
        .embedInCode("Page/lockscreen.js"),
        .embedInCode("Page/browser.js"), .embedInCode("Page/page.js"),
        .embedInCode("Page/android.css"), .embedInCode("Page/android.js"),
        .embedInCode("WebApp/index.html"), .embedInCode("WebApp/app.css"),
        .embedInCode("WebApp/app.js"), .embedInCode("WebApp/service-worker.js"),
        .embedInCode("WebApp/manifest.webmanifest"), .embedInCode("WebApp/notification.png"),
      ]),

    // Recordings of events, and load tests from them.
    library(
      "Replay",
      [
        "CZlib", "HTTPClient", "ActivityContracts", "Activities", "Sessions", "Pushes",
        "Cryptography", "ServiceRuntime", "Pipeline", "Vocabulary",
      ],
      resources: [.embedInCode("Report/report.css")]),

    .executableTarget(
      name: "lockstep",
      dependencies: [
        "Vocabulary", "Sessions", "Pushes", "Cryptography", "ServiceRuntime", "Pipeline",
        "HTTPServing", "HTTPClient", "OTLPExport", "RabbitMQBroker", "APNsTransport",
        "WebPushTransport", "FCMTransport", "SQLiteStore", "PostgreSQLStore", "HTTPAPI",
        "Simulator", "Replay", "ActivityContracts", "Activities",
      ],
      path: "Sources/lockstep",
      resources: [
        .embedInCode("Ops/Page/page.html"), .embedInCode("Ops/Page/page.css"),
        .embedInCode("Ops/Page/page.js"),
      ],
      swiftSettings: strict),

    // Plays the demonstration; not part of a deployment.
    .executableTarget(
      name: "lockstep-demo",
      dependencies: [
        "Vocabulary", "Cryptography", "ServiceRuntime", "Pipeline", "HTTPClient", "RabbitMQBroker",
        "Sessions", "CLinux",
      ],
      path: "Sources/Demo", swiftSettings: strict),

    // Run by hand: `swift run -c release expiry-benchmark FOLDER`.
    .executableTarget(
      name: "expiry-benchmark",
      dependencies: ["SQLiteStore", "Pipeline", "Sessions", "ServiceRuntime", "Vocabulary"],
      path: "Tests/Benchmarks/Expiry", swiftSettings: strict),

    // Measures pushes against a stand-in, and workers on a broker: see Tests/Benchmarks/push and
    // Tests/Benchmarks/workers; not part of a deployment.
    .executableTarget(
      name: "lockstep-bench",
      dependencies: [
        "Vocabulary", "Sessions", "Pushes", "ServiceRuntime", "Pipeline", "HTTP2",
        "RabbitMQBroker", "APNsTransport", "SQLiteStore", "PostgreSQLStore", "Cryptography",
      ],
      path: "Tests/Benchmarks", exclude: ["Expiry", "cost", "peers", "push", "workers"],
      sources: ["Push", "Workers"], swiftSettings: strict),

    .target(
      name: "TestSupport",
      dependencies: [
        "Pipeline", "Activities", "Sessions", "Pushes", "Vocabulary", "Cryptography",
        "ServiceRuntime", "HTTPClient", "HTTPServing", "PostgreSQLStore",
      ],
      path: "Tests/TestSupport", swiftSettings: strict),
    tests("Vocabulary", ["Vocabulary"]),
    tests("ActivityContracts", ["ActivityContracts", "Vocabulary"], resources: [.copy("Goldens")]),
    tests(
      "Activities", ["Activities", "ActivityContracts", "Vocabulary"],
      resources: [.copy("Goldens")]),
    tests(
      "Sessions", ["Sessions", "ActivityContracts", "Vocabulary"], resources: [.copy("Goldens")]),
    tests("Cryptography", ["Cryptography", "Vocabulary"]),
    tests(
      "Pushes", ["Pushes", "Cryptography", "Vocabulary"], resources: [.copy("Goldens")]),
    tests("ServiceRuntime", ["ServiceRuntime", "Vocabulary"]),
    tests(
      "Pipeline",
      [
        "Pipeline", "Activities", "Sessions", "Pushes", "ActivityContracts", "ServiceRuntime",
        "Vocabulary", "Cryptography",
      ], resources: [.copy("Goldens")]),
    tests(
      "OTLPExport",
      ["OTLPExport", "ServiceRuntime", "Vocabulary"], resources: [.copy("Goldens")]),
    tests("HTTPServing", ["HTTPServing", "HTTPClient", "ServiceRuntime", "Vocabulary"]),
    tests(
      "RabbitMQBroker",
      ["RabbitMQBroker", "Pipeline", "ServiceRuntime", "Vocabulary", "HTTPClient"]),
    tests(
      "APNsTransport",
      [
        "APNsTransport", "HTTP2", "Simulator", "SQLiteStore", "Pushes", "Pipeline",
        "Cryptography", "ServiceRuntime", "Vocabulary",
      ]),
    tests(
      "WebPushTransport",
      [
        "WebPushTransport", "HTTP2", "Pushes", "Pipeline", "Cryptography", "ServiceRuntime",
        "Vocabulary",
      ]),
    tests(
      "FCMTransport",
      [
        "FCMTransport", "HTTP2", "HTTPClient", "Pushes", "Pipeline", "Cryptography",
        "ServiceRuntime", "Vocabulary",
      ]),
    tests(
      "HTTPAPI",
      [
        "HTTPAPI", "HTTPServing", "HTTPClient", "SQLiteStore", "Pipeline", "Activities", "Sessions",
        "Pushes", "Cryptography", "ServiceRuntime", "Vocabulary",
      ]),
    tests(
      "Simulator",
      [
        "Simulator", "HTTP2", "HTTPServing", "HTTPClient", "ActivityContracts", "Activities",
        "Cryptography", "Pushes", "ServiceRuntime", "Vocabulary",
      ]),
    tests(
      "Replay",
      [
        "Replay", "RabbitMQBroker", "Pipeline", "Activities", "Sessions", "Pushes",
        "ActivityContracts", "Cryptography", "ServiceRuntime", "Vocabulary",
      ], resources: [.copy("Recordings")]),
    tests(
      "StoreContract",
      [
        "SQLiteStore", "PostgreSQLStore", "Pipeline", "Activities", "Sessions", "Pushes",
        "ServiceRuntime", "Vocabulary",
      ]),
    tests(
      "EndToEnd",
      [
        "HTTPClient", "Pipeline", "Vocabulary", "Cryptography", "SQLiteStore", "Activities",
        "Sessions", "Pushes", "ServiceRuntime", "RabbitMQBroker",
      ],
      resources: [.copy("foreign_publisher.py")]),
    tests(
      "Simulation",
      [
        "HTTPAPI", "HTTPServing", "Simulator", "Pipeline", "Activities", "Sessions", "Pushes",
        "ActivityContracts", "Cryptography", "ServiceRuntime", "Vocabulary",
      ]),
    .target(
      name: "FuzzEntries",
      dependencies: [
        "HTTPAPI", "HTTPServing", "HTTP2", "APNsTransport", "SQLiteStore", "RabbitMQBroker",
        "Replay", "Pipeline", "Activities", "Sessions", "Pushes", "Cryptography",
        "ServiceRuntime", "Vocabulary",
      ],
      path: "Tests/Fuzz/Entries", swiftSettings: strict),
    tests("Fuzz", ["FuzzEntries"]),
    // The files in deploy/, against the programs that read them.
    tests("Deploy", [], resources: [.copy("check_manifests.py")]),
    tests("Tidy", []),
  ],
  swiftLanguageModes: [.v6]
)

// The fuzzer's own program, which only `Tests/Fuzz/run` builds.
if Context.environment["LOCKSTEP_FUZZ"] != nil {
  package.targets.append(
    .executableTarget(
      name: "lockstep-fuzz", dependencies: ["FuzzEntries"], path: "Tests/Fuzz/Driver",
      swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]))
  package.products.append(.executable(name: "lockstep-fuzz", targets: ["lockstep-fuzz"]))
}
