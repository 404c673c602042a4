#!/bin/sh
# A worker of the crash test: work.sh SECONDS WHAT SUMMAND...
#
# Its first act is a line in the ledger, its last another; each is one write to a file opened for appending.
key=$CUBELOOM_RUN.$CUBELOOM_TASK.$CUBELOOM_INSTANCE.$CUBELOOM_ATTEMPT
worker=$CUBELOOM_ROLE-$CUBELOOM_INDEX
echo "start $key $worker $$ $PPID" >>"$LEDGER"

pause=$1 what=$2
shift 2
mark=$CUBELOOM_CHECKPOINT_DIR/was-here
case $what in
    fail-once) [ -e "$mark" ] || { touch "$mark"; exit 7; } ;;
    hang-once) [ -e "$mark" ] || { touch "$mark"; trap '' TERM; exec sleep 600; } ;;
    hang) exec sleep 600 ;;
esac

sleep "$pause"
sum=0
for summand; do sum=$((sum + summand)); done
echo "{\"output\": {\"sum\": $sum, \"elements\": [$(seq -s , 1 20)]}}" >>"$CUBELOOM_OUTPUTS"
echo "done $key $worker $$ $PPID" >>"$LEDGER"
