"""The results base: SQLite beside the run, or PostgreSQL for many machines."""

from __future__ import annotations

from rtlagent.bench.store.base import Store, StoredRun, open_store, url_without_password

__all__ = ["Store", "StoredRun", "open_store", "url_without_password"]
