"""A real Slurm of four nodes on one machine: every daemon in one scratch folder, on free ports, stopped by
its pid."""
