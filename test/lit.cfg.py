"""lit configuration of dialect/, passes/, lowering/, tools/ and integration/."""

import os
import sys

import lit.formats

config.name = "kv-mlir"
config.test_format = lit.formats.ShTest(execute_external=False)
config.test_source_root = os.path.dirname(__file__)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "data", "lit", "python", "unit"]

config.environment["PATH"] = os.pathsep.join(
    [config.kv_tools, config.kv_llvm_bin, os.environ.get("PATH", "")])
config.environment["FILECHECK_OPTS"] = "--dump-input-filter=error"
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%rows", f"{sys.executable} {config.test_source_root}/lit/rows.py"))
config.substitutions.append(("%include", config.kv_source + "/include"))
config.substitutions.append(("%plugin", config.kv_plugin))
config.substitutions.append(
    ("%check", config.test_source_root + "/lit"))

# A tool that a build leaves out takes its tests with it.
for tool in ["kv-opt", "kv-compile", "kv-generate", "kv-lsp-server", "kv-ptx", "kv-reduce", "kv-run"]:
    if os.access(os.path.join(config.kv_tools, tool), os.X_OK):
        config.available_features.add(tool)
if os.path.exists(config.kv_plugin):
    config.available_features.add("kv-plugin")
