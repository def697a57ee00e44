"""Publishes events as a program of somebody else would, with nothing but pika.

    foreign_publisher.py AMQP_URL EXCHANGE < LINES

Each line is a JSON object: `event`, the CloudEvent; optional `headers`. What the broker does not
confirm, or returns, ends the program with an error.
"""

import json
import sys

import pika

url, exchange = sys.argv[1:]
connection = pika.BlockingConnection(pika.URLParameters(url))
channel = connection.channel()
channel.confirm_delivery()
count = 0
for line in sys.stdin:
    entry = json.loads(line)
    event = entry["event"]
    channel.basic_publish(
        exchange,
        routing_key=event["type"],
        body=json.dumps(event, ensure_ascii=False).encode(),
        properties=pika.BasicProperties(
            content_type="application/cloudevents+json",
            delivery_mode=2,
            message_id=event.get("id"),
            type=event["type"],
            headers=entry.get("headers"),
        ),
        mandatory=True,
    )
    count += 1
connection.close()
print(count)
