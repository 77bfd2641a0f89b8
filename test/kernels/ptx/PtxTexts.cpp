//===- PtxTexts.cpp - The kernels' PTX of one chip ------------------------===//

#include "PtxTexts.h"
#include "kernels/cuda/parameters/KernelTable.h"
#include "test/gpu/VerifyKernels.h"

#include <filesystem>

using namespace kv;
using namespace kv::cuda::test;

std::string PtxTexts::fileOf(std::string_view kernel) const {
  std::string module(kernel);
  std::string_view only;
  if (const VerifyKernel *own = findVerifyKernel(kernel)) {
    if (!own->isFor("sm_" + chip))
      return {};
    module = own->image;
  } else if (kernel.find("attention") == kernel.npos &&
             kernel.find("latent") == kernel.npos) {
    module = "kv_movers";
  } else {
    only = kernels::onlyChipOf(kernel);
  }
  if (!only.empty() && only != "sm_" + chip)
    return {};
  for (const char *each : {"kernels/kv-cuda/ptx/", "lib/kv-cuda/",
                           "test/gpu/kv-verify/ptx/", "lib/kv-verify/"}) {
    std::string file =
        folder + "/" + each + module + ".compute_" + chip + ".ptx";
    if (std::filesystem::exists(file))
      return file;
  }
  return {};
}

const ptx::Module &PtxTexts::moduleOf(std::string_view kernel) {
  std::string file = fileOf(kernel);
  if (file.empty())
    throw ptx::Error("compute_" + chip, 0,
                     "no file of " + folder + " has the kernel " +
                         std::string(kernel));
  auto known = modules.find(file);
  if (known == modules.end())
    known = modules.emplace(file, ptx::readModule(file)).first;
  return known->second;
}

const ptx::Program &PtxTexts::programOf(std::string_view name) {
  auto &program = programs[std::string(name)];
  if (!program) {
    const ptx::Module &module = moduleOf(name);
    const ptx::Kernel *kernel = module.find(name);
    if (!kernel)
      throw ptx::Error(module.file, 0,
                       "there is no kernel " + std::string(name));
    program = std::make_unique<ptx::Program>(module, *kernel);
    program->traces = traces;
  }
  return *program;
}

void PtxTexts::run(Machine &machine, std::string_view name, int blocks,
                   int cluster, const void *params) {
  ptx::Launch launch;
  launch.grid[0] = blocks;
  launch.cluster = cluster;
  launch.mostBranches = mostBranches;
  launch.endsAtReport = endsAtReport;
  if (const KernelLaunch *kernel = findKernel(name)) {
    launch.block[0] = kernel->threads;
    launch.sharedBytes = kernel->sharedBytes(shapesOfChip(chipNumber()));
  } else if (const VerifyKernel *kernel = findVerifyKernel(name)) {
    launch.block[0] = kernel->threads;
    launch.sharedBytes = kernel->sharedBytes;
  } else {
    return machine.report("there is no kernel " + std::string(name));
  }
  try {
    ptx::run(machine, programOf(name), launch, params);
  } catch (const ptx::Error &error) {
    machine.report(error.what());
  }
}
