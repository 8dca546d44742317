"""Scheduling: which operation in which cycle."""
