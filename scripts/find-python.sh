# shellcheck shell=bash
# Sourced: sets $python to a Python that AnimeBooth runs on, or ends the script.

for python in python3 python3.13 python3.12 python3.11 ""; do
    if [ -z "$python" ]; then
        echo "AnimeBooth needs Python 3.11, 3.12 or 3.13, and found none." >&2
        echo "On Debian, Ubuntu and Raspberry Pi OS: sudo apt-get install python3 python3-venv" >&2
        exit 1
    fi
    "$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && break
done
