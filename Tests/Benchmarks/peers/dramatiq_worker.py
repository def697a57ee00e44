"""One Dramatiq worker of eight threads, its default: a message comes, two go out.

fill|run AMQP_URL MESSAGES. Confirms; its queues are classic ones, others it does not make. `run`
prints one line of JSON.
"""

import json
import os
import resource
import sys
import threading
import time

import dramatiq
from dramatiq.brokers.rabbitmq import RabbitmqBroker

BODY = "x" * 700
what, url, messages = sys.argv[1], sys.argv[2], int(sys.argv[3])

broker = RabbitmqBroker(url=url, confirm_delivery=True, middleware=[])
dramatiq.set_broker(broker)
lock, done, begun, used = threading.Lock(), 0, 0.0, None


@dramatiq.actor(queue_name="dramatiq-out")
def out(body):
    raise AssertionError("nobody reads what goes out")


@dramatiq.actor(queue_name="dramatiq-in")
def work(body):
    global done, begun, used
    with lock:
        if begun == 0:
            begun, used = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF)
    out.send(body)
    out.send(body)
    with lock:
        done += 1
        if done < messages:
            return
        seconds, now = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_SELF)
        cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
        print(json.dumps({
            "name": "dramatiq", "messages": done, "seconds": round(seconds, 2),
            "per_second": round(done / seconds, 2),
            "cpu_us_per_message": round(cpu * 1e6 / done, 2),
            "resident_most_mib": round(now.ru_maxrss / 1024, 1)}), flush=True)
        os._exit(0)


if what == "fill":
    for _ in range(messages):
        work.send(BODY)
else:
    dramatiq.Worker(broker, queues={"dramatiq-in"}, worker_threads=8).start()
    threading.Event().wait()
