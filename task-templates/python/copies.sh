#!/bin/sh
# Templates are installed one by one, so each carries what it shares with others. This copies every shared file from the
# template that it is written in to those that use it; --check only compares.
set -eu
cd "$(dirname "$0")/.."
check=${1:-}

# copies FILE WRITTEN_IN USED_BY...
copies() {
    file=$1 original=$2/$1
    shift 2
    for template; do
        if [ "$check" = --check ]; then
            cmp "$original" "$template/$file"
        else
            mkdir -p "$(dirname "$template/$file")"
            cp "$original" "$template/$file"
        fi
    done
}

copies program.py python deepspeed horovod indexed jax kaldi megatron mpi mxnet nni paddle pytorch ray tensorflow wenet
copies lib/cubeloom.py python deepspeed download horovod http indexed jax kafka kaldi megatron model-convert model-evaluate \
    model-predict model-register mpi mxnet nni paddle pytorch pytorch-export queue ray recommenders spark sql tensorflow video \
    wenet xgboost
# What begins every program of Python that these start.
copies lib/sitecustomize.py python deepspeed horovod indexed jax kafka kaldi megatron mpi mxnet nni paddle pytorch queue ray \
    spark tensorflow wenet
# What starts torchrun.
copies main.py pytorch deepspeed megatron wenet
# What starts ranks.
for file in agent.py launcher.py link.py rsh.py; do
    copies "$file" mpi horovod
done
# What connects workers with the first.
copies link.py kaldi indexed nni
# What calls a program or a function for each message, and counts.
for file in handler.py ledger.py runners.py; do
    copies "$file" queue kafka
done
# What shares a list.
copies shards.py download video
# What reads tables and runs ONNX models, and what the examples train.
for file in scoring.py tables.py; do
    copies "$file" model-evaluate model-convert model-predict pytorch-export
done
copies convert.py model-convert pytorch-export
copies train.py model-convert model-evaluate model-predict model-register
