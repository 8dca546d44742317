"""Which files the C of a spec brings along, and under what names."""

from pathlib import Path

from rtlagent.spec import Asked, load_spec


def test_an_include_that_no_file_can_be_named_is_left_to_the_compiler(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text(f'#include "{"a" * 300}.h"\n#include "k.c/x.h"\nint f(void) {{ return 1; }}\n')
    assert load_spec(tmp_path / "k.c").context_files == ()


def test_files_above_a_link_are_rooted_as_the_user_names_them(tmp_path: Path) -> None:
    (tmp_path / "deep/er/src").mkdir(parents=True)
    (tmp_path / "deep/er/src/k.c").write_text('#include "../../k.h"\nint f(void) { return N; }\n')
    (tmp_path / "a").mkdir()
    (tmp_path / "a/link").symlink_to(tmp_path / "deep/er/src")
    (tmp_path / "k.h").write_text("#define N 3\n")
    spec = load_spec(tmp_path / "a/link/k.c")
    assert spec.c_source is not None
    assert [spec.c_source.path, *(f.path for f in spec.context_files)] == ["a/link/k.c", "k.h"]


def test_a_file_that_is_given_twice_is_taken_once(tmp_path: Path) -> None:
    (tmp_path / "k.c").write_text("int f(void) { return 1; }\n")
    (tmp_path / "tb.c").write_text("int main(void) { return 0; }\n")
    asked = Asked(files=(tmp_path / "tb.c", tmp_path / "k.c", tmp_path / "tb.c"))
    assert [f.path for f in load_spec(tmp_path / "k.c", asked).context_files] == ["tb.c"]
