"""A Ray cluster of several nodes on this machine, for the tests, in a process of its own.

It prints the address, then obeys: for ``add`` a node of one core joins, for ``add gpu`` one of two
cores that says it has a GPU, and its name is printed; for ``end`` and a name, that node leaves, for
``kill`` it is gone as by a power cut, and the name is printed. When its input ends, all that it
started ends.
"""

import os
import sys
import tempfile
from pathlib import Path

from ray.cluster_utils import Cluster

STORE = 80 << 20
NODES = {"": {"num_cpus": 1}, "gpu": {"num_cpus": 1, "num_gpus": 1}}


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True) as folder:
        # Ray notes the address of a cluster in a folder that is not there on a fresh machine, and
        # in place of that of any other cluster; here it notes it in a folder of its own.
        os.environ["RAY_TMPDIR"] = folder
        place = Path(folder) / "ray"
        place.mkdir()
        head = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": STORE}
        cluster = Cluster(initialize_head=True, head_node_args={**head, "temp_dir": str(place)})
        print(cluster.address, flush=True)
        nodes = {}
        for line in sys.stdin:
            order, _, name = line.strip().partition(" ")
            if order == "add":
                node = cluster.add_node(**NODES[name], object_store_memory=STORE)
                name = node.node_id
                nodes[name] = node
            else:
                cluster.remove_node(nodes.pop(name), allow_graceful=order == "end")
            print(name, flush=True)
        cluster.shutdown()


if __name__ == "__main__":
    main()
