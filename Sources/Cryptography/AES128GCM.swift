import COpenSSL

/// AES-128 in Galois/Counter Mode with a tag of 16 octets, which follows the ciphertext.
package enum AES128GCM {
  package static let keyBytes = 16
  package static let nonceBytes = 12
  package static let tagBytes = 16

  package static func sealed(_ plaintext: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8] {
    precondition(key.count == keyBytes && nonce.count == nonceBytes, "16 and 12 octets")
    let context = EVP_CIPHER_CTX_new()
    defer { EVP_CIPHER_CTX_free(context) }
    var output = [UInt8](repeating: 0, count: plaintext.count)
    var tag = [UInt8](repeating: 0, count: tagBytes)
    var length: Int32 = 0
    var last: Int32 = 0
    precondition(
      EVP_EncryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce) == 1
        && EVP_EncryptUpdate(context, &output, &length, plaintext, Int32(plaintext.count)) == 1
        && EVP_EncryptFinal_ex(context, &tag, &last) == 1
        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagBytes), &tag) == 1,
      "AES-128-GCM is there")
    return output + tag
  }

  /// The plaintext; nil when the tag is not that of this ciphertext, key and nonce.
  package static func opened(_ sealed: [UInt8], key: [UInt8], nonce: [UInt8]) -> [UInt8]? {
    guard sealed.count >= tagBytes, key.count == keyBytes, nonce.count == nonceBytes else {
      return nil
    }
    let ciphertext = Array(sealed.dropLast(tagBytes))
    var tag = Array(sealed.suffix(tagBytes))
    let context = EVP_CIPHER_CTX_new()
    defer {
      EVP_CIPHER_CTX_free(context)
      ERR_clear_error()
    }
    var output = [UInt8](repeating: 0, count: ciphertext.count)
    var rest = [UInt8](repeating: 0, count: tagBytes)
    var length: Int32 = 0
    guard EVP_DecryptInit_ex(context, EVP_aes_128_gcm(), nil, key, nonce) == 1,
      EVP_DecryptUpdate(context, &output, &length, ciphertext, Int32(ciphertext.count)) == 1,
      EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagBytes), &tag) == 1,
      EVP_DecryptFinal_ex(context, &rest, &length) == 1
    else { return nil }
    return output
  }
}
