//! Secrets, volumes, registries, clusters.
