"""Pushes with aioapns, the usual Python client: PORT CA PUSHES; prints one line of JSON."""

import asyncio
import json
import resource
import ssl
import sys
import time
import uuid

import uvloop
from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsProductionClientProtocol
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

STREAMS, CONNECTIONS = 250, 2


async def main(port, authority, pushes, key):
    APNsProductionClientProtocol.APNS_SERVER = "127.0.0.1"
    APNsProductionClientProtocol.APNS_PORT = port
    context = ssl.create_default_context(cafile=authority)
    context.set_alpn_protocols(["h2"])
    client = APNs(
        key=key, key_id="ABC1234567", team_id="TEAM123456", topic="app.example.cook.push-type.liveactivity",
        use_sandbox=False, ssl_context=context, max_connections=CONNECTIONS)
    state = {"rev": 7, "label": "3 Vorschläge bereit", "phase": "proposed", "people": ["x" * 60] * 8}
    payload = {"aps": {"event": "update", "timestamp": 1781784000, "content-state": state}}

    async def worker(numbers):
        for number in numbers:
            answer = await client.send_notification(NotificationRequest(
                device_token="%0160x" % number, message=payload, priority=5,
                notification_id=str(uuid.UUID(int=number)), push_type=PushType.LIVEACTIVITY))
            assert answer.is_successful, answer.description

    await worker(range(10))
    cpu, wall = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    width = STREAMS * CONNECTIONS
    await asyncio.gather(*(worker(range(10 + i, pushes + 10, width)) for i in range(width)))
    wall = time.monotonic() - wall
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = used.ru_utime + used.ru_stime - cpu.ru_utime - cpu.ru_stime
    print(json.dumps({
        "name": "aioapns", "pushes": pushes, "seconds": round(wall, 2), "per_second": round(pushes / wall, 2),
        "cpu_us_per_push": round(seconds * 1e6 / pushes, 2), "resident_mib": round(used.ru_maxrss / 1024, 2)}))


if __name__ == "__main__":
    pem = ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode()
    uvloop.install()
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), pem))
