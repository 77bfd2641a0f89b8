"""The wheels in clean systems: install, answer, serve, compile for CPUs and GPUs, uninstall, and what each takes.

Run by scripts/test-wheel.sh, as root, with debootstrap: wheel.py WHEEL CUDA_WHEEL. Each system has Python and nothing of
this project; what pip installs besides the wheel is downloaded before the clock runs."""

import json
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

from smollm2 import BIN, ROOT
from table import Table

sys.path += [str(ROOT / "test/install"), str(ROOT / "tools/kv-import")]
from clean_system import System  # noqa: E402
from kv_import import synthetic  # noqa: E402

SYSTEMS = {"Debian 12": ("bookworm", "3.11"), "Debian 13": ("trixie", "3.13")}
MODEL = ROOT / "build/models/SmolLM2-135M-Instruct.Q4_1.gguf"
QUESTION = "What is the capital of Germany?"
PROGRAMS = "kv-compile kv-generate kv-import kv-lsp-server kv-opt kv-reduce kv-route kv-run kv-serve kvmlir".split()
MODULE = ROOT / "docs/start/tutorial.md"
# Modules of the package that need another one, which the systems do not have.
NEEDY = {"torch": "torch", "transformers": "torch", "vllm": "torch"}
CHIPS = "sm_80,sm_90a"
IMAGES = ROOT / "build/wheel/cuda/kvmlir_cuda"
FAKE = ROOT / "build/release/lib/libkv_fake_cuda.so"


def make_system(suite, python, wheel):
    """A clean system with a model, a module, and what pip installs besides the wheel."""
    system = System(suite)
    system.download(python, wheel)
    shutil.copy(MODEL, system.home / "model.gguf")
    text = MODULE.read_text(encoding="utf-8").partition("```mlir file=attend.mlir\n")[2].partition("```")[0]
    (system.home / "attend.mlir").write_text(text, encoding="utf-8")
    system.run("python3 -m venv --clear venv")
    return system


def first_token(system):
    """Seconds to the first bytes of the answer."""
    begin = time.perf_counter()
    process = system.start(f"kvmlir generate model.gguf --temperature 0 --max-new-tokens 24 '{QUESTION}' 2>said")
    first = process.stdout.read(1)
    seconds = time.perf_counter() - begin
    answer = first + process.communicate(timeout=600)[0]
    assert process.returncode == 0 and "Berlin" in answer, answer + (system.home / "said").read_text()
    return seconds


def serve(system):
    """Seconds to a server's first answer."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    body = json.dumps({"model": "m", "temperature": 0, "max_tokens": 24,
                       "messages": [{"role": "user", "content": QUESTION}]}).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}/v1/chat/completions", body,
                                     {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    begin = time.perf_counter()
    process = system.start(f"exec kvmlir serve model.gguf --served-model-name m --port {port}")
    try:
        while True:
            try:
                answer = json.load(opener.open(request, timeout=60))
                break
            except urllib.error.URLError as error:
                if process.poll() is not None or not isinstance(error.reason, ConnectionRefusedError):
                    raise
                time.sleep(0.05)
    finally:
        process.kill()  # unshare ends for no other signal, and all in it with it
    assert "Berlin" in answer["choices"][0]["message"]["content"], answer
    return time.perf_counter() - begin


def check_programs(system):
    for program in PROGRAMS:
        system.run(f"{program} --help >/dev/null")
    _, lowered = system.run("kv-opt --kv-cpu attend.mlir")
    assert "llvm.func @kv_entry_attend" in lowered, lowered
    seconds, _ = system.run("kv-compile attend.mlir -o attend.so")
    _, said = system.run("python3 -c 'import kvmlir; print(*kvmlir.Manifest.read(\"attend.so\").entries)'")
    assert said == "attend\n", said
    return seconds


def check_modules(system, site):
    system.run("python3 -c 'import kvmlir.dialect'")
    assert (site / "kvmlir/_kv_ops.py").is_file()
    for name, package in NEEDY.items():
        said = system.fails(f"python3 -c 'import kvmlir.{name}'").splitlines()[-1]
        assert said == (f"ModuleNotFoundError: kvmlir.{name} needs the package {package}, which is not installed"), said


def check_cuda(system, wheel):
    """Compiling for a GPU needs the second wheel. Then the artifact is that of the build, and gives a CPU's tokens on the
    tests' driver. cuBLASLt, which pip would install too, is left out: that driver has its own."""
    config = synthetic.make_config("llama", head_dim=64)
    # Of this seed each token leads by 5 percent: a GPU sums in another order.
    synthetic.write_hf(system.home / "hf", config, synthetic.make_weights(config, seed=11))
    (system.home / "requests").write_text('{"id": "a", "tokens": [5, 6, 7, 8, 9, 10, 11], "max_new_tokens": 6}\n')
    shutil.copy(FAKE, system.home)
    shutil.copy(wheel, system.home / "wheels")
    system.run("kv-import hf -o cuda --page 16")
    compile_for_gpu = f"kv-compile cuda/model.mlir -o cuda/gpu.so --target=cuda:{CHIPS}"
    said = system.fails(compile_for_gpu)
    assert "error: no folder" in said and "the wheel kvmlir-cuda brings it" in said and said.count("\n") == 1, said
    system.run(f"pip install --quiet --no-index --no-deps wheels/{wheel.name}")
    seconds, _ = system.run(compile_for_gpu)
    subprocess.run([BIN / "kv-compile", system.home / "cuda/model.mlir", "-o", system.home / "built.so",
                    f"--target=cuda:{CHIPS}", f"--kernels={IMAGES}"], check=True)
    assert (system.home / "built.so").read_bytes() == (system.home / "cuda/gpu.so").read_bytes()
    system.run("kv-compile cuda/model.mlir -o cuda/cpu.so")
    run = "kv-run cuda/{}.so --weights cuda/weights.safetensors --no-stream --device {} <requests 2>said"
    answers = [json.loads(system.run(command)[1].splitlines()[0]) for command in (
        run.format("cpu", "cpu"), f"KV_CUDA_DRIVER=/home/{FAKE.name} {run.format('gpu', 'cuda:0')}")]
    assert answers[0] == answers[1] and len(answers[0]["tokens"]) == 6, answers
    return seconds


def size(folder):
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file() and not file.is_symlink())


def measure(name, system, wheel, cuda_wheel, table):
    bin = system.home / "venv/bin"
    site = next((system.home / "venv/lib").glob("python3*/site-packages"))
    install, _ = system.run(f"pip install --quiet --no-index --find-links wheels wheels/{wheel.name}")
    table.row(name, "pip install", install, "s")
    table.row(name, "on the disk", size(site / "kvmlir") / 1e6, "MB")
    assert {file.name for file in (site / "kvmlir/lib/cmake/KVMLIR").iterdir()} >= {
        "KVMLIRConfig.cmake", "KVMLIRRuntimeTargets.cmake", "KVMLIRCompilerTargets.cmake"}
    token = first_token(system)
    table.row(name, "first token of a GGUF file, imported and compiled", token, "s")
    table.row(name, "pip install to first token", install + token, "s", 60)
    table.row(name, "first token, the second time", first_token(system), "s")
    table.row(name, "first answer of a server", serve(system), "s")
    table.row(name, "compile an attention", check_programs(system), "s")
    check_modules(system, site)
    table.row(name, "compile a model for GPUs", check_cuda(system, cuda_wheel), "s")
    system.run("pip uninstall --quiet --yes kvmlir kvmlir-cuda")
    left = [path for path in (*site.iterdir(), *bin.iterdir()) if path.name.startswith(("kv-", "kvmlir"))]
    assert not left, left


def main():
    wheel, cuda_wheel = map(Path, sys.argv[1:])
    table = Table()
    table.row("wheel", "size", wheel.stat().st_size / 1e6, "MB", 90)
    table.row("wheel kvmlir-cuda", "size", cuda_wheel.stat().st_size / 1e6, "MB")
    for name, (suite, python) in SYSTEMS.items():
        measure(name, make_system(suite, python, wheel), wheel, cuda_wheel, table)
    return table.write("wheel")


sys.exit(main())
