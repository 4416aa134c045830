"""The Ray engine: batches go to actors on a cluster and come back in order.

The driver reads and writes; actors only rewrite. Each loads the model once. It is given its next
batch while it works on one, so it never waits, and no more, so that a lost actor loses little.
Reading stops when too many batches wait to be written. The batches of a lost actor, or of a lost
machine, are sent to another.

If the output is part files, the results stay on the cluster: the driver only learns their sizes,
and has a machine of the cluster write each part.

With a device, an actor has a GPU and the cores beside it, and as many processes as fit there.
"""

import logging
import os
import socket
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryFile, gettempdir
from time import monotonic
from typing import TYPE_CHECKING, Any

from parataxis import __version__
from parataxis.errors import InputError, ParataxisError, needs
from parataxis.run.encode import RecordEncoder
from parataxis.run.parts import part_bytes
from parataxis.run.pipeline import Encoded, Work
from parataxis.run.pool import BESIDE_GPU
from parataxis.run.reading import Batch
from parataxis.run.remote import ObjectStore
from parataxis.run.units import Unit
from parataxis.syntax.onnx import THREADS_VARIABLE, threads

if TYPE_CHECKING:
    from concurrent.futures import Future
    from types import ModuleType

AHEAD = 2
"""Batches that each process of an actor has: the one it works on, and the next."""
WINDOW = 4
"""Batches per process that have been read and not yet written, so that one late batch does not stop
the others."""
ATTEMPTS = 4
"""How often a batch is tried before the run fails."""

_SUSPECT = 2  # after this many lost actors a batch is sent to an actor without other work
_WAIT = 10.0  # seconds to wait for a cluster to accept a connection, and to answer
_SETTINGS = b"\0\0\0\4\0\0\0\0\0"
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _SETTINGS
"""How HTTP/2 begins: this preface, then a SETTINGS frame; a server begins with such a frame, too.
The fourth byte is the type of the frame (RFC 9113, 3.4 and 4.1)."""
_LOOK = 2.0  # seconds between two checks of the machines of the cluster
_PATIENCE_OF_RAY = "RAY_gcs_rpc_server_reconnect_timeout_s"
"""Names the seconds (60 by default) after which Ray kills this process, without a message of ours,
if the head of the cluster does not answer; the run ends after two thirds of them."""
_IDLE = 30.0  # seconds after which an idle actor is released
_PATIENCE = 30.0  # seconds without any actor after which a message says so
_UNUSABLE = 10  # how many actors in a row may fail to start


@dataclass(frozen=True)
class Cluster:
    """The engine of a Ray cluster.

    ``address`` is that of the cluster; by default it is the one that ``RAY_ADDRESS`` names or that
    runs on this machine, or else one is started here for the run. Actors are started while batches
    wait: at least ``least``, at most ``most``, by default as many as the cluster has cores at that
    time. Each takes as many cores as it has threads. ``tell`` gets a sentence for each failure that
    was recovered from.

    With a ``device`` ("cuda") there is one actor per GPU. It takes the GPU and the cores beside it:
    as many as there are per GPU on the machine with the fewest.

    With ``keeps``, the bytes of the results stay on the cluster, and :meth:`store_part` writes them
    from there; enter :meth:`connected` around all of it.
    """

    address: str | None = None
    least: int = 1
    most: int | None = None
    device: str | None = None
    tell: Callable[[str], None] = lambda _: None
    keeps: bool = False
    _pools: "list[_ActorPool]" = field(default_factory=list, repr=False, compare=False)

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Stay connected to the cluster. Ray must not print to standard output."""
        with (
            Path(os.devnull).open("w", encoding="utf-8") as nowhere,
            redirect_stdout(nowhere),
            _connected(self.address),
        ):
            yield

    def store_part(
        self,
        store: ObjectStore,
        path: str,
        encoder: RecordEncoder,
        results: Sequence[tuple[Batch, Encoded]],
    ) -> None:
        """Have a part written by a machine of the cluster. Results that were lost with a machine
        are made again."""
        ray, pool = ray_package(), self._pools[-1]
        write = ray.remote(_write_part).options(
            num_cpus=0, scheduling_strategy="SPREAD", max_retries=ATTEMPTS
        )
        for _ in range(ATTEMPTS):
            data = [each.data for _, each in results if each.data]
            pieces = [each.reference if isinstance(each, _Kept) else each for each in data]
            try:
                ray.get(write.remote(store, path, encoder, *pieces))
                return
            except ray.exceptions.RayError as error:
                cause = getattr(error, "cause", None)
                if isinstance(cause, ParataxisError):
                    raise cause from error
                self.tell(f"Results were lost ({_reason(error)}); they are made again.")
                results = pool.again(results)
        raise ParataxisError(f"{store.name(path)} could not be written in {ATTEMPTS} attempts.")

    def __call__(self, batches: Iterable[Batch], work: Work) -> Iterator[tuple[Batch, Encoded]]:
        """Do the work there."""
        with self.connected():
            pool = _ActorPool(self, work)
            self._pools[:] = [pool]
            try:
                yield from pool.in_order(iter(batches))
            finally:
                pool.end()


def ray_package() -> "ModuleType":
    """Ray, which reads some variables when it is imported. With a token it is told to use it, and a
    cluster that refuses is given up after three seconds, not twenty."""
    os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "3")
    if os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH"):
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    with needs("A cluster needs Ray", "ray"):
        import ray
    module: ModuleType = ray
    return module


@contextmanager
def _connected(address: str | None) -> Iterator[None]:
    """Connect to the cluster, or use an existing connection."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing leaves this machine
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # Ray's future default
    ray = ray_package()
    if ray.is_initialized():
        yield
        return
    used, where = _place(address)
    _require_cluster(used, where)
    with _standard_error() as said:
        try:
            ray.init(
                address,
                log_to_driver=False,
                logging_level=logging.CRITICAL,
                include_dashboard=False,
            )
        except (ValueError, RuntimeError, OSError, ray.exceptions.RayError) as error:
            is_refused = isinstance(error, ray.exceptions.AuthenticationError)
            if is_refused or "InvalidAuthToken" in said():
                raise InputError(
                    f"The Ray cluster {where} asks for a token, which is missing or wrong here; "
                    "set RAY_AUTH_TOKEN to what `ray get-auth-token` shows on its head."
                ) from error
            raise InputError(f"There is no Ray cluster {where}: {_reason(error)}.") from error
    try:
        yield
    finally:
        ray.shutdown()


@contextmanager
def _standard_error() -> Iterator[Callable[[], str]]:
    """Hold back what Ray writes to standard error; the function gives it."""
    with TemporaryFile() as held:

        def said() -> str:
            held.seek(0)
            return held.read().decode("utf-8", "replace")

        before = os.dup(2)
        os.dup2(held.fileno(), 2)
        try:
            yield said
        finally:
            os.dup2(before, 2)
            os.close(before)


def _place(address: str | None) -> tuple[str, str]:
    """The address that Ray will use, found as its documentation says (empty: a cluster is started
    here), and how messages name it."""
    if address and address != "auto":
        return address, f"at {address}"
    if named := os.environ.get("RAY_ADDRESS"):
        return named, f"at {named}, which RAY_ADDRESS names"
    note = Path(os.environ.get("RAY_TMPDIR") or gettempdir(), "ray", "ray_current_cluster")
    with suppress(OSError):
        named = note.read_text().strip()
        return named, f"at {named}, which {note} names"
    return "", "here"


def _require_cluster(address: str, where: str) -> None:
    """Fail early if nothing listens there, or nothing that speaks HTTP/2 as Ray does: Ray itself
    tries for minutes. Ray Client is refused: it has other calls and other errors."""
    if "://" in address:
        raise InputError(
            f"{address} is one of Ray Client or of Ray jobs; give HOST:PORT, on a machine of the "
            "cluster."
        )
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        with socket.create_connection((host.strip("[]"), int(port)), _WAIT) as connection:
            if os.environ.get("RAY_USE_TLS", "0").lower() in ("1", "true"):
                return
            connection.sendall(_HELLO)
            answer = connection.makefile("rb").read(len(_SETTINGS))
    except (OSError, OverflowError, UnicodeError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InputError(f"There is no Ray cluster {where}: {reason}.") from error
    if answer[3:4] != _SETTINGS[3:4]:
        raise InputError(f"There is no Ray cluster {where}: something else listens there.")


class _Worker:
    def __init__(self, work: Work, threads: int, device: str | None, processes: int) -> None:
        os.environ[THREADS_VARIABLE] = str(threads)
        self._work: Callable[[Sequence[Unit]], Encoded] = work
        if device is not None:
            from parataxis.run.gpu.server import Machine

            machine = Machine(work.on, device, processes)
            self._work = lambda units: machine(units)[0]

    def welcome(self) -> tuple[str, str]:
        """The node on which it runs, and the version of Parataxis there."""
        return ray_package().get_runtime_context().get_node_id(), __version__

    def work(self, units: Sequence[Unit]) -> Encoded:
        return self._work(units)

    def work_and_keep(self, units: Sequence[Unit]) -> tuple[Encoded, int, bytes]:
        """The result without its bytes, their number, and the bytes."""
        encoded = self._work(units)
        return encoded._replace(data=b""), len(encoded.data), encoded.data


def _write_part(store: ObjectStore, path: str, encoder: RecordEncoder, *pieces: bytes) -> None:
    store.write(path, part_bytes(encoder, pieces))


class _Kept(bytes):
    """Stands for bytes that are on the cluster, and has their number."""

    reference: Any
    size: int

    def __new__(cls, reference: Any, size: int) -> "_Kept":
        made = super().__new__(cls)
        made.reference, made.size = reference, size
        return made

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        return self.size > 0


@dataclass(eq=False)
class _Job:
    """A batch between reading and writing."""

    number: int
    batch: Batch
    failures: int = 0
    result: Encoded | None = None
    kept: tuple[Any, Any] | None = None
    """References to the number of bytes of the result, and to these, if they stay there."""

    @property
    def is_suspect(self) -> bool:
        return self.failures >= _SUSPECT

    def __str__(self) -> str:
        ids = [
            *(sentence.id for unit in self.batch.units for sentence in unit.sentences),
            *(unit.problem.id for unit in self.batch.units if unit.problem),
        ]
        return f"from {ids[0]} to {ids[-1]}" if ids else f"number {self.number}"


@dataclass(eq=False)
class _Actor:
    """The driver's view of an actor; ``node`` is empty until it answers."""

    handle: Any
    cores: int
    processes: int = 1
    node: str = ""
    jobs: list[_Job] = field(default_factory=list)
    is_lost: bool = False
    idle_since: float = field(default_factory=monotonic)

    def can_take(self, job: _Job) -> bool:
        """Whether it can be given a batch. A suspect is sent alone: if it is the reason for a loss,
        no other batch becomes suspect."""
        if not self.node or any(each.is_suspect for each in self.jobs):
            return False
        return len(self.jobs) < (1 if job.is_suspect else AHEAD * self.processes)


class _ActorPool:
    """The actors of a run, and the batches between reading and writing."""

    def __init__(self, cluster: Cluster, work: Work) -> None:
        self._ray = ray_package()
        self._cluster, self._work = cluster, work
        self._threads = threads() if os.environ.get(THREADS_VARIABLE) else 1
        self._cores, self._gpus = self._threads, int(cluster.device is not None)
        self._actors: list[_Actor] = []
        self._order: deque[_Job] = deque()
        self._unsent: list[_Job] = []
        self._events: SimpleQueue[tuple[_Actor, _Job | None, Future[Any]]] = SimpleQueue()
        self._has_ended = False
        self._read = self._unusable = 0
        self._alone_since = self._looked = monotonic()
        self._head = self._ray.get_runtime_context().gcs_address
        self._headless_since: float | None = None
        self._room = 1
        self._look()
        if self._gpus and not self._room:
            raise InputError("No machine of the cluster has a GPU; leave out --device.")

    def in_order(self, batches: Iterator[Batch]) -> Iterator[tuple[Batch, Encoded]]:
        while True:
            self._fill(batches)
            if not self._order:
                return
            self._listen()
            while self._order and (result := self._order[0].result) is not None:
                yield self._order.popleft().batch, result

    def again(self, results: Sequence[tuple[Batch, Encoded]]) -> list[tuple[Batch, Encoded]]:
        """Do the work on batches again whose results are kept there and were lost."""
        jobs = [_Job(0, batch) for batch, each in results if isinstance(each.data, _Kept)]
        self._unsent = [*jobs, *self._unsent]
        while any(job.result is None for job in jobs):
            while self._send_one():
                pass
            if self._unsent:
                self._grow()
            self._listen()
        made = {id(job.batch): job.result for job in jobs if job.result}
        return [(batch, made.get(id(batch), each)) for batch, each in results]

    def end(self) -> None:
        while self._actors:
            self._release(self._actors[-1])

    def _fill(self, batches: Iterator[Batch]) -> None:
        """Send what can be sent, and start actors if something is left over. While a suspect waits
        for an idle actor, others are read and sent."""
        while self._unsent or self._read_one(batches):
            if self._send_one():
                continue
            if all(job.is_suspect for job in self._unsent) and self._read_one(batches):
                continue
            self._grow()
            return

    def _send_one(self) -> bool:
        """Send the first batch that an actor can take, to the one with the least work."""
        for job in self._unsent:
            ready = [actor for actor in self._actors if actor.can_take(job)]
            if ready:
                actor = min(ready, key=lambda each: len(each.jobs) / each.processes)
                self._unsent.remove(job)
                actor.jobs.append(job)
                if self._cluster.keeps:
                    call = actor.handle.work_and_keep.options(num_returns=3)
                    answer, *job.kept = call.remote(job.batch.units)
                else:
                    answer = actor.handle.work.remote(job.batch.units)
                self._await(actor, job, answer)
                return True
        return False

    def _read_one(self, batches: Iterator[Batch]) -> bool:
        ready = sum(actor.processes for actor in self._actors if actor.node)
        if self._has_ended or len(self._order) >= WINDOW * max(1, ready):
            return False
        batch = next(batches, None)
        if batch is None:
            self._has_ended = True
            return False
        self._read += 1
        job = _Job(self._read, batch)
        self._order.append(job)
        self._unsent.append(job)
        return True

    def _await(self, actor: _Actor, job: _Job | None, answer: Any) -> None:
        answer.future().add_done_callback(lambda future: self._events.put((actor, job, future)))

    def _grow(self) -> None:
        """Start as many actors as there are already, so that their number doubles."""
        starting = sum(not actor.node for actor in self._actors)
        ready = len(self._actors) - starting
        most = self._cluster.most or max(self._room, self._cluster.least)
        wanted = max(1, ready, self._cluster.least - ready) - starting
        for _ in range(min(wanted, most - len(self._actors))):
            self._start()

    def _start(self) -> None:
        device, processes = self._cluster.device, 1
        if device is not None:
            processes = BESIDE_GPU * self._cores // self._threads
        kind = self._ray.remote(_Worker).options(
            num_cpus=self._cores,
            num_gpus=self._gpus,
            max_concurrency=AHEAD * processes if device else 1,
            max_restarts=0,
        )
        handle = kind.remote(self._work, self._threads, device, processes)
        actor = _Actor(handle, self._cores, processes)
        self._actors.append(actor)
        self._await(actor, None, handle.welcome.remote())

    def _listen(self) -> None:
        """Wait for an answer of an actor, and check the cluster now and then."""
        with suppress(Empty):
            self._hear(*self._events.get(timeout=_LOOK))
            while not self._events.empty():
                self._hear(*self._events.get())
        if monotonic() - self._looked >= _LOOK:
            self._look()

    def _hear(self, actor: _Actor, job: _Job | None, future: "Future[Any]") -> None:
        """Take the answer of an actor; without a job, it has started."""
        if actor.is_lost:
            return
        error = future.exception()
        if isinstance(error, self._ray.exceptions.RayTaskError):
            raise error.cause
        if error is not None:
            self._lose(actor, error)
            return
        actor.idle_since = monotonic()
        if job is not None:
            job.result = future.result()
            if job.kept:
                size, reference = job.kept
                kept = _Kept(reference, self._ray.get(size))
                job.result = job.result._replace(data=kept)
            actor.jobs.remove(job)
            return
        actor.node, version = future.result()
        self._unusable = 0
        if version != __version__:
            raise InputError(
                f"A machine of the cluster has Parataxis {version}, not {__version__}; install the "
                "same everywhere."
            )

    def _lose(self, actor: _Actor, error: BaseException) -> None:
        """Send the batches of a lost actor again; one of them may have been the reason."""
        self._release(actor)
        if not actor.node:
            self._unusable += 1
            if self._unusable >= _UNUSABLE or getattr(error, "actor_init_failed", False):
                raise ParataxisError(
                    f"An actor could not begin on the cluster ({_reason(error)}); install there "
                    "what is installed here."
                ) from error
        for job in actor.jobs:
            job.failures += 1
            if job.failures >= ATTEMPTS:
                raise ParataxisError(
                    f"The batch {job} was given up: {ATTEMPTS} actors were lost that worked on it "
                    f"({_reason(error)})."
                ) from error
        self._unsent = sorted([*self._unsent, *actor.jobs], key=lambda job: job.number)
        if count := len(actor.jobs):
            batches = "batch is" if count == 1 else f"{count} batches are"
            self._cluster.tell(f"An actor was lost; its {batches} sent again.")

    def _release(self, actor: _Actor) -> None:
        actor.is_lost = True
        self._actors.remove(actor)
        self._ray.kill(actor.handle)

    def _look(self) -> None:
        """Check which machines there are, which are gone, and which actors are idle."""
        self._looked = now = monotonic()
        if not self._has_head(now):
            return  # Ray would not answer, either; the actors work on
        nodes = {each["NodeID"]: each["Resources"] for each in self._ray.nodes() if each["Alive"]}
        machines = [(each.get("CPU", 0), each.get("GPU", 0)) for each in nodes.values()]
        if self._gpus:
            self._cores = max(self._threads, cores_beside_gpu(machines))
        self._room = sum(
            int(min(cores // self._cores, gpus if self._gpus else cores))
            for cores, gpus in machines
        )
        is_over = self._has_ended and not self._unsent
        for actor in list(self._actors):
            has_rested = now - actor.idle_since > _IDLE and len(self._actors) > self._cluster.least
            if actor.node and actor.node not in nodes:
                self._lose(actor, ParataxisError("its machine left the cluster"))
            elif not actor.jobs and actor.node and (is_over or has_rested):
                self._release(actor)
            elif not actor.node and actor.cores > self._cores:
                self._release(actor)  # a smaller machine has joined: one that fits it is started
        if any(actor.node for actor in self._actors):
            self._alone_since = now
        elif now - self._alone_since > _PATIENCE:
            self._alone_since = now
            self._cluster.tell("The cluster has had no room for an actor yet; waiting for it.")

    def _has_head(self, now: float) -> bool:
        """Whether the head of the cluster answers; it may come back."""
        try:
            _require_cluster(self._head, f"at {self._head}")
        except InputError as error:
            self._headless_since = self._headless_since or now
            patience = float(os.environ.get(_PATIENCE_OF_RAY, 60)) * 2 / 3
            if monotonic() - self._headless_since < patience:
                return False
            raise ParataxisError(
                f"The Ray cluster at {self._head} was lost; go on with --resume."
            ) from error
        self._headless_since = None
        return True


def cores_beside_gpu(machines: Iterable[tuple[float, float]]) -> int:
    """The cores per GPU on the machine with the fewest, at least one. A machine is given as its
    numbers of cores and GPUs.

    >>> cores_beside_gpu([(64, 0), (96, 8), (16, 1), (0, 4)])
    12
    >>> cores_beside_gpu([(2, 4)])
    1
    """
    return max(
        1, min((int(cores // gpus) for cores, gpus in machines if cores and gpus), default=1)
    )


def _reason(error: BaseException) -> str:
    """The first sentence of the last line of an error of Ray."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1].partition(". ")[0].rstrip(".") if lines else type(error).__name__
