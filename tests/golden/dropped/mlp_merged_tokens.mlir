module @jit_mlp_merged_tokens attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["x"=4, "y"=2]> {stablehlo.mesh = {axes = [{name = "x", size = 4 : i64}, {name = "y", size = 2 : i64}]}}
  func.func public @main(%arg0: tensor<2x8x16xf32>, %arg1: tensor<16x32xf32>, %arg2: tensor<32x16xf32>) -> (tensor<2x8x16xf32> {jax.result_info = "result"}) {
    %0 = sdy.manual_computation(%arg0, %arg1, %arg2) in_shardings=[<@mesh, [{}, {}, {}]>, <@mesh, [{}, {"x"}]>, <@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{}, {}, {}]>] manual_axes={"x", "y"} (%arg3: tensor<2x8x16xf32>, %arg4: tensor<16x8xf32>, %arg5: tensor<8x16xf32>) {
      %1 = stablehlo.reshape %arg3 : (tensor<2x8x16xf32>) -> tensor<16x16xf32>
      %2 = stablehlo.dot_general %1, %arg4, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x16xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>
      %3 = func.call @relu(%2) : (tensor<16x8xf32>) -> tensor<16x8xf32>
      %4 = stablehlo.dot_general %3, %arg5, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<16x8xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
      %5 = "stablehlo.all_reduce"(%4) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2, 4, 6], [1, 3, 5, 7]]> : tensor<2x4xi64>, use_global_device_ids}> ({
      ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
        %7 = stablehlo.add %arg6, %arg7 : tensor<f32>
        stablehlo.return %7 : tensor<f32>
      }) : (tensor<16x16xf32>) -> tensor<16x16xf32>
      %6 = stablehlo.reshape %5 : (tensor<16x16xf32>) -> tensor<2x8x16xf32>
      sdy.return %6 : tensor<2x8x16xf32>
    } : (tensor<2x8x16xf32>, tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<2x8x16xf32>
    return %0 : tensor<2x8x16xf32>
  }
  func.func private @relu(%arg0: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
    %1 = stablehlo.maximum %arg0, %0 : tensor<16x8xf32>
    return %1 : tensor<16x8xf32>
  }
}
