// inspect ARTIFACT: what its manifest says.

#include "kv/Runtime/Session/Manifest.h"

#include <cstdio>

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  kv::Expected<kv::Manifest> manifest = kv::Manifest::readFile(argv[1]);
  if (!manifest) {
    std::fprintf(stderr, "%s\n", manifest.error().message.c_str());
    return 1;
  }
  for (const kv::Collection &collection : manifest->collections)
    std::printf("collection %s: %lld layers\n", collection.name.c_str(),
                static_cast<long long>(collection.geometry.layers));
  for (const kv::Entry &entry : manifest->entries)
    std::printf("entry %s: %zu inputs\n", entry.name.c_str(),
                entry.inputs.size());
}
