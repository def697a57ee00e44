import Foundation
import ServiceRuntime
import Testing

@Suite struct GivenFileTests {
  @Test(arguments: [
    ("/no/such/file", "No such file or directory"), ("/etc", "Is a directory"),
    ("/etc/passwd/x", "Not a directory"),
  ])
  func `what cannot be read is refused with the system's reason`(path: String, reason: String) {
    let refusal = #expect(throws: GivenFile.Unreadable.self) { try GivenFile.contents(path) }
    #expect(refusal?.description == "cannot be read: \(reason)")
  }

  @Test func `what can be read is read`() throws {
    #expect(try GivenFile.contents("/etc/passwd").isEmpty == false)
    #expect(try GivenFile.contents("/dev/null").isEmpty)
  }
}
