"""A browser and its push service in another language: makes a subscription, then reads what is
sent to it and checks who sent it. Of Debian: python3-cryptography and python3-jwt.

Writes the subscription as one line of JSON, reads one line
{"endpoint", "authorization", "topic", "ttl", "body" (base64url)} for each push, and answers each
with one line {"plaintext", "claims"} or {"error"}.
"""
import base64
import json
import os
import struct
import sys

import jwt
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def encode(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def point(key):
    return key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def derive(length, salt, info, secret):
    return HKDF(hashes.SHA256(), length, salt, info).derive(secret)


def decrypt(body, private, auth):
    """RFC 8291, the receiver's side, for a body of one record."""
    salt, (size, id_length) = body[:16], struct.unpack("!IB", body[16:21])
    sender = body[21:21 + id_length]
    record = body[21 + id_length:]
    if id_length != 65 or len(record) > size or len(body) > 4096:
        raise ValueError("not one record of a Web Push")
    shared = private.exchange(
        ec.ECDH(), ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), sender))
    info = b"WebPush: info\0" + point(private.public_key()) + sender
    secret = derive(32, auth, info, shared)
    key = derive(16, salt, b"Content-Encoding: aes128gcm\0", secret)
    nonce = derive(12, salt, b"Content-Encoding: nonce\0", secret)
    padded = AESGCM(key).decrypt(nonce, record, None).rstrip(b"\0")
    if padded[-1:] != b"\2":
        raise ValueError("the record is not the last one")
    return padded[:-1]


def verify(authorization, endpoint):
    """RFC 8292: the claims, once the token is good for this endpoint."""
    scheme, _, rest = authorization.partition(" ")
    fields = dict(field.strip().split("=", 1) for field in rest.split(","))
    if scheme != "vapid" or set(fields) != {"t", "k"}:
        raise ValueError("want vapid t=..., k=...")
    key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode(fields["k"]))
    origin = "/".join(endpoint.split("/")[:3])
    claims = jwt.decode(
        fields["t"], key, algorithms=["ES256"], audience=origin,
        options={"require": ["aud", "exp", "sub"]})
    if not isinstance(claims["exp"], int) or isinstance(claims["exp"], bool):
        raise ValueError("exp is no number")
    return claims


def main():
    private, auth = ec.generate_private_key(ec.SECP256R1()), os.urandom(16)
    print(json.dumps({"p256dh": encode(point(private.public_key())), "auth": encode(auth)}), flush=True)
    for line in sys.stdin:
        push = json.loads(line)
        try:
            if len(push["topic"]) != 32 or push["ttl"] < 60:
                raise ValueError("topic or ttl")
            answer = {
                "plaintext": decrypt(decode(push["body"]), private, auth).decode(),
                "claims": verify(push["authorization"], push["endpoint"]),
            }
        except Exception as error:
            answer = {"error": repr(error)}
        print(json.dumps(answer), flush=True)


main()
