func.func @scatters() {
  %x = stablehlo.constant dense<0> : tensor<4xi32>
  %at = stablehlo.constant dense<[[1], [1], [4], [-1], [3]]> : tensor<5x1xi64>
  %y = stablehlo.constant dense<[1, 2, 4, 8, 16]> : tensor<5xi32>
  %0 = "stablehlo.scatter"(%x, %at, %y) <{scatter_dimension_numbers = #stablehlo.scatter<
    inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %two = stablehlo.constant dense<2> : tensor<i32>
    %1 = stablehlo.multiply %a, %two : tensor<i32>
    %2 = stablehlo.add %1, %b : tensor<i32>
    stablehlo.return %2 : tensor<i32>
  }) : (tensor<4xi32>, tensor<5x1xi64>, tensor<5xi32>) -> tensor<4xi32>
  check.expect_eq_const %0, dense<[0, 4, 0, 16]> : tensor<4xi32>
  return
}
