#!/bin/bash
# A recipe as Kaldi's own `yesno`: features, a model of single phones, a graph, and how many words of others it gets wrong.
#
#     run.sh DATA     a folder with `train` and `test`, as recipes prepare them
set -euo pipefail
data=$1 parts=4

# A recipe's folder is written to, and is the same for all workers.
mkdir -p "$CUBELOOM_RUN_DIR/kaldi" && cd "$CUBELOOM_RUN_DIR/kaldi"
cp -r "$CUBELOOM_CODE"/kaldi/{cmd.sh,path.sh,conf,input} .
ln -sfn "$KALDI_ROOT/egs/wsj/s5/steps" steps
ln -sfn "$KALDI_ROOT/egs/wsj/s5/utils" utils
mkdir -p local data/local/dict
ln -sfn ../steps/score_kaldi.sh local/score.sh
. ./cmd.sh
. ./path.sh

# What the words sound like, and how likely each is.
cp input/lexicon.txt data/local/dict
printf 'Y\nN\n' >data/local/dict/nonsilence_phones.txt
printf 'SIL\n' | tee data/local/dict/silence_phones.txt >data/local/dict/optional_silence.txt
utils/prepare_lang.sh --position-dependent-phones false data/local/dict "<SIL>" data/local/lang data/lang
arpa2fst --disambig-symbol=#0 --read-symbol-table=data/lang/words.txt input/words.arpa data/lang/G.fst

for set in train test; do
    cp -r "$data/$set" data
    steps/make_mfcc.sh --nj $parts --cmd "$train_cmd" data/$set exp/make_mfcc/$set mfcc
    steps/compute_cmvn_stats.sh data/$set exp/make_mfcc/$set mfcc
    utils/fix_data_dir.sh data/$set
done

steps/train_mono.sh --nj $parts --cmd "$train_cmd" --totgauss 400 data/train data/lang exp/mono
utils/mkgraph.sh data/lang exp/mono exp/mono/graph
steps/decode.sh --nj $parts --cmd "$decode_cmd" exp/mono/graph data/test exp/mono/decode

best=exp/mono/decode/scoring_kaldi/best_wer
cat $best
read -r _ wer _ <$best
echo "{\"output\": {\"wer\": $wer}}" >>"$CUBELOOM_OUTPUTS"
# By chance half of the words are right.
awk "BEGIN { exit !($wer < 25) }" || { echo "more than a quarter of the words are wrong: nothing was learnt" >&2; exit 1; }
