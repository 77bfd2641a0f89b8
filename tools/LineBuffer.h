//===- LineBuffer.h - Lines of what is read in pieces -----------*- C++ -*-===//

#ifndef KV_TOOLS_LINEBUFFER_H
#define KV_TOOLS_LINEBUFFER_H

#include <string>
#include <string_view>

namespace kv {

/// Takes time in proportion to what is read, however long a line is: each byte
/// is looked at once. A line that is too long is passed over.
class LineBuffer {
public:
  /// Bytes of a line.
  static constexpr size_t Most = size_t(16) << 20;

  /// Calls `take(line, isTooLong)` for each line that ends in the piece. False:
  /// none does. A line that is too long is given without its text.
  template <typename Take>
  bool append(std::string_view piece, const Take &take) {
    bool hasEnd = false;
    for (size_t end; (end = piece.find('\n')) != std::string_view::npos;
         piece.remove_prefix(end + 1)) {
      keep(piece.substr(0, end));
      give(take);
      hasEnd = true;
    }
    keep(piece);
    return hasEnd;
  }

  /// The same for a last line that has no end.
  template <typename Take> void finish(const Take &take) {
    if (isTooLong || !rest.empty())
      give(take);
  }

private:
  void keep(std::string_view text) {
    isTooLong = isTooLong || text.size() > Most - rest.size();
    if (isTooLong)
      rest = {};
    else
      rest += text;
  }

  template <typename Take> void give(const Take &take) {
    take(std::string_view(rest), isTooLong);
    rest.clear();
    isTooLong = false;
  }

  std::string rest; // of a line
  bool isTooLong = false;
};

} // namespace kv

#endif // KV_TOOLS_LINEBUFFER_H
