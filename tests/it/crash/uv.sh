#!/bin/sh
# Stands in for uv, which would need the network: makes an empty virtual environment.
case $1 in
    venv)
        for folder; do :; done
        exec /usr/bin/python3 -m venv --without-pip "$folder"
        ;;
    pip) sleep 0.2 ;;
esac
