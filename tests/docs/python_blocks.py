"""Run Python blocks one after the other in one namespace: a JSON object a line in, one a line out."""

from __future__ import annotations

import io
import json
import sys
import traceback
from contextlib import redirect_stdout
from typing import Any


def main() -> None:
    """Serve until standard input ends."""
    answers = sys.stdout
    names: dict[str, Any] = {"__name__": "__main__"}
    for line in sys.stdin:
        request = json.loads(line)
        said, error = io.StringIO(), ""
        with redirect_stdout(said):
            try:
                exec(compile(request["code"], request["place"], "exec"), names)
            except BaseException:  # whatever it is, the page's reader would see it
                error = traceback.format_exc()
        answers.write(json.dumps({"said": said.getvalue(), "error": error}) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
