import Vocabulary

/// The contracts that one installation serves, by attributes type.
package struct ContractCatalog: Sendable {
  private let contracts: [String: any ActivityContract]

  /// The two that are compiled in.
  package static let builtIn = ContractCatalog()

  /// `declared` besides the two that are compiled in.
  ///
  /// - Throws: ``DuplicateContract``: two of one attributes type.
  package init(declared: [DeclaredContract]) throws(DuplicateContract) {
    var contracts = Self.builtIn.contracts
    for contract in declared {
      guard contracts.updateValue(contract, forKey: contract.attributesType) == nil else {
        throw DuplicateContract(attributesType: contract.attributesType)
      }
    }
    self.contracts = contracts
  }

  private init() {
    let builtIn: [any ActivityContract] = [CookSuggestContract(), ShinyContract()]
    contracts = Dictionary(uniqueKeysWithValues: builtIn.map { ($0.attributesType, $0) })
  }

  /// Nil when nobody declared it.
  package subscript(attributesType: String) -> (any ActivityContract)? {
    contracts[attributesType]
  }

  /// Sorted.
  package var attributesTypes: [String] { contracts.keys.sorted() }
}

/// Two contracts of one attributes type: which of them an app has, nobody could say.
package struct DuplicateContract: Error, Hashable, CustomStringConvertible {
  package let attributesType: String
  package var description: String { "there are two contracts of type \(attributesType)" }
}
