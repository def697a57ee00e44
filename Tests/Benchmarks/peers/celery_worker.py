"""One Celery worker: a task comes, two go out: fill|run AMQP_URL MESSAGES.

Quorum queues, confirms, late acknowledgement: what our worker promises. `run` prints one line of
JSON.
"""

import json
import os
import resource
import sys
import time

from celery import Celery

BODY = "x" * 700
what, url, messages = sys.argv[1], sys.argv[2], int(sys.argv[3])

app = Celery("peer", broker=url)
app.conf.update(
    task_default_queue="celery-in", task_default_queue_type="quorum", task_ignore_result=True,
    task_acks_late=True, worker_prefetch_multiplier=100, worker_send_task_events=False,
    worker_enable_remote_control=False, worker_redirect_stdouts=False,
    broker_transport_options={"confirm_publish": True},
    broker_connection_retry_on_startup=True, task_routes={"out": {"queue": "celery-out"}})
done, begun, used = 0, 0.0, None


@app.task(name="out")
def out(body):
    raise AssertionError("nobody reads what goes out")


@app.task(name="work")
def work(body):
    global done, begun, used
    if done == 0:
        begun, used = time.monotonic(), resource.getrusage(resource.RUSAGE_SELF)
    out.delay(body)
    out.delay(body)
    done += 1
    if done < messages:
        return
    seconds, now = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_SELF)
    cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    print(json.dumps({
        "name": "celery", "messages": done, "seconds": round(seconds, 2),
        "per_second": round(done / seconds, 2), "cpu_us_per_message": round(cpu * 1e6 / done, 2),
        "resident_most_mib": round(now.ru_maxrss / 1024, 1)}), flush=True)
    os._exit(0)


if what == "fill":
    for _ in range(messages):
        work.delay(BODY)
else:
    app.Worker(
        pool="solo", queues=["celery-in"], loglevel="ERROR", quiet=True, without_gossip=True,
        without_mingle=True, without_heartbeat=True).start()
