"""The verbs: what changes a table. Every `plan_…` writes nothing; every `run_…` may be repeated after a crash anywhere."""
