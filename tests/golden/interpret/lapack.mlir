func.func @potrf() {
  %a = stablehlo.constant dense<[[4.0, 9.0], [2.0, 10.0]]> : tensor<2x2xf32>
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
    : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)
  check.expect_almost_eq_const %0#0, dense<[[2.0, 9.0], [1.0, 3.0]]> : tensor<2x2xf32>
  check.expect_eq_const %0#1, dense<0> : tensor<i32>
  return
}
// -----
// The second matrix of the batch has none: its leading minor of order 2 is not positive.
func.func @potrf_fails() {
  %a = stablehlo.constant dense<[[[4.0, 0.0], [2.0, 10.0]], [[1.0, 0.0], [2.0, 1.0]]]> : tensor<2x2x2xf64>
  %0:2 = stablehlo.custom_call @lapack_dpotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8},
    operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>]}
    : (tensor<2x2x2xf64>) -> (tensor<2x2x2xf64>, tensor<2xi32>)
  check.expect_eq_const %0#1, dense<[0, 2]> : tensor<2xi32>
  return
}
// -----
// Rows are swapped where a greater number is below; pivots count from 1.
func.func @getrf() {
  %a = stablehlo.constant dense<[[1.0, 5.0, 2.0], [2.0, 4.0, 6.0]]> : tensor<2x3xf64>
  %0:3 = stablehlo.custom_call @lapack_dgetrf_ffi(%a) {mhlo.backend_config = {},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>]}
    : (tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2xi32>, tensor<i32>)
  check.expect_almost_eq_const %0#0, dense<[[2.0, 4.0, 6.0], [0.5, 3.0, -1.0]]> : tensor<2x3xf64>
  check.expect_eq_const %0#1, dense<[2, 2]> : tensor<2xi32>
  check.expect_eq_const %0#2, dense<0> : tensor<i32>
  return
}
// -----
func.func @qr() {
  %a = stablehlo.constant dense<[[3.0, 1.0], [4.0, 7.0]]> : tensor<2x2xf64>
  %0:2 = stablehlo.custom_call @lapack_dgeqrf_ffi(%a) {mhlo.backend_config = {},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>]}
    : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2xf64>)
  check.expect_almost_eq_const %0#0, dense<[[-5.0, -6.2], [0.5, 3.4]]> : tensor<2x2xf64>
  %q = stablehlo.custom_call @lapack_dorgqr_ffi(%0#0, %0#1) {mhlo.backend_config = {},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]}
    : (tensor<2x2xf64>, tensor<2xf64>) -> tensor<2x2xf64>
  check.expect_almost_eq_const %q, dense<[[-0.6, -0.8], [-0.8, 0.6]]> : tensor<2x2xf64>
  %c = stablehlo.constant dense<[[5.0, 0.0, 1.0], [0.0, 5.0, 0.0]]> : tensor<2x3xf64>
  %p = stablehlo.custom_call @lapack_dormqr_ffi(%0#0, %0#1, %c) {mhlo.backend_config = {left = true, transpose = true},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>]}
    : (tensor<2x2xf64>, tensor<2xf64>, tensor<2x3xf64>) -> tensor<2x3xf64>
  check.expect_almost_eq_const %p, dense<[[-3.0, -4.0, -0.6], [-4.0, 3.0, -0.8]]> : tensor<2x3xf64>
  return
}
// -----
func.func @geqp3() {
  %a = stablehlo.constant dense<[[1.0, 3.0], [0.0, 4.0]]> : tensor<2x2xf32>
  %free = stablehlo.constant dense<0> : tensor<2xi32>
  %0:3 = stablehlo.custom_call @lapack_sgeqp3_ffi(%a, %free) {mhlo.backend_config = {},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>]}
    : (tensor<2x2xf32>, tensor<2xi32>) -> (tensor<2x2xf32>, tensor<2xi32>, tensor<2xf32>)
  check.expect_eq_const %0#1, dense<[2, 1]> : tensor<2xi32>
  return
}
// -----
func.func @singular_values() {
  %a = stablehlo.constant dense<[[3.0, 0.0, 0.0], [0.0, 0.0, 4.0]]> : tensor<2x3xf32>
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 83 : ui8},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
    : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<2x3xf32>, tensor<i32>)
  check.expect_almost_eq_const %0#1, dense<[4.0, 3.0]> : tensor<2xf32>
  %u = stablehlo.abs %0#2 : tensor<2x2xf32>
  check.expect_almost_eq_const %u, dense<[[0.0, 1.0], [1.0, 0.0]]> : tensor<2x2xf32>
  %c = stablehlo.constant dense<[[(0.0, 2.0)], [(0.0, 0.0)]]> : tensor<2x1xcomplex<f64>>
  %1:5 = stablehlo.custom_call @lapack_zgesvd_ffi(%c) {mhlo.backend_config = {mode = 65 : ui8},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
    : (tensor<2x1xcomplex<f64>>) -> (tensor<2x1xcomplex<f64>>, tensor<1xf64>, tensor<2x2xcomplex<f64>>, tensor<1x1xcomplex<f64>>, tensor<i32>)
  check.expect_almost_eq_const %1#1, dense<[2.0]> : tensor<1xf64>
  return
}
// -----
func.func @eigenvalues() {
  %a = stablehlo.constant dense<[[(2.0, 0.0), (9.0, 9.0)], [(0.0, 1.0), (2.0, 0.0)]]> : tensor<2x2xcomplex<f32>>
  %0:3 = stablehlo.custom_call @lapack_cheevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>]}
    : (tensor<2x2xcomplex<f32>>) -> (tensor<2x2xcomplex<f32>>, tensor<2xf32>, tensor<i32>)
  check.expect_almost_eq_const %0#1, dense<[1.0, 3.0]> : tensor<2xf32>
  // A quarter of a turn.
  %r = stablehlo.constant dense<[[0.0, -1.0], [1.0, 0.0]]> : tensor<2x2xf64>
  %1:5 = stablehlo.custom_call @lapack_dgeev_ffi(%r) {mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 86 : ui8},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
    : (tensor<2x2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>, tensor<i32>)
  check.expect_almost_eq_const %1#0, dense<[0.0, 0.0]> : tensor<2xf64>
  check.expect_almost_eq_const %1#1, dense<[1.0, -1.0]> : tensor<2xf64>
  check.expect_almost_eq_const %1#3, dense<[[(0.70710678118654757, 0.0), (0.70710678118654757, 0.0)],
    [(0.0, -0.70710678118654757), (0.0, 0.70710678118654757)]]> : tensor<2x2xcomplex<f64>>
  %2:6 = stablehlo.custom_call @lapack_dgees_ffi(%r) {mhlo.backend_config = {mode = 86 : ui8, sort = 78 : ui8},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>, dense<> : tensor<0xindex>]}
    : (tensor<2x2xf64>) -> (tensor<2x2xf64>, tensor<2x2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<i32>, tensor<i32>)
  check.expect_almost_eq %2#0, %r : tensor<2x2xf64>
  check.expect_almost_eq_const %2#3, dense<[1.0, -1.0]> : tensor<2xf64>
  // Numbers that are not finite are refused.
  %i = stablehlo.constant dense<0x7FF0000000000000> : tensor<2x2xf64>
  %3:5 = stablehlo.custom_call @lapack_dgeev_ffi(%i) {mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 86 : ui8},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
    : (tensor<2x2xf64>) -> (tensor<2xf64>, tensor<2xf64>, tensor<2x2xcomplex<f64>>, tensor<2x2xcomplex<f64>>, tensor<i32>)
  check.expect_eq_const %3#4, dense<-4> : tensor<i32>
  return
}
// -----
func.func @reductions() {
  %a = stablehlo.constant dense<[[1.0, 3.0, 4.0], [3.0, 2.0, 0.0], [4.0, 0.0, 2.0]]> : tensor<3x3xf64>
  %0:3 = stablehlo.custom_call @lapack_dgehrd_ffi(%a) {mhlo.backend_config = {high = 3 : i32, low = 1 : i32},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>]}
    : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<2xf64>, tensor<i32>)
  check.expect_almost_eq_const %0#0, dense<[[1.0, -5.0, 0.0], [-5.0, 2.0, 0.0], [0.5, 0.0, 2.0]]> : tensor<3x3xf64>
  %1:5 = stablehlo.custom_call @lapack_dsytrd_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>]}
    : (tensor<3x3xf64>) -> (tensor<3x3xf64>, tensor<3xf64>, tensor<2xf64>, tensor<2xf64>, tensor<i32>)
  check.expect_almost_eq_const %1#1, dense<[1.0, 2.0, 2.0]> : tensor<3xf64>
  check.expect_almost_eq_const %1#2, dense<[-5.0, 0.0]> : tensor<2xf64>
  return
}
// -----
func.func @solvers() {
  // The first of the lower diagonal is not used.
  %dl = stablehlo.constant dense<[7.0, 1.0]> : tensor<2xf32>
  %d = stablehlo.constant dense<[2.0, 3.0]> : tensor<2xf32>
  %du = stablehlo.constant dense<[1.0, 0.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<[[4.0, 1.0], [7.0, 3.0]]> : tensor<2x2xf32>
  %0:5 = stablehlo.custom_call @lapack_sgtsv_ffi(%dl, %d, %du, %b) {mhlo.backend_config = {},
    operand_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
    : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<i32>)
  check.expect_almost_eq_const %0#3, dense<[[1.0, 0.0], [2.0, 1.0]]> : tensor<2x2xf32>
  // x conj(a)^T = b with the upper triangle.
  %a = stablehlo.constant dense<[[(2.0, 0.0), (0.0, 1.0)], [(9.0, 9.0), (0.0, 1.0)]]> : tensor<2x2xcomplex<f64>>
  %c = stablehlo.constant dense<[[(2.0, -1.0), (0.0, -1.0)]]> : tensor<1x2xcomplex<f64>>
  %1 = stablehlo.custom_call @lapack_ztrsm_ffi(%a, %c) {mhlo.backend_config = {diag = 78 : ui8, side = 82 : ui8, trans_x = 67 : ui8, uplo = 85 : ui8},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]}
    : (tensor<2x2xcomplex<f64>>, tensor<1x2xcomplex<f64>>) -> tensor<1x2xcomplex<f64>>
  check.expect_almost_eq_const %1, dense<[[(1.0, 0.0), (1.0, 0.0)]]> : tensor<1x2xcomplex<f64>>
  return
}
