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
file(GLOB_RECURSE private ${source}/runtime/engine/*.h)
foreach(header ${private})
  get_filename_component(header ${header} NAME)
  if(EXISTS ${prefix}/include/kv/Runtime/Engine/${header})
    message(FATAL_ERROR "${header} is installed")
  endif()
endforeach()

# The runtime brings no LLVM, and no library that a bare system lacks.
foreach(file ${work}/build/inspect ${prefix}/lib/libkv_runtime.so)
  run(readelf -d ${file})
  expect("[libstdc++.so")
  string(REGEX MATCHALL "NEEDED[^\n]*" needed "${output}")
  foreach(line ${needed})
    if(NOT line MATCHES "\\[(libc|libm|libstdc\\+\\+|libgcc_s|ld-linux[-a-z0-9_]*)\\.so")
      message(FATAL_ERROR "${file} needs ${line}")
    endif()
  endforeach()
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
  if(package) # the bindings, which a wheel has
    run(${CMAKE_COMMAND} -E env PYTHONPATH=${package}
      ${python} ${prefix}/bin/kv-serve --help)
  endif()

  # A model, and a program in C that runs it: the tokens are those of kv-run.
  set(model ${work}/model)
  run(${CMAKE_COMMAND} -E env PYTHONPATH=${prefix}/libexec/kv-import
    ${python} -m kv_import.synthetic --kind llama3 --gguf ${model}.gguf)
  run(${python} ${prefix}/bin/kv-import ${model}.gguf -o ${model} --page 16)
  run(${prefix}/bin/kv-compile ${model}/model.mlir -o ${model}/model.so)
  set(weights ${model}/weights.safetensors)
  set(prompt 5 6 7 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17)
  list(JOIN prompt ", " tokens)
  file(WRITE ${work}/request.jsonl
    "{\"id\": \"a\", \"tokens\": [${tokens}], \"max_new_tokens\": 24}\n")
  run(${prefix}/bin/kv-run ${model}/model.so --weights ${weights} --no-stream
    --requests ${work}/request.jsonl)
  string(REGEX MATCH "\"tokens\":\\[([0-9,]+)\\]" answered "${output}")
  string(REPLACE "," "\n" answered "${CMAKE_MATCH_1}")
  run(${CMAKE_COMMAND} -G Ninja -S ${project}/../c -B ${work}/c
    -DCMAKE_PREFIX_PATH=${prefix} -DCMAKE_BUILD_TYPE=Debug)
  run(${CMAKE_COMMAND} --build ${work}/c)
  run(${work}/c/generate ${model}/model.so ${weights} 24 ${prompt})
  if(answered STREQUAL "" OR NOT output STREQUAL "${answered}\n")
    message(FATAL_ERROR "kv-run answers\n${answered}\ngenerate\n${output}")
  endif()
endif()
run(${prefix}/bin/kv-opt --kv-cpu ${project}/module.mlir)
expect("kv_entry_attend")
