//===- Planted.h - The mistake that a run makes -----------------*- C++ -*-===//
//
// The copies of the kernels' sources that plant.py makes ask here. Mistakes.inc
// has a KV_MISTAKE a mistake of mistakes.py.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_KERNELS_FAULTS_PLANTED_H
#define KV_TEST_KERNELS_FAULTS_PLANTED_H

namespace kv::cuda::test {

enum class Mistake {
  None,
#define KV_MISTAKE(name) name,
#define KV_CHANGE(name, file, count)
#include "Mistakes.inc"
#undef KV_MISTAKE
#undef KV_CHANGE
};

/// The one that is made now.
inline Mistake planted = Mistake::None;
inline bool isPlanted(Mistake mistake) { return planted == mistake; }

/// What `run` returns where the mistake is made.
template <class Run> auto withMistake(Mistake mistake, Run run) {
  struct End {
    ~End() { planted = Mistake::None; }
  } end;
  planted = mistake;
  return run();
}

} // namespace kv::cuda::test

#endif // KV_TEST_KERNELS_FAULTS_PLANTED_H
