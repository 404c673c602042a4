"""A real Kubernetes control plane on this machine, for tests and for a person to play with."""
