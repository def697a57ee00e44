import Foundation
import Testing

/// Compose and Kubernetes files, against their schemas and against what Lockstep has.
@Suite struct ManifestTests {
  private func check(_ arguments: [String]) throws -> String {
    let outcome = try Tools.run(
      Tools.path(".build/manifest-checks/bin/python"),
      [Tools.path("Tests/DeployTests/check_manifests.py")] + arguments,
      input: Tools.knownSettings().sorted().joined(separator: "\n"))
    try #require(outcome.code == 0, "\(outcome.output)")
    return outcome.output
  }

  /// The same file with a fault in it.
  private func spoilt(_ file: String, _ right: String, _ wrong: String, in folder: Folder) throws
    -> String
  {
    let text = try Tools.text(file)
    try #require(text.contains(right))
    let copy = folder.url.appending(path: URL(filePath: file).lastPathComponent)
    try Data(text.replacing(right, with: wrong).utf8).write(to: copy)
    return copy.path(percentEncoded: false)
  }

  private static let compose = "deploy/compose/compose.yaml"

  @Test func `the compose file is one, and every role in it drains`() throws {
    #expect(try check(["compose", Tools.path(Self.compose)]) == "")
  }

  @Test(arguments: [
    ("stop_grace_period: 45s", "stop_grace_period: 25s", "is killed before it has drained"),
    ("restart: on-failure", "restarts: on-failure", "restarts"),
    ("--apns-key-file=", "--apns-file=", "LOCKSTEP_APNS_FILE"),
    ("\"127.0.0.1:8081-8089:8080\"", "\"8080:8080\"", "outside of loopback"),
    ("accounts: {", "account: {", "waits for account"),
    ("LOCKSTEP_FCM_PACKAGES: ", "LOCKSTEP_WEB_ORIGIN: ", "has nobody to send to"),
  ])
  func `a fault in the compose file is found`(right: String, wrong: String, finding: String) throws
  {
    let folder = try Folder()
    let copy = try spoilt(Self.compose, right, wrong, in: folder)
    #expect(try check(["compose", copy]).contains(finding))
  }

  private func manifests() throws -> [String] {
    try Tools.files("deploy/kubernetes")
      .filter { $0.hasSuffix(".yaml") && !["kustomization.yaml", "keda.yaml"].contains($0) }
  }

  @Test(arguments: ["1.26", "1.32", "1.37"])
  func `Kubernetes knows every object, and every pod drains`(version: String) throws {
    let files = try manifests().map { Tools.path("deploy/kubernetes/\($0)") }
    #expect(files.count > 9)
    #expect(try check(["kubernetes", version] + files) == "")
  }

  @Test(arguments: [
    ("terminationGracePeriodSeconds: 45", "terminationGracePeriodSeconds: 30", "drained"),
    ("maxUnavailable: 0", "maxUnavailble: 0", "maxUnavailble"),
    ("path: /readyz", "path: /livez", "does not ask /readyz"),
    ("lockstep-settings", "lockstep-setting", "reads lockstep-setting"),
    ("claimName: lockstep-database", "claimName: database", "wants the claim database"),
  ])
  func `a fault in a manifest is found`(right: String, wrong: String, finding: String) throws {
    let folder = try Folder()
    let copy = try spoilt("deploy/kubernetes/api.yaml", right, wrong, in: folder)
    let others = try manifests().filter { $0 != "api.yaml" }
      .map { Tools.path("deploy/kubernetes/\($0)") }
    #expect(try check(["kubernetes", "1.32", copy] + others).contains(finding))
  }

  @Test func `an API that knows no Android app leaves the fcm-sender nobody`() throws {
    let folder = try Folder()
    let copy = try spoilt(
      "deploy/kubernetes/settings.yaml", "LOCKSTEP_FCM_PACKAGES: app.example.cook", "", in: folder)
    let others = try manifests().filter { $0 != "settings.yaml" }
      .map { Tools.path("deploy/kubernetes/\($0)") }
    #expect(try check(["kubernetes", "1.32", copy] + others).contains("has nobody to send to"))
  }

  @Test func `every manifest is applied but the example of secrets`() throws {
    let listed = try Tools.text("deploy/kubernetes/kustomization.yaml")
      .matches(of: #/  - ([a-z-]+\.yaml)\n/#).map { String($0.1) }
    #expect(try Set(manifests()) == Set(listed + ["secrets.example.yaml"]))
  }

  @Test func `the image has each library that the program is linked with`() throws {
    let docker = try Tools.text("deploy/Dockerfile")
    let install = try Tools.text("deploy/systemd/install")
    for library in [
      "libcurl4", "libmicrohttpd12", "libnghttp2-14", "librabbitmq4", "libsqlite3-0", "libssl3",
      "libyaml-0-2", "zlib1g", "ca-certificates", "tzdata",
    ] {
      #expect(docker.contains(" \(library) "), "\(library)")
      #expect(install.contains(" \(library)"), "\(library)")
    }
    #expect(docker.contains("\nSTOPSIGNAL SIGTERM\n"))
    #expect(docker.contains("\nUSER 10001:10001\n"))
  }
}
