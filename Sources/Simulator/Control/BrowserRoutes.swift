import HTTPServing
import Vocabulary

/// Virtual browsers in the control API.
struct BrowserRoutes: Sendable {
  let world: World
  let desk: BrowserDesk

  /// Nil when the path is none of these.
  func answer(_ request: HTTPRequest) throws -> HTTPResponse? {
    let segments = request.segments
    guard segments.first == "browsers" else { return nil }
    switch (request.method, segments.count) {
    case ("GET", 1):
      let browsers = world.read { state in
        state.browsers.ids.prefix(ControlAPI.listedMax).compactMap { state.browsers.browsers[$0] }
      }
      return .json(200, browsers.map { BrowserView($0) })
    case ("POST", 1):
      return .json(201, try desk.add(JSON.decode(BrowserOrder.self, from: request.body)))
    case ("GET", 2): return view(of: segments[1])
    case ("POST", 3): return change(segments[1], segments[2])
    default: return nil
    }
  }

  private func view(of id: String) -> HTTPResponse? {
    world.read { $0.browsers.browsers[id] }.map { .json(200, BrowserView($0)) }
  }

  private func change(_ id: String, _ what: String) -> HTTPResponse? {
    let happening: (inout VirtualBrowser, UnixTime) -> [Finding]
    switch what {
    case "offline":
      happening = { browser, _ in
        browser.goOffline()
        return []
      }
    case "online": happening = { browser, now in browser.goOnline(at: now) }
    case "unsubscribe":
      happening = { browser, _ in
        browser.unsubscribe()
        return []
      }
    default: return nil
    }
    world.change { state, now in
      state.act(onBrowser: id, at: now) { happening(&$0, now) }
      return ((), [])
    }
    return view(of: id)
  }
}
