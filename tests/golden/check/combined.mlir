// Weights and gradients cut by data, activations by sequence and by feature, a loss over a cut vocabulary.
sdy.mesh @mesh = <["fsdp"=2, "tp"=2]>
func.func public @main(%x: tensor<4x4x8xf32>, %w: tensor<8x16xf32>, %v: tensor<16x8xf32>, %u: tensor<8x12xf32>) -> (tensor<f32>, tensor<8x16xf32>) {
  %r:2 = sdy.manual_computation(%x, %w, %v, %u) in_shardings=[<@mesh, [{"fsdp"}, {"tp"}, {}]>, <@mesh, [{"fsdp"}, {"tp"}]>, <@mesh, [{"tp"}, {"fsdp"}]>, <@mesh, [{}, {"tp"}]>] out_shardings=[<@mesh, []>, <@mesh, [{"fsdp"}, {"tp"}]>] manual_axes={"fsdp", "tp"} (%a0: tensor<2x2x8xf32>, %a1: tensor<4x8xf32>, %a2: tensor<8x4xf32>, %a3: tensor<8x6xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %wg = "stablehlo.all_gather"(%a1) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<4x8xf32>) -> tensor<8x8xf32>
    %xg = "stablehlo.all_gather"(%a0) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<2x2x8xf32>) -> tensor<2x4x8xf32>
    %h = stablehlo.dot_general %xg, %wg, contracting_dims = [2] x [0] : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
    %a = stablehlo.tanh %h : tensor<2x4x8xf32>
    %vg = "stablehlo.all_gather"(%a2) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<8x4xf32>) -> tensor<8x8xf32>
    %y = stablehlo.dot_general %a, %vg, contracting_dims = [2] x [0] : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
    %ys = "stablehlo.reduce_scatter"(%y) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, scatter_dimension = 1 : i64, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2x4x8xf32>) -> tensor<2x2x8xf32>
    %n = stablehlo.tanh %ys : tensor<2x2x8xf32>
    %ng = "stablehlo.all_gather"(%n) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<2x2x8xf32>) -> tensor<2x4x8xf32>
    // mutant pending-in-nonlinear: %ng = stablehlo.tanh %y : tensor<2x4x8xf32>
    %logits = stablehlo.dot_general %ng, %a3, contracting_dims = [2] x [0] : (tensor<2x4x8xf32>, tensor<8x6xf32>) -> tensor<2x4x6xf32>
    %m = stablehlo.reduce(%logits init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<2x4x6xf32>, tensor<f32>) -> tensor<2x4xf32>
    %pm = "stablehlo.all_reduce"(%m) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.maximum %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %mb = stablehlo.broadcast_in_dim %pm, dims = [0, 1] : (tensor<2x4xf32>) -> tensor<2x4x6xf32>
    %d = stablehlo.subtract %logits, %mb : tensor<2x4x6xf32>
    %e = stablehlo.exponential %d : tensor<2x4x6xf32>
    %l = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x4x6xf32>, tensor<f32>) -> tensor<2x4xf32>
    %pl = "stablehlo.all_reduce"(%l) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %lse = stablehlo.log %pl : tensor<2x4xf32>
    // mutant local-sum-in-nonlinear: %lse = stablehlo.log %l : tensor<2x4xf32>
    // mutant result-varies: %lse = stablehlo.log %m : tensor<2x4xf32>
    %sum = stablehlo.reduce(%lse init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
    %loss = "stablehlo.all_reduce"(%sum) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    // mutant needless-collective: %loss = "stablehlo.all_reduce"(%sum) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<f32>) -> tensor<f32>
    %g = stablehlo.dot_general %xg, %h, contracting_dims = [0, 1] x [0, 1] : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<8x8xf32>
    %gs = "stablehlo.reduce_scatter"(%g) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<8x8xf32>) -> tensor<4x8xf32>
    %sq = stablehlo.multiply %gs, %gs : tensor<4x8xf32>
    %part = stablehlo.reduce(%sq init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
    %all = "stablehlo.all_reduce"(%part) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<f32>) -> tensor<f32>
    %norm = stablehlo.sqrt %all : tensor<f32>
    // mutant local-sum-in-nonlinear: %norm = stablehlo.sqrt %part : tensor<f32>
    %nb = stablehlo.broadcast_in_dim %norm, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
    %c = stablehlo.divide %gs, %nb : tensor<4x8xf32>
    sdy.return %loss, %c : tensor<f32>, tensor<4x8xf32>
    // mutant result-varies: sdy.return %sum, %c : tensor<f32>, tensor<4x8xf32>
  } : (tensor<4x4x8xf32>, tensor<8x16xf32>, tensor<16x8xf32>, tensor<8x12xf32>) -> (tensor<f32>, tensor<8x16xf32>)
  return %r#0, %r#1 : tensor<f32>, tensor<8x16xf32>
}
