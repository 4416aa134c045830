"""The engine of a cluster, on a real one of several nodes: whatever dies, the output is that of
one machine."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from socket import create_server, gethostname
from threading import Event, Thread
from typing import Any

import pytest

from parataxis.cli.main import main
from parataxis.errors import InputError
from parataxis.run.cluster import WINDOW, Cluster
from parataxis.run.encode import OutputFormat, RecordEncoder
from parataxis.run.pipeline import SplitterTask, Work
from parataxis.run.remote import ObjectStore, open_store

pytest.importorskip("ray", reason="needs the extra [ray]")
pytest.importorskip("pyarrow", reason="needs the extra [scale]")
needs_torch = pytest.mark.skipif(
    not (find_spec("torch") and find_spec("onnx")), reason="needs the extra [gpu]"
)

SPLITTERS = """
import os, signal, sys, time
from parataxis import Rewrite


class HeldSplitter:
    name = "held"
    summary = "Cuts at semicolons, writes down where, and can be held."

    def __call__(self, sentence):
        if sentence.startswith("Poison"):
            os.kill(os.getpid(), signal.SIGKILL)
        parts = [part.strip(" .") + "." for part in sentence.split(";")]
        return Rewrite(source=sentence, simple=parts, splitter=self.name)

    def pipe(self, sentences):
        sentences = list(sentences)
        if "ray" in sys.modules:
            node = sys.modules["ray"].get_runtime_context().get_node_id()
            with open("FOLDER/traces", "a") as traces:
                traces.write(f"{os.getpid()} {node}\\n")
        while any(each.startswith("Hold") for each in sentences) and os.path.exists("FOLDER/hold"):
            time.sleep(0.01)
        return map(self, sentences)
"""

FILES = {
    "held_splitters.py": SPLITTERS,
    "held_splitters-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: s\nVersion: 1.0\n",
    "held_splitters-1.0.dist-info/entry_points.txt": (
        "[parataxis.splitters]\nheld = held_splitters:HeldSplitter\n"
    ),
}

READ_AHEAD = """
import json, sys
from pathlib import Path
from threading import Timer
from parataxis.run.cluster import WINDOW, Cluster
from parataxis.run.encode import RecordEncoder, OutputFormat
from parataxis.run.files import DataFormat, find_inputs
from parataxis.run.reading import read_batches
from parataxis.run.pipeline import SplitterTask, Work

read = results = ahead = 0

def counted():
    global read, ahead
    for batch in read_batches(find_inputs(["wait.txt"], DataFormat.LINES), sentences=1):
        read += 1
        ahead = max(ahead, read - results)
        if read == 2 * WINDOW:  # two actors: now it has to stop, for as long as it is held
            Timer(0.5, Path("hold").unlink).start()
        yield batch

work = Work(SplitterTask("held"), RecordEncoder(OutputFormat.TEXT), "held")
for _ in Cluster(sys.argv[1], most=2)(counted(), work):
    results += 1
print(json.dumps({"results": results, "ahead": ahead}))
"""
"""Counts how many batches have been read and not yet given back, while the first is held."""

HEADLESS = """
import os, signal, sys
from pathlib import Path
from threading import Timer
import ray
from parataxis.errors import ParataxisError
from parataxis.run import cluster
from parataxis.run.encode import RecordEncoder, OutputFormat
from parataxis.run.files import DataFormat, find_inputs
from parataxis.run.reading import read_batches
from parataxis.run.pipeline import SplitterTask, Work

def wake():
    os.kill(head, signal.SIGCONT)
    Path("hold").unlink()

address, head = sys.argv[1], int(sys.argv[2])
cluster._CHECK_INTERVAL = cluster._CONNECT_TIMEOUT = 0.2
ray.init(address, log_to_driver=False)
os.environ["RAY_gcs_rpc_server_reconnect_timeout_s"] = sys.argv[3]  # Ray has read it already
batches = read_batches(find_inputs(["headless.txt"], DataFormat.LINES), sentences=1)
work = Work(SplitterTask("held"), RecordEncoder(OutputFormat.TEXT), "held")
results = cluster.Cluster(address)(batches, work)
next(results)
os.kill(head, signal.SIGSTOP)
timer = Timer(2, wake)
timer.start()
try:
    print(len(list(results)), "more")
except ParataxisError as error:
    print(error)
    timer.cancel()
    wake()
"""
"""Lets the head of the cluster be silent for two seconds, while the second batch is held."""

DATASET = """
import json, sys
import pyarrow, ray
from parataxis.run.ray import RaySplitter

address, options, resources = sys.argv[1], *map(json.loads, sys.argv[2:])
ray.init(address, log_to_driver=False)
table = pyarrow.table({"text": ["Ann came; Bob left.", None, "It rained."]})
split = ray.data.from_arrow(table).map_batches(
    RaySplitter,
    fn_constructor_args=("text",),
    fn_constructor_kwargs=options,
    compute=ray.data.ActorPoolStrategy(min_size=1, max_size=2),
    batch_size=256,
    batch_format="pyarrow",
    **resources,
)
print(json.dumps(split.take_all()))
"""
"""The recipe of the documentation."""

LOST = """
import os, sys
from pathlib import Path
import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy as On
from parataxis.run.cluster import Cluster, _StoredBytes
from parataxis.run.encode import RecordEncoder, OutputFormat
from parataxis.run.files import DataFormat, find_inputs
from parataxis.run.reading import read_batches
from parataxis.run.remote import open_store
from parataxis.run.pipeline import SplitterTask, Work

class Busy:
    def is_there(self):
        return True

encoder = RecordEncoder(OutputFormat.TEXT)
store = open_store(Path("lost").absolute().as_uri())
told = []
cluster = Cluster(sys.argv[1], keep_results=True, report=told.append)
with cluster.connected():
    taken = [
        ray.remote(Busy).options(num_cpus=1, scheduling_strategy=On(node["NodeID"], False)).remote()
        for node in ray.nodes()
        if node["Alive"] and node["NodeID"] != sys.argv[2]
    ]
    ray.get([each.is_there.remote() for each in taken])
    batches = read_batches(find_inputs(["lost.txt"], DataFormat.LINES), sentences=1)
    results = list(cluster(batches, Work(SplitterTask("held"), encoder, "held")))
    assert all(isinstance(each.data, _StoredBytes) and not bytes(each.data) for _, each in results)
    sys.__stdout__.write("made\\n")
    sys.__stdout__.flush()
    sys.stdin.readline()  # until the machine that has them is gone
    for each in taken:
        ray.kill(each)
    cluster.store_part(store, f"{store.path}/part", encoder, results)
print(len(told), file=sys.stderr)
"""
"""Has the results made on one machine, which is killed before their part is written."""

OFTEN = """
import sys
from parataxis.cli.main import main
from parataxis.run import output

output.EVERY = 0.0
sys.exit(main(sys.argv[1:]))
"""
"""The command, with a checkpoint after each batch."""

NAMES = ("Ann", "Eve", "Sue", "Tom")

SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_memory_monitor_refresh_ms": "0",  # it would kill actors where other tests take memory
    "PARATAXIS_THREADS": "1",
}


@dataclass
class Nodes:
    """A cluster that runs; ``traces`` says which processes have worked."""

    address: str
    folder: Path
    process: "subprocess.Popen[str]"
    environment: dict[str, str]

    @property
    def traces(self) -> list[tuple[int, str]]:
        """The process and the node of each call, the last one last."""
        path = self.folder / "traces"
        lines = path.read_text().splitlines() if path.exists() else []
        return [(int(pid), node) for pid, node in map(str.split, lines)]

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Let sentences that begin with "Hold" wait, and forget the traces of before."""
        (self.folder / "traces").unlink(missing_ok=True)
        (self.folder / "hold").touch()
        try:
            yield
        finally:
            (self.folder / "hold").unlink(missing_ok=True)

    def add(self) -> str:
        """Let a node join, and say its name."""
        return self._order("add")

    @contextmanager
    def gpu(self) -> Iterator[None]:
        """Let a node join that says it has a GPU, and leave afterwards."""
        name = self._order("add gpu")
        yield
        assert self._order(f"end {name}") == name

    def remove(self, node: str) -> None:
        """Kill a node."""
        assert self._order(f"kill {node}") == node

    def _order(self, word: str) -> str:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    @property
    def actors(self) -> list[int]:
        """The processes of actors."""
        return self._workers("ray::_Worker")

    @property
    def workers(self) -> list[int]:
        """The processes that work for a driver: actors, and writers of parts."""
        return [*self.actors, *self._workers("ray::write_part")]

    def _workers(self, name: str) -> list[int]:
        workers = (each for raylet in children(self.process.pid) for each in children(raylet))
        return [each for each in workers if name in command(each)]

    def start(
        self, *arguments: str, program: tuple[str, str] = ("-m", "parataxis")
    ) -> "subprocess.Popen[str]":
        """Start ``parataxis split``."""
        return subprocess.Popen(
            [sys.executable, *program, "split", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self.environment,
        )

    def split(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run ``parataxis split`` to its end."""
        process = self.start(*arguments)
        out, err = process.communicate(timeout=300)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def python(self, program: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a program of the user's."""
        return subprocess.run(
            [sys.executable, "-c", program, *arguments],
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=self.environment,
            check=False,
            timeout=300,
        )

    @property
    def engine(self) -> tuple[str, ...]:
        """The options that choose this cluster."""
        return ("--engine", "ray", "--address", self.address)


@contextmanager
def running(folder: Path, **variables: str) -> Iterator[Nodes]:
    """A cluster of one node."""
    for name, text in FILES.items():
        (folder / "site" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "site" / name).write_text(text.replace("FOLDER", str(folder)))
    paths = [str(folder / "site"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **os.environ,
        **SETTINGS,
        "PYTHONPATH": os.pathsep.join(map(os.path.abspath, paths)),
        **variables,
    }
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("nodes.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
    ) as process:
        assert process.stdout
        yield Nodes(process.stdout.readline().strip(), folder, process, environment)
        process.communicate(timeout=180)  # ends its input, and so the cluster


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    with running(tmp_path_factory.mktemp("cluster")) as made:
        made.add()
        yield made


def wait_until(happens: Callable[[], object], run: "subprocess.Popen[str]") -> None:
    end = time.monotonic() + 180
    while not happens():
        assert run.poll() is None, run.communicate()
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)


def is_gone(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return True
    return state == "Z"


def are_gone(processes: list[int]) -> bool:
    return all(map(is_gone, processes))


def children(process: int) -> list[int]:
    """The processes that a process has started, the first one first."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            if int(fields[1]) == process:
                found.append((int(fields[19]), int(path.parent.name)))
    return [number for _, number in sorted(found)]


def command(process: int) -> str:
    """The command line of a process."""
    with suppress(OSError):
        return Path(f"/proc/{process}/cmdline").read_text()
    return ""


def helpers(actor: int) -> list[int]:
    """The processes that an actor with a GPU works with; the first one has the models."""
    return [each for each in children(actor) if "spawn_main" in command(each)]


def write_records(path: Path, count: int, word: str = "See") -> None:
    """Sentences, some bad records among them."""
    lines = [json.dumps({"source": f"{word} {n} plums; eat them."}) for n in range(count)]
    lines[5] = "{"
    lines[count // 2] = json.dumps({"source": None})
    path.write_text("\n".join(lines) + "\n")


def write_batches(path: Path) -> None:
    """Six batches of sentences, with two bad records, and a seventh that can be held."""
    write_records(path, 6 * 256 + 2)
    with path.open("a") as stream:
        stream.writelines(f'{{"source": "Hold {n} plums; eat them."}}\n' for n in range(256))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.*")}


def sentences_done(checkpoint: Path) -> int:
    """The sentences before a checkpoint, which may not be there yet."""
    with suppress(OSError):
        return int(json.loads(checkpoint.read_text())["sentences"])
    return 0


def kill_driver(nodes: Nodes, run: "subprocess.Popen[str]") -> None:
    """Kill the command, and wait until Ray has ended what worked for it."""
    run.kill()
    run.communicate()
    end = time.monotonic() + 60
    while nodes.workers:
        assert time.monotonic() < end, "they go on without it"
        time.sleep(0.02)


@dataclass
class Bucket:
    """Amazon's store as moto plays it, which answers only those who have the credentials.
    ``written`` are the files that were completed; uploads whose path ends in ``held`` wait while
    ``is_held`` is set, and come to nothing."""

    application: Any
    written: list[str] = field(default_factory=list)
    held: str = "nothing"
    is_held: Event = field(default_factory=Event)
    go_on: Event = field(default_factory=Event)

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        path, query = environ["PATH_INFO"], environ["QUERY_STRING"]
        is_known = "Credential=key/" in environ.get("HTTP_AUTHORIZATION", "")
        is_completed = environ["REQUEST_METHOD"] == "POST" and query.startswith("uploadId=")
        if path.endswith(self.held) and not self.go_on.is_set():
            self.is_held.set()
            self.go_on.wait(120)
            is_known = False
        if not is_known:
            start("403 Forbidden", [("Content-Type", "application/xml")])
            return [b"<Error><Code>AccessDenied</Code><Message>Who?</Message></Error>"]
        if is_completed:
            self.written.append(path.rpartition("/")[2])
        return self.application(environ, start)


@pytest.fixture
def bucket(nodes: Nodes) -> Iterator[tuple[Nodes, Bucket]]:
    """A store, and the cluster for drivers that have its credentials; the nodes have none."""
    moto = pytest.importorskip("moto.server")
    from werkzeug.serving import make_server

    made = Bucket(moto.DomainDispatcherApplication(moto.create_backend_app))
    server = make_server("127.0.0.1", 0, made, threaded=True)
    Thread(target=server.serve_forever, daemon=True).start()
    variables = {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_REGION": "us-east-1",
    }
    with pytest.MonkeyPatch.context() as patch:
        for name, value in variables.items():
            patch.setenv(name, value)
        address = "s3://texts?allow_bucket_creation=true"
        open_store(address).filesystem.create_dir("texts")
        yield replace(nodes, environment={**nodes.environment, **variables}), made
    made.go_on.set()
    server.shutdown()


def told(error: str) -> list[str]:
    """What stands on standard error, less what depends on time."""
    lines = error.splitlines()
    assert all(line.startswith("parataxis: ") for line in lines), error
    return [line for line in lines if "per second" not in line]


def test_cluster_output_is_that_of_one_machine_whatever_joins_and_dies(nodes: Nodes) -> None:
    write_records(nodes.folder / "in.jsonl", 40 * 256, "Hold")
    common = ("in.jsonl", "-s", "held")
    alone = nodes.split(*common, "-o", "alone.jsonl", "--jobs", "1", "--on-error", "pass")
    assert alone.returncode == 3, alone.stderr

    with nodes.hold():
        run = nodes.start(*common, "-o", "both.jsonl", *nodes.engine)
        wait_until(lambda: len(set(nodes.traces)) == 2, run)
        joined = nodes.add()
        wait_until(lambda: len(set(nodes.traces)) == 3, run)
        killed = next(process for process, node in nodes.traces if node != joined)
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: len(set(nodes.traces)) == 4, run)
        nodes.remove(joined)
        cut_off = next(process for process, node in nodes.traces if node == joined)
        wait_until(lambda: is_gone(cut_off), run)  # it lives on a while, and could finish its work
    out, err = run.communicate(timeout=300)

    assert (run.returncode, out) == (3, ""), err
    lost = [line for line in told(err) if "An actor was lost; its" in line]
    assert len(lost) == 2
    assert [line for line in told(err) if line not in lost] == told(alone.stderr)
    assert len(told(alone.stderr)) == 3
    both = (nodes.folder / "both.jsonl").read_bytes()
    assert both == (nodes.folder / "alone.jsonl").read_bytes()
    assert both.count(b"\n") == 40 * 256
    assert not (nodes.folder / "both.jsonl.unfinished").exists()


def test_cluster_run_goes_on_after_its_driver_was_killed(nodes: Nodes) -> None:
    (nodes.folder / "parts").mkdir()
    for part in range(8):
        name = f"{part}.jsonl"
        write_records(nodes.folder / "parts" / name, 256, "Hold" if part == 4 else "See")
    assert nodes.split("parts", "-s", "held", "-o", "one/", "--jobs", "1").returncode == 3

    with nodes.hold():
        run = nodes.start("parts", "-s", "held", "-o", "two/", *nodes.engine)
        wait_until(lambda: (nodes.folder / "two" / "3.jsonl").exists(), run)
        run.kill()
        run.communicate()
    assert (nodes.folder / "two" / ".unfinished").exists()
    done = nodes.split("parts", "-s", "held", "-o", "two/", "--resume", *nodes.engine)

    assert done.returncode == 3, done.stderr
    assert contents(nodes.folder / "two") == contents(nodes.folder / "one")
    assert len(contents(nodes.folder / "two")) == 8


def test_cluster_run_goes_on_in_the_middle_of_a_file(nodes: Nodes) -> None:
    write_batches(nodes.folder / "middle.jsonl")
    options = ("middle.jsonl", "-s", "held", "--errors")
    alone = nodes.split(*options, "1.errors", "-o", "1.jsonl", "--jobs", "1")
    assert alone.returncode == 3, alone.stderr
    common = (*options, "2.errors", "-o", "2.jsonl", *nodes.engine)
    state = nodes.folder / "2.jsonl.unfinished" / "checkpoint"
    with nodes.hold():
        run = nodes.start(*common, program=("-c", OFTEN))
        wait_until(lambda: sentences_done(state) == 6 * 256, run)
        kill_driver(nodes, run)
    (nodes.folder / "traces").unlink()
    done = nodes.split(*common, "--resume")

    assert done.returncode == 3, done.stderr
    assert len(nodes.traces) == 1  # only the batch that was held is split now
    for name in ("{}.jsonl", "{}.errors"):
        one, two = ((nodes.folder / name.format(n)).read_bytes() for n in (1, 2))
        assert one == two


def test_cluster_gives_up_a_batch_that_kills_and_names_it(nodes: Nodes) -> None:
    lines = [f"Ann ate {n} plums; Bob left.\n" for n in range(600)]
    lines[300] = "Poison.\n"
    (nodes.folder / "poison.txt").write_text("".join(lines))
    arguments = ("poison.txt", "--input", "lines", "-s", "held", "-o", "never.txt")
    done = nodes.split(*arguments, *nodes.engine)
    assert (done.returncode, done.stdout) == (2, "")
    assert told(done.stderr)[-1] == (
        "parataxis: The batch from poison.txt:257 to poison.txt:512 was given up: 4 actors were "
        "lost that worked on it (The actor is dead because its worker process has died)."
    )
    assert sum("An actor was lost" in line for line in told(done.stderr)) == 3
    assert not (nodes.folder / "never.txt").exists()


def test_cluster_reads_no_more_than_a_few_batches_ahead(nodes: Nodes) -> None:
    lines = ["Hold.\n", *(f"Ann ate {n} plums; Bob left.\n" for n in range(39))]
    (nodes.folder / "wait.txt").write_text("".join(lines))
    with nodes.hold():
        done = nodes.python(READ_AHEAD, nodes.address)
    counted = json.loads(done.stdout.splitlines()[-1])  # Ray may tell of lost nodes before
    assert counted == {"results": 40, "ahead": 2 * WINDOW}, done.stderr


@pytest.mark.parametrize("patience", [60, 1])
def test_cluster_whose_head_is_lost_is_told_in_a_sentence(nodes: Nodes, patience: int) -> None:
    (nodes.folder / "headless.txt").write_text("Ann came.\nHold.\nBob left.\n")
    (head,) = (each for each in children(nodes.process.pid) if "gcs_server" in command(each))
    with nodes.hold():
        done = nodes.python(HEADLESS, nodes.address, str(head), str(patience))
    lost = f"The Ray cluster at {nodes.address} was lost; go on with --resume."
    told = done.stdout.splitlines()[-1:]  # Ray may tell of lost nodes before
    assert told == (["2 more"] if patience == 60 else [lost]), done.stderr


def test_cluster_rewrites_with_the_pointer(nodes: Nodes) -> None:
    text = "Ann came in May, and Bob left in June. The mill, built in 1850, burned down.\n"
    (nodes.folder / "mill.txt").write_text(text)
    done = nodes.split("mill.txt", "--format", "jsonl", *nodes.engine)
    here = nodes.split("mill.txt", "--format", "jsonl", "--on-error", "pass", "--jobs", "1")
    assert (done.returncode, here.returncode) == (0, 0), done.stderr
    assert done.stdout == here.stdout
    assert [json.loads(line)["simple"] for line in done.stdout.splitlines()] == [
        ["Ann came in May.", "Bob left in June."],
        ["The mill was built in 1850.", "It burned down."],
    ]


@needs_torch
def test_cluster_output_on_gpus_is_that_of_one_machine_whatever_dies(nodes: Nodes) -> None:
    (nodes.folder / "short").mkdir()
    for part in range(5):
        lines = [f"{name} came {part} times, and Bob left.\n" for name in NAMES]
        (nodes.folder / "short" / f"{part}.txt").write_text("".join(lines))
    common = ("short", "--input", "lines", "--format", "jsonl", "--device", "cpu", "--beam", "1")
    alone = nodes.split(*common, "-o", "alone/", "--jobs", "2")
    assert alone.returncode == 0, alone.stderr

    with nodes.gpu():
        run = nodes.start(*common, "-o", "gpus/", *nodes.engine)
        for place in (0, 1):  # the actor itself, then the process with the models
            wait_until(lambda: any(len(helpers(actor)) == 3 for actor in nodes.actors), run)
            (actor,) = nodes.actors
            killed = [actor, *helpers(actor)]
            os.kill(killed[place], signal.SIGKILL)
            wait_until(partial(are_gone, killed), run)
        out, err = run.communicate(timeout=300)

    assert (run.returncode, out) == (0, ""), err
    assert told(err) == 2 * ["parataxis: An actor was lost; its 4 batches are sent again."]
    assert contents(nodes.folder / "gpus") == contents(nodes.folder / "alone")
    assert len(contents(nodes.folder / "gpus")) == 5
    first = (nodes.folder / "gpus" / "0.jsonl").read_text().splitlines()
    assert json.loads(first[0])["simple"] == ["Ann came 0 times.", "Bob left."]


@needs_torch
def test_cluster_tells_in_a_sentence_why_there_is_no_gpu(nodes: Nodes) -> None:
    (nodes.folder / "rain.txt").write_text("It rained.\n")
    arguments = ("rain.txt", "-o", "rain.jsonl", "--device", "cuda", *nodes.engine)
    none = nodes.split(*arguments)
    with nodes.gpu():
        declared = nodes.split(*arguments)
    assert (none.returncode, told(none.stderr)) == (
        2,
        ["parataxis: No machine of the cluster has a GPU; leave out --device."],
    )
    assert (declared.returncode, told(declared.stderr)) == (
        2,
        [
            f"parataxis: On {gethostname()}: The models could not be put on cuda: torch finds no "
            "GPU here; leave the device out to use the CPU."
        ],
    )
    assert [path.name for path in nodes.folder.glob("rain*")] == ["rain.txt"]


@pytest.mark.parametrize(
    ("options", "resources"),
    [
        ({"splitter": "held"}, {}),
        pytest.param({"device": "cpu", "beam": 1, "jobs": 2}, {"num_gpus": 1}, marks=needs_torch),
    ],
)
def test_cluster_splits_a_column_of_a_dataset(
    nodes: Nodes, options: dict[str, object], resources: dict[str, float]
) -> None:
    with nodes.gpu() if resources else nullcontext():
        done = nodes.python(DATASET, nodes.address, json.dumps(options), json.dumps(resources))
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout.splitlines()[-1])
    assert [row["text"] for row in rows] == ["Ann came; Bob left.", None, "It rained."]
    assert [row["simple"] for row in rows] == [["Ann came.", "Bob left."], [], ["It rained."]]
    assert [row["error"] for row in rows] == [None, 'there is nothing in the column "text"', None]
    name = options.get("splitter", "pointer")
    rewrites = [json.loads(row["rewrite"] or "{}") for row in rows]
    assert [rewrite.get("splitter") for rewrite in rewrites] == [name, None, name]


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--engine", "ray", "--address", "127.0.0.1:1"], "There is no Ray cluster at 127.0.0.1:1"),
        (["--engine", "ray", "--address", "ray://a:10001"], "ray://a:10001 is one of Ray Client"),
        (["--engine", "ray", "--address", "a..b:1"], "There is no Ray cluster at a..b:1: "),
        (["--engine", "ray", "--address", "nowhere"], "There is no Ray cluster at nowhere"),
        (["--address", "127.0.0.1:1"], "--address is that of a Ray cluster; add --engine ray"),
        (
            ["--engine", "ray", "-s", "llm"],
            'The splitter "llm" tracks spending in a single process',
        ),
    ],
)
def test_cluster_that_is_not_there_is_told_in_a_sentence(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    complaint: str,
) -> None:
    (tmp_path / "in.txt").write_text("Ann came; Bob left.\n")
    files = [str(tmp_path / "in.txt"), "-o", str(tmp_path / "out.txt")]
    code = main(["split", *files, "-s", "source", *arguments])
    _, err = capsys.readouterr()
    assert code == 2
    assert err.startswith(f"parataxis: {complaint}")
    assert err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["in.txt"]


@pytest.fixture
def without_ray(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str | None]:
    """Lets no test come as far as Ray, which would try for minutes; says what Ray was asked for."""
    asked: list[str | None] = []

    def init(address: str | None, **_: object) -> None:
        asked.append(address)
        raise ConnectionError("Ray was asked")

    monkeypatch.setattr("ray.init", init)
    monkeypatch.setattr("parataxis.run.cluster._CONNECT_TIMEOUT", 0.2)
    monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    return asked


def refusal(address: str | None) -> str:
    """What is told of a cluster that is not there."""
    with pytest.raises(InputError) as caught:
        next(
            Cluster(address)(
                [], Work(SplitterTask("source"), RecordEncoder(OutputFormat.TEXT), "source")
            )
        )
    return str(caught.value)


@pytest.mark.parametrize("address", [None, "auto"])
def test_cluster_that_the_environment_names_is_looked_at(
    without_ray: list[str | None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    address: str | None,
) -> None:
    assert refusal(address) == "There is no Ray cluster here: Ray was asked."
    note = tmp_path / "ray" / "ray_current_cluster"  # which a cluster leaves behind if it is killed
    note.parent.mkdir()
    note.write_text("127.0.0.1:2\n")
    told = f"There is no Ray cluster at 127.0.0.1:2, which {note} names: connection refused."
    assert refusal(address) == told
    monkeypatch.setenv("RAY_ADDRESS", "127.0.0.1:1")
    told = "There is no Ray cluster at 127.0.0.1:1, which RAY_ADDRESS names: connection refused."
    assert refusal(address) == told
    monkeypatch.setenv("RAY_ADDRESS", "http://127.0.0.1:8265")
    assert refusal(address).startswith("http://127.0.0.1:8265 is one of Ray Client or of Ray jobs;")
    assert without_ray == [address]


def test_cluster_is_not_what_else_listens_there(
    without_ray: list[str | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(text: bytes) -> None:
        with server.accept()[0] as connection:
            connection.recv(99)
            connection.sendall(text)

    with create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert refusal(address) == f"There is no Ray cluster at {address}: timed out."
        server.accept()[0].close()
        for text in (b"HTTP/1.0 400 Bad Request\r\n\r\n", b""):
            Thread(target=answer, args=(text,)).start()
            told = f"There is no Ray cluster at {address}: something else listens there."
            assert refusal(address) == told
        assert without_ray == []

        monkeypatch.setenv("RAY_USE_TLS", "1")  # what is said then cannot be understood here
        assert refusal(address) == f"There is no Ray cluster at {address}: Ray was asked."


def test_cluster_writes_parts_itself_and_resumes(nodes: Nodes) -> None:
    write_records(nodes.folder / "parts.jsonl", 1500)
    options = ("parts.jsonl", "-s", "held", "-f", "jsonl", "--part-size", "0.1")
    assert nodes.split(*options, "-o", "here/", "--jobs", "1").returncode == 3
    assert nodes.split(*options, "-o", "there/", *nodes.engine).returncode == 3
    here = contents(nodes.folder / "here")
    assert len(here) > 3
    there = contents(nodes.folder / "there")
    assert {name: there[name] for name in there if "_parataxis" not in name} == {
        name: here[name] for name in here if "_parataxis" not in name
    }
    assert nodes.split(*options, "-o", "there/", *nodes.engine, "--resume").returncode == 0


def test_cluster_writes_parts_to_a_store_whenever_its_driver_is_killed(
    bucket: tuple[Nodes, Bucket],
) -> None:
    nodes, store = bucket
    write_batches(nodes.folder / "store.jsonl")
    options = ("store.jsonl", "-s", "held", "-f", "jsonl", "--part-size", "0.02")
    assert nodes.split(*options, "-o", "local/", "--jobs", "1").returncode == 3
    local = {path.name: path.read_bytes() for path in (nodes.folder / "local").glob("part-*")}
    assert len(local) == 7  # a batch fills a part
    common = (*options, "-o", "s3://texts/out/", *nodes.engine)

    store.held = "part-00001.jsonl"
    run = nodes.start(*common)
    wait_until(store.is_held.is_set, run)
    assert set(nodes.workers) - set(nodes.actors)  # a machine of the cluster writes it
    kill_driver(nodes, run)
    store.go_on.set()
    assert [each for each in store.written if each in local] == ["part-00000.jsonl"]

    last = sorted(local)[-1]
    with nodes.hold():
        run = nodes.start(*common, "--resume")
        wait_until(lambda: store.written[-2:] == [sorted(local)[-2], "checkpoint.json"], run)
        kill_driver(nodes, run)
    assert last not in store.written
    (nodes.folder / "traces").unlink()
    done = nodes.split(*common, "--resume")

    assert done.returncode == 3, done.stderr
    assert [each for each in store.written if each in local] == sorted(local)  # each one once
    there = open_store("s3://texts/out")
    assert {name: there.read(f"{there.path}/{name}") for name in local} == local
    assert len(nodes.traces) == 1


def test_cluster_writes_the_part_that_a_local_run_left(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_records(nodes.folder / "left.jsonl", 700)
    options = ["left.jsonl", "-s", "source", "-f", "jsonl", "--part-size", "0.1"]
    assert nodes.split(*options, "-o", "whole/", "--jobs", "1").returncode == 3
    write = ObjectStore.write

    def interrupted(self: ObjectStore, path: str, data: bytes) -> None:
        if path.endswith("part-00000.jsonl"):
            raise KeyboardInterrupt
        write(self, path, data)

    monkeypatch.chdir(nodes.folder)
    monkeypatch.setenv("PARATAXIS_THREADS", "1")
    with monkeypatch.context() as patch:
        patch.setattr(ObjectStore, "write", interrupted)
        assert main(["split", *options, "-o", "left/", "--jobs", "1"]) == 130
    assert list(Path("left/_parataxis").glob("held-*"))
    done = nodes.split(*options, "-o", "left/", *nodes.engine, "--resume")
    assert done.returncode == 3, done.stderr
    parts = {path.name: path.read_bytes() for path in Path("whole").glob("part-*")}
    assert {path.name: path.read_bytes() for path in Path("left").glob("part-*")} == parts


def test_cluster_makes_lost_results_again(nodes: Nodes) -> None:
    sentences = [f"Ann {name * 120_000}; Bob left." for name in "xyz"]
    (nodes.folder / "lost.txt").write_text("\n".join(sentences))
    joined = nodes.add()
    with subprocess.Popen(
        [sys.executable, "-c", LOST, nodes.address, joined],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=nodes.folder,
        env=nodes.environment,
    ) as program:
        assert program.stdout
        assert program.stdout.readline() == "made\n"
        nodes.remove(joined)
        out, told = program.communicate("go on\n", timeout=300)
    assert (program.returncode, out) == (0, ""), told
    assert int(told.split()[-1]) >= 1
    written = (nodes.folder / "lost" / "part").read_text()
    assert written == "\n".join(f"Ann {name * 120_000}. Bob left." for name in "xyz")


def test_cluster_that_wants_a_token_says_so(tmp_path: Path) -> None:
    token = "0123456789abcdef" * 4
    (tmp_path / "a.txt").write_text("Ann came; Bob left.")
    with running(tmp_path, RAY_AUTH_MODE="token", RAY_AUTH_TOKEN=token) as nodes:
        own = {**nodes.environment, "HOME": str(tmp_path)}
        del own["RAY_AUTH_MODE"]
        for given in ("", token[::-1]):
            nodes.environment = {**own, "RAY_AUTH_TOKEN": given}
            if not given:
                del nodes.environment["RAY_AUTH_TOKEN"]
            done = nodes.split("a.txt", "-s", "held", *nodes.engine)
            assert done.returncode == 2
            (told,) = done.stderr.splitlines()
            assert f"The Ray cluster at {nodes.address} asks for a token" in told
        nodes.environment = own
        assert nodes.split("a.txt", "-s", "held", *nodes.engine).stdout == "Ann came. Bob left."
