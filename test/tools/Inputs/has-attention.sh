#!/bin/sh
# Interesting (exit code 1) is a module with an attention.
! kv-opt "$1" | grep -q kv.attention
