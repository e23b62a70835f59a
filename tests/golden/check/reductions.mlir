// Reductions that are not sums, of two operands that are cut; updates that are added at cut indices, to zeros.
sdy.mesh @mesh = <["d"=2]>
func.func public @main(%x: tensor<8xf32>, %y: tensor<8xf32>, %i: tensor<8x1xi32>, %t: tensor<6xf32>) -> (tensor<2xf32>, tensor<6xf32>) {
  %r:2 = sdy.manual_computation(%x, %y, %i, %t) in_shardings=[<@mesh, [{"d"}]>, <@mesh, [{"d"}]>, <@mesh, [{"d"}, {}]>, <@mesh, [{}]>] out_shardings=[<@mesh, [{"d"}]>, <@mesh, [{}]>] manual_axes={"d"} (%a0: tensor<4xf32>, %a1: tensor<4xf32>, %a2: tensor<4x1xi32>, %a3: tensor<6xf32>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %zs = stablehlo.constant dense<0.0> : tensor<6xf32>
    %0:2 = stablehlo.reduce(%a0 init: %z), (%a1 init: %z) across dimensions = [0] : (tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
     reducer(%p: tensor<f32>, %q: tensor<f32>) (%s: tensor<f32>, %t0: tensor<f32>) {
      %c = stablehlo.compare GT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %m = stablehlo.select %c, %p, %q : tensor<i1>, tensor<f32>
      %n = stablehlo.select %c, %s, %t0 : tensor<i1>, tensor<f32>
      stablehlo.return %m, %n : tensor<f32>, tensor<f32>
    }
    %1 = stablehlo.tanh %0#1 : tensor<f32>
    %2 = stablehlo.reshape %1 : (tensor<f32>) -> tensor<1xf32>
    %3 = "stablehlo.scatter"(%zs, %a2, %a0) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<6xf32>, tensor<4x1xi32>, tensor<4xf32>) -> tensor<6xf32>
    %4 = "stablehlo.all_reduce"(%3) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %s = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<6xf32>) -> tensor<6xf32>
    %5 = stablehlo.add %4, %a3 : tensor<6xf32>
    // mutant pending-plus-replicated: %5 = stablehlo.add %3, %a3 : tensor<6xf32>
    sdy.return %2, %5 : tensor<1xf32>, tensor<6xf32>
    // mutant result-varies: sdy.return %2, %3 : tensor<1xf32>, tensor<6xf32>
  } : (tensor<8xf32>, tensor<8xf32>, tensor<8x1xi32>, tensor<6xf32>) -> (tensor<2xf32>, tensor<6xf32>)
  return %r#0, %r#1 : tensor<2xf32>, tensor<6xf32>
}
