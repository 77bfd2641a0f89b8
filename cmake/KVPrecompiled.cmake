# The standard library's headers, parsed once for the libraries that include no
# MLIR: runtime/base/Precompiled.h.

# kv_precompile(target [HEADERS file...] [REUSE from]): precompiles the headers,
# or takes those of another target, whose code is compiled the same way: as a
# library's, or as a program's.
function(kv_precompile target)
  cmake_parse_arguments(ARG "" "REUSE" "HEADERS" ${ARGN})
  # GCC's precompiled headers are left alone: a build without them shows that
  # every file includes what it needs.
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    return()
  endif()
  # ccache compares what a precompiled header was made of, not when.
  target_compile_options(${target} PRIVATE
    "SHELL:$<$<COMPILE_LANGUAGE:CXX>:-Xclang -fno-pch-timestamp>")
  if(ARG_REUSE)
    target_precompile_headers(${target} REUSE_FROM ${ARG_REUSE})
  else()
    target_precompile_headers(${target} PRIVATE ${ARG_HEADERS})
  endif()
endfunction()

# kv_precompile_libraries(folder): every library of a folder and those below it
# takes runtime/base/Precompiled.h.
function(kv_precompile_libraries folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(STATIC|SHARED|MODULE)_LIBRARY$")
      kv_precompile(${target} REUSE KVStandardHeaders)
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(folder ${folders})
    kv_precompile_libraries(${folder})
  endforeach()
endfunction()
