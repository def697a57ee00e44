/// Who and what takes part in a world besides two people with iPhones.
struct Cast: OptionSet, Hashable {
  let rawValue: Int

  /// A program drives activities on Shiny phones.
  static let activities = Cast(rawValue: 1)
  /// People have browsers and Android phones too.
  static let otherPhones = Cast(rawValue: 2)
  /// The wall clock of Lockstep's machine is up to two hours wrong, and jumps.
  static let wrongClock = Cast(rawValue: 4)
}
