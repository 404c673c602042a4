# Where the programs are; the workers read this before each part, as queue.pl does.
. "$KALDI_ROOT/tools/config/common_path.sh"
export PATH=$PWD/utils:$PATH
export LC_ALL=C
