"""A HyperQueue of one machine, made of its Python package, which has no `hq` command.

    start-hq.py server DIR           a server, with its files in DIR
    start-hq.py worker DIR CORES     a worker of that server, in a process of its own

Both say `ready` and stay until they are killed. The package starts workers only for servers of its own
process; a worker here has a server of its own that nobody uses, and reads the address of the real one from
where that would have written its own.
"""

import pathlib
import shutil
import signal
import sys
import tempfile

from hyperqueue.ffi.cluster import Cluster


def main():
    what, directory = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
    if what == "server":
        cluster = Cluster(str(directory))
    else:
        own = pathlib.Path(tempfile.mkdtemp(prefix="hq-worker-"))
        cluster = Cluster(str(own))
        access = (own / "hq-current/access.json").resolve()
        shutil.copyfile(directory / "hq-current/access.json", access)
        cluster.add_worker(int(sys.argv[3]))
    print("ready", flush=True)
    signal.pause()


main()
