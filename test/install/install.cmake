# Installs `build` into work/prefix, then configures, builds and runs `project`
# against it.

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}: ${status}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect text)
  string(FIND "${output}" "${text}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "expected '${text}' in:\n${output}")
  endif()
endfunction()

set(prefix ${work}/prefix)
file(REMOVE_RECURSE ${work})
run(${CMAKE_COMMAND} --install ${build} --prefix ${prefix})
file(GLOB_RECURSE files ${prefix}/lib/cmake/*.cmake)
foreach(file ${files})
  file(READ ${file} text)
  string(FIND "${text}" "${source}" place)
  if(NOT place EQUAL -1)
    message(FATAL_ERROR "${file} names the checkout")
  endif()
endforeach()
run(${CMAKE_COMMAND} -G Ninja -S ${project} -B ${work}/build
  -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=Debug
  -DCMAKE_CXX_COMPILER=${compiler} -DCMAKE_CXX_COMPILER_LAUNCHER=${launcher})
run(${CMAKE_COMMAND} --build ${work}/build)

run(${work}/build/compile ${project}/module.mlir ${work}/module.so)
expect("kv_entry_attend")
run(${work}/build/inspect ${work}/module.so)
expect("collection kv: 2 layers")
expect("entry attend: 8 inputs")

run(${work}/build/cache)
expect("run 1: 2 pages hit, 3 held")
expect("2 pages cached of 8")
expect("request 7: 3 blocks")
# The engine's inside stays in the source tree.
file(GLOB private RELATIVE ${source}/runtime/engine ${source}/runtime/engine/*.h)
foreach(header ${private})
  if(EXISTS ${prefix}/include/kv/Runtime/Engine/${header})
    message(FATAL_ERROR "${header} is installed")
  endif()
endforeach()

# The runtime brings no LLVM, and no library that a bare system lacks.
run(readelf -d ${work}/build/inspect)
expect("[libstdc++.so")
string(REGEX MATCHALL "NEEDED[^\n]*" needed "${output}")
foreach(line ${needed})
  if(NOT line MATCHES "\\[(libc|libm|libstdc\\+\\+|libgcc_s|ld-linux[-a-z0-9_]*)\\.so")
    message(FATAL_ERROR "the runtime needs ${line}")
  endif()
endforeach()

# The tools run from where they were installed.
foreach(tool kv-opt kv-compile kv-run kv-lsp-server kv-reduce)
  run(${prefix}/bin/${tool} --help)
endforeach()
run(${mlir_opt} --load-dialect-plugin=${prefix}/lib/libKVPlugin.so
  ${project}/module.mlir)
expect("kv.attention")
if(python)
  run(${python} ${prefix}/bin/kv-import --help)
  run(${python} ${prefix}/bin/kv-generate --help)
endif()
run(${prefix}/bin/kv-opt --kv-cpu ${project}/module.mlir)
expect("kv_entry_attend")
