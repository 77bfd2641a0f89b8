# cmake --install: tools, libraries, headers, and the package KVMLIR with the
# components runtime (no LLVM) and compiler (needs MLIR 22.1).

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/KVMLIR)
set(headers ${CMAKE_INSTALL_INCLUDEDIR})

# kv_install_libraries(component export standard library...): archives, their
# export, and the C++ that their headers need. Shared libraries among them are
# of the component runtime.
function(kv_install_libraries component export standard)
  foreach(library ${ARGN})
    target_compile_features(${library} INTERFACE cxx_std_${standard})
  endforeach()
  install(TARGETS ${ARGN} EXPORT ${export}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${component}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime
    INCLUDES DESTINATION ${headers})
  install(EXPORT ${export} NAMESPACE KVMLIR:: DESTINATION ${package}
    COMPONENT ${component})
endfunction()

# kv_install_link(name file): bin/<name>, which is the file. A wheel keeps no links.
function(kv_install_link name file)
  if(NOT SKBUILD)
    install(CODE "
      set(bin \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
      file(MAKE_DIRECTORY \"\${bin}\")
      file(CREATE_LINK ${file} \"\${bin}/${name}\" SYMBOLIC)" COMPONENT tools)
  endif()
endfunction()

# kv_install_script(name): a Python program, its package beside it.
function(kv_install_script name)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/tools/${name}
    DESTINATION ${CMAKE_INSTALL_LIBEXECDIR} USE_SOURCE_PERMISSIONS
    COMPONENT tools PATTERN __pycache__ EXCLUDE PATTERN README.md EXCLUDE)
  kv_install_link(${name} ../${CMAKE_INSTALL_LIBEXECDIR}/${name}/${name})
endfunction()

kv_install_libraries(development KVMLIRRuntimeTargets 23
  KVReferenceKernels KVRuntime KVEngine KVEvents KVMetrics KVTiers KVManager KVTransport
  KVServing
  KVRuntimeC)
install(DIRECTORY include/kv/ABI include/kv/Kernels include/kv/Runtime
  DESTINATION ${headers}/kv COMPONENT development
  FILES_MATCHING PATTERN *.h PATTERN *.def)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT runtime)
install(TARGETS kv-run DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
if(TARGET kv-route)
  install(TARGETS kv-route DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endif()
# Loaded by who links the runtime, never linked.
foreach(library KVCuda KVEventsLibrary KVMetricsLibrary KVMpiLibrary
    KVTiersLibrary KVTransportLibrary)
  if(TARGET ${library})
    install(TARGETS ${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
      COMPONENT runtime)
  endif()
endforeach()
kv_install_script(kv-import)
kv_install_script(kv-generate)
kv_install_script(kv-serve)
kv_install_script(kvmlir)
file(WRITE ${CMAKE_BINARY_DIR}/VERSION "${PROJECT_VERSION}\n")
install(FILES tools/kv_command_line.py tools/kv_launcher.py ${CMAKE_BINARY_DIR}/VERSION
  DESTINATION ${CMAKE_INSTALL_LIBEXECDIR} COMPONENT tools)

if(KV_ENABLE_COMPILER)
  # kv_mlir_target says why not 23.
  kv_install_libraries(compiler KVMLIRCompilerTargets 20
    KVDialect KVPasses KVRegistration KVCompiler KVCAPI)
  install(DIRECTORY include/kv-c DESTINATION ${headers} COMPONENT compiler)
  foreach(tree ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
    install(DIRECTORY ${tree}/include/kv/
      DESTINATION ${headers}/kv COMPONENT compiler
      FILES_MATCHING PATTERN *.h PATTERN *.td PATTERN *.h.inc
      PATTERN Runtime EXCLUDE PATTERN Kernels EXCLUDE PATTERN ABI EXCLUDE
      PATTERN Definition EXCLUDE
      PATTERN CMakeFiles EXCLUDE)
  endforeach()
  foreach(tool kv-opt kv-compile kv-lsp-server kv-reduce)
    if(TARGET ${tool})
      install(TARGETS ${tool} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
    else() # tools/kv-compile/AllTools.cpp
      kv_install_link(${tool} kv-compile)
    endif()
  endforeach()
  # Where kv-compile looks: ../lib/kv-cuda, if device code was built. Packages leave
  # it out: it is the wheel kvmlir-cuda.
  install(DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/kv-cuda
    DESTINATION lib COMPONENT cuda OPTIONAL
    FILES_MATCHING PATTERN *.cubin PATTERN *.ptx)
  if(TARGET KVPlugin)
    install(TARGETS KVPlugin DESTINATION ${CMAKE_INSTALL_LIBDIR}
      COMPONENT tools)
  endif()
endif()

# All that is installed but device code, which takes as long again, and the
# Python package: what the documents use after scripts/demo.sh.
set(parts kv-route KVCuda KVEventsLibrary KVMetricsLibrary KVMpiLibrary
  KVTiersLibrary KVTransportLibrary kv-opt kv-compile kv-lsp-server kv-reduce
  KVPlugin KVCAPI kvmlir-python)
list(TRANSFORM parts REPLACE "(.+)" "$<TARGET_NAME_IF_EXISTS:\\1>")
add_custom_target(tour DEPENDS demo kv-run KVRuntimeC KVServing ${parts})

configure_package_config_file(cmake/KVMLIRConfig.cmake.in KVMLIRConfig.cmake
  INSTALL_DESTINATION ${package} PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(KVMLIRConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/KVMLIRConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/KVMLIRConfigVersion.cmake
  DESTINATION ${package} COMPONENT development)
if(KV_STATIC_LLVM AND NOT SKBUILD)
  include(KVPackages)
endif()
