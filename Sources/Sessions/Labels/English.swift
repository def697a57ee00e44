extension Labels {
  static let english = Labels(
    partnerIsInvited: .partner("{Partner} is invited", unknown: "Your partner is invited"),
    partnerIsAnswering: .partner("{Partner} is answering", unknown: "Your partner is answering"),
    partnerIsReady: .partner("{Partner} is ready", unknown: "Your partner is ready"),
    partnerLeft: .partner("{Partner} left", unknown: "Your partner left"),
    waitingForPartner: .partner("Waiting for {Partner}", unknown: "Waiting for your partner"),
    youAreAnswering: "You are answering",
    kitchenThinks: "The kitchen is thinking …",
    kitchenDoesNotAnswer: "The kitchen is not answering",
    proposalsReady: .init(one: "{N} suggestion ready", other: "{N} suggestions ready"),
    partnerPicked: "How about {title}?",
    beingServed: "Being served …",
    planningEnded: "Planning ended",
    invitationTitle: .initiator(
      "Plan dinner with {Initiator}", unknown: "Plan dinner with your partner"),
    invitationBody: "Tap to join in")
}
