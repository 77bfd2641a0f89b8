//===- main.cpp - kv-ptx: runs PTX on a CPU -------------------------------===//

#include "Arguments.h"
#include "tools/CommandLine.h"

#include <iostream>

using namespace kv::ptx;
using kv::cuda::Machine;
using kv::cuda::MachineOptions;
using kv::cuda::Schedule;

namespace {

struct PtxRun {
  std::string file, kernel;
  std::vector<int> grid{1}, block{1};
  std::vector<std::string> arguments;
  MachineOptions machine;
  Launch launch;
  bool forms = false;
};

int fail(const std::string &text) {
  std::cerr << "kv-ptx: error: " << text << '\n';
  return 2;
}

std::optional<int> parseCommandLine(int argc, char **argv, PtxRun &o) {
  CLI::App app(
      "Runs a kernel of PTX on a CPU, and reports races, deadlocks and "
      "accesses outside of memory with file and line.",
      "kv-ptx");
  app.set_version_flag("--version", "kv-ptx " KV_VERSION);
  app.add_option("FILE", o.file, "the text of PTX")->required();
  app.add_option("--kernel", o.kernel,
                 "its .entry; the only one where not said");
  auto shape = [&](const char *name, std::vector<int> &value,
                   const char *what) {
    app.add_option(name, value, what)
        ->delimiter(',')
        ->expected(1, 3)
        ->check(CLI::Range(1, 1 << 20))
        ->capture_default_str();
  };
  shape("--grid", o.grid, "X[,Y,Z]: thread blocks");
  shape("--block", o.block, "X[,Y,Z]: threads of a block, at most 1024");
  app.add_option("--shared", o.launch.sharedBytes,
                 "bytes of shared memory beside what the text declares")
      ->check(CLI::Range(0, 232448));
  app.add_option("--cluster", o.launch.cluster, "blocks of a cluster, along X")
      ->check(CLI::Range(1, 16));
  app.add_option("--registers", o.launch.registers,
                 "of a thread, for setmaxnreg; 0: as many as there are")
      ->check(CLI::Range(0, 255));
  app.add_option("--arg", o.arguments,
                 std::string("the next parameter: ") + Arguments::Allowed)
      ->take_all();
  app.add_option("--chip", o.machine.chip,
                 "whose sums of products: 90 of sm_90a")
      ->check(CLI::IsMember({80, 86, 89, 90, 100, 120}));
  std::map<std::string, Schedule> schedules = {
      {"latest", Schedule::LatestFirst},
      {"oldest", Schedule::OldestFirst},
      {"random", Schedule::Random}};
  app.add_option("--schedule", o.machine.schedule, "which thread goes on")
      ->transform(CLI::CheckedTransformer(schedules));
  app.add_option("--seed", o.machine.seed, "of a random schedule");
  app.add_option("--branches", o.launch.mostBranches,
                 "a thread that takes more is reported, and ends");
  app.add_flag("--triton", o.launch.ofTriton,
               "allows what Triton leaves to ptxas: barriers without fences of "
               "mbarriers and tensor memory, loads without a wait");
  app.add_flag("--forms", o.forms, "lists instructions that were not executed");
  return kv::parseOptions(app, argc, argv);
}

const Kernel *choose(const Module &module, const std::string &name) {
  if (name.empty() && module.kernels.size() == 1)
    return &module.kernels[0];
  if (const Kernel *found = module.find(name))
    return found;
  std::string names;
  for (const Kernel &each : module.kernels)
    names += (names.empty() ? "" : ", ") + each.name;
  fail((name.empty() ? "--kernel is not given" : "--kernel is " + name) +
       ", allowed: " + names);
  return nullptr;
}

void listForms(const Program &program) {
  std::set<std::string> contained, executed;
  program.countForms(contained, executed);
  std::cout << executed.size() << " of " << contained.size()
            << " forms of instructions executed\n";
  for (const std::string &form : contained)
    if (!executed.contains(form))
      std::cout << "  not executed: " << form << '\n';
}

int runKernel(PtxRun &o) {
  Module module = readModule(o.file);
  const Kernel *kernel = choose(module, o.kernel);
  if (!kernel)
    return 2;
  Program program(module, *kernel);
  program.traces = o.forms;
  std::copy(o.grid.begin(), o.grid.end(), o.launch.grid.begin());
  std::copy(o.block.begin(), o.block.end(), o.launch.block.begin());
  int64_t threads = 1, blocks = 1;
  for (int axis = 0; axis < 3; ++axis) {
    threads *= o.launch.block[axis];
    blocks *= o.launch.grid[axis];
  }
  int most = program.maxThreads ? program.maxThreads : 1024;
  if (threads > most)
    return fail("--block has " + std::to_string(threads) +
                " threads, allowed: 1 to " + std::to_string(most));
  if (blocks > 1 << 20)
    return fail("--grid has " + std::to_string(blocks) +
                " blocks, allowed: 1 to 1048576");
  Arguments arguments;
  for (const std::string &text : o.arguments)
    if (std::string wrong = arguments.add(text, *kernel); !wrong.empty())
      return fail(wrong);
  if (o.arguments.size() != kernel->parameters.size())
    return fail(std::to_string(o.arguments.size()) + " arguments are given; " +
                kernel->name + " has " +
                std::to_string(kernel->parameters.size()) + " parameters");
  Machine machine(o.machine);
  arguments.allow(machine.global());
  run(machine, program, o.launch, arguments.data());
  for (const std::string &report : machine.reports())
    std::cout << report << '\n';
  if (o.forms)
    listForms(program);
  if (std::string file = arguments.save(); !file.empty())
    return fail("the file " + file + " cannot be written");
  return machine.reports().empty() ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  PtxRun run;
  if (std::optional<int> status = parseCommandLine(argc, argv, run))
    return *status;
  try {
    return runKernel(run);
  } catch (const Error &error) {
    return fail(error.what());
  }
}
