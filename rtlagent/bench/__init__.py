"""Benchmarks: suites of problems, the scoring of answers, runs over whole suites, and the audit of the suites."""
