# cmake -DCMAKE_PROJECT_INCLUDE=launch.cmake -DKV_BUILD_LOG=file: every command
# of the build appends a line to the file (benchmarks/measure).
foreach(rule COMPILE LINK CUSTOM)
  set_property(GLOBAL PROPERTY RULE_LAUNCH_${rule}
    "${CMAKE_CURRENT_LIST_DIR}/measure ${KV_BUILD_LOG} \"<OUTPUT>\"")
endforeach()
set_property(GLOBAL PROPERTY RULE_LAUNCH_COMPILE
  "${CMAKE_CURRENT_LIST_DIR}/measure ${KV_BUILD_LOG} \"<OBJECT>\"")
