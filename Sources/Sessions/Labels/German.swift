extension Labels {
  static let german = Labels(
    partnerIsInvited: .partner("{Partner} ist eingeladen", unknown: "Dein Partner ist eingeladen"),
    partnerIsAnswering: .partner("{Partner} füllt aus", unknown: "Dein Partner füllt aus"),
    partnerIsReady: .partner("{Partner} ist bereit", unknown: "Dein Partner ist bereit"),
    partnerLeft: .partner("{Partner} ist raus", unknown: "Dein Partner ist raus"),
    waitingForPartner: .partner("Warte auf {Partner}", unknown: "Warte auf deinen Partner"),
    youAreAnswering: "Du füllst aus",
    kitchenThinks: "Die Küche denkt nach …",
    kitchenDoesNotAnswer: "Die Küche antwortet nicht",
    proposalsReady: .init(one: "{N} Vorschlag bereit", other: "{N} Vorschläge bereit"),
    partnerPicked: "Vorschlag: {title}?",
    beingServed: "Wird angerichtet …",
    planningEnded: "Planung beendet",
    invitationTitle: .initiator(
      "Plan mit {Initiator} das Essen", unknown: "Plan mit deinem Partner das Essen"),
    invitationBody: "Tippe, um mitzuplanen")
}
