//===- Target.cpp - What an artifact is compiled for ----------------------===//

#include "Target.h"

#include "llvm/ADT/StringExtras.h"

using namespace kv;

/// The parts of a list; nothing if one is empty.
static std::vector<std::string> splitChips(llvm::StringRef text) {
  std::vector<std::string> chips;
  for (llvm::StringRef chip : llvm::split(text, ',')) {
    if (chip.empty())
      return {};
    chips.push_back(chip.str());
  }
  return chips;
}

llvm::Expected<Target> Target::parse(std::string_view text) {
  Target target;
  if (text == "cpu")
    return target;
  size_t colon = text.find(':');
  std::string_view kind = text.substr(0, colon);
  std::string_view what = colon == text.npos ? "" : text.substr(colon + 1);
  if (kind == "cuda" || (kind == "virtual" && what.starts_with("sm_")))
    target.chips = splitChips(what);
  else if (kind == "virtual")
    target.level = what;
  if (target.chips.empty() && target.level.empty())
    return llvm::createStringError(
        "\"" + llvm::StringRef(text) +
        "\": expected cpu, cuda:CHIP,..., virtual:CHIP or virtual:LEVEL");
  return target;
}
