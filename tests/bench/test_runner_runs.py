"""`bench run` from end to end: real designs from a real endpoint, scored by real simulators."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from adder_suite import Endpoint, bench, exported, finished_run, make_suite, reply_text, serving

from rtlagent.bench.exports import as_csv, as_markdown
from rtlagent.models.recording import format_line
from rtlagent.types import Message, ModelReply, Usage

QUICK = ("--mode", "single", "--no-synthesis", "--jobs", "2")


@pytest.fixture(autouse=True)
def no_outside_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "RTLAGENT_API_KEY", "RTLAGENT_RUNS_DIR"):
        monkeypatch.delenv(name, raising=False)


def test_a_suite_is_answered_scored_reported_and_exported(tmp_path: Path) -> None:
    suite = make_suite(tmp_path / "suite", 3)
    with serving(Endpoint(wrong=(1,))) as endpoint:
        command = ("run", "folder", "--path", suite, "--model", endpoint.model, "-n", "2", *QUICK)
        done = bench(*command, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
        assert sorted(endpoint.asked) == [0, 0, 1, 1, 2, 2]
        # The ports stand in the front matter only; the tests are nowhere.
        assert all("input [4 bits] a" in p and "input" in p and "wrong" not in p for p in endpoint.prompts)
        again = bench(*command, cwd=tmp_path)
        assert again.returncode == 0, again.stderr
        assert len(endpoint.asked) == 6
    assert "add1/0 FAIL (design)" in done.stdout
    assert "pass@1      66.7 %" in done.stdout
    (run,) = (tmp_path / "runs" / "bench").iterdir()
    document = exported(run)
    figures = document["figures"]
    assert (figures["finished"], figures["passed"], figures["solved"]) == (6, 4, 2)
    assert figures["spending"]["usage"]["tokens_in"] == 600
    assert figures["synthesis"] == {"count": 0, "of": 0}
    plan = document["plan"]
    assert (plan["blind"], plan["mode"], plan["samples"], len(plan["suite_sha256"])) == (True, "single", 2, 64)
    assert any(t.startswith("iverilog ") for t in document["record"]["tools"])
    assert {r["model"] for r in document["results"]} == {"canned"}
    assert str(tmp_path) not in json.dumps(document["results"])
    rows = list(csv.DictReader(io.StringIO(as_csv(finished_run(run)))))
    assert [r["status"] for r in rows if r["problem"] == "add1"] == ["FAIL", "FAIL"]
    assert rows[0]["synthesis"] == ""
    assert "| add2 | 2 of 2 |" in as_markdown(finished_run(run))
    same = bench("compare", run, run, cwd=tmp_path)
    assert "3 problems in both, 3 of them equal" in same.stdout


@pytest.mark.slow
def test_errors_of_the_endpoint_are_repeated_on_request_and_only_they(tmp_path: Path) -> None:
    suite = make_suite(tmp_path / "suite", 3)
    with serving(Endpoint(wrong=(0,), broken=(2,))) as endpoint:
        command = ("run", "folder", "--path", suite, "--model", endpoint.model, "--out", "r", *QUICK)
        first = bench(*command, cwd=tmp_path)
        assert first.returncode == 4
        assert "1 tasks have no score because of errors" in first.stdout
        assert exported(tmp_path / "r")["figures"]["counted"] == 2
        endpoint.broken, endpoint.wrong = (), ()
        del endpoint.asked[:]
        assert bench("resume", "r", cwd=tmp_path).returncode == 4
        assert endpoint.asked == []
        repeated = bench("resume", "r", "--retry", "errors", cwd=tmp_path)
        assert repeated.returncode == 0, repeated.stdout
        assert endpoint.asked == [2]
    results = {r["problem"]: r["status"] for r in exported(tmp_path / "r")["results"]}
    assert results == {"add0": "FAIL", "add1": "PASS", "add2": "PASS"}


@pytest.mark.slow
def test_a_useless_reply_is_the_models_failure(tmp_path: Path) -> None:
    suite = make_suite(tmp_path / "suite", 1)
    with serving(Endpoint()) as endpoint:
        endpoint.garbage = True
        command = ("run", "folder", "--path", suite, "--model", endpoint.model, "--out", "r", *QUICK)
        done = bench(*command, cwd=tmp_path)
    assert done.returncode == 0
    (result,) = exported(tmp_path / "r")["results"]
    assert (result["status"], result["failure_class"], result["syntax"]) == ("FAIL", "design", None)
    assert "unusable" in result["message"]


@pytest.mark.slow
def test_a_budget_stops_the_run_with_3_and_a_higher_one_goes_on(tmp_path: Path) -> None:
    suite = make_suite(tmp_path / "suite", 4)
    with serving(Endpoint()) as endpoint:
        command = ("run", "folder", "--path", suite, "--model", endpoint.model, "--out", "r", *QUICK)
        stopped = bench(*command, "--max-tokens", "700", cwd=tmp_path)
        assert stopped.returncode == 3, stopped.stdout
        assert "--max-tokens" in stopped.stdout
        asked = len(endpoint.asked)
        assert 0 < asked < 4
        assert exported(tmp_path / "r")["figures"]["spending"]["usage"]["tokens_in"] == 100 * asked
        assert bench("resume", "r", cwd=tmp_path).returncode == 3  # the limit is remembered
        done = bench("resume", "r", "--max-tokens", "9000", cwd=tmp_path)
        assert done.returncode == 0, done.stdout
        assert sorted(endpoint.asked) == [0, 1, 2, 3]


@pytest.mark.slow
def test_two_runs_of_one_recording_are_the_same_bytes(tmp_path: Path) -> None:
    suite = make_suite(tmp_path / "suite", 2)
    log = tmp_path / "replies.jsonl"
    replies = [reply_text(0, 0), reply_text(1, 3), reply_text(0, 1), reply_text(1, 1)]
    lines = [
        format_line([Message("user", f"{n}")], ModelReply(text, Usage(), "recorded"), purpose="single", wall_s=0.0)
        for n, text in enumerate(replies)
    ]
    log.write_bytes(b"".join(lines))
    for run in ("one", "two"):
        done = bench("run", "folder", "--path", suite, "--model", f"replay:{log}", "--out", run, *QUICK, cwd=tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr
    for form in ("json", "csv", "markdown"):
        texts = [bench("export", r, "-f", form, "--no-times", cwd=tmp_path).stdout for r in ("one", "two")]
        assert texts[0] == texts[1]
        assert len(texts[0]) > 100
    assert "finished_at" in bench("export", "one", cwd=tmp_path).stdout
    assert "finished_at" not in bench("export", "one", "--no-times", cwd=tmp_path).stdout


@pytest.mark.slow
def test_a_whole_run_is_a_recording_with_an_answer_for_each_sample(tmp_path: Path) -> None:
    suite = make_suite(tmp_path / "suite", 2)
    with serving(Endpoint(wrong=(1,))) as endpoint:
        command = ("run", "folder", "--path", suite, "-n", "2", *QUICK)
        assert bench(*command, "--model", endpoint.model, "--out", "live", cwd=tmp_path).returncode == 0
    done = bench(*command, "--model", "replay:live", "--out", "again", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    live, again = (exported(tmp_path / r)["results"] for r in ("live", "again"))
    assert [(r["problem"], r["status"], r["answer_sha256"]) for r in live] == [
        (r["problem"], r["status"], r["answer_sha256"]) for r in again
    ]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("run", "foldr", "--path", "suite"), "did you mean 'folder'?"),
        (("run", "folder", "--path", "nowhere", "--model", "replay:log"), "nowhere"),
        (("run", "folder", "--path", "suite", "--model", "replay:none"), "cannot read the recorded replies"),
        (("run", "folder", "--path", "suite", "--model", "replay:."), "holds no benchmark run"),
        (("run", "folder", "--path", "suite", "--mode", "sngle"), "did you mean 'single'?"),
        (("run", "folder", "--path", "suite", "-n", "0"), "--samples"),
        (("run", "folder", "--path", "suite", "--jobs", "0"), "--jobs"),
        (("run", "folder", "--path", "suite", "--only", "zzz"), "no problem's name contains 'zzz'"),
        (("run", "folder", "--path", "suite", "--sandbox", "none"), "--no-blind"),
        (("run", "folder", "--path", "suite", "--retry", "all"), "--retry"),
        (("run", "folder", "--path", "suite", "--executor", "pbs"), "there is no executor"),
        (("run", "folder", "--path", "suite", "--max-cost", "-1"), "max_cost"),
        (("resume", "nowhere"), "there is no benchmark run"),
        (("report", "suite"), "there is no benchmark run"),
        (("export", "nowhere", "--format", "xml"), "there is no format"),
    ],
)
def test_wrong_input_is_told_with_2_and_no_traceback(
    arguments: tuple[str, ...], says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from typer.testing import CliRunner

    from rtlagent.cli import app

    make_suite(tmp_path / "suite", 1)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        done = CliRunner().invoke(app, ["bench", *arguments])
    said = done.output + capsys.readouterr().err
    assert done.exit_code == 2, said
    assert says in said
    assert "Traceback" not in said
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_another_plan_or_another_suite_does_not_go_on_with_a_run(tmp_path: Path) -> None:
    suite = make_suite(tmp_path / "suite", 1)
    with serving(Endpoint()) as endpoint:
        command = ("run", "folder", "--path", suite, "--model", endpoint.model, "--out", "r", *QUICK)
        assert bench(*command, cwd=tmp_path).returncode == 0
        other = bench(*command, "-n", "3", cwd=tmp_path)
        assert other.returncode == 2
        assert "samples was 1, is 3" in other.stderr
        (suite / "add0" / "tests" / "tb.v").write_text("module tb; endmodule\n")
        changed = bench("resume", "r", cwd=tmp_path)
        assert changed.returncode == 2
        assert "data have changed" in changed.stderr
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("mine")
    taken = bench("run", "folder", "--path", suite, "--model", endpoint.model, "--out", "full", *QUICK, cwd=tmp_path)
    assert taken.returncode == 2
