// Collectives under conditions: along "x" all devices agree, along "y" they do not.
sdy.mesh @mesh = <["x"=2, "y"=3]>
func.func public @main(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %r = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {"y"}]>] manual_axes={"x", "y"} (%a0: tensor<2x2xf32>) {
    %c3 = stablehlo.constant dense<3> : tensor<ui32>
    %c1 = stablehlo.constant dense<1> : tensor<ui32>
    %c0 = stablehlo.constant dense<0> : tensor<ui32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %id = stablehlo.partition_id : tensor<ui32>
    %q = stablehlo.divide %id, %c1 : tensor<ui32>
    %y = stablehlo.remainder %q, %c3 : tensor<ui32>
    // mutant divergent-collective: %y = stablehlo.divide %id, %c3 : tensor<ui32>
    %p = stablehlo.compare EQ, %y, %c0 : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    %0 = "stablehlo.if"(%p) ({
      %1 = "stablehlo.all_reduce"(%a0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 3], [1, 4], [2, 5]]> : tensor<3x2xi64>, use_global_device_ids}> ({
      // mutant divergent-collective: %1 = "stablehlo.all_reduce"(%a0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi64>, use_global_device_ids}> ({
      ^bb0(%u: tensor<f32>, %v: tensor<f32>):
        %s = stablehlo.add %u, %v : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }) : (tensor<2x2xf32>) -> tensor<2x2xf32>
      stablehlo.return %1 : tensor<2x2xf32>
    }, {
      %1 = stablehlo.negate %a0 : tensor<2x2xf32>
      stablehlo.return %1 : tensor<2x2xf32>
    }) : (tensor<i1>) -> tensor<2x2xf32>
    %2 = stablehlo.reduce(%a0 init: %zero) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<f32>
    %3 = func.call @all(%2) : (tensor<f32>) -> tensor<f32>
    // mutant divergent-collective: %3 = stablehlo.abs %2 : tensor<f32>
    %l:2 = stablehlo.while(%e = %3, %v = %0) : tensor<f32>, tensor<2x2xf32>
    cond {
      %t = stablehlo.compare GT, %e, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %t : tensor<i1>
    } do {
      %w = stablehlo.tanh %v : tensor<2x2xf32>
      %d = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<f32>
      %n = func.call @all(%d) : (tensor<f32>) -> tensor<f32>
      %m = stablehlo.negate %n : tensor<f32>
      // mutant divergent-collective: %m = stablehlo.negate %d : tensor<f32>
      stablehlo.return %m, %w : tensor<f32>, tensor<2x2xf32>
    }
    sdy.return %l#1 : tensor<2x2xf32>
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %r : tensor<4x6xf32>
}
func.func private @all(%a: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>, replica_groups = dense<[[0, 1, 2, 3, 4, 5]]> : tensor<1x6xi64>, use_global_device_ids}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %s = stablehlo.maximum %p, %q : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
