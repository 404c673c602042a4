# Parts go to the task's workers: what the template sets is called as run.pl and queue.pl are.
export train_cmd=$KALDI_CMD
export decode_cmd=$KALDI_CMD
