#!/usr/bin/env bash
# The library never ends the process and never prints: its objects call nothing that does.
set -euo pipefail
cd "$TSR_BUILD_DIR"

ends='exit|_exit|_Exit|quick_exit|abort|err|errx|verr|verrx|error'
prints='v?f?printf|v?dprintf|__v?f?printf_chk|putc|fputc|puts|putchar|_IO_putc|perror|psignal|syslog'
streams='stdout|stderr|warnx?|vwarnx?'
forbidden="$ends|$prints|$streams"

# Builds without assertions must not hold any.
if grep -qE '^CMAKE_BUILD_TYPE:[A-Z]+=(Rel|MinSizeRel)' CMakeCache.txt; then
    forbidden+='|__assert_fail'
fi

# A forked rank has no other way to end than _exit; nothing else may.
if nm -A --undefined-only libtessera_objects.a | grep -vE ':launch\.c\.o: +U _exit$' |
    grep -E " U ($forbidden)(@|\$)"; then
    echo "the library may not use these"
    exit 1
fi
