# Finds a CUDA 13.0 toolkit, in this order: PATH, CUDA_HOME, the usual prefix,
# the nvidia-cuda-* wheels of the project's virtual environment. Optional: sets
# KV_CUDA_NVCC, or says in one line that the kernels' device code is left out.

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
  message(STATUS "kv-mlir: no CUDA toolkit found, leaving the kernels' device code out")
endif()

# kv_add_fatbins(target BUDGETS def... SOURCES cu...): one <name>.fatbin a
# source under lib/kv-cuda, for sm_80 and sm_90a, with PTX for every later chip.
# What ptxas says must be within the budgets.
function(kv_add_fatbins target)
  cmake_parse_arguments(ARG "" "" "BUDGETS;SOURCES" ${ARGN})
  list(TRANSFORM ARG_BUDGETS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set(folder ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/kv-cuda)
  file(MAKE_DIRECTORY ${folder})
  set(outputs "")
  foreach(source ${ARG_SOURCES})
    get_filename_component(name ${source} NAME_WE)
    set(fatbin ${folder}/${name}.fatbin)
    set(report ${CMAKE_CURRENT_BINARY_DIR}/${name}.ptxas)
    add_custom_command(OUTPUT ${fatbin} ${report}.ok
      # ptxas reports on the error stream; a failed compiler must show it.
      COMMAND sh -c "\"$@\" 2>${name}.ptxas || { cat ${name}.ptxas >&2; exit 1; }" nvcc
        ${KV_CUDA_NVCC} -fatbin -std=c++20 -O3 -I${CMAKE_SOURCE_DIR}/include
        -gencode=arch=compute_80,code=[sm_80,compute_80]
        -gencode=arch=compute_90a,code=sm_90a
        -Xptxas -v -MD -MF ${name}.d -MT ${fatbin}
        -o ${fatbin} ${CMAKE_CURRENT_SOURCE_DIR}/${source}
      COMMAND ${CMAKE_COMMAND} -DREPORT=${report} "-DBUDGETS=${ARG_BUDGETS}"
        -DOUTPUT=${report}.ok -P ${CMAKE_SOURCE_DIR}/cmake/KVCheckPtxas.cmake
      DEPENDS ${source} ${ARG_BUDGETS} ${CMAKE_SOURCE_DIR}/cmake/KVCheckPtxas.cmake
      DEPFILE ${CMAKE_CURRENT_BINARY_DIR}/${name}.d
      WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
      COMMENT "Building ${name}.fatbin" VERBATIM)
    list(APPEND outputs ${fatbin})
  endforeach()
  add_custom_target(${target} ALL DEPENDS ${outputs})
endfunction()
