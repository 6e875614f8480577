"""How runs are started, seen, stopped and forgotten: as Jobs of Kubernetes or as processes of this machine."""
