# Finds Debian's MLIR 22.1 and LLD, and sets MLIR up as the shared library libMLIR, or
# with KV_STATIC_LLVM as archives.

option(KV_STATIC_LLVM "Link the programs with archives of LLVM and MLIR: they run where neither is installed" OFF)

find_program(KV_LLVM_CONFIG NAMES llvm-config-22 REQUIRED)
execute_process(COMMAND ${KV_LLVM_CONFIG} --prefix OUTPUT_VARIABLE KV_LLVM_PREFIX
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(LLVM_DIR ${KV_LLVM_PREFIX}/lib/cmake/llvm CACHE PATH "")
set(MLIR_DIR ${KV_LLVM_PREFIX}/lib/cmake/mlir CACHE PATH "")
set(LLD_DIR ${KV_LLVM_PREFIX}/lib/cmake/lld CACHE PATH "")
set(KV_MLIR_VERSION 22.1)
if(KV_STATIC_LLVM)
  if(KV_ENABLE_TESTS)
    message(FATAL_ERROR "kv-mlir: KV_STATIC_LLVM builds no tests: set KV_ENABLE_TESTS=OFF")
  endif()
  include(KVStaticLLVM)
endif()
find_package(MLIR ${KV_MLIR_VERSION} REQUIRED CONFIG)
find_package(LLD REQUIRED CONFIG)
if(KV_STATIC_LLVM)
  kv_link_archives()
endif()
message(STATUS "kv-mlir: MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}")

# One copy of every TypeID: link libMLIR.so, never its parts (reference: the
# variable must be set before AddMLIR, and the package does not set it).
set(MLIR_LINK_MLIR_DYLIB ON)
set(LLVM_LINK_LLVM_DYLIB ON)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
add_definitions(${LLVM_DEFINITIONS})

# MLIR identifies traits and interfaces by the address of inline statics. Hidden
# visibility would give our code copies of its own: no error, but
# matchPattern(m_Constant()) and the like then never match.
set(CMAKE_CXX_VISIBILITY_PRESET default)
set(CMAKE_VISIBILITY_INLINES_HIDDEN OFF)

# kv_mlir_target(target [PRECOMPILED]): what holds for code that includes MLIR's
# headers. With PRECOMPILED it takes most of them from dialect/Precompiled.h,
# which costs as much as three files and saves two thirds of each.
function(kv_mlir_target target)
  cmake_parse_arguments(ARG "PRECOMPILED" "" "" ${ARGN})
  # MLIR is C++17, its headers pass as C++20. Not as C++23 for clang with the
  # standard library of GCC 12: there a constructor that nobody declared is
  # constexpr, and wants the destructor of a vector of what is still incomplete.
  set_target_properties(${target} PROPERTIES CXX_STANDARD 20)
  if(ARG_PRECOMPILED AND target STREQUAL KVDialect)
    kv_precompile(KVDialect HEADERS ${CMAKE_SOURCE_DIR}/dialect/Precompiled.h)
  elseif(ARG_PRECOMPILED)
    # A precompiled header fits one set of flags: those of LLVM's libraries.
    get_target_property(type ${target} TYPE)
    if(type MATCHES "^(EXECUTABLE|MODULE_LIBRARY)$")
      target_compile_options(${target} PRIVATE -fPIC -fno-exceptions -funwind-tables)
    endif()
    kv_precompile(${target} REUSE KVDialect)
  endif()
endfunction()
