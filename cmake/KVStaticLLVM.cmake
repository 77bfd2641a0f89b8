# Programs that run where LLVM is not installed. Every library of this project names the shared
# libraries MLIR and LLVM, and so does the installed package. Here these two names become archives,
# of which a program takes what it uses.

# LLVM's targets name both, and MLIR's package finds only the shared ones.
set(ZLIB_USE_STATIC_LIBS ON)
find_library(KV_ZSTD_ARCHIVE libzstd.a REQUIRED)
add_library(zstd::libzstd_shared STATIC IMPORTED)
set_target_properties(zstd::libzstd_shared PROPERTIES IMPORTED_LOCATION ${KV_ZSTD_ARCHIVE})

# kv_become_archives(name first archive...): gives the imported shared library `name` the file of
# the archive `first`, and the other ones behind it.
function(kv_become_archives name first)
  get_target_property(file ${first} IMPORTED_LOCATION_RELWITHDEBINFO)
  set_target_properties(${name} PROPERTIES
    IMPORTED_LOCATION_RELWITHDEBINFO ${file}
    IMPORTED_NO_SONAME_RELWITHDEBINFO ON
    IMPORTED_LINK_DEPENDENT_LIBRARIES_RELWITHDEBINFO ""
    INTERFACE_LINK_LIBRARIES "${ARGN}")
endfunction()

# lld and MLIR initialise every target of LLVM, and link-time optimisation asks Polly for its
# passes. The programs emit and link code of this machine alone: functions that do nothing
# take the place of the others, so that no code of another target is linked.
function(kv_leave_targets_out)
  set(others ${LLVM_TARGETS_TO_BUILD})
  list(REMOVE_ITEM others ${LLVM_NATIVE_ARCH})
  set(text "void _Z18getPollyPluginInfov(void) { __builtin_trap(); }\n")
  # Of glibc 2.36; all else is there in 2.34.
  string(APPEND text "#include <sys/random.h>\n"
    "unsigned arc4random(void) { unsigned n = 0; getrandom(&n, sizeof n, 0); return n; }\n")
  foreach(target ${others})
    foreach(part TargetInfo Target TargetMC AsmPrinter AsmParser)
      string(APPEND text "void LLVMInitialize${target}${part}(void) {}\n")
    endforeach()
  endforeach()
  set(file ${CMAKE_BINARY_DIR}/OtherTargets.c)
  file(CONFIGURE OUTPUT ${file} CONTENT "${text}")
  add_library(KVOtherTargets STATIC ${file})
endfunction()

function(kv_link_archives)
  # The solver Z3 is for Clang's analyzer.
  foreach(library LLVMSupport LLVMExtensions)
    get_target_property(needed ${library} INTERFACE_LINK_LIBRARIES)
    list(FILTER needed EXCLUDE REGEX "libz3|Polly")
    set_target_properties(${library} PROPERTIES INTERFACE_LINK_LIBRARIES "${needed}")
  endforeach()
  kv_leave_targets_out()
  llvm_map_components_to_libnames(llvm Passes LTO DTLTO Option SupportLSP OrcJIT OrcTargetProcess
    FrontendOpenMP FrontendOffloading FrontendAtomic IRReader IRPrinter Coroutines
    ${LLVM_NATIVE_ARCH} DebugInfoDWARF DebugInfoPDB LibDriver)
  kv_become_archives(LLVM LLVMDemangle KVOtherTargets ${llvm} LLVMSupport)
  kv_become_archives(MLIR MLIRSupport MLIRRegisterAllDialects MLIRRegisterAllExtensions
    MLIRRegisterAllPasses MLIRToLLVMIRTranslationRegistration MLIROptLib MLIRReduceLib
    MLIRLspServerLib)
endfunction()
# No program looks where LLVM lies here.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH OFF)
add_link_options(LINKER:--gc-sections,--as-needed)
