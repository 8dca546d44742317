from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import anyio
import pytest
from mcp_session import data, http, http_server, said, session, stdio

ROOT = Path(__file__).resolve().parents[2]
COUNTER = """module counter(input clk, input rst, input en, output reg [3:0] count);
  always @(posedge clk) if (rst) count <= 0; else if (en) count <= count + 4'd1;
endmodule
"""
WRONG = COUNTER.replace("count + 4'd1", "count + 4'd2")
TEST = """import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

@cocotb.test()
async def counts(dut):
    Clock(dut.clk, 10, "ns").start()
    dut.rst.value, dut.en.value = 1, 0
    await FallingEdge(dut.clk)
    dut.rst.value, dut.en.value = 0, 1
    for n in range(20):
        assert int(dut.count.value) == n % 16, f"cycle {n}: {dut.count.value}"
        await FallingEdge(dut.clk)
"""
TOOLS = {
    *("lint", "simulate", "synthesize", "place_and_route", "equiv", "verify", "grade", "compile_c"),
    *("waveform_window", "hierarchy", "start_run", "run_status", "cancel_run"),
}


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "rtl").mkdir()
    (tmp_path / "rtl/counter.v").write_text(COUNTER)
    (tmp_path / "wrong.v").write_text(WRONG)
    (tmp_path / "test_counter.py").write_text(TEST)
    return tmp_path


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_client_names_its_root_and_lists_what_there_is(work: Path, mode: str) -> None:
    async def go() -> None:
        async with stdio(work, named=False, mode=mode) as client:
            assert {t.name for t in (await client.list_tools()).tools} == TOOLS
            prompts = {p.name for p in (await client.list_prompts()).prompts}
            assert prompts == {"implement_spec", "debug_failing_test", "optimise_for_area"}
            prompt = await client.get_prompt("implement_spec", {"spec": "fifo.md"})
            assert "`fifo.md`" in prompt.messages[0].content.text  # type: ignore[union-attr]
            reply = data(await client.call_tool("lint", {"files": ["rtl"]}))
            assert reply["status"] == "PASS"

    session(go)


def test_replies_are_short_and_name_the_first_failing_facts(work: Path) -> None:
    broken = "module b(input a, output reg q);\n" + "".join(f"  always @* q = u{n};\n" for n in range(60))
    (work / "broken.v").write_text(broken + "endmodule\n")

    async def go() -> None:
        async with stdio(work) as client:
            lint = await client.call_tool("lint", {"files": ["broken.v"]})
            assert data(lint)["status"] == "FAIL"
            assert len(data(lint)["findings"]) == 12
            assert data(lint)["findings_left_out"] >= 48
            assert len(said(lint)) < 4000
            assert data(lint)["findings"][0]["place"] == "broken.v:2:17"
            failed = data(await client.call_tool("simulate", {"files": ["wrong.v"], "tests": ["test_counter.py"]}))
            assert failed["status"] == "FAIL"
            (test,) = failed["tests"]
            assert "cycle 1" in test["message"]
            assert (work / test["waveform"]).is_file()
            wave = await client.call_tool(
                "waveform_window",
                {"waveform": test["waveform"], "signals": ["count", "en"], "clock": "clk", "cycles": 4},
            )
            assert re.search(r"count", said(wave))
            log = await client.read_resource(f"rtlagent://logs/{failed['files'][0].removeprefix('runs/')}")
            assert "counts" in log.contents[0].text  # type: ignore[union-attr]
            good = data(await client.call_tool("simulate", {"files": ["rtl"], "tests": ["test_counter.py"]}))
            assert good["status"] == "PASS"
            area = data(await client.call_tool("synthesize", {"files": ["rtl"], "target": "ice40", "max_ffs": 3}))
            assert (area["status"], area["metrics"]["ffs"]) == ("FAIL", 4)
            assert area["unmet"] == ["max_ffs 3: 4"]
            modules = said(await client.call_tool("hierarchy", {"files": ["rtl"]}))
            assert "counter (rtl/counter.v:1) top" in modules
            differ = data(await client.call_tool("equiv", {"gold": ["rtl"], "gate": ["wrong.v"]}))
            assert differ["status"] == "FAIL"

    session(go)


def test_nothing_outside_the_workspace_is_touched(work: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.v").write_text("module secret_of_others; endmodule\n")
    (work / "link.v").symlink_to(outside / "secret.v")
    (work / "folder").symlink_to(outside)
    (work / "inside.v").symlink_to(work / "rtl/counter.v")
    front = "---\ntop: counter\nports: [input clk]\ncontext: [{}]\n---\nA counter.\n"
    (work / "climbs.md").write_text(front.format("../" + outside.name + "/secret.v"))
    (work / "absolute.md").write_text(front.format(outside / "secret.v"))
    (work / "globs.md").write_text(front.format('"../*/*.v"'))
    (work / "steals.c").write_text(f'#include "{outside / "secret.v"}"\nint f(int a) {{ return a; }}\n')

    async def go() -> None:
        async with stdio(work) as client:
            for name in (
                "link.v",
                "folder",
                "folder/secret.v",
                "../" + outside.name + "/secret.v",
                "/etc/passwd",
                "..",
            ):
                result = await client.call_tool("lint", {"files": [name]})
                assert result.is_error, name
                assert "outside the workspace" in said(result), name
                assert "hint:" in said(result)
            for name in ("climbs.md", "absolute.md", "globs.md"):
                result = await client.call_tool("verify", {"spec": name, "files": ["rtl"], "golden": "x.py"})
                assert result.is_error, name
                assert "outside the workspace" in said(result), said(result)
            result = await client.call_tool("compile_c", {"file": "steals.c"})
            assert result.is_error
            assert "secret_of_others" not in said(result)
            result = await client.call_tool("compile_c", {"file": "steals.c", "out": "../stolen"})
            assert result.is_error
            wave = await client.call_tool("waveform_window", {"waveform": "/proc/self/environ"})
            assert "outside the workspace" in said(wave)
            for uri in ("rtlagent://logs/../../etc/passwd", "rtlagent://runs/..%2F..%2Fx/report"):
                with pytest.raises(Exception, match=r"(?i)outside|not found|unknown|no such|exist|resource"):
                    await client.read_resource(uri)
            assert data(await client.call_tool("lint", {"files": ["inside.v"]}))["status"] == "PASS"
            assert data(await client.call_tool("lint", {"files": [str(work / "rtl/counter.v")]}))["status"] == "PASS"

    session(go)
    assert sorted(p.name for p in outside.iterdir()) == ["secret.v"]


def test_runs_folder_that_leads_out_is_not_written_to(work: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (work / "runs").symlink_to(outside)

    async def go() -> None:
        async with stdio(work) as client:
            result = await client.call_tool("synthesize", {"files": ["rtl"]})
            assert result.is_error
            assert "outside the workspace" in said(result)

    session(go)
    assert not list(outside.iterdir())


def test_a_config_file_in_the_workspace_changes_nothing(work: Path) -> None:
    (work / "rtlagent.toml").write_text('[tools]\nsandbox = "none"\ncache_dir = "stolen"\n')
    tb = 'module tb; initial begin $system("touch escaped"); $display("PASS"); $finish; end endmodule\n'
    (work / "tb.sv").write_text(tb)

    async def go() -> None:
        async with stdio(work) as client:
            call = {"files": ["rtl"], "tests": ["tb.sv"], "simulator": "verilator"}
            await client.call_tool("simulate", call)

    session(go)
    assert not list(work.rglob("escaped"))
    assert not (work / "stolen").exists()


def test_errors_have_hints(work: Path) -> None:
    async def go() -> None:
        async with stdio(work) as client:
            for tool, arguments, words in (
                ("lint", {"files": []}, "no file was given"),
                ("lint", {"files": ["rtl/countr.v"]}, "did you mean counter.v"),
                ("synthesize", {"files": ["rtl"], "top": "nothing"}, "nothing"),
                ("run_status", {"run_id": "run-0"}, "there is no run"),
                ("start_run", {"tool": "lnt", "arguments": {}}, "did you mean 'lint'"),
                ("start_run", {"tool": "lint", "arguments": {"file": ["a.v"]}}, "did you mean 'files'"),
                ("start_run", {"tool": "lint", "arguments": {"files": "a.v"}}, "must be a list"),
                ("simulate", {"files": ["rtl"], "tests": []}, "no test"),
            ):
                result = await client.call_tool(tool, arguments)
                text = said(result)
                assert words in text, (tool, text)
                assert result.is_error or '"status": "FAIL"' in json.dumps(result.structured_content), text
        async with stdio(None) as client:
            result = await client.call_tool("lint", {"files": ["a.v"]})
            assert result.is_error
            assert "hint: start the server with `rtlagent mcp --root" in said(result)

    session(go)


def test_http_wants_its_token_and_serves_several_clients(work: Path) -> None:
    async def go() -> None:
        import httpx2

        async with http_server(work) as address:
            async with httpx2.AsyncClient() as web:
                for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": ""}):
                    assert (await web.post(address, json={}, headers=headers)).status_code == 401
                rebound = {"Authorization": "Bearer a-token-of-the-tests", "Host": "attacker.example"}
                assert (await web.post(address, json={}, headers=rebound)).status_code in (403, 421)
            replies: list[str] = []

            async def ask(mode: str) -> None:
                async with http(address, mode=mode) as client, anyio.create_task_group() as calls:
                    for tool in ("lint", "hierarchy", "synthesize"):
                        calls.start_soon(one, client, tool)

            async def one(client: object, tool: str) -> None:
                result = await client.call_tool(tool, {"files": ["rtl"]})  # type: ignore[attr-defined]
                replies.append(data(result)["status"])

            async with anyio.create_task_group() as clients:
                clients.start_soon(ask, "auto")
                clients.start_soon(ask, "legacy")
            assert sorted(replies) == ["DONE", "DONE", "PASS", "PASS", "PASS", "PASS"]

    session(go)


@pytest.mark.slow
def test_from_spec_to_pass_with_the_clients_model_writing_the_rtl(tmp_path: Path) -> None:
    """The client's model is played by the recorded replies of an example, a wrong design first."""
    replies = [json.loads(line) for line in (ROOT / "examples/sync_fifo/replies.jsonl").read_text().splitlines()]
    text = {r["purpose"]: r["reply"]["content"] for r in replies}
    shutil.copy(ROOT / "examples/sync_fifo/spec.md", tmp_path / "spec.md")
    (tmp_path / "rtl").mkdir()
    design = tmp_path / "rtl/sync_fifo.v"
    rtl = _fenced(text["generate"], "verilog")

    async def go() -> None:
        async with stdio(tmp_path, named=False) as client:
            prompt = await client.get_prompt("implement_spec", {"spec": "spec.md"})
            assert "golden.py" in prompt.messages[0].content.text  # type: ignore[union-attr]
            (tmp_path / "golden.py").write_text(_fenced(text["oracle"], "python"))
            call = {"spec": "spec.md", "files": ["rtl"], "golden": "golden.py", "mutants": 0}
            # A mistake in the flags, as a model makes it: the oracle must find it.
            design.write_text(re.sub(r"(\balmost_full\s*(?:<?=)[^;]*?)>=", r"\1>", rtl, count=1))
            assert design.read_text() != rtl
            wrong = data(await client.call_tool("verify", call))
            assert wrong["status"] == "FAIL"
            assert any(g.startswith("simulate: FAIL") for g in wrong["gates"])
            assert {c["signal"] for c in wrong["failing_cycles"]} == {"almost_full"}
            design.write_text(rtl)
            large = data(await client.call_tool("verify", call))
            assert large["status"] == "FAIL"
            assert [u.split()[0] for u in large["unmet"]] == ["max_luts"]
            design.write_text(_fenced(text["repair"], "verilog"))
            final = data(await client.call_tool("verify", {**call, "mutants": 8}))
            assert final["status"] == "PASS", final
            assert final["grade"] in ("strong", "moderate")
            assert final["metrics"]["luts"] <= 27

    session(go, 280)


def _fenced(text: str, language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", text, flags=re.S)
    assert found
    return found[1]
