import Foundation

do {
  try ExpiryBenchmark(arguments: Array(CommandLine.arguments.dropFirst())).run()
} catch {
  FileHandle.standardError.write(Data("expiry-benchmark: \(error)\n".utf8))
  exit(1)
}
