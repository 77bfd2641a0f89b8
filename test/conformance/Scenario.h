//===- Scenario.h - A manager driven by a data file -------------*- C++ -*-===//
//
// Knows nothing of the manager but its C interface. README.md says what files
// look like.
//
//===----------------------------------------------------------------------===//

#ifndef KV_TEST_CONFORMANCE_SCENARIO_H
#define KV_TEST_CONFORMANCE_SCENARIO_H

#include "kv/Runtime/C/CacheManager.h"

#include <nlohmann/json.hpp>

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace kv::conformance {

using json = nlohmann::json;

/// The file makes no sense.
[[noreturn]] void bad(const std::string &text);

inline int64_t number(const json &fields, const char *name,
                      int64_t fallback = 0) {
  return fields.contains(name) ? fields[name].get<int64_t>() : fallback;
}

/// A function of the C interface, whose name is kept. Within a Scenario.
#define CALL(function) (called.insert(#function), function)

/// Runs one file. What differs from the file is collected, not thrown; a file
/// that makes no sense throws.
class Scenario {
public:
  explicit Scenario(const json &file);
  ~Scenario();

  void run();
  const std::vector<std::string> &failures() const { return found; }
  /// Expectations that were looked at.
  int checks() const { return numChecks; }
  /// The functions of the C interface that were called.
  const std::set<std::string> &calls() const { return called; }

private:
  struct Request {
    std::unique_ptr<KvRequest, decltype(&kvRequestDestroy)> handle;
    std::vector<int32_t> tokens;
    std::span<std::byte> payload = {};
  };

  void create(const json &manager);
  void forget();
  void runStep(const json &step);
  int32_t perform(const std::string &what, const json &step);
  int32_t performOnRequest(const std::string &what, const json &step);
  int32_t splits(const json &step);
  int32_t serve(const json &step);
  int32_t alloc(const json &step);
  int32_t compute(const json &step);
  int32_t fork(const json &step);
  int32_t truncate(const json &step);
  int32_t randomPrompts(const json &step);
  int32_t drain();
  int32_t damage();
  int32_t symbolic(const json &step);
  int32_t formula(const json &step); // in Formulas.cpp
  int32_t symbolicOf(const KvCacheSpec &spec, const json &step);
  json namesOf(const KvSymbolicInputs *list);
  /// Where the fields do not say.
  struct Sizes {
    int64_t heads, dim, page;
  };
  // In Formulas.cpp.
  void readCollections(const json &given, const Sizes &sizes);
  KvCacheSpec readSpec(const json &fields, const Sizes &sizes);
  /// fn(place) writes the result of a formula, if it succeeds.
  template <class T = int64_t, class Fn> int32_t figure(Fn &&fn) {
    T value = 0;
    int32_t status = fn(&value);
    if (status == KV_STATUS_OK)
      result = value;
    return status;
  }
  void expect(const json &step);
  void expectMetrics(const json &wanted);
  void expectRequest(const json &step, uint64_t id);
  void expectInputs(const json &step);
  void expectRow(uint64_t id, const KvTensorView &table, int64_t row,
                 int64_t bands);
  void expectPages(const json &wanted, uint64_t id);

  Request &request(const json &id) { return requests.at(id.get<uint64_t>()); }
  Request make(uint64_t id, std::vector<int32_t> tokens, const json &fields);
  std::vector<const KvRequest *> batch(const json &step);
  int32_t image(KvRequest *request, const json &fields);
  void requestFields(KvRequest *request, const json &fields);
  /// Writes what the step computes and compares what it reads.
  void touchCells(const std::vector<const KvRequest *> &requests);

  template <class A, class B>
  void equal(const std::string &what, const A &actual, const B &wanted) {
    ++numChecks;
    if (json(actual) != json(wanted))
      fail(what + " is " + json(actual).dump() + ", expected " +
           json(wanted).dump());
  }
  void fail(const std::string &text);

  const json &file;
  std::string where; // the step that is being run
  std::vector<std::string> found;
  int numChecks = 0;
  std::set<std::string> called;

  KvManager *manager = nullptr;
  std::vector<KvCollectionSpec> collections;
  int64_t shards = 1;
  std::string disk; // the directory of a disk tier
  std::map<uint64_t, Request> requests;
  KvAllocation allocation = {};
  KvAllocationPlan plan = {};
  json result = 0; // of a formula
  // Page ids up to a bijection, on each replica.
  std::map<std::pair<int, std::string>, int32_t> pageOf;
  std::map<std::pair<int, int32_t>, std::string> nameOf;
};

} // namespace kv::conformance

#endif // KV_TEST_CONFORMANCE_SCENARIO_H
