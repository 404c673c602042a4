#!/bin/sh
# Copies program.py and lib/cubeloom.py, as they are here, what starts torchrun, as it is in pytorch, and what shares a
# list, as it is in download, into the templates that use them; --check only compares. Templates are installed one by one, so each carries what it needs.
set -eu
cd "$(dirname "$0")"
for copy in video/shards.py video/lib/cubeloom.py download/lib/cubeloom.py deepspeed/main.py megatron/main.py deepspeed/program.py megatron/program.py deepspeed/lib/cubeloom.py \
    megatron/lib/cubeloom.py indexed/program.py jax/program.py mpi/program.py pytorch/program.py tensorflow/program.py ray/program.py \
    indexed/lib/cubeloom.py jax/lib/cubeloom.py mpi/lib/cubeloom.py pytorch/lib/cubeloom.py \
    tensorflow/lib/cubeloom.py ray/lib/cubeloom.py \
    spark/lib/cubeloom.py sql/lib/cubeloom.py http/lib/cubeloom.py xgboost/lib/cubeloom.py; do
    case $copy in
        */main.py) original=../pytorch/main.py ;;
        */shards.py) original=../download/shards.py ;;
        *) original=${copy#*/} ;;
    esac
    if [ "${1:-}" = --check ]; then
        cmp "$original" "../$copy"
    else
        mkdir -p "$(dirname "../$copy")"
        cp "$original" "../$copy"
    fi
done
