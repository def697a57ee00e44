import Foundation
import RabbitMQBroker
import ServiceRuntime

/// `lockstep topology users`: makes the accounts of queues.yaml with the passwords of a file, and
/// gives each its rights. Passwords are never printed.
enum TopologyUsers {
  static func run(_ invocation: Invocation) throws {
    guard let path = invocation.arguments.options["passwords-file"] else {
      throw CommandFailure(.usage, "topology users wants --passwords-file F")
    }
    var settings = invocation.settings
    let broker = BrokerWiring(reading: &settings)
    let management = ManagementWiring.required(&settings, broker: broker)
    guard settings.problems.isEmpty, let broker, let management else {
      throw Reading.failure(settings)
    }
    let users = broker.topology.users
    let passwords = try passwords(path, known: Set(users.map(\.name)))
    var made: [String] = []
    try ManagementWiring.attempt {
      for user in users {
        guard let password = passwords[user.name] else { continue }
        try management.makeUser(user.name, password: password, tags: user.tags)
        try management.setPermissions(of: user.name, to: user.permissions)
        made.append(user.name)
      }
    }
    print("accounts with their rights: \(made.joined(separator: ", "))")
    let left = users.map(\.name).filter { !made.contains($0) }
    if !left.isEmpty {
      Prints(invocation).aside("not in the file: \(left.joined(separator: ", "))")
    }
  }

  /// Lines `user=password`; empty ones and those that begin with `#` are passed over.
  private static func passwords(_ path: String, known: Set<String>) throws -> [String: String] {
    let data: Data
    do throws(GivenFile.Unreadable) {
      data = try GivenFile.contents(path)
    } catch {
      throw CommandFailure(.configuration, "--passwords-file \(path): \(error)")
    }
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & 0o077 == 0 else {
      throw CommandFailure(
        .configuration, "--passwords-file \(path): others may read it; want mode 600")
    }
    var passwords: [String: String] = [:]
    let lines = String(decoding: data, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() where !line.isEmpty && !line.hasPrefix("#") {
      let parts = line.split(separator: "=", maxSplits: 1).map(String.init)
      let place = "--passwords-file \(path):\(index + 1)"
      guard parts.count == 2 else {
        throw CommandFailure(.configuration, "\(place): want user=password")
      }
      guard known.contains(parts[0]) else {
        throw CommandFailure(.configuration, "\(place): queues.yaml has no user \(parts[0])")
      }
      passwords[parts[0]] = parts[1]
    }
    return passwords
  }
}
