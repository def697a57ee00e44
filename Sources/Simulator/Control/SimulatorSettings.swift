import Activities

/// How the simulator runs. Read once, at start.
package struct SimulatorSettings: Sendable {
  /// Where the stand-in for APNs listens on 127.0.0.1; 0 lets the kernel choose.
  package var apnsPort: UInt16 = 0
  /// A port of its own for the sandbox. Nil: one port serves both environments and cannot tell a
  /// token of the wrong one.
  package var sandboxPort: UInt16?
  /// Where the stand-in for a Web Push service listens on 127.0.0.1; 0 lets the kernel choose.
  package var webPushPort: UInt16 = 0
  /// Where the stand-in for FCM listens on 127.0.0.1; 0 lets the kernel choose.
  package var fcmPort: UInt16 = 0
  /// Who may send to Android phones; nil: nobody.
  package var fcmProject: FCMProject?
  /// Where the control API and the page listen on 127.0.0.1; 0 lets the kernel choose.
  package var controlPort: UInt16 = 0
  /// A directory that exists. The simulator writes `ca.pem` into it, and its own certificate and
  /// key; files of those names are replaced.
  package var certificateDirectory: String
  package var bundleID: String
  package var teamID: String
  package var keyID: String
  /// What provider tokens (ES256) are checked with: the point on P-256, uncompressed, 65 bytes, as
  /// `SigningKey.publicKey` gives it.
  package var providerPublicKey: [UInt8]
  /// Where phones find the Lockstep API unless they are told otherwise, `http://127.0.0.1:8080`.
  package var apiURL: String
  /// PEM certificates to trust for an https API; nil for the system's.
  package var apiCAFile: String?
  /// What strikes from the start.
  package var faults: [Fault] = []
  /// From which tokens and chances are drawn; the same seed draws the same. Nil: by chance.
  package var seed: UInt64?
  /// How many streams a connection may have open, as the server's SETTINGS say.
  package var streamsMax: UInt32 = 1000

  /// What phones' apps there may be.
  package var contracts = ContractCatalog.builtIn

  package init(
    certificateDirectory: String, bundleID: String, teamID: String, keyID: String,
    providerPublicKey: [UInt8], apiURL: String
  ) {
    self.certificateDirectory = certificateDirectory
    self.bundleID = bundleID
    self.teamID = teamID
    self.keyID = keyID
    self.providerPublicKey = providerPublicKey
    self.apiURL = apiURL
  }
}
