import Pipeline
import SQLiteStore
import ServiceRuntime

/// The store as settings say.
enum StoreWiring {
  static let settingNames = ["DATABASE_URL"]

  /// Nil, with the problem noted in `settings`, when the address is missing or wrong.
  static func path(reading settings: inout SettingsReader) -> String? {
    settings.required("DATABASE_URL", want: "sqlite:///absolute/path", Reading.sqlitePath)
  }

  static func open(_ path: String) throws -> any Store {
    do {
      return try SQLiteStore(path: path)
    } catch {
      throw CommandFailure(.unavailable, "database \(path): \(error)")
    }
  }

  /// For reading only, while others work on it.
  static func look(_ path: String) throws -> any Store {
    try using(path) { try SQLiteStore(lookingAt: path) }
  }

  /// What the store cannot do becomes the command's failure.
  static func using<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as StoreError {
      throw CommandFailure(.unavailable, "database \(path): \(error)")
    }
  }
}
