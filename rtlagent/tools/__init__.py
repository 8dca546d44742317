"""The real tools, one module each; every function returns a StepResult."""
