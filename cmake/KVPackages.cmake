# Debian packages by CPack (scripts/debian.sh): kv-mlir-runtime, kv-mlir-dev and kv-mlir-tools. Names of libraries
# differ between releases of Debian, so packages fit the release that builds them, and their version names it.

cmake_host_system_information(RESULT KV_SYSTEM QUERY DISTRIB_INFO)
set(CPACK_PACKAGE_NAME kv-mlir)
set(CPACK_PACKAGE_CONTACT "The authors of kv-mlir <kv-mlir@packages.invalid>")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SOURCE kv-mlir)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1~${KV_SYSTEM_ID}${KV_SYSTEM_VERSION_ID})
# What dpkg-shlibdeps finds in a package's programs and libraries, and the runtime of the same version.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL runtime development compiler tools)
set(CPACK_COMPONENT_RUNTIME_GROUP runtime)
set(CPACK_COMPONENT_DEVELOPMENT_GROUP dev)
set(CPACK_COMPONENT_COMPILER_GROUP dev)
set(CPACK_COMPONENT_TOOLS_GROUP tools)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS openmpi-bin)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "KV caches of language models: runtime libraries
 Runs artifacts of kv-compile, and manages their caches: the C interface, and the libraries for GPUs, MPI, tiers,
 events, metrics and transport that it loads when they are asked for.")

set(CPACK_COMPONENT_DEV_DEPENDS runtime)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS libmlir-22-dev)
set(CPACK_DEBIAN_DEV_DESCRIPTION "KV caches of language models: development files
 Headers, archives and the CMake package KVMLIR. Its component runtime needs no LLVM, its component compiler needs
 libmlir-22-dev.")

set(CPACK_COMPONENT_TOOLS_DEPENDS runtime)
set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS python3)
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS python3-venv)
set(CPACK_DEBIAN_TOOLS_DESCRIPTION "KV caches of language models: compiler and programs
 kv-compile, kv-opt, kv-run and others, with LLVM linked in. The Python programs kv-import, kv-generate and kv-serve
 say which packages of Python they need.")

# Python writes its bytecode next to the programs: here when they are installed, and removed with them.
set(scripts ${CMAKE_BINARY_DIR}/debian)
file(WRITE ${scripts}/postinst
  "#!/bin/sh\nset -e\n[ \"$1\" != configure ] || py3compile -p kv-mlir-tools /usr/${CMAKE_INSTALL_LIBEXECDIR}\n")
file(WRITE ${scripts}/prerm "#!/bin/sh\nset -e\npy3clean -p kv-mlir-tools\n")
set(CPACK_DEBIAN_TOOLS_PACKAGE_CONTROL_EXTRA ${scripts}/postinst ${scripts}/prerm)

install(FILES LICENSE DESTINATION share/doc/kv-mlir-runtime RENAME copyright COMPONENT runtime)
install(FILES LICENSE DESTINATION share/doc/kv-mlir-dev RENAME copyright COMPONENT development)
install(FILES LICENSE DESTINATION share/doc/kv-mlir-tools RENAME copyright COMPONENT tools)
include(CPack)
