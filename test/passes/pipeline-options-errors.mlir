// What a pipeline is not made from, whoever names it.
//
// RUN: not kv-opt --kv-cpu=mcpu=foo %s 2>&1 | FileCheck %s
// RUN: not kv-opt --pass-pipeline="builtin.module(kv-cpu{mcpu=foo})" %s 2>&1 | FileCheck %s
// CHECK: unknown CPU 'foo': use x86-64-v3, x86-64-v4, x86-64-v4-vnni, x86-64-v4-amx, or native on a machine that has at least x86-64-v3
// RUN: not kv-opt --kv-cpu=mcpu=x86-64-v2 %s 2>&1 | FileCheck %s --check-prefix=OLD
// OLD: unknown CPU 'x86-64-v2'
// RUN: not kv-opt --kv-cpu=mcpu= %s 2>&1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: unknown CPU ''

module {}
