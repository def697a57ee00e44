import Pipeline
import PostgreSQLStore
import SQLiteStore
import ServiceRuntime

/// The store as settings say.
enum StoreWiring {
  static let settingNames = ["DATABASE_URL"]
  private static let want = "sqlite:///absolute/path or postgresql://user:password@host/database"

  /// Where the store is. Its description shows no password.
  enum Address: CustomStringConvertible {
    case sqlite(path: String)
    case postgresql(PostgreSQLAddress)

    var description: String {
      switch self {
      case .sqlite(let path): path
      case .postgresql(let address): "\(address)"
      }
    }
  }

  /// Nil, with the problem noted in `settings`, when the address is missing or wrong.
  static func address(reading settings: inout SettingsReader) -> Address? {
    // What stands before an @ may be a password.
    let isSecret = settings.text("DATABASE_URL")?.contains("@") ?? false
    return settings.required("DATABASE_URL", want: want, isSecret: isSecret) { url in
      if PostgreSQLAddress.schemes.contains(where: url.hasPrefix) {
        return .postgresql(try PostgreSQLAddress(parsing: url))
      }
      guard url.hasPrefix("sqlite:") else { throw Reading.Complaint("want \(want)") }
      return .sqlite(path: try Reading.sqlitePath(url))
    }
  }

  /// `metrics`: of the role that works with it.
  static func open(_ address: Address, metrics: Metrics = Metrics()) throws -> any Store {
    try using(address) {
      switch address {
      case .sqlite(let path): try SQLiteStore(path: path)
      case .postgresql(let address): try PostgreSQLStore(address, metrics: metrics)
      }
    }
  }

  /// For reading only, while others work on it.
  static func look(_ address: Address) throws -> any Store {
    try using(address) {
      switch address {
      case .sqlite(let path): try SQLiteStore(lookingAt: path)
      case .postgresql(let address): try PostgreSQLStore(lookingAt: address)
      }
    }
  }

  /// What the store cannot do becomes the command's failure.
  static func using<Result>(_ address: Address, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as StoreError {
      // Most of a store's reasons begin with its address.
      let reason = "\(error)".trimmingPrefix("\(address): ")
      throw CommandFailure(.unavailable, "database \(address): \(reason)")
    }
  }
}
