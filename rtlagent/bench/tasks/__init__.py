"""What a benchmark run consists of: problem x sample tasks, each answered first and scored after that.

The two halves are jobs of their own, because they may not run in one process: whoever talks to a model never
opens a hidden file (see `executors`). Each job keeps what it found in the task's folder before it returns and
returns what it finds there, so that a job may be started any number of times:

```
DIR/tasks/PROBLEM/SAMPLE/
├── model.jsonl       the one question and answer (mode single), else TIME-NAME/, the agent's run folder
├── answer.json       the final answer
├── score.json        what the hidden tests say of it
└── score/            their logs
```
"""

from __future__ import annotations

from rtlagent.bench.tasks.final_answer import FinalAnswer
from rtlagent.bench.tasks.generate import GenerateJob
from rtlagent.bench.tasks.plan import MODES, Plan, Task, TaskLimits, folder_of, tasks_of
from rtlagent.bench.tasks.score import ScoreJob

__all__ = [
    "MODES",
    "FinalAnswer",
    "GenerateJob",
    "Plan",
    "ScoreJob",
    "Task",
    "TaskLimits",
    "folder_of",
    "tasks_of",
]
