"""Pushes with httpx over HTTP/2: PORT CA PUSHES; prints one line of JSON."""

import asyncio
import json
import resource
import ssl
import sys
import time
import uuid

import httpx

STREAMS, CONNECTIONS = 250, 2


async def main(port, authority, pushes):
    context = ssl.create_default_context(cafile=authority)
    limits = httpx.Limits(max_connections=1)
    clients = [
        httpx.AsyncClient(http2=True, http1=False, verify=context, limits=limits, timeout=60)
        for _ in range(CONNECTIONS)]
    body = json.dumps({"aps": {"event": "update", "content-state": {"people": ["x" * 60] * 8}}}).encode()

    async def worker(client, numbers):
        for number in numbers:
            answer = await client.post(
                "https://127.0.0.1:%d/3/device/%0160x" % (port, number), content=body,
                headers={
                    "authorization": "bearer " + "j" * 180, "apns-push-type": "liveactivity",
                    "apns-topic": "app.example.cook.push-type.liveactivity", "apns-priority": "5",
                    "apns-id": str(uuid.UUID(int=number)), "content-type": "application/json"})
            assert answer.status_code == 200

    for client in clients:
        await worker(client, range(2))
    cpu, wall = resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    width = STREAMS // 5 * CONNECTIONS
    await asyncio.gather(*(
        worker(clients[i % CONNECTIONS], range(i, pushes, width)) for i in range(width)))
    wall = time.monotonic() - wall
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds = used.ru_utime + used.ru_stime - cpu.ru_utime - cpu.ru_stime
    print(json.dumps({
        "name": "httpx", "pushes": pushes, "seconds": round(wall, 2), "per_second": round(pushes / wall, 2),
        "cpu_us_per_push": round(seconds * 1e6 / pushes, 2), "resident_mib": round(used.ru_maxrss / 1024, 2)}))


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
