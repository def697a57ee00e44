import Foundation

do {
  try Bench.run(Array(CommandLine.arguments.dropFirst()))
} catch {
  print("lockstep-bench: \(error)")
  exit(1)
}
