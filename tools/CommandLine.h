//===- CommandLine.h - Options of CLI11 -------------------------*- C++ -*-===//

#ifndef KV_TOOLS_COMMANDLINE_H
#define KV_TOOLS_COMMANDLINE_H

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdlib>
#include <optional>

namespace kv {

/// An option's text is not empty: that is what a shell makes of a variable that
/// is not set.
inline std::string refuseEmpty(const std::string &text) {
  return text.empty() ? "an empty text is given" : "";
}

/// A number is one: CLI::Range() lets "nan" pass.
inline std::string refuseNaN(const std::string &text) {
  return std::isnan(std::strtod(text.c_str(), nullptr)) ? text + " is no number"
                                                        : "";
}

/// The exit status if the program is to end: after its help, or after one line
/// that says what is wrong.
inline std::optional<int> parseOptions(CLI::App &app, int argc, char **argv) {
  app.failure_message([](const CLI::App *failed, const CLI::Error &error) {
    return failed->get_name() + ": error: " + error.what() + "\n";
  });
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return std::nullopt;
}

} // namespace kv

#endif // KV_TOOLS_COMMANDLINE_H
