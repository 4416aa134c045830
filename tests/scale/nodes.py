"""A Ray cluster of several nodes on this machine, for the tests, in a process of its own.

It prints the address and the nodes beside the head. A node whose name it reads then is killed, as
by a power cut, and it prints that name. When its input ends, all that it started ends.
"""

import sys
import tempfile

from ray.cluster_utils import Cluster

STORE = 80 << 20


def main(nodes: int) -> None:
    with tempfile.TemporaryDirectory(prefix="ray", ignore_cleanup_errors=True) as folder:
        head = {"num_cpus": 1, "include_dashboard": False, "object_store_memory": STORE}
        cluster = Cluster(initialize_head=True, head_node_args={**head, "temp_dir": folder})
        started = {}
        for _ in range(nodes):
            node = cluster.add_node(num_cpus=1, object_store_memory=STORE, wait=False)
            started[node.node_id] = node
        cluster.wait_for_nodes()
        print(cluster.address, *started, flush=True)
        for line in sys.stdin:
            cluster.remove_node(started[line.strip()], allow_graceful=False)
            print(line.strip(), flush=True)
        cluster.shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]))
