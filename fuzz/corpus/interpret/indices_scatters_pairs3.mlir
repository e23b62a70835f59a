func.func @scatters_pairs() {
  %x = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32>
  %z = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf64>
  %at = stablehlo.constant dense<[[2], [0]]> : tensor<2x1xi32>
  %y = stablehlo.constant dense<[10, 20]> : tensor<2xi32>
  %w = stablehlo.constant dense<[0.5, 0.25]> : tensor<2xf64>
  %0:2 = "stablehlo.scatter"(%x, %z, %at, %y, %w) <{scatter_dimension_numbers = #stablehlo.scatter<
    inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<f64>, %c: tensor<i32>, %d: tensor<f64>):
    %1 = stablehlo.subtract %a, %c : tensor<i32>
    %2 = stablehlo.multiply %b, %d : tensor<f64>
    stablehlo.return %1, %2 : tensor<i32>, tensor<f64>
  }) : (tensor<3xi32>, tensor<3xf64>, tensor<2x1xi32>, tensor<2xi32>, tensor<2xf64>) -> (tensor<3xi32>, tensor<3xf64>)
  check.expect_eq_const %0#0, dense<[-19, 2, -7]> : tensor<3xi32>
  check.expect_eq_const %0#1, dense<[0.25, 2.0, 1.5]> : tensor<3xf64>
  return
}
