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
}
