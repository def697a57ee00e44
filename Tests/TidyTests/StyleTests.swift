import Testing

@Suite struct StyleTests {
  private let all = SourceTree.sources + SourceTree.tests + [SourceTree.manifest]
  private let code = SourceTree.sources + SourceTree.testsButTidy

  @Test func `there is text to look at`() {
    #expect(SourceTree.sources.count > 100)
    #expect(SourceTree.tests.count > 30)
  }

  @Test func `a file has at most 300 lines`() {
    expectNone(
      all.filter { $0.lines.count > 301 }.map {
        Finding($0.path, "has \($0.lines.count - 1) lines, want at most 300: split it")
      })
  }

  @Test func `a line has at most 100 columns`() {
    expectNone(
      all.flatMap { file in
        file.lines.enumerated().filter { $0.element.count > 100 }.map { place, line in
          Finding(
            file.path, line: place + 1, "has \(line.count) columns, want at most 100: break it")
        }
      })
  }

  @Test func `loops are synchronous`() {
    expectNone(
      SourceTree.sources.findings(
        #/\bTask(\.detached)?\s*(\(|\{)|\bawait\b|\basync\b|^\s*(package |private |final )*actor /#,
        "runs concurrently by the runtime: use a loop on an OwnedThread, state in a Mutex"))
    expectNone(
      SourceTree.testsButTidy.findings(
        #/\bTask(\.detached)?\s*\{/#, "starts a task: drive the loop, or use an OwnedThread"))
  }

  @Test func `the clock is a parameter`() {
    expectNone(
      SourceTree.sources.findings(
        #/\bDate\(\)|\bDate\.now\b|\bDate\(timeIntervalSinceNow/#,
        "reads the clock: take a TimeSource or a moment as parameter"))
  }

  @Test func `words that cannot be written end no process`() {
    expectNone(
      SourceTree.sources.findings(
        #/\bFileHandle\.standard(Error|Output)\b/#,
        "ends the process when the disk is full or the reader gone: use a StandardStream"))
  }

  /// Of a certificate, which is public, the simulator's clients wait for the whole file.
  @Test func `files are made for their owner alone`() {
    let advice = "makes a file that others may read, if the umask lets them: use PrivateFile"
    let makers = ["PrivateFile.swift", "SimulatorCertificates.swift"]
    let others = SourceTree.sources.filter { !makers.contains($0.name) }
    expectNone(others.findings(#/\bO_CREAT\b|\bfopen\(|\bcreateFile\(|_OPEN_CREATE\b/#, advice))
    // A store's values have a write(to:) of their own.
    expectNone(
      others.filter { !$0.path.hasPrefix("Sources/Stores/") }
        .findings(#/\.write\(to(File)?:/#, advice))
  }

  @Test func `nothing sleeps`() {
    let advice = "sleeps: wait for what is to happen (tests: becomesTrue, code: Poll or StopSignal)"
    expectNone(code.findings(#/\b(u|nano)?sleep\(|Thread\.sleep/#, advice))
  }

  @Test func `nothing is left for later`() {
    expectNone(
      code.findingsInText(#/\b(TODO|FIXME|XXX)\b/#, "is left for later: do it, or leave it out"))
    expectNone(
      code.findingsInText(
        #/fatalError\(\s*"([Nn]ot implemented|TODO)/#, "is left for later: write it"))
    expectNone(
      all.filter { $0.name == "Placeholder.swift" }.map {
        Finding($0.path, "is a placeholder: delete it once the folder has other files")
      })
  }

  @Test func `only what the app imports is public`() {
    let inside = SourceTree.sources.filter { $0.module != "ActivityContracts" }
    expectNone(
      inside.findings(
        #/^\s*(public|open)\s/#, "is public: say package; only the app's contracts are public"))
  }

  @Test func `names say what a thing is`() {
    let advice = "says nothing: name it after what it is, in the spec's words"
    let pattern =
      #/\b(class|struct|enum|protocol|typealias)\s+\w*(Utils?|Core|Common|Manager|Helpers?)\b/#
    expectNone(code.findings(pattern, advice))
    let fileName = #/(Utils?|Core|Common|Manager|Helpers?)\.swift$|\+/#
    expectNone(
      code.filter { $0.name.firstMatch(of: fileName) != nil }.map { Finding($0.path, advice) })
  }

  @Test func `files begin with code, not with a header`() {
    let header = #/^//\s*(\w+\.swift|Created by|Copyright)/#
    expectNone(
      code.filter { $0.lines.first?.firstMatch(of: header) != nil }.map {
        Finding($0.path, line: 1, "is a file header: leave it out")
      })
  }

  /// The compiler warns of it on one line only.
  @Test func `a condition stands beside each pattern it is meant for`() {
    let advice = "has patterns that the where on a later line is not about: write it to each"
    expectNone(
      code.flatMap { file in
        zip(file.code, file.code.dropFirst()).enumerated().filter { _, lines in
          lines.0.contains(#/^\s*case\b.*,\s*$/#) && !lines.0.contains(#/\bwhere\b/#)
            && lines.1.contains(#/\bwhere\b/#)
        }.map { place, _ in Finding(file.path, line: place + 1, advice) }
      })
  }

  @Test func `no path of one machine`() {
    expectNone(
      (SourceTree.sources + SourceTree.testsButTidy).findingsInText(
        #/["'(\s](/home/|/root/|/Users/)/#,
        "is a path of one machine: take it from a setting, or relative to the repository"))
  }
}
