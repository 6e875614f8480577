"""Local mode: manifests from a folder, the same decisions, runs as processes, and a terminal that shows it."""
