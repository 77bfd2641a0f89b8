// RUN: kv-opt --kv-expand-collections --verify-diagnostics --split-input-file %s

// expected-error @+1 {{an entry needs a body}}
"func.func"() ({}) {sym_name = "f", function_type = () -> (), kv.entry} : () -> ()
