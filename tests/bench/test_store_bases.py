"""The results base: what goes in comes out, in SQLite and in a real PostgreSQL server."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from test_metrics_figures import result

from rtlagent.bench.problem import DESIGN, ENDPOINT
from rtlagent.bench.record import Record
from rtlagent.bench.store import Store, StoredRun, open_store, url_without_password
from rtlagent.bench.store.server import ServerConnection
from rtlagent.bench.tasks import Plan, Task
from rtlagent.errors import RunError, ToolError, UsageError
from rtlagent.types import Metrics, Status, Usage

PLAN = Plan("folder", "d" * 64, "m", "single", 2, ("a", "b"), 1, 0.2, "p" * 64, True, "auto", True)
RECORD = Record("0.1.0", "3.11.7", "Linux x86_64", ("iverilog 11.0",))
RUN = StoredRun("run-1", PLAN, RECORD, 5.0)
RICH = result(
    "b",
    1,
    status=Status.FAIL,
    category="Ärger/'; DROP TABLE bench_results; --",
    own_verdict=True,
    grade="strong",
    syntax=True,
    simulation=False,
    synthesis=None,
    iterations=3,
    usage=Usage(2**40, 7, 3, None, True),
    metrics=Metrics(luts=12, fmax_mhz=101.5),
    message='quote " percent % colon :x\nline',
    tool_versions=("icarus 11.0", "Yosys 0.70"),
    host="node1",
)


def programs() -> Path | None:
    """Return the folder of PostgreSQL's programs; Debian keeps them off the PATH."""
    found = shutil.which("postgres")
    candidates = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return next((c for c in reversed(candidates) if (c / "initdb").is_file()), None)


class Server:
    """A PostgreSQL server of our own."""

    def __init__(self, folder: Path, bin_dir: Path) -> None:
        self.folder, self.bin_dir = folder, bin_dir
        # The server refuses root; Debian's package has made this user.
        self.user = "postgres" if os.getuid() == 0 else None
        if self.user:
            shutil.chown(folder, self.user)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"postgresql://tester@127.0.0.1:{self.port}/postgres"
        options = ["-D", str(folder / "data"), "-U", "tester", "-A", "trust", "--no-sync", "--no-locale", "-E", "UTF8"]
        subprocess.run(
            [str(bin_dir / "initdb"), *options], user=self.user, check=True, capture_output=True, cwd="/", timeout=120
        )
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        arguments = ["-D", self.folder / "data", "-p", self.port, "-k", self.folder, "-c", "fsync=off"]
        self.process = subprocess.Popen(
            [str(self.bin_dir / "postgres"), *map(str, arguments)],
            user=self.user,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
        )
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                ServerConnection(self.url).close()
                return
            except ToolError:
                time.sleep(0.05)
        raise AssertionError("the server does not start")

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(2)  # "fast": it does not wait for clients
            self.process.wait(60)
            self.process = None


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    bin_dir = programs()
    if bin_dir is None:
        pytest.skip("PostgreSQL is not installed")
    folder = Path(tempfile.mkdtemp(prefix="rtlagent-test-postgres-"))
    made = Server(folder, bin_dir)
    try:
        made.start()
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder)


@contextmanager
def opened(place: str | Path) -> Iterator[Store]:
    with open_store(place, create=True) as store:
        yield store


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str | Path]:
    if request.param == "sqlite":
        yield tmp_path / "results.sqlite"
        return
    server: Server = request.getfixturevalue("server")
    yield server.url
    with open_store(server.url, create=True) as store:
        store._connection.execute([("DROP TABLE bench_results", [{}]), ("DROP TABLE bench_runs", [{}])])


def test_what_goes_in_comes_out(place: str | Path) -> None:
    plain = result("a")
    with opened(place) as store:
        store.register(RUN)
        store.write("run-1", [RICH, plain])
    with open_store(place) as store:
        assert store.runs() == (RUN,)
        assert list(store.results("run-1")) == [plain, RICH]
        assert list(store.results("run-2")) == []
        (a, b) = sorted(store.briefs("run-1"), key=lambda brief: brief.task.problem)
    assert (a.task, a.status, a.failure_class) == (Task("a", 0), "PASS", "")
    assert (b.task, b.status, b.failure_class, b.usage.cost_usd) == (Task("b", 1), "FAIL", DESIGN, None)


def test_a_second_result_of_a_task_replaces_the_first(place: str | Path) -> None:
    with opened(place) as store:
        store.write("run-1", [result("a", status=Status.ERROR, failure_class=ENDPOINT)])
        store.write("run-1", [result("a")])
        assert [r.status for r in store.results("run-1")] == [Status.PASS]
        store.drop("run-1", [Task("a", 0)])
        assert list(store.results("run-1")) == []


def test_runs_share_a_base_without_touching_each_other(place: str | Path) -> None:
    other = replace(RUN, id="run-2", started_at=6.0)

    def write(run: StoredRun) -> None:
        with opened(place) as store:
            store.register(run)
            for number in range(50):
                store.write(run.id, [result(f"p{number}")])

    threads = [threading.Thread(target=write, args=(r,)) for r in (RUN, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open_store(place) as store:
        assert [r.id for r in store.runs()] == ["run-1", "run-2"]
        assert [len(list(store.results(r.id))) for r in store.runs()] == [50, 50]
        assert store.run("2").id == "run-2"
        with pytest.raises(UsageError, match="2 runs match"):
            store.run("run")
        with pytest.raises(UsageError, match="no run 'x'"):
            store.run("x")


def test_many_can_make_the_same_base_at_once(tmp_path: Path) -> None:
    def make(place: Path, start: threading.Barrier) -> None:
        start.wait()
        with opened(place) as store:
            store.register(RUN)

    for number in range(60):
        place = tmp_path / f"{number}.sqlite"
        start = threading.Barrier(4)
        with ThreadPoolExecutor(4) as pool:
            made = [pool.submit(make, place, start) for _ in range(4)]
        assert [m.result() for m in made] == [None] * 4
        with open_store(place) as store:
            assert store.runs() == (RUN,)


def test_a_failed_batch_leaves_nothing(place: str | Path) -> None:
    with opened(place) as store:
        broken = replace(result("b"), category=None)  # type: ignore[arg-type]
        with pytest.raises((RunError, ToolError)):
            store.write("run-1", [result("a"), broken])
        assert list(store.results("run-1")) == []
        store.write("run-1", [result("a")])


def test_a_server_that_restarts_loses_nothing(server: Server) -> None:
    with opened(server.url) as store:
        store.register(RUN)
        store.write("run-1", [result("a")])
        server.stop()
        back = threading.Timer(1.5, server.start)
        back.start()
        store.write("run-1", [result("b")])
        back.join()
        assert [r.problem for r in store.results("run-1")] == ["a", "b"]
        store.drop("run-1", [Task("a", 0), Task("b", 0)])


def test_a_server_that_stays_away_is_an_error_with_a_way_out(server: Server) -> None:
    store = Store(ServerConnection(server.url, patience_s=1.0), "x")
    server.stop()
    try:
        with pytest.raises(ToolError, match="results base fails") as failed:
            store.write("run-1", [result("a")])
        assert "nothing is lost" in failed.value.hint
        with pytest.raises(ToolError, match="does not answer"):
            open_store(server.url)
    finally:
        store.close()
        server.start()


def test_sqlite_is_in_wal_mode_and_can_be_read_while_written(tmp_path: Path) -> None:
    path = tmp_path / "r.sqlite"
    with opened(path) as writer:
        writer.write("run-1", [result("a")])
        with closing(sqlite3.connect(path)) as base:
            assert base.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        with open_store(path) as reader:
            rows = reader.results("run-1")
            assert next(rows).problem == "a"
            writer.write("run-1", [result("b")])
            assert list(rows) == []  # the reader still sees what was there when it began


def test_what_is_no_base_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no results base"):
        open_store(tmp_path / "none.sqlite")
    junk = tmp_path / "junk.sqlite"
    junk.write_text("not a database, but long enough to look at" * 50)
    with pytest.raises(RunError, match="cannot be used"):
        open_store(junk, create=True)
    with pytest.raises(UsageError) as wrong:
        open_store("oracle9://user:secret@host/x", create=True)
    assert "secret" not in str(wrong.value)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://u:secret@h:5/db?sslmode=require", "postgresql://u@h:5/db?sslmode=require"),
        ("postgresql://u@h/db", "postgresql://u@h/db"),
        ("postgresql://h/db?user=u&password=secret", "postgresql://h/db?user=u"),
        ("", ""),
    ],
)
def test_passwords_are_not_shown(url: str, shown: str) -> None:
    assert url_without_password(url) == shown
