// flags: -split-input-file -sdy-explicit-gather-scatter-batching
// The counting part of the indices goes; of two parts one is left.
func.func @pair(%x: tensor<5x7xf32>, %i: tensor<5x1xi32>) -> tensor<5xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<5xi32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<5xi32>) -> tensor<5x1xi32>
  %2 = stablehlo.concatenate %1, %i, dim = 1 : (tensor<5x1xi32>, tensor<5x1xi32>) -> tensor<5x2xi32>
  %3 = "stablehlo.gather"(%x, %2) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>, note} : (tensor<5x7xf32>, tensor<5x2xi32>) -> tensor<5xf32>
  return %3 : tensor<5xf32>
}
// -----
// Parts of several components, or none: what is before and after is cut out.
func.func @slices(%x: tensor<5x7x9xf32>, %p: tensor<5x1xi1>, %i: tensor<5x2xi32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %0 = stablehlo.iota dim = 0 : tensor<5x1xi32>
  %1 = stablehlo.select %p, %0, %0 : tensor<5x1xi1>, tensor<5x1xi32>
  %2 = stablehlo.concatenate %1, %i, dim = 1 : (tensor<5x1xi32>, tensor<5x2xi32>) -> tensor<5x3xi32>
  %3 = "stablehlo.gather"(%x, %2) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1, 2], start_index_map = [0, 2, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 1>} : (tensor<5x7x9xf32>, tensor<5x3xi32>) -> tensor<5xf32>
  %4 = stablehlo.iota dim = 0 : tensor<5x3xi32>
  %5 = "stablehlo.gather"(%x, %4) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1, 2], start_index_map = [2, 0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 1>} : (tensor<5x7x9xf32>, tensor<5x3xi32>) -> tensor<5xf32>
  return %3, %5 : tensor<5xf32>, tensor<5xf32>
}
// -----
// A scatter, with its flags written.
func.func @scatter(%x: tensor<5x7x9xf32>, %i: tensor<5x1xi32>, %u: tensor<5xf32>) -> tensor<5x7x9xf32> {
  %0 = stablehlo.iota dim = 0 : tensor<5x1xi32>
  %1 = stablehlo.clamp %0, %0, %0 : tensor<5x1xi32>
  %2 = stablehlo.concatenate %i, %1, %i, dim = 1 : (tensor<5x1xi32>, tensor<5x1xi32>, tensor<5x1xi32>) -> tensor<5x3xi32>
  %3 = "stablehlo.scatter"(%x, %2, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1, 2], scatter_dims_to_operand_dims = [2, 0, 1], index_vector_dim = 1>} : (tensor<5x7x9xf32>, tensor<5x3xi32>, tensor<5xf32>) -> tensor<5x7x9xf32>
  return %3 : tensor<5x7x9xf32>
}
// -----
// Not where something else counts, sizes differ, or the dimension stays.
func.func @stays(%x: tensor<5x7xf32>, %y: tensor<6x7xf32>, %i: tensor<5x1xi32>, %p: tensor<5x1xi1>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5x1xf32>) {
  %0 = stablehlo.iota dim = 1 : tensor<5x1xi32>
  %1 = stablehlo.concatenate %0, %i, dim = 1 : (tensor<5x1xi32>, tensor<5x1xi32>) -> tensor<5x2xi32>
  %2 = "stablehlo.gather"(%x, %1) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>} : (tensor<5x7xf32>, tensor<5x2xi32>) -> tensor<5xf32>
  %3 = stablehlo.iota dim = 0 : tensor<5x1xi32>
  %4 = stablehlo.concatenate %3, %i, dim = 1 : (tensor<5x1xi32>, tensor<5x1xi32>) -> tensor<5x2xi32>
  %5 = "stablehlo.gather"(%y, %4) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>} : (tensor<6x7xf32>, tensor<5x2xi32>) -> tensor<5xf32>
  %6 = stablehlo.reshape %3 : (tensor<5x1xi32>) -> tensor<5x1xi32>
  %7 = stablehlo.select %p, %i, %6 : tensor<5x1xi1>, tensor<5x1xi32>
  %8 = stablehlo.concatenate %7, %i, dim = 1 : (tensor<5x1xi32>, tensor<5x1xi32>) -> tensor<5x2xi32>
  %9 = "stablehlo.gather"(%x, %8) {dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>} : (tensor<5x7xf32>, tensor<5x2xi32>) -> tensor<5xf32>
  %10 = "stablehlo.gather"(%x, %4) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>} : (tensor<5x7xf32>, tensor<5x2xi32>) -> tensor<5x1xf32>
  return %2, %5, %9, %10 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5x1xf32>
}
