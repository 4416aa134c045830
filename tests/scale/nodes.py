"""A Ray cluster of several nodes on this machine, for the tests, in a process of its own.

It prints the address, then obeys what it reads: ``remove NODE`` kills a node as a power cut would.
It ends, and all that it started with it, when its standard input does.
"""

import sys
import tempfile

from ray.cluster_utils import Cluster

STORE = 80 << 20


def main(nodes: int) -> None:
    with tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True) as folder:
        head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": STORE}
        cluster = Cluster(initialize_head=True, head_node_args={**head, "temp_dir": folder})
        started = {}
        for _ in range(nodes):
            node = cluster.add_node(num_cpus=1, object_store_memory=STORE, wait=False)
            started[node.node_id] = node
        cluster.wait_for_nodes()
        print(cluster.address, flush=True)
        for line in sys.stdin:
            cluster.remove_node(started.pop(line.split()[1]), allow_graceful=False)
            print("removed", flush=True)
        cluster.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]))
