//===- Target.cpp - What an artifact is compiled for ----------------------===//

#include "Target.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

using namespace kv;

/// The parts of a list without empty ones, each once; nothing if one is empty.
static std::vector<std::string> splitChips(std::string_view text) {
  std::vector<std::string> chips;
  while (true) {
    size_t comma = text.find(',');
    std::string chip(text.substr(0, comma));
    if (chip.empty())
      return {};
    if (!llvm::is_contained(chips, chip))
      chips.push_back(chip);
    if (comma == text.npos)
      return chips;
    text.remove_prefix(comma + 1);
  }
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
