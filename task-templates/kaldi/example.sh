#!/bin/bash
# A stand-in for a Kaldi recipe: Kaldi is in the image, not on every machine. It hands its parts out just as a recipe does,
# and adds up numbers where a recipe would compute features.
set -euo pipefail
train_cmd=$KALDI_CMD nj=6
mkdir -p "$CUBELOOM_RUN_DIR/exp" && cd "$CUBELOOM_RUN_DIR/exp"

for job in $(seq $nj); do
    seq "$job" $nj 999 >numbers.$job
done
$train_cmd --mem 1G JOB=1:$nj log/sum.JOB.log awk '{ sum += \$1 } END { print sum }' numbers.JOB '>' sum.JOB

total=$(($(cat sum.? | paste -sd+)))
echo "{\"output\": {\"total\": $total, \"parts\": $(cat sum.? | wc -l)}}" >>"$CUBELOOM_OUTPUTS"
