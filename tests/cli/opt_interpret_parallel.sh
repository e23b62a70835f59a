#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2034,SC2154
# tessera-opt --interpret: processes, collectives, manual computations.
source "$(dirname "$0")/helpers.bash"
interpret() { run "$TESSERA_OPT" --interpret "$@"; }

# A ring of four: each process adds what its neighbours send.
cat >"$work/ring.mlir" <<'END'
func.func @step(%x: tensor<2xi32>) -> (tensor<2xi32>, tensor<8xi32>) {
  %left = "stablehlo.collective_permute"(%x) <{
    source_target_pairs = dense<[[0, 1], [1, 2], [2, 3], [3, 0]]> : tensor<4x2xi64>}>
    : (tensor<2xi32>) -> tensor<2xi32>
  %sum = stablehlo.add %x, %left : tensor<2xi32>
  %all = "stablehlo.all_gather"(%sum) <{all_gather_dim = 0 : i64,
    replica_groups = dense<[[3, 2, 1, 0]]> : tensor<1x4xi64>}> : (tensor<2xi32>) -> tensor<8xi32>
  return %sum, %all : tensor<2xi32>, tensor<8xi32>
}
func.func @main() {
  %a = stablehlo.constant dense<[1, 10]> : tensor<2xi32>
  %b = stablehlo.constant dense<[2, 20]> : tensor<2xi32>
  %c = stablehlo.constant dense<[3, 30]> : tensor<2xi32>
  %d = stablehlo.constant dense<[4, 40]> : tensor<2xi32>
  %0:8 = "interpreter.run_parallel"(%a, %b, %c, %d) <{
    programs = [[@step], [@step], [@step], [@step]]}>
    : (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>)
    -> (tensor<2xi32>, tensor<8xi32>, tensor<2xi32>, tensor<8xi32>,
        tensor<2xi32>, tensor<8xi32>, tensor<2xi32>, tensor<8xi32>)
  check.expect_eq_const %0#0, dense<[5, 50]> : tensor<2xi32>
  check.expect_eq_const %0#6, dense<[7, 70]> : tensor<2xi32>
  check.expect_eq_const %0#1, dense<[7, 70, 5, 50, 3, 30, 5, 50]> : tensor<8xi32>
  check.expect_eq_const %0#5, dense<[7, 70, 5, 50, 3, 30, 5, 50]> : tensor<8xi32>
  return
}
END
interpret "$work/ring.mlir"
expect_fine

# One process waits for another that never comes.
cat >"$work/stuck.mlir" <<'END'
func.func @waits(%x: tensor<i32>) -> tensor<i32> {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
func.func @leaves(%x: tensor<i32>) -> tensor<i32> {
  return %x : tensor<i32>
}
func.func @main() {
  %a = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = "interpreter.run_parallel"(%a, %a) <{programs = [[@waits], [@leaves]]}>
    : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
  return
}
END
interpret "$work/stuck.mlir"
expect_code 2
expect_in_err 'stablehlo.all_reduce: process 0 waits in a collective that other processes never enter'

# Two axes, one of them manual in the outer computation, the other in the inner one.
cat >"$work/manual.mlir" <<'END'
sdy.mesh @mesh = <["a"=2, "b"=2]>
func.func @main() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi32>
  %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"a"}, {}]>]
      out_shardings=[<@mesh, [{"a"}, {}]>] manual_axes={"a"} (%y: tensor<2x2xi32>) {
    %1 = sdy.manual_computation(%y) in_shardings=[<@mesh, [{}, {"b"}]>]
        out_shardings=[<@mesh, [{}, {"b"}]>] manual_axes={"b"} (%z: tensor<2x1xi32>) {
      %2 = "stablehlo.all_reduce"(%z) <{
        replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> ({
      ^bb0(%p: tensor<i32>, %q: tensor<i32>):
        %3 = stablehlo.maximum %p, %q : tensor<i32>
        stablehlo.return %3 : tensor<i32>
      }) : (tensor<2x1xi32>) -> tensor<2x1xi32>
      %4 = stablehlo.subtract %2, %z : tensor<2x1xi32>
      sdy.return %4 : tensor<2x1xi32>
    } : (tensor<2x2xi32>) -> tensor<2x2xi32>
    sdy.return %1 : tensor<2x2xi32>
  } : (tensor<4x2xi32>) -> tensor<4x2xi32>
  check.expect_eq_const %0, dense<[[5, 4], [5, 4], [1, 0], [1, 0]]> : tensor<4x2xi32>
  return
}
END
interpret "$work/manual.mlir"
expect_fine

# One process sends to the next, by the number of the channel; what is printed names the process.
cat >"$work/send.mlir" <<'END'
func.func @sends(%x: tensor<2xf32>, %t: !stablehlo.token) -> !stablehlo.token {
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>}>
    : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  %1 = "stablehlo.outfeed"(%x, %0) : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return %1 : !stablehlo.token
}
func.func @receives(%t: !stablehlo.token) -> (tensor<2xf32>, !stablehlo.token, tensor<ui32>) {
  %0:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>}>
    : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  %1 = stablehlo.partition_id : tensor<ui32>
  return %0#0, %0#1, %1 : tensor<2xf32>, !stablehlo.token, tensor<ui32>
}
func.func @main() {
  %t = stablehlo.create_token : !stablehlo.token
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0:4 = "interpreter.run_parallel"(%t, %x, %t) <{programs = [[@receives, @sends]]}>
    : (!stablehlo.token, tensor<2xf32>, !stablehlo.token)
    -> (tensor<2xf32>, !stablehlo.token, tensor<ui32>, !stablehlo.token)
  check.expect_eq %0#0, %x : tensor<2xf32>
  check.expect_eq_const %0#2, dense<0> : tensor<ui32>
  return
}
END
interpret "$work/send.mlir"
expect_fine

# Groups along an axis of a mesh, here of devices in another order.
cat >"$work/axes.mlir" <<'END'
sdy.mesh @mesh = <["a"=2, "b"=2], device_ids=[0, 2, 1, 3]>
func.func @sums(%x: tensor<i32>) -> tensor<i32> {
  %0 = "stablehlo.all_reduce"(%x) <{
    replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @mesh, axes = [#stablehlo.axis_ref<name = "b">]>,
    channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %1 : tensor<i32>
  }) : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
func.func @main() {
  %a = stablehlo.constant dense<1> : tensor<i32>
  %b = stablehlo.constant dense<10> : tensor<i32>
  %c = stablehlo.constant dense<100> : tensor<i32>
  %d = stablehlo.constant dense<1000> : tensor<i32>
  %0:4 = "interpreter.run_parallel"(%a, %b, %c, %d) <{programs = [[@sums, @sums, @sums, @sums]]}>
    : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
    -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>)
  check.expect_eq_const %0#0, dense<101> : tensor<i32>
  check.expect_eq_const %0#1, dense<1010> : tensor<i32>
  check.expect_eq_const %0#2, dense<101> : tensor<i32>
  check.expect_eq_const %0#3, dense<1010> : tensor<i32>
  return
}
END
interpret "$work/axes.mlir"
expect_fine
finish
