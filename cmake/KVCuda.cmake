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

# ptxas orders instructions by where its tables lie: at random addresses, or behind
# longer paths, one PTX gives another image. Some containers allow no other addresses.
execute_process(COMMAND setarch -R true RESULT_VARIABLE KV_CUDA_REFUSED
  OUTPUT_QUIET ERROR_QUIET)
if(NOT KV_CUDA_REFUSED)
  set(KV_CUDA_FIXED setarch -R)
endif()

# kv_cuda_command(output... SOURCE file WORK folder FLAGS flag... [DEPFILE] [SPLIT
# suffix]): runs nvcc for the first output, and keeps what ptxas reports in
# <output>.ptxas of the folder WORK. With SPLIT, the first output is a module and the others
# are its kernels (KVSplitPtx.cmake), in one folder.
function(kv_cuda_command)
  cmake_parse_arguments(ARG "DEPFILE" "SOURCE;SPLIT;WORK" "FLAGS" ${ARGN})
  set(outputs ${ARG_UNPARSED_ARGUMENTS})
  list(GET outputs 0 output)
  get_filename_component(name ${output} NAME)
  if(ARG_DEPFILE)
    set(depfile DEPFILE ${ARG_WORK}/${name}.d)
    # To nvcc, -c means nothing beside -ptx; ccache takes only what has it.
    list(APPEND ARG_FLAGS -c -MD -MF ${name}.d -MT ${output})
    set(launcher ${KV_LAUNCHER})
    set(paths ${output} ${ARG_SOURCE})
  else()
    set(launcher ${KV_CUDA_FIXED})
    file(RELATIVE_PATH to ${ARG_WORK} ${output})
    file(RELATIVE_PATH from ${ARG_WORK} ${ARG_SOURCE})
    set(paths ${to} ${from})
  endif()
  if(ARG_SPLIT)
    list(GET outputs 1 kernel)
    get_filename_component(folder ${kernel} DIRECTORY)
    set(script ${CMAKE_SOURCE_DIR}/cmake/KVSplitPtx.cmake)
    set(more COMMAND ${CMAKE_COMMAND} -DPTX=${output} -DSUFFIX=${ARG_SPLIT}
      -DFOLDER=${folder} -P ${script})
  endif()
  add_custom_command(OUTPUT ${outputs}
    # ptxas reports on the error stream; a failed compiler must show it.
    COMMAND sh -c "\"$@\" 2>${name}.ptxas || { cat ${name}.ptxas >&2; exit 1; }" nvcc
      ${launcher} ${KV_CUDA_NVCC} ${ARG_FLAGS} -o ${paths}
    ${more}
    DEPENDS ${ARG_SOURCE} ${script}
    ${depfile}
    WORKING_DIRECTORY ${ARG_WORK}
    COMMENT "Building ${name}" VERBATIM)
endfunction()

# The chips that kernels are compiled for; fewer of them build faster.
set(KV_CUDA_CHIPS 80 90a 100a 120 CACHE STRING "chips of the kernels' images, as of sm_80")
# The later ones double the build where every kernel is compiled for them.
set(KV_CUDA_LATER_CHIPS 100a 120)
set(KV_CUDA_LATER_MODULES movers attention_bf16 latent_bf16 CACHE STRING
  "modules of kernels that sm_100a and sm_120 have images of, or all")
# What finds no room in the shared memory of a chip (KernelTable.h, blocksPerSM).
set(KV_CUDA_NOT_FOR_120 "^kv_latent_.*_576$")

# kv_add_module(outputs module source FOLDER name IMAGES name... CHECKER program
# [BUDGETS def...] [CHIPS chip...] [FLAGS flag...] [SLOW]): for each image lib/<folder>/<name>.sm_<chip>.cubin, and,
# with chip 80, .compute_80.ptx for every other chip; an image is a kernel of the
# module, or, when it is called like the module, the whole. One front end a
# module and chip, for it costs as much as ptxas. Without CHIPS, sm_80 and sm_90a.
# CHECKER holds the images' arguments against those that the host writes. What
# ptxas reports is checked, and held against the budgets if there are any, by the
# same command, for a new budget makes no new image. Chips that are not of
# KV_CUDA_CHIPS are left out. Appends the files to the list `outputs`, and what
# such a check leaves to `<outputs>_checked`. SLOW: what ptxas gives up is no error.
function(kv_add_module outputs module source)
  cmake_parse_arguments(ARG "SLOW" "FOLDER;CHECKER" "BUDGETS;IMAGES;CHIPS;FLAGS"
    ${ARGN})
  if(NOT ARG_CHIPS)
    set(ARG_CHIPS 80 90a)
  endif()
  foreach(chip ${ARG_CHIPS})
    if(NOT chip IN_LIST KV_CUDA_CHIPS)
      list(REMOVE_ITEM ARG_CHIPS ${chip})
    endif()
  endforeach()
  set(folder ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${ARG_FOLDER})
  set(work ${CMAKE_CURRENT_BINARY_DIR}/${ARG_FOLDER})
  set(scratch ${work}/ptx)
  set(flags -ptx -std=c++20 -O3 -I${CMAKE_SOURCE_DIR} -I${CMAKE_SOURCE_DIR}/include
    ${ARG_FLAGS})
  foreach(chip ${ARG_CHIPS})
    set(names ${ARG_IMAGES})
    if(DEFINED KV_CUDA_NOT_FOR_${chip})
      list(FILTER names EXCLUDE REGEX "${KV_CUDA_NOT_FOR_${chip}}")
    endif()
    set(suffix .compute_${chip}.ptx)
    set(place ${scratch})
    if(chip EQUAL 80)
      set(place ${folder})
    endif()
    if(module STREQUAL ARG_IMAGES)
      kv_cuda_command(${place}/${module}${suffix} SOURCE ${source} DEPFILE WORK ${work}
        FLAGS ${flags} -arch=compute_${chip})
    else()
      set(texts ${ARG_IMAGES})
      list(TRANSFORM texts REPLACE "(.+)" "${place}/\\1${suffix}")
      kv_cuda_command(${scratch}/${module}${suffix} ${texts} SOURCE ${source}
        DEPFILE WORK ${work} SPLIT ${suffix} FLAGS ${flags} -arch=compute_${chip})
    endif()
    set(made "")
    set(reports "")
    foreach(name ${names})
      set(image ${folder}/${name}.sm_${chip}.cubin)
      kv_cuda_command(${image} SOURCE ${place}/${name}${suffix} WORK ${work}
        FLAGS -cubin -arch=sm_${chip} -Xptxas -v)
      list(APPEND made ${image})
      list(APPEND reports ${work}/${name}.sm_${chip}.cubin.ptxas)
      if(chip EQUAL 80)
        list(APPEND ${outputs} ${place}/${name}${suffix})
      endif()
    endforeach()
    list(APPEND ${outputs} ${made})
    set(stamp ${work}/${module}.sm_${chip}.budgets)
    set(check ${CMAKE_SOURCE_DIR}/cmake/KVCheckPtxas.cmake)
    add_custom_command(OUTPUT ${stamp}
      COMMAND ${ARG_CHECKER} ${made}
      COMMAND ${CMAKE_COMMAND} "-DREPORTS=${reports}" "-DBUDGETS=${ARG_BUDGETS}"
        -DSLOW=${ARG_SLOW}
        -DOUTPUT=${stamp} -P ${check}
      DEPENDS ${made} ${ARG_BUDGETS} ${check} ${ARG_CHECKER}
      COMMENT "Checking the images and what ptxas says of ${module}.sm_${chip}" VERBATIM)
    list(APPEND ${outputs}_checked ${stamp})
  endforeach()
  file(MAKE_DIRECTORY ${folder} ${scratch})
  set(${outputs} ${${outputs}} PARENT_SCOPE)
  set(${outputs}_checked ${${outputs}_checked} PARENT_SCOPE)
endfunction()

# kv_chips_of(module chips): sets `chips` to those that a module is compiled for.
function(kv_chips_of module chips)
  set(all ${KV_CUDA_CHIPS})
  if(NOT "all" IN_LIST KV_CUDA_LATER_MODULES AND NOT module IN_LIST KV_CUDA_LATER_MODULES)
    list(REMOVE_ITEM all ${KV_CUDA_LATER_CHIPS})
  endif()
  set(${chips} ${all} PARENT_SCOPE)
endfunction()

# kv_add_kernels(target CATALOGUE def SOURCE cu CHECKER program [WATCHDOG]): an image
# for each attention kernel of DeviceKernels.def, and one of all movers, which is
# `cu`. Installed where kv-compile looks for them: ../lib/kv-cuda from its folder.
# WATCHDOG: images that give up waits (Watchdog.h) of the kernels that have any, in
# lib/kv-cuda-watchdog, only when the target is asked for.
function(kv_add_kernels target)
  cmake_parse_arguments(ARG "WATCHDOG" "CATALOGUE;SOURCE;CHECKER" "" ${ARGN})
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARG_CATALOGUE})
  set(images "")
  set(images_checked "")
  if(ARG_WATCHDOG)
    set(options FOLDER kv-cuda-watchdog SLOW FLAGS -DKV_WATCHDOG CHECKER ${ARG_CHECKER})
  else()
    set(options FOLDER kv-cuda BUDGETS ${ARG_CATALOGUE} CHECKER ${ARG_CHECKER})
    kv_chips_of(movers chips)
    kv_add_module(images kv_movers ${ARG_SOURCE} ${options} IMAGES kv_movers
      CHIPS ${chips})
  endif()
  file(STRINGS ${ARG_CATALOGUE} rows REGEX "^KV_(ATTENTION|LATENT|TILE|BYTE|BYTE_TILE|DRAFT|DRAFT_TILE|TENSOR|LATENT_TILE|LATENT_PAIR|LATENT_TENSOR)_KERNEL\\(")
  set(modules "")
  foreach(row ${rows})
    string(REGEX MATCHALL "[A-Za-z0-9_]+" fields "${row}")
    list(GET fields 1 kind)
    list(GET fields 2 type)
    set(module attention_${type})
    if(row MATCHES "^KV_ATTENTION")
      list(GET fields 6 dim)
      set(name kv_attention_${kind}_${type}_${dim})
    elseif(row MATCHES "^KV_BYTE_KERNEL")
      list(GET fields 5 dim)
      set(name kv_attention_${kind}_${type}_${dim})
      set(chips_${module} 120)
    elseif(row MATCHES "^KV_LATENT_TILE")
      set(module latent_tiles)
      list(GET fields 1 type)
      list(GET fields 4 dim)
      set(name kv_latent_tiles_${type}_${dim})
      set(chips_${module} 90a)
    elseif(row MATCHES "^KV_LATENT_PAIR")
      set(module latent_pairs)
      list(GET fields 1 type)
      list(GET fields 4 dim)
      set(name kv_latent_pairs_${type}_${dim})
      set(chips_${module} 90a)
    elseif(row MATCHES "^KV_LATENT_TENSOR")
      set(module latent_tensor)
      list(GET fields 1 type)
      list(GET fields 4 dim)
      set(name kv_latent_tensor_${type}_${dim})
      set(chips_${module} 100a)
      set(header_${module} Tensor)
    elseif(row MATCHES "^KV_LATENT")
      set(module latent_${type})
      list(GET fields 5 dim)
      set(name kv_latent_${kind}_${type}_${dim})
    elseif(row MATCHES "^KV_BYTE_TILE")
      set(module attention_byte_tiles)
      list(GET fields 1 type)
      list(GET fields 4 dim)
      set(name kv_attention_tiles_${type}_${dim})
      set(chips_${module} 90a)
    else() # for one chip alone
      list(GET fields 1 type)
      if(row MATCHES "^KV_(TILE|DRAFT|DRAFT_TILE)_KERNEL")
        list(GET fields 5 dim)
        set(module attention_tiles)
        if(row MATCHES "^KV_DRAFT_TILE")
          set(module attention_draft_tiles)
        elseif(row MATCHES "^KV_DRAFT")
          set(module attention_drafts)
        endif()
        set(chips_${module} 90a)
      else()
        list(GET fields 4 dim)
        set(module attention_tensor)
        set(chips_${module} 100a)
        set(header_${module} Tensor)
      endif()
      set(name kv_${module}_${type}_${dim})
    endif()
    list(APPEND modules ${module})
    list(APPEND names_${module} ${name})
    string(APPEND text_${module} "${row}\n")
  endforeach()
  list(REMOVE_DUPLICATES modules)
  foreach(module ${modules})
    if(ARG_WATCHDOG AND NOT module MATCHES "tiles|pairs|tensor")
      continue() # such a kernel waits for no mbarrier
    endif()
    if(NOT DEFINED chips_${module})
      kv_chips_of(${module} chips_${module})
    endif()
    # A module a type: they compile side by side.
    set(source ${CMAKE_CURRENT_BINARY_DIR}/kv_${module}.cu)
    if(NOT DEFINED header_${module})
      set(header_${module} Attention)
    endif()
    file(CONFIGURE OUTPUT ${source}
      CONTENT "#include \"kernels/cuda/device/${header_${module}}.cuh\"\n${text_${module}}")
    kv_add_module(images kv_${module} ${source} ${options} IMAGES ${names_${module}}
      CHIPS ${chips_${module}})
  endforeach()
  if(NOT ARG_WATCHDOG)
    set(always ALL)
  endif()
  add_custom_target(${target} ${always} DEPENDS ${images} ${images_checked})
endfunction()
