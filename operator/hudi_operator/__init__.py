"""The operator: knows Kubernetes, and of the engine only what may be asked of it and what it answers."""
