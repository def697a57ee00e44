import TestSupport
import Testing
import Vocabulary

@testable import Pushes

@Suite struct TokenMomentsTests {
  @Test func `a token's last moment is remembered`() {
    var moments = TokenMoments(count: 64)
    #expect(moments.moment(of: Samples.token(1)) == nil)
    moments.note(Samples.token(1), at: Samples.noon)
    moments.note(Samples.token(2), at: Samples.noon + .seconds(1))
    moments.note(Samples.token(1), at: Samples.noon + .seconds(2))
    #expect(moments.moment(of: Samples.token(1)) == Samples.noon + .seconds(2))
    #expect(moments.moment(of: Samples.token(2)) == Samples.noon + .seconds(1))
  }

  @Test func `of more tokens than there is room for the last ones are remembered`() {
    var moments = TokenMoments(count: 4)
    for number in 0..<10 {
      moments.note(Samples.token(number), at: Samples.noon + .seconds(number))
    }
    let known = (0..<10).filter { moments.moment(of: Samples.token($0)) != nil }
    #expect(known == [6, 7, 8, 9])
  }
}
