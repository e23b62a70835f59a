// What is legal: statistics of local parts that are returned, sums of squares merged later, means over devices, sizes of axes, a sum that
// is scattered, attention whose parts are merged by weights.
sdy.mesh @mesh = <["s"=4]>
func.func public @main(%q: tensor<8x4xf32>, %k: tensor<16x4xf32>, %v: tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<16x4xf32>, tensor<8x4xf32>, tensor<f32>) {
  %r:4 = sdy.manual_computation(%q, %k, %v) in_shardings=[<@mesh, [{}, {}]>, <@mesh, [{"s"}, {}]>, <@mesh, [{"s"}, {}]>] out_shardings=[<@mesh, [{}, {}]>, <@mesh, [{"s"}, {}]>, <@mesh, [{"s"}, {}]>, <@mesh, []>] manual_axes={"s"} (%a0: tensor<8x4xf32>, %a1: tensor<4x4xf32>, %a2: tensor<4x4xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %one = stablehlo.constant dense<1.0> : tensor<f32>
    %four = stablehlo.constant dense<4.0> : tensor<f32>
    %scores = stablehlo.dot_general %a0, %a1, contracting_dims = [1] x [1] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %m = stablehlo.reduce(%scores init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
    %d = stablehlo.subtract %scores, %mb : tensor<8x4xf32>
    %e = stablehlo.exponential %d : tensor<8x4xf32>
    %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
    %o = stablehlo.dot_general %e, %a2, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %all = "stablehlo.all_reduce"(%m) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.maximum %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8xf32>) -> tensor<8xf32>
    %dm = stablehlo.subtract %m, %all : tensor<8xf32>
    %w = stablehlo.exponential %dm : tensor<8xf32>
    %lw = stablehlo.multiply %l, %w : tensor<8xf32>
    %wb = stablehlo.broadcast_in_dim %w, dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
    %ow = stablehlo.multiply %o, %wb : tensor<8x4xf32>
    %both:2 = "stablehlo.all_reduce"(%ow, %ow) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8x4xf32>, tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>)
    %mean = stablehlo.reduce(%a1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %sq = stablehlo.multiply %mean, %mean : tensor<4xf32>
    // mutant local-sum-in-nonlinear: %sq = stablehlo.tanh %mean : tensor<4xf32>
    %sqb = stablehlo.broadcast_in_dim %sq, dims = [1] : (tensor<4xf32>) -> tensor<4x4xf32>
    %two = stablehlo.add %a1, %a1 : tensor<4x4xf32>
    // mutant statistic-beside-parts: %two = stablehlo.add %a1, %sqb : tensor<4x4xf32>
    %norm = stablehlo.subtract %two, %a1 : tensor<4x4xf32>
    // mutant local-statistic: %norm = stablehlo.subtract %a1, %sqb : tensor<4x4xf32>
    %part = "stablehlo.reduce_scatter"(%o) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8x4xf32>) -> tensor<2x4xf32>
    %pt = stablehlo.tanh %part : tensor<2x4xf32>
    %size = "stablehlo.all_reduce"(%one) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<f32>) -> tensor<f32>
    %some = stablehlo.reshape %size : (tensor<f32>) -> tensor<1xf32>
    %twice = stablehlo.reshape %some : (tensor<1xf32>) -> tensor<f32>
    %sum0 = stablehlo.reduce(%a0 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
    %sum1 = "stablehlo.all_reduce"(%sum0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    // mutant needless-collective: %sum1 = "stablehlo.all_reduce"(%twice) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<f32>) -> tensor<f32>
    %pmean = stablehlo.divide %sum1, %four : tensor<f32>
    // mutant needless-collective: %pmean = stablehlo.divide %sum1, %size : tensor<f32>
    %res = stablehlo.add %pmean, %size : tensor<f32>
    sdy.return %both#0, %norm, %pt, %res : tensor<8x4xf32>, tensor<4x4xf32>, tensor<2x4xf32>, tensor<f32>
  } : (tensor<8x4xf32>, tensor<16x4xf32>, tensor<16x4xf32>) -> (tensor<8x4xf32>, tensor<16x4xf32>, tensor<8x4xf32>, tensor<f32>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<8x4xf32>, tensor<16x4xf32>, tensor<8x4xf32>, tensor<f32>
}
