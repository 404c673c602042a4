#!/bin/sh
# Copies program.py and lib/cubeloom.py, as they are here, into the templates that use them; --check only compares.
# Templates are installed one by one, so each carries what it needs.
set -eu
cd "$(dirname "$0")"
for copy in indexed/program.py jax/program.py mpi/program.py pytorch/program.py tensorflow/program.py ray/program.py \
    indexed/lib/cubeloom.py jax/lib/cubeloom.py mpi/lib/cubeloom.py pytorch/lib/cubeloom.py \
    tensorflow/lib/cubeloom.py ray/lib/cubeloom.py \
    spark/lib/cubeloom.py sql/lib/cubeloom.py http/lib/cubeloom.py xgboost/lib/cubeloom.py; do
    original=${copy#*/}
    if [ "${1:-}" = --check ]; then
        cmp "$original" "../$copy"
    else
        mkdir -p "$(dirname "../$copy")"
        cp "$original" "../$copy"
    fi
done
