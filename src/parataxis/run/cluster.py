"""The Ray engine: sends batches to actors on a cluster and returns the results in order.

The driver reads the input and writes the output. Each actor loads the model once and rewrites
batches; it has one batch in progress and one queued. Reading pauses while too many results wait to
be written. If an actor or its machine is lost, its batches are sent to other actors.

If the output is part files, the results stay in Ray's object store: the driver only gets their
sizes, and a task on the cluster writes each part.

With a device, each actor has a GPU and a share of the cores, with several processes.
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
from parataxis.run.parts import write_part
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
"""Batches per process of an actor: one in progress and one queued."""
WINDOW = 4
"""Most batches per process that are read but not yet written; more than :data:`AHEAD`, so that one
slow batch does not hold up the others."""
ATTEMPTS = 4
"""Attempts at a batch before the run fails."""

_SUSPECT = 2  # lost actors after which a batch is sent alone, to an idle actor
_CONNECT_TIMEOUT = 10.0  # seconds to connect to the cluster and get an answer
_SETTINGS = b"\0\0\0\4\0\0\0\0\0"
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _SETTINGS
"""The HTTP/2 connection preface and a SETTINGS frame. A server also starts with a SETTINGS frame,
whose fourth byte is the frame type (RFC 9113, 3.4 and 4.1)."""
_CHECK_INTERVAL = 2.0  # seconds between checks of the cluster's machines
_RECONNECT_TIMEOUT = "RAY_gcs_rpc_server_reconnect_timeout_s"
"""Ray's setting for the seconds (default 60) after which it kills this process if the head node
does not answer. The run ends after two thirds of that, so that it can report why."""
_IDLE_TIMEOUT = 30.0  # seconds after which an idle actor is released
_NO_ACTOR_WARNING = 30.0  # seconds without any actor before a warning
_MAX_FAILED_STARTS = 10  # actors in a row that may fail to start


@dataclass(frozen=True)
class Cluster:
    """The engine of a Ray cluster.

    ``address`` defaults to the cluster in ``RAY_ADDRESS`` or on this machine; if there is none, a
    local cluster is started for the run. Actors are started while batches are queued: at least
    ``least``, at most ``most``, by default one per core of the cluster. Each reserves as many cores
    as it has threads. ``report`` is called with a message for each failure that was recovered from.

    With a ``device`` ("cuda") there is one actor per GPU. It also reserves cores: as many as the
    machine with the fewest cores per GPU has for each.

    With ``keep_results``, results stay in Ray's object store, and :meth:`store_part` writes them
    from there. Keep :meth:`connected` open for the whole run.
    """

    address: str | None = None
    least: int = 1
    most: int | None = None
    device: str | None = None
    report: Callable[[str], None] = lambda _: None
    keep_results: bool = False
    _pools: "list[_ActorPool]" = field(default_factory=list, repr=False, compare=False)

    @contextmanager
    def connected(self) -> Iterator[None]:
        """Connect to the cluster, unless this process is connected already. Ray must not print to
        standard output."""
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")  # nothing leaves this machine
        os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")  # Ray's future default
        ray = ray_package()
        with Path(os.devnull).open("w", encoding="utf-8") as nowhere, redirect_stdout(nowhere):
            if ray.is_initialized():
                yield
                return
            _connect(self.address)
            try:
                yield
            finally:
                ray.shutdown()

    def store_part(
        self,
        store: ObjectStore,
        path: str,
        encoder: RecordEncoder,
        results: Sequence[tuple[Batch, Encoded]],
    ) -> None:
        """Write a part from a machine of the cluster. Results that were lost with a machine are
        computed again."""
        ray = ray_package()
        write = ray.remote(write_part).options(
            num_cpus=0, scheduling_strategy="SPREAD", max_retries=ATTEMPTS
        )
        for _ in range(ATTEMPTS):
            data = [each.data for _, each in results if each.data]
            pieces = [each.reference if isinstance(each, _StoredBytes) else each for each in data]
            try:
                ray.get(write.remote(store, path, encoder, *pieces))
                return
            except ray.exceptions.RayError as error:
                cause = getattr(error, "cause", None)
                if isinstance(cause, ParataxisError):
                    raise cause from error
                self.report(f"Results were lost ({_reason(error)}); they are computed again.")
                if self._pools:  # a part from before the run was resumed is in this process
                    results = self._pools[-1].redo(results)
        raise ParataxisError(f"{store.name(path)} could not be written in {ATTEMPTS} attempts.")

    def __call__(self, batches: Iterable[Batch], work: Work) -> Iterator[tuple[Batch, Encoded]]:
        """Do the work on the cluster."""
        with self.connected():
            pool = _ActorPool(self, work)
            self._pools[:] = [pool]
            try:
                yield from pool.in_order(iter(batches))
            finally:
                pool.end()


def ray_package() -> "ModuleType":
    """Import Ray, after setting variables that it reads on import: use the token if there is one,
    and retry a refused connection for three seconds instead of twenty."""
    os.environ.setdefault("RAY_NUM_REDIS_GET_RETRIES", "3")
    if os.environ.get("RAY_AUTH_TOKEN") or os.environ.get("RAY_AUTH_TOKEN_PATH"):
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    with needs("A cluster needs Ray", "ray"):
        import ray
    module: ModuleType = ray
    return module


def _connect(address: str | None) -> None:
    ray = ray_package()
    used, where = _resolve(address)
    _require_cluster(used, where)
    with _captured_stderr() as captured:
        try:
            ray.init(
                address,
                log_to_driver=False,
                logging_level=logging.CRITICAL,
                include_dashboard=False,
            )
        except (ValueError, RuntimeError, OSError, ray.exceptions.RayError) as error:
            is_refused = isinstance(error, ray.exceptions.AuthenticationError)
            if is_refused or "InvalidAuthToken" in captured():
                raise InputError(
                    f"The Ray cluster {where} asks for a token, which is missing or wrong here; "
                    "set RAY_AUTH_TOKEN to what `ray get-auth-token` shows on its head."
                ) from error
            raise InputError(f"There is no Ray cluster {where}: {_reason(error)}.") from error


@contextmanager
def _captured_stderr() -> Iterator[Callable[[], str]]:
    """Capture what Ray writes to standard error; the function returns it."""
    with TemporaryFile() as held:

        def captured() -> str:
            held.seek(0)
            return held.read().decode("utf-8", "replace")

        before = os.dup(2)
        os.dup2(held.fileno(), 2)
        try:
            yield captured
        finally:
            os.dup2(before, 2)
            os.close(before)


def _resolve(address: str | None) -> tuple[str, str]:
    """The address that Ray will use, by its documented rules (empty: start a local cluster), and a
    phrase for messages."""
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
    """Fail early if there is no HTTP/2 server at the address, because Ray would retry for minutes.
    Ray Client addresses are refused: its calls and errors differ."""
    if "://" in address:
        raise InputError(
            f"{address} is one of Ray Client or of Ray jobs; give HOST:PORT, on a machine of the "
            "cluster."
        )
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        with socket.create_connection(
            (host.strip("[]"), int(port)), _CONNECT_TIMEOUT
        ) as connection:
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

    def describe(self) -> tuple[str, str]:
        """The id of its node, and the installed version of Parataxis."""
        return ray_package().get_runtime_context().get_node_id(), __version__

    def work(self, units: Sequence[Unit]) -> Encoded:
        return self._work(units)

    def work_and_store(self, units: Sequence[Unit]) -> tuple[Encoded, int, bytes]:
        """The result without its bytes, the number of bytes, and the bytes, as separate objects."""
        encoded = self._work(units)
        return encoded._replace(data=b""), len(encoded.data), encoded.data


class _StoredBytes(bytes):
    """A reference to bytes in Ray's object store, with their length."""

    reference: Any
    size: int

    def __new__(cls, reference: Any, size: int) -> "_StoredBytes":
        made = super().__new__(cls)
        made.reference, made.size = reference, size
        return made

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        return self.size > 0


@dataclass(eq=False)
class _Job:
    """A batch that was read and is not yet written."""

    number: int
    batch: Batch
    failures: int = 0
    result: Encoded | None = None
    kept: tuple[Any, Any] | None = None
    """References to the size and the bytes of the result, if these stay on the cluster."""

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
    """An actor as the driver sees it; ``node`` is empty until it has started."""

    handle: Any
    cores: int
    processes: int = 1
    node: str = ""
    jobs: list[_Job] = field(default_factory=list)
    is_lost: bool = False
    idle_since: float = field(default_factory=monotonic)

    def can_take(self, job: _Job) -> bool:
        """Whether it can be sent a batch. A suspect batch is sent alone: if it kills its actor, no
        other batch becomes suspect."""
        if not self.node or any(each.is_suspect for each in self.jobs):
            return False
        return len(self.jobs) < (1 if job.is_suspect else AHEAD * self.processes)


class _ActorPool:
    """The actors of a run, and the batches that are read and not yet written."""

    def __init__(self, cluster: Cluster, work: Work) -> None:
        self._ray = ray_package()
        self._cluster, self._work = cluster, work
        self._threads = threads() if os.environ.get(THREADS_VARIABLE) else 1
        self._cores, self._gpus = self._threads, int(cluster.device is not None)
        self._actors: list[_Actor] = []
        self._order: deque[_Job] = deque()
        self._unsent: list[_Job] = []
        self._events: SimpleQueue[tuple[_Actor, _Job | None, Future[Any]]] = SimpleQueue()
        self._is_exhausted = False
        self._read = self._failed_starts = 0
        self._no_actor_since = self._checked_at = monotonic()
        self._head = self._ray.get_runtime_context().gcs_address
        self._head_lost_since: float | None = None
        self._room = 1
        self._check_nodes()
        if self._gpus and not self._room:
            raise InputError("No machine of the cluster has a GPU; leave out --device.")

    def in_order(self, batches: Iterator[Batch]) -> Iterator[tuple[Batch, Encoded]]:
        while True:
            self._fill(batches)
            if not self._order:
                return
            self._wait()
            while self._order and (result := self._order[0].result) is not None:
                yield self._order.popleft().batch, result

    def redo(self, results: Sequence[tuple[Batch, Encoded]]) -> list[tuple[Batch, Encoded]]:
        """Compute results again that were lost from the object store."""
        jobs = [_Job(0, batch) for batch, each in results if isinstance(each.data, _StoredBytes)]
        self._unsent = [*jobs, *self._unsent]
        while any(job.result is None for job in jobs):
            while self._send_one():
                pass
            if self._unsent:
                self._grow()
            self._wait()
        made = {id(job.batch): job.result for job in jobs if job.result}
        return [(batch, made.get(id(batch), each)) for batch, each in results]

    def end(self) -> None:
        while self._actors:
            self._release(self._actors[-1])

    def _fill(self, batches: Iterator[Batch]) -> None:
        """Send as many batches as possible, and start actors for the rest. While a suspect batch
        waits for an idle actor, others are read and sent."""
        while self._unsent or self._read_one(batches):
            if self._send_one():
                continue
            if all(job.is_suspect for job in self._unsent) and self._read_one(batches):
                continue
            self._grow()
            return

    def _send_one(self) -> bool:
        """Send the first batch that any actor can take to the least busy one."""
        for job in self._unsent:
            ready = [actor for actor in self._actors if actor.can_take(job)]
            if ready:
                actor = min(ready, key=lambda each: len(each.jobs) / each.processes)
                self._unsent.remove(job)
                actor.jobs.append(job)
                if self._cluster.keep_results:
                    call = actor.handle.work_and_store.options(num_returns=3)
                    answer, *job.kept = call.remote(job.batch.units)
                else:
                    answer = actor.handle.work.remote(job.batch.units)
                self._notify(actor, job, answer)
                return True
        return False

    def _read_one(self, batches: Iterator[Batch]) -> bool:
        ready = sum(actor.processes for actor in self._actors if actor.node)
        if self._is_exhausted or len(self._order) >= WINDOW * max(1, ready):
            return False
        batch = next(batches, None)
        if batch is None:
            self._is_exhausted = True
            return False
        self._read += 1
        job = _Job(self._read, batch)
        self._order.append(job)
        self._unsent.append(job)
        return True

    def _notify(self, actor: _Actor, job: _Job | None, answer: Any) -> None:
        answer.future().add_done_callback(lambda future: self._events.put((actor, job, future)))

    def _grow(self) -> None:
        """Double the number of actors, up to the limit."""
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
        self._notify(actor, None, handle.describe.remote())

    def _wait(self) -> None:
        """Wait for actors to answer, and check the cluster periodically."""
        with suppress(Empty):
            self._handle(*self._events.get(timeout=_CHECK_INTERVAL))
            while not self._events.empty():
                self._handle(*self._events.get())
        if monotonic() - self._checked_at >= _CHECK_INTERVAL:
            self._check_nodes()

    def _handle(self, actor: _Actor, job: _Job | None, future: "Future[Any]") -> None:
        """Handle an answer of an actor; without a job, the actor has started."""
        if actor.is_lost:
            return
        error = future.exception()
        if isinstance(error, self._ray.exceptions.RayTaskError):
            raise error.cause
        if error is not None:
            self._resend(actor, error)
            return
        actor.idle_since = monotonic()
        if job is not None:
            job.result = future.result()
            if job.kept:
                size, reference = job.kept
                kept = _StoredBytes(reference, self._ray.get(size))
                job.result = job.result._replace(data=kept)
            actor.jobs.remove(job)
            return
        actor.node, version = future.result()
        self._failed_starts = 0
        if version != __version__:
            raise InputError(
                f"A machine of the cluster has Parataxis {version}, not {__version__}; install the "
                "same everywhere."
            )

    def _resend(self, actor: _Actor, error: BaseException) -> None:
        """Put the batches of a lost actor back in the queue; one of them may have killed it."""
        self._release(actor)
        if not actor.node:
            self._failed_starts += 1
            if self._failed_starts >= _MAX_FAILED_STARTS or getattr(
                error, "actor_init_failed", False
            ):
                raise ParataxisError(
                    f"An actor could not start on the cluster ({_reason(error)}); install the same "
                    "packages there as here."
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
            self._cluster.report(f"An actor was lost; its {batches} sent again.")

    def _release(self, actor: _Actor) -> None:
        actor.is_lost = True
        self._actors.remove(actor)
        self._ray.kill(actor.handle)

    def _check_nodes(self) -> None:
        """Update how many actors fit, and drop actors that are idle or on lost machines."""
        self._checked_at = now = monotonic()
        if not self._has_head(now):
            return  # Ray calls would block; the actors keep working
        nodes = {each["NodeID"]: each["Resources"] for each in self._ray.nodes() if each["Alive"]}
        machines = [(each.get("CPU", 0), each.get("GPU", 0)) for each in nodes.values()]
        if self._gpus:
            self._cores = max(self._threads, cores_beside_gpu(machines))
        self._room = sum(
            int(min(cores // self._cores, gpus if self._gpus else cores))
            for cores, gpus in machines
        )
        is_over = self._is_exhausted and not self._unsent
        for actor in list(self._actors):
            has_rested = (
                now - actor.idle_since > _IDLE_TIMEOUT and len(self._actors) > self._cluster.least
            )
            if actor.node and actor.node not in nodes:
                self._resend(actor, ParataxisError("its machine left the cluster"))
            elif not actor.jobs and actor.node and (is_over or has_rested):
                self._release(actor)
            elif not actor.node and actor.cores > self._cores:
                self._release(actor)  # a smaller machine joined; start one that fits it
        if any(actor.node for actor in self._actors):
            self._no_actor_since = now
        elif now - self._no_actor_since > _NO_ACTOR_WARNING:
            self._no_actor_since = now
            self._cluster.report("The cluster has no room for an actor yet; waiting.")

    def _has_head(self, now: float) -> bool:
        """Whether the head node answers. Raises ParataxisError if it has not for too long."""
        try:
            _require_cluster(self._head, f"at {self._head}")
        except InputError as error:
            self._head_lost_since = self._head_lost_since or now
            patience = float(os.environ.get(_RECONNECT_TIMEOUT, 60)) * 2 / 3
            if monotonic() - self._head_lost_since < patience:
                return False
            raise ParataxisError(
                f"The Ray cluster at {self._head} was lost; go on with --resume."
            ) from error
        self._head_lost_since = None
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
    """The first sentence of the last line of a Ray error."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1].partition(". ")[0].rstrip(".") if lines else type(error).__name__
