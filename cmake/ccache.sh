#!/bin/sh
# ccache.sh SOURCE COMPILER ARGUMENT...: a compiler's launcher whose cache serves
# every clone, and every build folder as deep as build/<preset>. Paths below SOURCE
# count relative to the build folder. A precompiled header names the files of its
# folder, so each has its own; for those who include one, ccache takes
# <header>.pch.sum, which hashes the files that it was made of.
source=$1
shift
export CCACHE_PCH_EXTSUM=1 \
  CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
case $* in
*-emit-pch*) ;;
*) export CCACHE_BASEDIR="$source" CCACHE_NOHASHDIR=1 ;;
esac
# ccache makes every path relative but those behind -Xclang (scripts/tidy.sh, too).
to_source=$(realpath --relative-to=. "$source")
for argument; do
  shift
  case $before$argument in
  -Xclang"$PWD"/*) argument=${argument#"$PWD"/} ;;
  -Xclang"$source"/*) argument=$to_source${argument#"$source"} ;;
  esac
  set -- "$@" "$argument"
  before=$argument
done
ccache "$@" || exit
case $* in *-emit-pch*) ;; *) exit 0 ;; esac
while [ $# -gt 1 ]; do
  case $1 in
  -o) output=$2 ;;
  -MF) made_of=$2 ;;
  esac
  shift
done
sed 's/^[^:]*://; s/\\$//' "$made_of" | xargs cat | sed "s|$source||g" |
  sha256sum >"$output.sum"
