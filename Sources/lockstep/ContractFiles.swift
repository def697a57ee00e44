import Activities
import Foundation
import Pipeline
import ServiceRuntime
import Vocabulary

/// Contracts as files, and as the setting that names their folder.
enum ContractFiles {
  static let settingName = "CONTRACTS_DIR"
  /// Files in the folder, and bytes in a file.
  private static let filesMax = 200
  private static let bytesMax = 256 * 1024

  /// The two that are compiled in, and those of the folder; the problem is noted in `settings`.
  static func catalog(reading settings: inout SettingsReader) -> ContractCatalog {
    settings.value("CONTRACTS_DIR", catalog) ?? .builtIn
  }

  /// Every `*.json` in the folder.
  ///
  /// - Throws: what is wrong with the first file that cannot be used.
  static func catalog(of folder: String) throws -> ContractCatalog {
    guard let entries = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      throw Reading.Complaint("want a folder of *.json files")
    }
    let names = entries.filter { $0.hasSuffix(".json") }.sorted()
    guard names.count <= filesMax else {
      throw Reading.Complaint("holds \(names.count) contracts, want at most \(filesMax)")
    }
    let contracts = try names.map { name in
      do {
        return try declared("\(folder)/\(name)")
      } catch {
        throw Reading.Complaint("\(name): \(error)")
      }
    }
    return try ContractCatalog(declared: contracts)
  }

  /// - Throws: ``UnusableContract``, or why it is no JSON.
  static func declared(_ path: String) throws -> DeclaredContract {
    let data = try Reading.file(path)
    guard data.count <= bytesMax else {
      throw Reading.Complaint("has \(data.count) bytes, want at most \(bytesMax)")
    }
    let text: JSONValue
    do {
      text = try JSONValue(parsing: data)
    } catch {
      throw Reading.Complaint("is not JSON: \(error)")
    }
    return try DeclaredContract(reading: text)
  }
}
