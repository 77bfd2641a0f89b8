//===- ElfSection.cpp - Finds a section of an artifact --------------------===//

#include "ElfSection.h"
#include "kv/ABI/KernelImages.h"

#include <cstring>
#include <elf.h>
#include <optional>

using namespace kv;

namespace {

/// Copies the T at `offset`; nullopt if it does not lie within the bytes.
template <class T>
std::optional<T> load(std::span<const std::byte> bytes, uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T))
    return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

/// The bytes of the section that `header` describes; nullopt if they do not lie
/// within the file.
std::optional<std::string_view> contents(std::string_view file,
                                         const Elf64_Shdr &header) {
  if (header.sh_type == SHT_NOBITS || header.sh_offset > file.size() ||
      header.sh_size > file.size() - header.sh_offset)
    return std::nullopt;
  return file.substr(header.sh_offset, header.sh_size);
}

/// Sets `found` to the section's bytes. Returns what is wrong with the file, or
/// an empty text.
std::string find(const MappedFile &file, std::string_view wanted,
                 std::string_view &found) {
  std::span<const std::byte> bytes = file.bytes();
  auto header = load<Elf64_Ehdr>(bytes, 0);
  if (!file.text().starts_with(ELFMAG))
    return "not an ELF file";
  if (!header)
    return "cut off inside the ELF header";
  if (header->e_ident[EI_CLASS] != ELFCLASS64 ||
      header->e_ident[EI_DATA] != ELFDATA2LSB)
    return "not a 64-bit little-endian ELF file";
  if (header->e_type != ET_DYN)
    return "not a shared object";
  if (header->e_machine != EM_X86_64)
    return concat("made for ELF machine ", header->e_machine, ", expected ",
                  EM_X86_64, " (x86-64)");
  // dlopen maps segments without comparing them with the file's length; reading
  // a segment beyond the end of a shortened file would kill the process.
  for (unsigned i = 0; i < header->e_phnum; ++i) {
    auto segment =
        load<Elf64_Phdr>(bytes, header->e_phoff + i * sizeof(Elf64_Phdr));
    if (header->e_phentsize != sizeof(Elf64_Phdr) ||
        header->e_phoff > bytes.size() || !segment)
      return "cut off: its program headers lie outside of the file";
    if (segment->p_offset > bytes.size() ||
        segment->p_filesz > bytes.size() - segment->p_offset)
      return "cut off: a segment lies outside of the file";
  }
  auto section = [&](uint64_t index) -> std::optional<Elf64_Shdr> {
    if (header->e_shentsize != sizeof(Elf64_Shdr) ||
        header->e_shoff > bytes.size())
      return std::nullopt;
    return load<Elf64_Shdr>(bytes,
                            header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  // All of them, whichever is the wanted one: the file may end within a later.
  if (header->e_shnum > 0 && !section(header->e_shnum - 1u))
    return "cut off: its section headers lie outside of the file";
  auto names = section(header->e_shstrndx);
  auto nameTable = names ? contents(file.text(), *names) : std::nullopt;
  if (!nameTable)
    return "cut off, or without section headers";
  for (unsigned i = 0; i < header->e_shnum; ++i) {
    auto candidate = section(i);
    if (!candidate || candidate->sh_name >= nameTable->size())
      continue;
    std::string_view name = nameTable->substr(candidate->sh_name);
    if (name.substr(0, name.find('\0')) != wanted)
      continue;
    auto text = contents(file.text(), *candidate);
    if (!text)
      return concat("cut off: the section ", wanted,
                    " lies outside of the file");
    found = *text;
    return {};
  }
  return concat("no section ", wanted, ": not an artifact of kv-compile",
                wanted == KV_KERNEL_IMAGES_SECTION ? " for a GPU" : "");
}

} // namespace

Expected<std::string_view> kv::findSection(const MappedFile &file,
                                           std::string_view name,
                                           std::string_view source) {
  std::string_view found;
  std::string problem = find(file, name, found);
  if (!problem.empty())
    return makeError(KV_STATUS_INVALID_ARGUMENT, source, ": ", problem);
  return found;
}
