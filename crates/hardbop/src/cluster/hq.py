"""Asks a HyperQueue server on behalf of hardbop, through HyperQueue's Python package.

One JSON value a line comes in, and one goes out. The argument is the server's directory, or nothing.
"""

import json
import sys

from hyperqueue import Client, Job
from hyperqueue.ffi.protocol import ResourceRequest


class Seen(Exception):
    """The state of a job was seen: there is no need to wait any longer."""


def submit(client, asked):
    job = Job(name=asked["name"], max_fails=None)
    request = ResourceRequest(cpus=asked["cores"], resources=dict(asked["resources"]))
    for number in range(asked["tasks"]):
        job.program(
            [*asked["command"], "--task", str(number)],
            cwd=asked["directory"],
            stdout=None,
            stderr=f"{asked['complaints']}/{number}.txt",
            priority=asked["tasks"] - number,
            resources=request,
            crash_limit=asked["tries"],
        )
    return {"job": client.submit(job).id}


def alive(client, asked):
    seen = {}

    def look(states):
        seen.update(states)
        raise Seen

    try:
        client.connection.wait_for_jobs([asked["job"]], look)
    except Seen:
        pass
    state = seen.get(asked["job"])
    if state is None or state["completed"]:
        return {"over": True, "failed": []}
    failed = client.connection.get_failed_tasks([asked["job"]]) if state["failed"] else {}
    return {"over": False, "failed": sorted(failed.get(asked["job"], {}))}


def main():
    client = None
    for line in sys.stdin:
        try:
            asked = json.loads(line)
            if client is None:
                client = Client(sys.argv[1] if len(sys.argv) > 1 else None)
            answer = {"submit": submit, "alive": alive}[asked["do"]](client, asked)
        except BaseException as error:  # a lost server is told, and looked for again the next time
            client = None
            words = str(error).strip() or type(error).__name__
            answer = {"trouble": words.splitlines()[0]}
        print(json.dumps(answer), flush=True)


main()
