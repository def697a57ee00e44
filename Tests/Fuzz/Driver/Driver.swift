import Foundation
import FuzzEntries

/// Which reader this process drives.
private let target: FuzzTarget = {
  let name = ProcessInfo.processInfo.environment["LOCKSTEP_FUZZ_TARGET"] ?? ""
  guard let target = FuzzTarget(rawValue: name) else {
    let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: " ")
    preconditionFailure("LOCKSTEP_FUZZ_TARGET is \"\(name)\", want one of \(names)")
  }
  return target
}()

/// What libFuzzer calls with each input.
@_cdecl("LLVMFuzzerTestOneInput")
func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  target.read(Array(UnsafeBufferPointer(start: start, count: count)))
  return 0
}
