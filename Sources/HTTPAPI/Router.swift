import HTTPServing

/// One method on one kind of path, and what is done about it.
struct Route: Sendable {
  enum Method: String, Sendable {
    case get = "GET"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
  }

  let method: Method
  /// `/api/notifications/{id}/seen`.
  let pattern: String
  /// A caller needs one of these.
  let scopes: Set<Scope>
  /// Reads and checks the request; the work it returns runs in a transaction.
  let handler: @Sendable (API, Call) throws -> Work
  private let parts: [Part]

  private enum Part: Sendable {
    case fixed(String)
    case placeholder(String)
  }

  init(
    _ method: Method, _ pattern: String, scopes: Set<Scope> = [.user],
    handler: @escaping @Sendable (API, Call) throws -> Work
  ) {
    self.method = method
    self.pattern = pattern
    self.scopes = scopes
    self.handler = handler
    parts = pattern.split(separator: "/").map { part in
      part.hasPrefix("{") ? .placeholder(String(part.dropFirst().dropLast())) : .fixed(String(part))
    }
  }

  /// What the placeholders stand for; nil when the path is another.
  func parameters(of segments: [String]) -> [String: String]? {
    guard segments.count == parts.count else { return nil }
    var found: [String: String] = [:]
    for (part, segment) in zip(parts, segments) {
      switch part {
      case .fixed(let text):
        guard text == segment else { return nil }
      case .placeholder(let name):
        guard segment.utf8.count <= Router.parameterBytesMax else { return nil }
        found[name] = segment
      }
    }
    return found
  }
}

/// Finds the route of a request.
struct Router: Sendable {
  /// The longest id in a path: far above every id of ours, and names nothing beyond.
  static let parameterBytesMax = 128

  let routes: [Route]

  /// `HEAD` is answered as `GET`; the server leaves out the body.
  ///
  /// - Throws: 404 for a path nobody serves, 405 with `Allow` for a method it does not take.
  func route(of request: HTTPRequest) throws(Problem) -> (Route, parameters: [String: String]) {
    let method = request.method == "HEAD" ? "GET" : request.method
    let segments = request.segments
    var allowed: [String] = []
    for route in routes {
      guard let parameters = route.parameters(of: segments) else { continue }
      if route.method.rawValue == method { return (route, parameters) }
      allowed.append(route.method.rawValue)
    }
    guard !allowed.isEmpty else {
      throw .notFound("There is nothing at \(request.path.prefix(200)).")
    }
    if allowed.contains("GET") { allowed.append("HEAD") }
    throw .methodNotAllowed(request.method, allowed: allowed.sorted())
  }
}
