"""Follows the feed of a time-log service, as the README describes it: prints each new log once, over restarts too.

TIME_LOGS_URL and TIME_LOGS_TOKEN say where; the arguments are a file for the id of the last event, and after how many logs to end.
"""

import json
import os
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

URL = os.environ["TIME_LOGS_URL"]
TOKEN = os.environ["TIME_LOGS_TOKEN"]
PAUSE = 0.1  # seconds


def events_after(last):
    query = urllib.parse.urlencode({"limit": 5, **({"lastEventId": last} if last else {})})
    request = urllib.request.Request(
        f"{URL}/api/v1/time-logs/events?{query}", headers={"Authorization": f"Bearer {TOKEN}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        if error.code != 503:
            raise
        return []


def main(file, count):
    last = file.read_text() if file.exists() else None
    while count > 0:
        events = events_after(last)[:count]
        for event in events:
            print(json.dumps(event["data"]), flush=True)
            last = event["id"]
            file.write_text(last)
        count -= len(events)
        if not events:
            time.sleep(PAUSE)


main(Path(sys.argv[1]), int(sys.argv[2]))
