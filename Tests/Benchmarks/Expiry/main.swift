import Foundation
import ServiceRuntime

do {
  try ExpiryBenchmark(arguments: Array(CommandLine.arguments.dropFirst())).run()
} catch {
  StandardStream.error.write("expiry-benchmark: \(error)\n")
  exit(1)
}
