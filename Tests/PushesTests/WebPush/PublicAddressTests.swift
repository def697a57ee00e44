import Glibc
import Pushes
import Testing

@Suite struct PublicAddressTests {
  private func octets(_ text: String) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 16)
    let isIPv6 = text.contains(":")
    try #require(inet_pton(isIPv6 ? AF_INET6 : AF_INET, text, &bytes) == 1)
    return isIPv6 ? bytes : Array(bytes.prefix(4))
  }

  @Test(arguments: [
    ("0.0.0.0", "this network"), ("10.0.0.0", "private"), ("10.255.255.255", "private"),
    ("100.64.0.0", "CGNAT"), ("100.127.255.255", "CGNAT"), ("127.0.0.1", "loopback"),
    ("127.255.255.255", "loopback"), ("169.254.0.1", "link-local"),
    ("169.254.169.254", "link-local"), ("172.16.0.0", "private"), ("172.31.255.255", "private"),
    ("192.0.0.8", "reserved"), ("192.0.2.1", "documentation"), ("192.88.99.1", "6to4 relay"),
    ("192.168.0.1", "private"), ("198.18.0.1", "benchmark"), ("198.19.255.255", "benchmark"),
    ("198.51.100.1", "documentation"), ("203.0.113.1", "documentation"),
    ("224.0.0.1", "multicast"), ("239.255.255.255", "multicast"), ("240.0.0.1", "reserved"),
    ("255.255.255.255", "reserved"), ("::", "not assigned"), ("::1", "loopback"),
    ("::ffff:8.8.8.8", "IPv4-mapped"), ("::ffff:10.0.0.1", "IPv4-mapped"),
    ("::8.8.8.8", "not assigned"), ("64:ff9b::10.0.0.1", "private"),
    ("64:ff9b:1::1", "not assigned"), ("100::1", "not assigned"), ("2001::1", "special"),
    ("2001:1ff:ffff::1", "special"), ("2001:db8::1", "documentation"), ("2002:0a00:1::", "6to4"),
    ("3fff:fff::1", "documentation"), ("fc00::1", "unique-local"), ("fdff::1", "unique-local"),
    ("fe80::1", "link-local"), ("febf::1", "link-local"), ("fec0::1", "site-local"),
    ("ff02::1", "multicast"), ("4000::1", "not assigned"),
  ])
  func `what is not on the Internet is refused by its name`(text: String, name: String) throws {
    #expect(PublicAddress.refusal(try octets(text)) == name)
  }

  @Test(arguments: [
    "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
    "128.0.0.1", "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0",
    "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
    "2001:200::1", "2606:4700::1", "2a00:1450::1", "3ffe::1", "64:ff9b::8.8.8.8",
  ])
  func `what is on the Internet is not`(text: String) throws {
    #expect(PublicAddress.refusal(try octets(text)) == nil)
  }

  @Test func `what is no address is refused`() {
    #expect(PublicAddress.refusal([]) == "no IP address")
    #expect(PublicAddress.refusal([8, 8, 8]) == "no IP address")
  }
}
