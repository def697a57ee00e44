/// All subcommands, in the order that `lockstep help` shows them.
extension Command {
  static let all: [Command] = [
    Command(
      APIRole.name, "the HTTP API and the outbox relay", settings: APIRole.settingNames,
      run: APIRole.run),
    worker(
      .payloadBuilder, "event → one state per participant → one job per token",
      more: [ContractFiles.settingName]),
    worker(.apnsSender, "sends push jobs to APNs", more: APNsWiring.settingNames),
    Command(
      NotifierRole.name, "invitations on every channel; ends sessions whose time is over",
      settings: NotifierRole.settingNames, run: NotifierRole.run),
    worker(.webPushSender, "sends Web Pushes to browsers", more: WebPushWiring.settingNames),
    worker(
      .fcmSender, "sends cards' states to Android phones, by FCM", more: FCMWiring.settingNames),
    Command(
      RunRole.name, "all of these in one process", settings: RunRole.settingNames,
      run: RunRole.run),
    Command(
      OpsRole.name, "a page for operators: queues, dead letters, lanes, explain",
      settings: OpsRole.settingNames, run: OpsRole.run),
    Command(
      "topology", "compares the broker with queues.yaml, and declares what is missing",
      settings: TopologyCommand.settingNames, options: TopologyCommand.options,
      operand: TopologyCommand.operand, run: TopologyCommand.run),
    Command(
      "queues", "how the queues stand, and whether they are as queues.yaml expects",
      settings: QueuesCommand.settingNames, options: QueuesCommand.options,
      run: QueuesCommand.run),
    Command(
      "dead", "looks at dead letters, sends them back to where they failed, or drops them",
      settings: DeadCommand.settingNames, options: DeadCommand.options,
      operand: DeadCommand.operand, run: DeadCommand.run),
    Command(
      "explain", "what happened to one session, and why a phone does not show it",
      settings: StoreWiring.settingNames, options: ExplainCommand.options, operand: "SESSION",
      run: ExplainCommand.run),
    Command(
      "tokens", "looks after the token registry", settings: StoreWiring.settingNames,
      options: TokensCommand.options, words: ["list", "prune", "restore", "bind"],
      run: TokensCommand.run),
    Command(
      "channels", "the broadcast channels that Apple keeps for an app",
      settings: ChannelsCommand.settingNames, options: ChannelsCommand.options,
      operand: ChannelsCommand.operand, run: ChannelsCommand.run),
    Command(
      "contract", "says what ActivityKit would swallow, and writes the app's Swift struct",
      options: ContractCommand.options, operand: ContractCommand.operand,
      run: ContractCommand.run),
    Command(
      "token", "mints a caller's token for development", settings: Reading.callerKeyNames,
      options: [
        ("--user=", "whose token. Required"), ("--scope=", "user, service or ops. Default user"),
        ("--seconds=", "its life, up to 30 days. Default 3600"),
      ], run: TokenCommand.run),
    Command(
      "vapid", "makes a key for Web Push", options: VAPIDCommand.options, words: ["generate"],
      run: VAPIDCommand.run),
    Command(
      "record", "writes every event to a file, for load tests",
      settings: RecordCommand.settingNames, options: RecordCommand.options,
      run: RecordCommand.run),
    Command(
      "generate", "writes a recording of lifelike traffic", options: GenerateCommand.options,
      run: GenerateCommand.run),
    Command(
      "replay", "plays a recording, and says whether anything was lost",
      settings: ReplayCommand.settingNames, options: ReplayCommand.options,
      operand: ReplayCommand.operand, run: ReplayCommand.run),
    Command(
      "simulator", "stand-ins for Apple's services, with virtual phones and a page",
      settings: SimulatorCommand.settingNames, options: SimulatorCommand.options,
      notes: SimulatorCommand.notes, run: SimulatorCommand.run),
  ]

  private static func worker(_ role: WorkerRole, _ summary: String, more: [String] = []) -> Command
  {
    Command(role.name, summary, settings: WorkerRole.settingNames + more, run: role.run)
  }
}
