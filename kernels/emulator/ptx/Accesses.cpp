//===- Accesses.cpp - Loads, stores, atomics and copies -------------------===//

#include "Program.h"

using namespace kv::ptx;
using namespace kv::cuda;

namespace {

/// Whose generic addresses begin here.
constexpr uint64_t SharedWindow = uint64_t(1) << 60;

/// Shared is the block's own; Plain and Scratch are global memory, which other
/// blocks do not write, or may.
enum class Space { Plain, Scratch, Shared, Cluster, Parameter, Generic };

uint64_t addressOf(const Operation *op, const ThreadState &t, uint32_t at,
                   int behind = 0) {
  return t.get<uint64_t>(at) + int64_t(op->offset) + behind;
}
uint32_t sharedAddressOf(const Operation *op, const ThreadState &t, uint32_t at,
                         int behind = 0) {
  return t.get<uint32_t>(at) + uint32_t(op->offset + behind);
}

void readParameter(const Operation *op, ThreadState &t, uint64_t address,
                   int bytes, void *target) {
  if (!t.isParameter(address, bytes)) {
    std::memset(target, 0, bytes);
    return t.report(op, "leaves the kernel's parameters");
  }
  std::memcpy(target, reinterpret_cast<const void *>(address), bytes);
}

template <Space S>
void read(const Operation *op, ThreadState &t, uint32_t at, int behind,
          int bytes, void *target) {
  if constexpr (S == Space::Shared) {
    t.at(op).sharedRead(t.self, t.sharedAt(sharedAddressOf(op, t, at, behind)),
                        bytes, target);
  } else {
    uint64_t address = addressOf(op, t, at, behind);
    const void *p = reinterpret_cast<const void *>(address);
    if constexpr (S == Space::Parameter)
      readParameter(op, t, address, bytes, target);
    else if (S == Space::Generic && address >= SharedWindow)
      t.at(op).sharedRead(t.self, t.sharedAt(uint32_t(address)), bytes, target);
    else if (S == Space::Scratch)
      t.at(op).loadScratch(t.self, p, bytes, target);
    else if (t.at(op).plainLoad(t.self, p, bytes))
      std::memcpy(target, p, bytes);
    else
      std::memset(target, 0, bytes);
  }
}

template <class T, Space S>
const Operation *load(const Operation *op, ThreadState &t) {
  constexpr int Size = sizeof(T);
  char bytes[4 * Size];
  int count = op->count;
  uint32_t at = op->at[count];
  if (!op->unused) [[likely]] {
    read<S>(op, t, at, 0, count * Size, bytes);
  } else { // which others may write meanwhile
    std::memset(bytes, 0xff, sizeof(bytes));
    for (int i = 0; i < count; ++i)
      if (!(op->unused >> i & 1))
        read<S>(op, t, at, i * Size, Size, bytes + i * Size);
  }
  using Long = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
  for (int i = 0; i < count; ++i) {
    T x;
    std::memcpy(&x, bytes + i * sizeof(T), sizeof(T));
    if (op->resultBytes == 8)
      t.put(op->at[i], Long(x));
    else
      t.put(op->at[i], x);
  }
  return op + 1;
}

template <class T, Space S>
const Operation *store(const Operation *op, ThreadState &t) {
  char bytes[4 * sizeof(T)];
  int count = op->count, size = count * int(sizeof(T));
  for (int i = 0; i < count; ++i) {
    T x = t.get<T>(op->at[1 + i]);
    std::memcpy(bytes + i * sizeof(T), &x, sizeof(T));
  }
  Machine &machine = t.at(op);
  uint32_t at = op->at[0];
  if constexpr (S == Space::Shared) {
    machine.sharedWrite(t.self, t.sharedAt(sharedAddressOf(op, t, at)), size,
                        bytes);
  } else if constexpr (S == Space::Cluster) {
    int offset = t.clusterAt(op, sharedAddressOf(op, t, at));
    if (offset >= 0)
      t.async(op).cluster.store(t.self, offset, size, bytes);
  } else {
    uint64_t address = addressOf(op, t, at);
    void *p = reinterpret_cast<void *>(address);
    if (S == Space::Generic && address >= SharedWindow) {
      machine.sharedWrite(t.self, t.sharedAt(uint32_t(address)), size, bytes);
    } else if (S == Space::Scratch) {
      machine.storeScratch(t.self, p, size, bytes);
    } else {
      if (machine.hasRoles())
        machine.checkFinished(t.self, bytes, size);
      if (machine.plainStore(t.self, p, size))
        std::memcpy(p, bytes, size);
    }
  }
  return op + 1;
}

enum class Update { Add, Max, Min, And, Or, Xor, Exchange };

/// Of global memory, relaxed: it orders nothing.
template <class T, Update U, bool Returns>
const Operation *update(const Operation *op, ThreadState &t) {
  auto *p = reinterpret_cast<T *>(t.get<uint64_t>(op->at[Returns]));
  T x = t.get<T>(op->at[Returns + 1]), before{};
  if (t.at(op).globalAllowed(t.self, p, sizeof(T), Access::Write)) {
    before = *p;
    if constexpr (U == Update::Add)
      *p = before + x;
    else if constexpr (U == Update::Max)
      *p = before < x ? x : before;
    else if constexpr (U == Update::Min)
      *p = x < before ? x : before;
    else if constexpr (U == Update::And)
      *p = before & x;
    else if constexpr (U == Update::Or)
      *p = before | x;
    else if constexpr (U == Update::Xor)
      *p = before ^ x;
    else
      *p = x;
  }
  if (Returns)
    t.put(op->at[0], before);
  return op + 1;
}

template <Order O, bool Returns>
const Operation *arrive(const Operation *op, ThreadState &t) {
  auto *p = reinterpret_cast<uint32_t *>(t.get<uint64_t>(op->at[Returns]));
  uint32_t before =
      t.at(op).arrive(t.self, p, t.get<uint32_t>(op->at[Returns + 1]), O);
  if (Returns)
    t.put(op->at[0], before);
  return op + 1;
}

const Operation *copyAsync(const Operation *op, ThreadState &t) {
  uint32_t size = t.operand<uint32_t>(op, 2), read = size;
  if (op->arity > 3)
    read = !op->endsWithPredicate   ? t.operand<uint32_t>(op, 3)
           : t.operand<bool>(op, 3) ? 0
                                    : size;
  int64_t address = read ? t.operand<int64_t>(op, 1) : NoAddress;
  if (size != ChunkBytes || (read != 0 && read != size))
    t.report(op, "copies " + std::to_string(read) + " of " +
                     std::to_string(size) +
                     " bytes; 16 or none of 16 are modelled");
  else if (read && address < 0) // which to a machine means none
    t.report(op, "leaves global memory by a copy");
  else
    t.at(op).copyAsync(t.self, t.sharedAt(t.operand<uint32_t>(op, 0)), address);
  return op + 1;
}
const Operation *commitCopies(const Operation *op, ThreadState &t) {
  t.at(op).commit(t.self);
  return op + 1;
}
const Operation *awaitCopies(const Operation *op, ThreadState &t) {
  t.at(op).wait(t.self, op->arity ? t.operand<int>(op, 0) : 0);
  return op + 1;
}

uint32_t mapped(uint32_t address, uint32_t rank) {
  return (address & 0xffffff) | (rank + 1) << 24;
}
uint64_t genericOf(uint64_t shared) { return shared | SharedWindow; }
uint64_t sharedOf(uint64_t generic) { return generic & ~SharedWindow; }

template <Space S>
void addLoadsAndStores(Forms &forms, const std::string &load,
                       const std::string &store) {
  auto all = [&]<class T>(const std::string &type) {
    for (const char *vector : {"", ".v2", ".v4"}) {
      if (!load.empty())
        forms[load + vector + type] = {::load<T, S>, "", false, true};
      if constexpr (S != Space::Parameter)
        if (!store.empty())
          forms[store + vector + type] = {::store<T, S>, "", false, true};
    }
  };
  all.template operator()<int8_t>(".s8");
  all.template operator()<int16_t>(".s16");
  all.template operator()<int32_t>(".s32");
  all.template operator()<int64_t>(".s64");
  for (const char *kind : {".u", ".b", ".f"}) {
    all.template operator()<uint8_t>(std::string(kind) + "8");
    all.template operator()<uint16_t>(std::string(kind) + "16");
    all.template operator()<uint32_t>(std::string(kind) + "32");
    all.template operator()<uint64_t>(std::string(kind) + "64");
  }
}

template <class T> void addUpdates(Forms &forms, const std::string &type) {
  auto both = [&]<Update U>(const std::string &name) {
    for (const char *space : {".global.", ".relaxed.gpu.global.", "."}) {
      forms["atom" + (space + name)] = {update<T, U, true>, ""};
      forms["red" + (space + name)] = {update<T, U, false>, ""};
    }
  };
  both.template operator()<Update::Add>("add" + type);
  if constexpr (std::is_integral_v<T>) {
    both.template operator()<Update::Max>("max" + type);
    both.template operator()<Update::Min>("min" + type);
    std::string bits = ".b" + std::to_string(sizeof(T) * 8);
    both.template operator()<Update::And>("and" + bits);
    both.template operator()<Update::Or>("or" + bits);
    both.template operator()<Update::Xor>("xor" + bits);
    both.template operator()<Update::Exchange>("exch" + bits);
  }
}

} // namespace

void kv::ptx::addAccessForms(Forms &forms) {
  for (const char *cache : {"", ".ca", ".cs", ".lu", ".nc", ".wb", ".wt"})
    addLoadsAndStores<Space::Plain>(forms, std::string("ld.global") + cache,
                                    std::string("st.global") + cache);
  addLoadsAndStores<Space::Scratch>(forms, "ld.global.cg", "st.global.cg");
  addLoadsAndStores<Space::Scratch>(forms, "ld.volatile.global",
                                    "st.volatile.global");
  addLoadsAndStores<Space::Shared>(forms, "ld.shared", "st.shared");
  addLoadsAndStores<Space::Shared>(forms, "ld.shared::cta", "st.shared::cta");
  addLoadsAndStores<Space::Cluster>(forms, "", "st.shared::cluster");
  addLoadsAndStores<Space::Parameter>(forms, "ld.param", "");
  addLoadsAndStores<Space::Generic>(forms, "ld", "st");
  addUpdates<int32_t>(forms, ".s32");
  addUpdates<uint32_t>(forms, ".u32");
  addUpdates<int64_t>(forms, ".s64");
  addUpdates<uint64_t>(forms, ".u64");
  addUpdates<float>(forms, ".f32");
#define KV_ARRIVE(name, order)                                                 \
  forms["atom." name ".gpu.global.add.u32"] = {arrive<order, true>, ""};       \
  forms["red." name ".gpu.global.add.u32"] = {arrive<order, false>, ""};
  KV_ARRIVE("acq_rel", Order::AcquireRelease)
  KV_ARRIVE("acquire", Order::Acquire)
  KV_ARRIVE("release", Order::Release)
#undef KV_ARRIVE
  for (const char *cache : {"cg", "ca"})
    for (const char *fetch : {"", ".L2::64B", ".L2::128B", ".L2::256B"})
      forms[std::string("cp.async.") + cache + ".shared.global" + fetch] = {
          copyAsync, ""};
  forms["cp.async.commit_group"] = {commitCopies, ""};
  forms["cp.async.wait_group"] = forms["cp.async.wait_all"] = {awaitCopies, ""};
  forms["mapa.shared::cluster.u32"] = pure<mapped>();
  forms["cvta.shared.u64"] = pure<genericOf>();
  forms["cvta.to.shared.u64"] = pure<sharedOf>();
}
