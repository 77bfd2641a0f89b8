# Finds a CUDA 13.0 toolkit, in this order: PATH, CUDA_HOME, the usual prefix,
# the nvidia-cuda-* wheels of the project's virtual environment. Optional: no
# target needs it yet. Sets KV_CUDA_NVCC, or says in one line that it is absent.

find_program(KV_CUDA_NVCC nvcc
  HINTS $ENV{CUDA_HOME}/bin /usr/local/cuda/bin)
if(NOT KV_CUDA_NVCC)
  file(GLOB KV_CUDA_WHEEL_NVCC
    ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/nvidia/cu13/bin/nvcc)
  if(KV_CUDA_WHEEL_NVCC)
    list(GET KV_CUDA_WHEEL_NVCC 0 KV_CUDA_FOUND)
    set(KV_CUDA_NVCC ${KV_CUDA_FOUND} CACHE FILEPATH "" FORCE)
  endif()
endif()
if(KV_CUDA_NVCC)
  message(STATUS "kv-mlir: CUDA compiler ${KV_CUDA_NVCC}")
else()
  message(STATUS "kv-mlir: no CUDA toolkit found, building without it")
endif()
