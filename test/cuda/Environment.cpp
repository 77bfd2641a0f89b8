//===- Environment.cpp - Where the libraries of the tests are -------------===//

#include <cstdlib>

/// Before any test: the runtime looks when the first device is opened.
static const bool isSet = [] {
  setenv("KV_CUDA_LIBRARY", KV_CUDA_PATH, 1);
  setenv("KV_CUDA_DRIVER", KV_FAKE_CUDA_PATH, 1);
  return true;
}();
