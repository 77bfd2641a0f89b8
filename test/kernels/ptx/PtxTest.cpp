//===- PtxTest.cpp - Texts of PTX, executed -------------------------------===//

#include "kernels/emulator/base/Hurry.h"
#include "kernels/emulator/ptx/Program.h"

#include <gtest/gtest.h>

using namespace kv::ptx;
using kv::cuda::Access;
using kv::cuda::Hurry;
using kv::cuda::Machine;
using kv::cuda::MachineOptions;
using kv::cuda::Schedule;

namespace {

std::string moduleOf(const std::string &body,
                     const std::string &parameters = ".param .u64 p") {
  return ".version 9.0\n.target sm_90a\n.address_size 64\n"
         ".extern .shared .align 16 .b8 room[];\n.visible .entry k(" +
         parameters + ")\n{\n" + body + "}\n";
}

/// Runs threads of one block, or of a cluster's, that all have the address of
/// `memory`.
std::vector<std::string> execute(const std::string &body,
                                 std::vector<uint32_t> &memory, int threads = 1,
                                 const MachineOptions &options = {},
                                 int cluster = 1) {
  Module module = parseModule(moduleOf(body), "a.ptx");
  Program program(module, module.kernels[0]);
  Machine machine(options);
  machine.global().allow(memory.data(), memory.size() * 4, Access::Write);
  Launch launch;
  launch.block[0] = threads;
  launch.grid[0] = launch.cluster = cluster;
  launch.sharedBytes = 1024;
  launch.mostBranches = 1000;
  const void *parameter = memory.data();
  run(machine, program, launch, &parameter);
  return machine.reports();
}

std::string errorOf(const std::string &text) {
  try {
    Module module = parseModule(text, "a.ptx");
    for (const Kernel &kernel : module.kernels)
      Program(module, kernel);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

/// An instruction that reads %r1 to %r3, or %d1 and %d2, or halves or
/// predicates of them, and the 64 bits of %r8 and %r9, or of %d8.
struct Row {
  const char *text;
  std::array<uint32_t, 4> in;
  uint64_t expected;
};

uint64_t resultOf(const Row &row) {
  std::vector<uint32_t> memory(row.in.begin(), row.in.end());
  memory.resize(6);
  bool wide = std::string(row.text).find("%d8") != std::string::npos;
  auto reports = execute(
      ".reg .pred %p<4>; .reg .b16 %h<9>; .reg .b32 %r<10>; .reg .b64 %d<10>;\n"
      "ld.param.u64 %d0, [p];\n"
      "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d0];\n"
      "mov.b64 %d1, {%r1, %r2}; mov.b64 %d2, {%r3, %r4};\n"
      "mov.b32 {%h1, %h2}, %r1; mov.u32 %r8, 0; mov.u32 %r9, 0;\n" +
          std::string(row.text) + "\n" +
          (wide ? "" : "mov.b64 %d8, {%r8, %r9};\n") +
          "st.global.v2.b32 [%d0+16], {%r8, %r9};\n"
          "st.global.u64 [%d0+16], %d8;\nret;\n",
      memory);
  EXPECT_TRUE(reports.empty()) << reports[0];
  return memory[4] | uint64_t(memory[5]) << 32;
}

void expectAll(std::initializer_list<Row> rows) {
  for (const Row &row : rows)
    EXPECT_EQ(resultOf(row), row.expected)
        << row.text << std::hex << " gave " << resultOf(row);
}

constexpr uint32_t One = 0x3f800000, NaN = 0x7fc00000, Infinity = 0x7f800000,
                   Minus = 0x80000000;
constexpr uint64_t AllBits = ~uint64_t(0);

} // namespace

TEST(Ptx, Integers) {
  expectAll({
      {"add.s32 %r8, %r1, %r2;", {0x7fffffff, 1}, 0x80000000},
      {"add.s64 %d8, %d1, -1;", {0, 1}, 0xffffffff},
      {"sub.s16 %h3, %h1, %h2; cvt.s32.s16 %r8, %h3;",
       {0x00020001},
       0xffffffff},
      {"mul.lo.s32 %r8, %r1, %r2;", {0x10001, 0x10001}, 0x20001},
      {"mul.hi.s32 %r8, %r1, %r2;", {0x80000000, 2}, 0xffffffff},
      {"mul.hi.u32 %r8, %r1, %r2;", {0x80000000, 2}, 1},
      {"mul.hi.u64 %d8, %d1, %d2;", {0, 1u << 31, 0, 2}, uint64_t(1) << 32},
      {"mul.wide.s32 %d8, %r1, %r2;", {~0u, 2}, uint64_t(-2)},
      {"mul.wide.u32 %d8, %r1, %r2;", {~0u, 2}, 0x1fffffffe},
      {"mul.wide.s16 %r8, %h1, %h2;", {0x0003ffff}, 0xfffffffd},
      {"mul.wide.u16 %r8, %h1, -21845;", {2}, 0x15556},
      {"mad.lo.s32 %r8, %r1, %r2, %r3;", {3, 5, 7}, 22},
      {"mad.lo.s64 %d8, %d1, %d2, 1;", {0, 1, 3, 0}, 0x300000001},
      {"div.s32 %r8, %r1, %r2;", {uint32_t(-7), 2}, uint32_t(-3)},
      {"div.s32 %r8, %r1, %r2;", {0x80000000, ~0u}, 0x80000000},
      {"div.u32 %r8, %r1, %r2;", {uint32_t(-7), 2}, 0x7ffffffc},
      {"rem.s32 %r8, %r1, %r2;", {uint32_t(-7), 2}, ~0u},
      {"rem.u32 %r8, %r1, %r2;", {7, 4}, 3},
      {"div.s64 %d8, %d1, %d2;", {~0u, ~0u, 1, 0}, AllBits},
      {"div.u64 %d8, %d1, %d2;", {~0u, ~0u, 2, 0}, AllBits >> 1},
      {"ld.u64 %d8, [%d0];", {5, 6}, 0x600000005},
      {"min.s32 %r8, %r1, %r2;", {~0u, 1}, ~0u},
      {"min.u32 %r8, %r1, %r2;", {~0u, 1}, 1},
      {"max.s64 %d8, %d1, %d2;", {~0u, ~0u, 0, 0}, 0},
      {"neg.s32 %r8, %r1;", {1}, ~0u},
      {"abs.s32 %r8, %r1;", {~0u}, 1},
      {"selp.b32 %r8, %r1, %r2, %p1;", {0, 0}, 0},
      {"setp.lt.s32 %p1, %r1, %r2; selp.u32 %r8, 5, 6, %p1;", {~0u, 1}, 5},
      {"setp.lt.u32 %p1, %r1, %r2; selp.u32 %r8, 5, 6, %p1;", {~0u, 1}, 6},
      {"setp.eq.s16 %p1, %h1, %h2; selp.u32 %r8, 5, 6, %p1;", {0xffff}, 6},
      {"setp.gt.s64 %p1, %d1, %d2; selp.b64 %d8, 1, 2, %p1;", {0, 1, 1, 0}, 1},
      {"setp.ne.b32 %p1, %r1, 0; not.pred %p2, %p1; xor.pred %p3, %p1, %p2;"
       "and.pred %p3, %p3, %p2; selp.u32 %r8, 1, 0, %p3;",
       {0},
       1},
      {"setp.eq.s32 %p1, %r1, 0; @%p1 mov.u32 %r8, 7; @!%p1 mov.u32 %r9, 7;",
       {0},
       7},
  });
}

TEST(Ptx, Bits) {
  expectAll({
      {"shl.b32 %r8, %r1, 31;", {3}, 0x80000000},
      {"shl.b32 %r8, %r1, %r2;", {3, 32}, 0},
      {"shl.b64 %d8, %d1, 33;", {1}, uint64_t(1) << 33},
      {"shl.b16 %h3, %h1, 8; cvt.u32.u16 %r8, %h3;", {0x1234}, 0x3400},
      {"shr.u32 %r8, %r1, %r2;", {~0u, 33}, 0},
      {"shr.s32 %r8, %r1, %r2;", {0x80000000, 40}, ~0u},
      {"shr.s64 %d8, %d1, 63;", {0, Minus}, AllBits},
      {"shr.u64 %d8, %d1, 64;", {~0u, ~0u}, 0},
      {"shr.s16 %h3, %h1, 3; cvt.s32.s16 %r8, %h3;", {0x8000}, 0xfffff000},
      {"not.b32 %r8, %r1;", {0}, ~0u},
      {"xor.b64 %d8, %d1, %d2;", {5, 5, 4, 4}, 0x100000001},
      {"popc.b64 %r8, %d1;", {7, 7}, 6},
      {"clz.b32 %r8, %r1;", {0}, 32},
      {"brev.b32 %r8, %r1;", {1}, 0x80000000},
      {"bfind.u32 %r8, %r1;", {0}, ~0u},
      {"bfind.s32 %r8, %r1;", {uint32_t(-9)}, 3},
      {"bfe.u32 %r8, %r1, 8, 8;", {0xff00}, 0xff},
      {"bfe.s32 %r8, %r1, 8, 8;", {0xff00}, ~0u},
      {"bfe.s32 %r8, %r1, 8, 0;", {0xff00}, 0},
      {"bfe.s32 %r8, %r1, 24, 16;", {0x80000000}, 0xffffff80},
      {"bfi.b32 %r8, %r1, %r2, 4, 4;", {0x3f, 0xffff0000}, 0xffff00f0},
      {"bfi.b64 %d8, %d1, %d2, 32, 32;", {5, 0, 6, 7}, 0x500000006},
      {"prmt.b32 %r8, %r1, %r2, 0x6420;", {0x33221100, 0x77665544}, 0x66442200},
      {"prmt.b32 %r8, %r1, %r2, 0x98ba;", {0x7f80ff00, 0}, 0xff0000ff},
      {"lop3.b32 %r8, %r1, %r2, %r3, 0xe8;", {0xcc, 0xaa, 0xf0}, 0xe8},
      {"lop3.b32 %r8, %r1, %r2, %r3, 0x96;", {0xcc, 0xaa, 0xf0}, 0x96},
      {"shf.l.wrap.b32 %r8, %r1, %r2, 36;", {0x80000000, 1}, 0x18},
      {"shf.r.clamp.b32 %r8, %r1, %r2, 36;", {5, 9}, 9},
  });
}

TEST(Ptx, Floats) {
  const char *sum = "add.rn.f32 %r8, %r1, %r2;";
  expectAll({
      {sum, {One, 0x33c00000}, One + 1}, // 1.5 * 2^-24
      {"add.rz.f32 %r8, %r1, %r2;", {One, 0x33c00000}, One},
      {"fma.rm.f32 %r8, %r1, %r2, %r3;", {One, 0xb3000000, One}, One - 1},
      {"fma.rn.f32 %r8, %r1, %r2, %r3;", {One, 0xb3000000, One}, One},
      {sum, {1, 1}, 2}, // subnormal numbers are numbers
      {"mul.rn.f32 %r8, %r1, %r2;", {0x00800000, 0x3f000000}, 0x00400000},
      {"div.rn.f32 %r8, %r1, %r2;", {One, 0x40400000}, 0x3eaaaaab},
      {"sqrt.rn.f32 %r8, %r1;", {0x40000000}, 0x3fb504f3},
      {"rcp.rn.f32 %r8, %r1;", {0x40400000}, 0x3eaaaaab},
      {"rcp.approx.ftz.f32 %r8, %r1;", {1}, Infinity},
      {"ex2.approx.ftz.f32 %r8, %r1;", {0xc2fe0000}, 0}, // 2^-127
      {"ex2.approx.ftz.f32 %r8, %r1;", {Infinity | Minus}, 0},
      {"lg2.approx.ftz.f32 %r8, %r1;", {0x41000000}, 0x40400000},
      {"max.f32 %r8, %r1, %r2;", {NaN, One}, One},
      {"max.f32 %r8, %r1, %r2;", {Minus, 0}, 0},
      {"min.f32 %r8, %r1, %r2;", {0, Minus}, Minus},
      {"max.f32 %r8, %r1, %r2;", {NaN, NaN}, 0x7fffffff},
      {"max.f32 %r8, %r1, %r2, %r3;", {0, NaN, One}, One},
      {"min.f32 %r8, %r1, %r2, %r3;", {0, NaN, Minus}, Minus},
      {"max.NaN.f32 %r8, %r1, %r2;", {One, NaN}, 0x7fffffff},
      {"abs.f32 %r8, %r1;", {One | Minus}, One},
      {"neg.f32 %r8, %r1;", {0}, Minus},
      {"copysign.f32 %r8, %r1, %r2;", {Minus, One}, One | Minus},
      {"setp.lt.f32 %p1, %r1, %r2; selp.u32 %r8, 1, 0, %p1;", {NaN, One}, 0},
      {"setp.ltu.f32 %p1, %r1, %r2; selp.u32 %r8, 1, 0, %p1;", {NaN, One}, 1},
      {"setp.ne.f32 %p1, %r1, %r2; selp.u32 %r8, 1, 0, %p1;", {NaN, One}, 0},
      {"setp.neu.f32 %p1, %r1, %r2; selp.u32 %r8, 1, 0, %p1;", {NaN, One}, 1},
      {"setp.eq.f32 %p1, %r1, %r2; selp.u32 %r8, 1, 0, %p1;", {0, Minus}, 1},
      {"setp.nan.f32 %p1, %r1, %r2; selp.u32 %r8, 1, 0, %p1;", {NaN, 0}, 1},
      {"setp.num.f32 %p1, %r1, %r2; selp.u32 %r8, 1, 0, %p1;", {NaN, 0}, 0},
      {"mul.rn.f16x2 %r8, %r1, %r2;", {0x3c004000, 0x40003c00}, 0x40004000},
      {"mul.f32x2 %d8, %d1, %d2;", {One, One, 0, One}, uint64_t(One) << 32},
      {"fma.rn.f32x2 %d8, %d1, %d2, %d1;", {One, 0, One, One}, 0x40000000},
  });
}

TEST(Ptx, Conversions) {
  expectAll({
      {"cvt.rzi.s32.f32 %r8, %r1;", {0x501502f9}, 0x7fffffff}, // 10^10
      {"cvt.rzi.s32.f32 %r8, %r1;", {NaN}, 0},
      {"cvt.rzi.s32.f32 %r8, %r1;", {0xbfe00000}, ~0u}, // -1.75
      {"cvt.rni.s32.f32 %r8, %r1;", {0x40200000}, 2},   // 2.5
      {"cvt.rzi.u64.f32 %d8, %r1;", {One | Minus}, 0},
      {"cvt.rzi.u64.f32 %d8, %r1;", {Infinity}, AllBits},
      {"cvt.rn.f32.u32 %r8, %r1;", {~0u}, 0x4f800000},
      {"cvt.rn.f32.s32 %r8, %r1;", {~0u}, One | Minus},
      {"cvt.rn.f32.s16 %r8, %h1;", {0xffff}, One | Minus},
      {"cvt.sat.f32.f32 %r8, %r1;", {NaN}, 0},
      {"cvt.sat.f32.f32 %r8, %r1;", {0x40000000}, One},
      {"cvt.rn.f16.f32 %h3, %r1; cvt.u32.u16 %r8, %h3;", {0x477ff000}, 0x7c00},
      {"cvt.rn.f16.f32 %h3, %r1; cvt.u32.u16 %r8, %h3;", {0x33800000}, 1},
      {"cvt.f32.f16 %r8, %h1;", {1}, 0x33800000},
      {"cvt.rn.bf16x2.f32 %r8, %r1, %r2;", {One, 0x40000000}, 0x3f804000},
      {"cvt.rn.bf16.f32 %h3, %r1; cvt.u32.u16 %r8, %h3;", {0x3f808000}, 0x3f80},
      {"cvt.rn.satfinite.e4m3x2.f32 %h3, %r1, %r2; cvt.u32.u16 %r8, %h3;",
       {One, 0x7f000000},
       0x387e},
      {"cvt.rn.f16x2.e4m3x2 %r8, %h1;", {0x3801}, 0x3c001800},
      {"cvt.s8.s32 %h3, %r1; cvt.s64.s8 %d8, %h3;", {0x180}, uint64_t(-128)},
      {"cvt.s64.s32 %d8, %r1;", {~0u}, AllBits},
      {"cvt.u64.u32 %d8, %r1;", {~0u}, 0xffffffff},
      {"cvt.u16.u32 %h3, %r1; cvt.u32.u16 %r8, %h3;", {0x12345}, 0x2345},
      {"ld.global.s8 %h3, [%d0]; cvt.s32.s16 %r8, %h3;", {0x80}, 0xffffff80},
      {"ld.global.s32 %d8, [%d0+4];", {0, ~0u}, AllBits},
      {"mov.b64 {%r9, %r8}, %d1;", {5, 6}, 0x500000006},
  });
}

TEST(Ptx, Lanes) {
  const std::string begin =
      ".reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %d<4>;\n"
      "ld.param.u64 %d0, [p]; mov.u32 %r1, %tid.x;\n"
      "mul.wide.u32 %d1, %r1, 4; add.s64 %d2, %d0, %d1;\n";
  auto lanes = [&](const std::string &text) {
    std::vector<uint32_t> memory(32);
    auto reports =
        execute(begin + text + "\nst.global.u32 [%d2], %r2;\n", memory, 32);
    EXPECT_TRUE(reports.empty()) << reports[0];
    return memory;
  };
  auto up = lanes("shfl.sync.up.b32 %r2|%p1, %r1, 3, 0, -1;");
  EXPECT_EQ(up[2], 2u);
  EXPECT_EQ(up[3], 0u);
  auto down = lanes("shfl.sync.down.b32 %r2|%p1, %r1, 3, 31, -1;"
                    "selp.u32 %r2, %r2, 99, %p1;");
  EXPECT_EQ(down[28], 31u);
  EXPECT_EQ(down[29], 99u);
  auto halves = lanes("shfl.sync.idx.b32 %r2, %r1, 5, 0x101f, -1;");
  EXPECT_EQ(halves[0], 5u);
  EXPECT_EQ(halves[31], 21u);
  EXPECT_EQ(lanes("shfl.sync.bfly.b32 %r2|%p1, %r1, 16, 31, -1;")[1], 17u);
  EXPECT_EQ(lanes("setp.eq.s32 %p1, %r1, 7;"
                  "vote.sync.ballot.b32 %r2, %p1, -1;")[3],
            128u);
  EXPECT_EQ(lanes("setp.eq.s32 %p1, %r1, 7; vote.sync.any.pred %p2, %p1, -1;"
                  "selp.u32 %r2, 1, 0, %p2;")[0],
            1u);
  EXPECT_EQ(lanes("redux.sync.add.u32 %r2, %r1, -1;")[9], 496u);
}

TEST(Ptx, ReportsNameFileAndLine) {
  std::vector<uint32_t> memory(4);
  const std::string begin = ".reg .b32 %r<4>;\nmov.u32 %r1, %tid.x;\n";
  auto reports =
      execute(begin + "st.shared.u32 [room], %r1;\nret;\n", memory, 2);
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports[0], "block 0: race: thread 0 writes unordered with the "
                        "write of thread 1 at byte 0 of shared memory, at "
                        "a.ptx:9");
  EXPECT_TRUE(execute(begin + "shl.b32 %r2, %r1, 2;\nmov.u32 %r3, room;\n"
                              "add.s32 %r3, %r3, %r2;\nst.shared.u32 [%r3], "
                              "%r1;\nbar.sync 0;\nld.shared.u32 %r2, [room];\n",
                      memory, 2)
                  .empty());
  reports = execute("trap;", memory);
  ASSERT_FALSE(reports.empty());
  EXPECT_EQ(reports[0], "block 0: thread 0 comes to a trap, at a.ptx:7");
  reports = execute(begin + "again:\nbra again;\n", memory);
  ASSERT_FALSE(reports.empty());
  EXPECT_NE(reports[0].find("1000 branches"), std::string::npos);
  reports = execute(".reg .b64 %d<2>; .reg .b32 %r1; ld.param.u64 %d1, [p];\n"
                    "ld.global.u32 %r1, [%d1+16];",
                    memory);
  ASSERT_FALSE(reports.empty());
  EXPECT_NE(reports[0].find("nothing was allocated, at a.ptx:8"),
            std::string::npos);
}

// nvcc makes one load of three words. (Its pragma used_bytes_mask is no help:
// masks leave out registers that later instructions read.)
TEST(Ptx, WordsThatNothingReads) {
  std::vector<uint32_t> memory(4);
  const std::string text =
      ".reg .b32 %r<9>; .reg .b64 %d<2>; ld.param.u64 %d1, [p];\n"
      "mov.u32 %r5, 7; st.shared.v2.u32 [room], {%r5, %r5};\n"
      "st.shared.u32 [room+8], %r5;\n"
      "ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [room];\n"
      "st.global.v4.u32 [%d1], {%r1, %r2, %r3, WORD};\n";
  auto storing = [&](const std::string &word) {
    std::string own = text;
    return execute(own.replace(own.find("WORD"), 4, word), memory);
  };
  auto reports = storing("%r3");
  EXPECT_TRUE(reports.empty()) << reports[0];
  EXPECT_EQ(memory, (std::vector<uint32_t>{7, 7, 7, 7}));
  reports = storing("%r4");
  ASSERT_FALSE(reports.empty());
  EXPECT_NE(reports[0].find("reads what nobody wrote at byte 12"),
            std::string::npos)
      << reports[0];
}

// The second commit may complete a phase that a late thread takes for the one
// before the first. That is seen where commits do not wait for all threads.
TEST(Ptx, CommitsThatComeEarly) {
  const std::string commit = "tcgen05.commit.cta_group::1.mbarrier::arrive::one"
                             ".shared::cluster.b64 [%r2];\n",
                    first =
                        "mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;\n",
                    second =
                        "mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 1;\n";
  /// Thread 0 commits twice; `meeting` is what all do when they have awaited
  /// the first commit.
  auto text = [&](const std::string &before, const std::string &meeting) {
    return ".reg .pred %p<4>; .reg .b32 %r<4>;\n"
           "mov.u32 %r1, %tid.x; setp.eq.s32 %p1, %r1, 0; mov.u32 %r2, room;\n"
           "@%p1 mbarrier.init.shared.b64 [%r2], 1;\n"
           "@%p1 fence.mbarrier_init.release.cluster;\n"
           "bar.sync 0;\n@!%p1 bra others;\n" +
           commit + before + commit + (before.empty() ? first : "") + second +
           "ret;\nothers:\n" + first + meeting + second;
  };
  const std::string early = text("", ""),
                    right = text(first + "bar.sync 0;\n", "bar.sync 0;\n");
  std::vector<uint32_t> memory(4);
  int seen = 0;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    MachineOptions options{.schedule = Schedule::Random, .seed = seed};
    EXPECT_TRUE(execute(early, memory, 64, options).empty());
    Hurry hurry(seed);
    EXPECT_TRUE(execute(right, memory, 64, options).empty());
    auto reports = execute(early, memory, 64, options);
    seen += !reports.empty() &&
            reports[0].find("which may be phase") != std::string::npos;
  }
  EXPECT_GT(seen, 10);
}

TEST(Ptx, BoxesAreStored) {
  // A tensor map, and the row of 64 elements that it names.
  std::vector<uint32_t> memory(64);
  kv::cuda::TensorMap map = kv::cuda::describedMap(
      {memory.data() + 32, {64, 1, 1, 1}, {128, 128, 128}, {64, 1, 1, 1}});
  std::memcpy(memory.data(), &map, sizeof(map));
  auto text = [](const std::string &fence, const std::string &before,
                 const std::string &wait) {
    return ".reg .pred %p; .reg .b32 %r<4>; .reg .b64 %d;\n"
           "ld.param.u64 %d, [p]; mov.u32 %r0, 0; mov.u32 %r1, %tid.x;\n"
           "mov.u32 %r2, room; shl.b32 %r3, %r1, 2; add.s32 %r3, %r2, %r3;\n"
           "st.shared.u32 [%r3], %r1;\n" +
           fence +
           "bar.sync 0; setp.ne.u32 %p, %r1, 0; @%p bra end;\n"
           "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group "
           "[%d, {%r0, %r0}], [%r2];\n"
           "cp.async.bulk.commit_group;\n" +
           before + wait + "end: ret;\n";
  };
  const std::string fence = "fence.proxy.async.shared::cta;\n",
                    wait = "cp.async.bulk.wait_group 0;\n",
                    write = "st.shared.u32 [%r2], 7;\n";
  auto reports = execute(text(fence, "", wait), memory, 32);
  EXPECT_TRUE(reports.empty()) << reports[0];
  for (uint32_t i = 0; i < 32; ++i)
    EXPECT_EQ(memory[32 + i], i);
  for (const auto &[wrong, wanted] :
       {std::pair(text("", "", wait), "reads without fenceAsync()"),
        std::pair(text(fence, write, wait), "changed before it was waited for"),
        std::pair(text(fence, "", ""), "a box that it stores under way")}) {
    reports = execute(wrong, memory, 32);
    ASSERT_FALSE(reports.empty()) << wanted;
    EXPECT_NE(reports[0].find(wanted), std::string::npos) << reports[0];
  }
}

TEST(Ptx, BarriersBecomeMemoryAgain) {
  std::vector<uint32_t> memory(4);
  const std::string text = ".reg .b32 %r; mov.u32 %r, room;\n"
                           "mbarrier.init.shared.b64 [%r], 1;\n"
                           "mbarrier.inval.shared.b64 [%r];\n";
  EXPECT_TRUE(execute(text + "st.shared.u32 [%r], 7;\n", memory).empty());
  auto reports =
      execute(text + "mbarrier.arrive.shared.b64 _, [%r];\n", memory);
  ASSERT_FALSE(reports.empty());
  EXPECT_NE(reports[0].find("where none was initialised"), std::string::npos);
}

// An address of another block, and of the own one, where a cluster's lie one
// after the other.
TEST(Ptx, AddressesOfAClusterStayInTheirBlock) {
  auto reportsOf = [](const std::string &access) {
    const std::string meet = "barrier.cluster.arrive;\n"
                             "barrier.cluster.wait;\n";
    std::vector<uint32_t> memory(4);
    return execute(".reg .pred %p; .reg .b32 %r<6>;\n"
                   "mov.u32 %r1, room; mapa.shared::cluster.u32 %r2, %r1, 1;\n"
                   "mov.u32 %r3, %tid.x; mov.u32 %r4, %cluster_ctarank;\n"
                   "or.b32 %r3, %r3, %r4; setp.ne.u32 %p, %r3, 0;\n" +
                       meet + "@%p bra end;\n" + access + "end:\n" + meet +
                       "ret;\n",
                   memory, 128, {}, 2);
  };
  const std::string store = "st.shared::cluster.u32 ";
  EXPECT_TRUE(reportsOf(store + "[%r2], 7;\n").empty());
  EXPECT_TRUE(reportsOf(store + "[%r2+1020], 7;\n").empty());
  const std::pair<std::string, const char *> wrongs[] = {
      {store + "[%r2+-4], 7;\n",
       "leaves the shared memory of block 1 of its cluster"},
      {store + "[%r1+-4], 7;\n", "memory of block 0 of its"},
      {store + "[%r1+1024], 7;\n", "memory of block 0 of its"},
      {"mbarrier.init.shared.b64 [%r2+-8], 1;\n", "of block 1"},
      {"st.shared.u32 [%r1+1024], 7;\n", "leaves shared memory: 4 bytes"}};
  for (const auto &[wrong, wanted] : wrongs) {
    auto reports = reportsOf(wrong);
    ASSERT_FALSE(reports.empty()) << wrong;
    EXPECT_NE(reports[0].find(wanted), std::string::npos) << reports[0];
  }
}

// What Triton gives the first product of a shape, with operands at address 0.
TEST(Ptx, DescriptorsAreThoseOfTriton) {
  using namespace kv::cuda;
  struct {
    int chip;
    std::string_view kind;
    int rows, columns, depth;
    uint64_t a, b;
    uint32_t instruction;
  } const shapes[] = {
#define KV_TRITON(chip, kind, ...) {chip, #kind, __VA_ARGS__},
#include "triton/constants.inc"
#undef KV_TRITON
  };
  for (const auto &each : shapes) {
    SCOPED_TRACE(std::to_string(each.chip) + " " + std::string(each.kind));
    bool byRows = each.kind == "bf16"; // B, whose slabs have 64 columns
    kv::cuda::Operand a{0, 0, AtomBytes}, b = a;
    if (byRows && each.columns > 64)
      b.leading = each.depth * SlabRowBytes;
    bool tensor = each.chip == 100;
    EXPECT_EQ(tensor ? encodeTensor(a).bits : encode(a).bits, each.a);
    EXPECT_EQ(tensor ? encodeTensor(b).bits : encode(b).bits, each.b);
    TensorProduct product{byRows ? TensorFormat<Bf16> : TensorFormat<F8E4M3>,
                          byRows ? Major::Other : Major::K, each.columns,
                          each.rows};
    EXPECT_EQ(tensor ? encode(product).bits : 0, each.instruction);
  }
}

TEST(Ptx, WhatIsNotModelledIsNamed) {
  auto expectError = [](const std::string &body, const std::string &wanted) {
    EXPECT_EQ(errorOf(moduleOf(body)), "a.ptx:" + wanted);
  };
  expectError("ret;\nbrev.b128 a, b;\n", "8: there is no label 'a'");
  expectError("dp4a.u32.u32 1, 2, 3, 4;\n",
              "7: the instruction 'dp4a.u32.u32' is not modelled");
  expectError("add.s32 %r1, 1, 2;", "7: register '%r1' is not declared");
  expectError(".reg .b32 %r<2>;\nadd.s32 %r2, 1, 2;",
              "8: register '%r2' is not one of %r<2>");
  expectError(".reg .b64 %d<2>;\nadd.s32 %d1, 1, 2;",
              "8: operand 1 of 'add.s32' is of 64 bits, not of 32 bits");
  expectError(".reg .pred %p<2>;\nadd.s32 %p1, 1, 2;",
              "8: operand 1 of 'add.s32' is a predicate, not of 32 bits");
  expectError("add.s32 1, 2;\n", "7: 'add.s32' has 2 operands, not 3");
  expectError(".local .align 4 .b8 depot[8];", "7: '.local' is not modelled");
  expectError("bra there;\n{\nthere:\nret;\n}\n",
              "7: there is no label 'there'");
  EXPECT_EQ(errorOf(moduleOf("{ ret; ")),
            "a.ptx:8: the text ends within kernel 'k'");
  EXPECT_EQ(errorOf(".func f() { ret; }"), "a.ptx:1: '.func' is not modelled");
}

TEST(Ptx, ParametersLieWhereTheirAlignmentSays) {
  Module module = parseModule(
      moduleOf("ret;", ".param .u8 a, .param .align 16 .b8 b[20], .param .u32 "
                       "c, .param .u64 .ptr .global .align 128 d"),
      "a.ptx");
  std::vector<uint32_t> offsets;
  for (const Variable &each : module.kernels[0].parameters)
    offsets.push_back(each.offset);
  EXPECT_EQ(offsets, (std::vector<uint32_t>{0, 16, 36, 40}));
  EXPECT_EQ(module.kernels[0].parameterBytes, 48u);
}

TEST(Ptx, LabelsAreOfTheirBraces) {
  std::vector<uint32_t> memory(6, 9);
  EXPECT_EQ(resultOf({"{ bra next; mov.u32 %r8, 1; next: } { bra next; "
                      "mov.u32 %r9, 1; next: bra last; } mov.u32 %r8, 2; last:",
                      {},
                      0}),
            0u);
}
