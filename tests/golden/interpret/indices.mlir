// Starts of slices are clamped; updates outside are left out.
func.func @dynamic_slices() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %far = stablehlo.constant dense<100> : tensor<i64>
  %below = stablehlo.constant dense<-7> : tensor<i64>
  %0 = stablehlo.dynamic_slice %x, %far, %below, sizes = [1, 2] : (tensor<2x3xi32>, tensor<i64>, tensor<i64>) -> tensor<1x2xi32>
  check.expect_eq_const %0, dense<[[4, 5]]> : tensor<1x2xi32>
  %huge = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  %y = stablehlo.constant dense<[[9, 8]]> : tensor<1x2xi32>
  %1 = stablehlo.dynamic_update_slice %x, %y, %huge, %huge : (tensor<2x3xi32>, tensor<1x2xi32>, tensor<ui64>, tensor<ui64>) -> tensor<2x3xi32>
  check.expect_eq_const %1, dense<[[1, 2, 3], [4, 9, 8]]> : tensor<2x3xi32>
  return
}
// -----
func.func @gathers() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6], [7, 8, 9]]> : tensor<3x3xi32>
  %at = stablehlo.constant dense<[[0], [2], [9], [-4]]> : tensor<4x1xi8>
  %0 = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
    collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1, 3>}> : (tensor<3x3xi32>, tensor<4x1xi8>) -> tensor<4x3xi32>
  check.expect_eq_const %0, dense<[[1, 2, 3], [7, 8, 9], [7, 8, 9], [1, 2, 3]]> : tensor<4x3xi32>
  return
}
// -----
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
// -----
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
// -----
func.func @pads() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %p = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.pad %x, %p, low = [-1], high = [2], interior = [1] : (tensor<4xi32>, tensor<i32>) -> tensor<8xi32>
  check.expect_eq_const %0, dense<[0, 2, 0, 3, 0, 4, 0, 0]> : tensor<8xi32>
  %1 = stablehlo.reverse %x, dims = [0] : tensor<4xi32>
  check.expect_eq_const %1, dense<[4, 3, 2, 1]> : tensor<4xi32>
  %2 = stablehlo.slice %x [1:4:2] : (tensor<4xi32>) -> tensor<2xi32>
  check.expect_eq_const %2, dense<[2, 4]> : tensor<2xi32>
  return
}
// -----
func.func @empty() {
  %x = stablehlo.constant dense<> : tensor<0x3xf32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %one) applies stablehlo.add across dimensions = [0] : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>
  check.expect_eq_const %0, dense<1.0> : tensor<3xf32>
  %1 = stablehlo.concatenate %x, %x, dim = 0 : (tensor<0x3xf32>, tensor<0x3xf32>) -> tensor<0x3xf32>
  %2 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] : (tensor<0x3xf32>, tensor<0x3xf32>) -> tensor<3x3xf32>
  check.expect_eq_const %2, dense<0.0> : tensor<3x3xf32>
  %3 = stablehlo.add %x, %x : tensor<0x3xf32>
  check.expect_eq %1, %3 : tensor<0x3xf32>
  return
}
