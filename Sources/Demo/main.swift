import Foundation
import ServiceRuntime

exit(
  Demo.run(
    Array(CommandLine.arguments.dropFirst()), environment: ProcessInfo.processInfo.environment
  ).rawValue)
