import Foundation
import Glibc
import ServiceRuntime
import Testing

@Suite struct PrivateFileTests {
  @Test func `whatever the umask, only its owner may read a new file`() async throws {
    let path = NSTemporaryDirectory() + UUID().uuidString
    defer { for end in ["a", "b"] { unlink(path + end) } }
    await #expect(processExitsWith: .success) { [path = path as String] in
      umask(0)
      let descriptor = PrivateFile.create(path + "a")
      #expect(descriptor >= 0)
      close(descriptor)
      #expect(PrivateFile.create(path + "a") == -1 && errno == EEXIST)
      for text in ["a secret", "new"] {
        try PrivateFile.write(Data(text.utf8), to: path + "b")
        #expect(try String(contentsOfFile: path + "b", encoding: .utf8) == text)
      }
      for end in ["a", "b"] {
        var status = stat()
        #expect(stat(path + end, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
      }
    }
  }

  @Test func `a file that is there keeps its mode`() throws {
    let path = NSTemporaryDirectory() + UUID().uuidString
    defer { unlink(path) }
    try PrivateFile.write(Data("old".utf8), to: path)
    chmod(path, 0o640)
    try PrivateFile.write(Data("new".utf8), to: path)
    var status = stat()
    #expect(stat(path, &status) == 0)
    #expect(status.st_mode & 0o777 == 0o640)
  }

  @Test func `a file that cannot be made is named with the reason`() {
    let error = #expect(throws: PrivateFileError.self) {
      try PrivateFile.write(Data(), to: "/nowhere/at/all")
    }
    #expect(error?.description == "/nowhere/at/all: No such file or directory")
  }
}
