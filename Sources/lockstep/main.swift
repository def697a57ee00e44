import Foundation
import ServiceRuntime

exit(
  Lockstep.run(
    Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment
  ).rawValue)
