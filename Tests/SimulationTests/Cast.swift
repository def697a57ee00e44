/// Who and what takes part in a world besides two people with iPhones.
struct Cast: OptionSet, Hashable {
  let rawValue: Int

  /// A program drives activities on Shiny phones.
  static let activities = Cast(rawValue: 1)
  /// People have browsers and Android phones too.
  static let otherPhones = Cast(rawValue: 2)
  /// The wall clock of Lockstep's machine is up to two hours wrong, and jumps.
  static let wrongClock = Cast(rawValue: 4)
  /// Sessions run out after minutes, in the middle of everything.
  static let shortLives = Cast(rawValue: 8)
  /// iOS gives apps new tokens now and then.
  static let newTokens = Cast(rawValue: 16)
  /// Messages to Android phones and browsers are under way for long, from twice as many senders,
  /// and phones that are away come back when all has gone out.
  static let slowWays = Cast(rawValue: 32)
}
