func.func @gathers() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32>
  %at = stablehlo.constant dense<[[0], [2], [9], [-4]]> : tensor<4x1xi8>
  %0 = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 3>}> : (tensor<3x3xi32>, tensor<4x1xi8>) -> tensor<4x3xi32>
  check.expect_eq_const %0, dense<[[1, 2, 3], [7, 8, 9], [7, 8, 9], [1, 2, 3]]> : tensor<4x3xi32>
  return
}
