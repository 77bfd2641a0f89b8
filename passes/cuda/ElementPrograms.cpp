//===- ElementPrograms.cpp - Elementwise arithmetic as programs -----------===//

#include "ElementPrograms.h"

#include "Scalars.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace kv;
using linalg::GenericOp;

/// Limits of the kernel: ElementwiseParams::steps, t and u, a and b.
static constexpr unsigned MaxSteps = 32, MaxKept = 2, MaxTensors = 2;

namespace {
/// The steps that compute an operation of one or of two operands, and those
/// that compute it where x is the second operand; null where it has none.
struct Spelling {
  const char *step = nullptr, *reversed = nullptr;
};

class Writer {
public:
  Writer(GenericOp op, Through through) : op(op), through(through), maps(op) {}

  std::optional<ElementProgram> write() {
    if (!write(yielded(op), /*kept=*/0) || steps.size() > MaxSteps)
      return std::nullopt;
    // The type that the result is rounded to anyway.
    Type element = getElementTypeOrSelf(op.getResult(0));
    if (steps.back().word == rounding(element))
      steps.pop_back();
    // The first has the result's shape, and is the first that is used.
    auto *used = llvm::find_if(
        steps, [](const ProgramStep &step) { return step.tensor >= 0; });
    bool swapped =
        tensors.size() == 2 &&
        (tensors[0].isRow || (used->tensor == 1 && !tensors[1].isRow));
    if (swapped)
      std::reverse(tensors.begin(), tensors.end());
    if (tensors.empty() || tensors[0].isRow)
      return std::nullopt;
    ElementProgram program;
    for (const Tensor &tensor : tensors)
      program.tensors.push_back(tensor.value);
    llvm::raw_string_ostream text(program.text);
    llvm::ListSeparator separator("; ");
    for (const ProgramStep &step : steps) {
      text << separator << step.word;
      if (step.tensor >= 0)
        text << ' ' << "ab"[swapped ? 1 - step.tensor : step.tensor];
      else if (!step.source.empty())
        text << ' ' << step.source;
    }
    return program;
  }

private:
  struct Tensor {
    Value value;
    bool isRow; // for all rows
  };
  struct ProgramStep {
    StringRef word;
    int tensor = -1;    // an index of `tensors`
    std::string source; // or another source
  };

  static StringRef rounding(Type type) {
    return type.isBF16() ? "bf16" : type.isF16() ? "f16" : "";
  }

  static Spelling spell(Operation *op) {
    return llvm::TypeSwitch<Operation *, Spelling>(op)
        .Case<arith::AddFOp>([](auto) { return Spelling{"add", "add"}; })
        .Case<arith::SubFOp>([](auto) { return Spelling{"sub", "rsub"}; })
        .Case<arith::MulFOp>([](auto) { return Spelling{"mul", "mul"}; })
        .Case<arith::DivFOp>([](auto) { return Spelling{"div", "rdiv"}; })
        .Case<arith::MinimumFOp>([](auto) { return Spelling{"min", "min"}; })
        .Case<arith::MaximumFOp>([](auto) { return Spelling{"max", "max"}; })
        .Case<arith::NegFOp>([](auto) { return Spelling{"mul -1"}; })
        .Case<math::AbsFOp>([](auto) { return Spelling{"abs"}; })
        .Case<math::ExpOp>([](auto) { return Spelling{"exp"}; })
        .Case<math::LogOp>([](auto) { return Spelling{"log"}; })
        .Case<math::Log1pOp>([](auto) { return Spelling{"log1p"}; })
        .Case<math::SqrtOp>([](auto) { return Spelling{"sqrt"}; })
        .Case<math::RsqrtOp>([](auto) { return Spelling{"rsqrt"}; })
        .Case<math::TanhOp>([](auto) { return Spelling{"tanh"}; })
        .Case<math::ErfOp>([](auto) { return Spelling{"erf"}; })
        .Case<arith::TruncFOp>([](arith::TruncFOp op) {
          return Spelling{rounding(op.getType()).data()};
        })
        .Default([](Operation *) { return Spelling(); });
  }

  /// The shortest digits that give the same f32.
  static std::string spell(double value) {
    std::string text;
    for (int digits = 1; digits <= 9; ++digits) {
      text.clear();
      llvm::raw_string_ostream(text) << llvm::format("%.*g", digits, value);
      if (std::strtof(text.c_str(), nullptr) == float(value))
        break;
    }
    return text;
  }

  /// An operand that a step takes as it is: an element of a tensor, or a
  /// number, with an empty word. nullopt if the operand must be computed.
  std::optional<ProgramStep> source(Scalar scalar) {
    if (std::optional<double> number = constantOf(scalar, through))
      return ProgramStep{"", -1, spell(*number)};
    std::optional<Element> element = elementOf(scalar, through);
    if (!element || !isa<FloatType>(getElementTypeOrSelf(element->tensor)) ||
        (element->map != maps.identity && element->map != maps.last))
      return std::nullopt;
    Tensor tensor{element->tensor, element->map != maps.identity};
    auto *found = llvm::find_if(tensors, [&](const Tensor &each) {
      return each.value == tensor.value && each.isRow == tensor.isRow;
    });
    int number = int(found - tensors.begin());
    if (found == tensors.end())
      tensors.push_back(tensor);
    return ProgramStep{"", number, ""};
  }

  void add(StringRef word) { add(word, ProgramStep{"", -1, ""}); }
  void add(StringRef word, ProgramStep step) {
    step.word = word;
    steps.push_back(step);
  }

  /// How many values must be kept while the scalar is computed; more than there
  /// is room for if that takes too long to find out.
  unsigned difficulty(Scalar scalar) {
    if (++visits > 1000)
      return MaxKept + 1;
    if (source(scalar))
      return 0;
    scalar = trace(scalar, through);
    Operation *made = scalar.value.getDefiningOp();
    if (!made || made->getNumOperands() == 0)
      return 0;
    unsigned first = difficulty({made->getOperand(0), scalar.at});
    if (made->getNumOperands() == 1)
      return first;
    unsigned second = difficulty({made->getOperand(1), scalar.at});
    bool kept = !source({made->getOperand(0), scalar.at}) &&
                !source({made->getOperand(1), scalar.at});
    return std::max(first, second) + (kept && first == second);
  }

  /// Writes the steps after which x is the scalar; `kept` of t and u are in
  /// use. False: there are none.
  bool write(Scalar scalar, unsigned kept) {
    if (std::optional<ProgramStep> leaf = source(scalar)) {
      add("get", *leaf);
      return tensors.size() <= MaxTensors;
    }
    scalar = trace(scalar, through);
    Operation *made = scalar.value.getDefiningOp();
    Spelling spelling = made ? spell(made) : Spelling();
    Type type = scalar.value.getType();
    if (!spelling.step || !*spelling.step || steps.size() > MaxSteps ||
        !(type.isF32() || type.isBF16() || type.isF16()))
      return false;
    auto operand = [&](unsigned i) {
      return Scalar{made->getOperand(i), scalar.at};
    };
    if (!spelling.reversed) {
      if (!write(operand(0), kept))
        return false;
      add(spelling.step);
    } else if (std::optional<ProgramStep> second = source(operand(1))) {
      if (!write(operand(0), kept))
        return false;
      add(spelling.step, *second);
    } else if (std::optional<ProgramStep> first = source(operand(0))) {
      if (!write(operand(1), kept))
        return false;
      add(spelling.reversed, *first);
    } else {
      // One operand is kept while the other is computed: the harder one comes
      // first.
      if (kept == MaxKept)
        return false;
      ProgramStep slot{"", -1, kept == 0 ? "t" : "u"};
      bool same = made->getOperand(0) == made->getOperand(1);
      bool secondFirst =
          !same && difficulty(operand(1)) > difficulty(operand(0));
      if (!write(operand(secondFirst), kept))
        return false;
      add("keep", slot);
      if (!same && !write(operand(!secondFirst), kept + 1))
        return false;
      add(secondFirst ? spelling.step : spelling.reversed, slot);
    }
    // Arithmetic of 16 bits rounds each result.
    if (!isa<arith::TruncFOp>(made) && !rounding(type).empty())
      add(rounding(type));
    return tensors.size() <= MaxTensors;
  }

  GenericOp op;
  Through through;
  Maps maps;
  SmallVector<Tensor> tensors;
  SmallVector<ProgramStep> steps;
  unsigned visits = 0;
};
} // namespace

std::optional<ElementProgram> kv::matchElementwise(GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumResults() != 1 ||
      op.getNumLoops() == 0 || !isElementwise(op, 0) ||
      !isa<FloatType>(getElementTypeOrSelf(op.getResult(0))))
    return std::nullopt;
  for (Through through : {Through::UsedOnce, Through::None})
    if (std::optional<ElementProgram> program = Writer(op, through).write())
      return program;
  return std::nullopt;
}
