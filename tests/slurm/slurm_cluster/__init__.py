"""A real Slurm of four nodes on one machine: every part in one scratch folder, on free ports, ended by its pid."""
