import Cryptography
import Testing

@Suite struct Base64URLTests {
  @Test(
    arguments: [
      ([], ""), ([0], "AA"), ([0xFF], "_w"), ([0xFB, 0xFF], "-_8"), ([0x66, 0x6F, 0x6F], "Zm9v"),
      ([0x66, 0x6F, 0x6F, 0x62], "Zm9vYg"), ([0x66, 0x6F, 0x6F, 0x62, 0x61], "Zm9vYmE"),
    ] as [([UInt8], String)])
  func `bytes become text and come back`(bytes: [UInt8], text: String) {
    #expect(Base64URL.encode(bytes) == text)
    #expect(Base64URL.decode(text) == bytes)
  }

  @Test(arguments: [
    "Zg==",  // padding
    "Zm9vYg=", "Zm9+", "Zm9/",  // the other alphabet
    "A",  // one digit stands for no byte
    "Zm9vA", "Zh",  // left-over bits that are not zero
    "Zm9vYmF", "Zm 9v", "Zm9v\n", "Zm9é",
  ])
  func `text that the encoder would not write is refused`(text: String) {
    #expect(Base64URL.decode(text) == nil)
  }

  @Test func `every length comes back`() {
    for count in 0...70 {
      let bytes = RandomBytes.make(count)
      let text = Base64URL.encode(bytes)
      #expect(Base64URL.decode(text) == bytes)
      #expect(!text.contains("="))
    }
  }
}
