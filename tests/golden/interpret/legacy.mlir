func.func @uniform() {
  %shape = stablehlo.constant dense<[1000]> : tensor<1xi64>
  %a = stablehlo.constant dense<2.0> : tensor<f32>
  %b = stablehlo.constant dense<3.0> : tensor<f32>
  %0 = stablehlo.rng %a, %b, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<1000xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.reduce(%0 init: %b) applies stablehlo.minimum across dimensions = [0] : (tensor<1000xf32>, tensor<f32>) -> tensor<f32>
  %high = stablehlo.reduce(%0 init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<1000xf32>, tensor<f32>) -> tensor<f32>
  %within = stablehlo.compare GE, %low, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
  check.expect_eq_const %within, dense<true> : tensor<i1>
  %below = stablehlo.compare LT, %high, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  check.expect_eq_const %below, dense<true> : tensor<i1>
  %e1 = stablehlo.constant dense<2.0> : tensor<f32>
  check.expect_almost_eq %low, %e1, tolerance = 0.01 : tensor<f32>
  %e2 = stablehlo.constant dense<3.0> : tensor<f32>
  check.expect_almost_eq %high, %e2, tolerance = 0.01 : tensor<f32>
  %sum = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1000xf32>, tensor<f32>) -> tensor<f32>
  %thousand = stablehlo.constant dense<1000.0> : tensor<f32>
  %mean = stablehlo.divide %sum, %thousand : tensor<f32>
  %e3 = stablehlo.constant dense<2.5> : tensor<f32>
  check.expect_almost_eq %mean, %e3, tolerance = 0.05 : tensor<f32>
  return
}
// -----
func.func @uniform_integers() {
  %shape = stablehlo.constant dense<[100]> : tensor<1xi64>
  %a = stablehlo.constant dense<-2> : tensor<i32>
  %b = stablehlo.constant dense<2> : tensor<i32>
  %0 = stablehlo.rng %a, %b, %shape, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<100xi32>
  %low = stablehlo.reduce(%0 init: %b) applies stablehlo.minimum across dimensions = [0] : (tensor<100xi32>, tensor<i32>) -> tensor<i32>
  %high = stablehlo.reduce(%0 init: %a) applies stablehlo.maximum across dimensions = [0] : (tensor<100xi32>, tensor<i32>) -> tensor<i32>
  check.expect_eq_const %low, dense<-2> : tensor<i32>
  check.expect_eq_const %high, dense<1> : tensor<i32>
  return
}
// -----
func.func @normal() {
  %shape = stablehlo.constant dense<[4000]> : tensor<1xi64>
  %mean = stablehlo.constant dense<5.0> : tensor<f64>
  %deviation = stablehlo.constant dense<2.0> : tensor<f64>
  %0 = stablehlo.rng %mean, %deviation, %shape, distribution = NORMAL : (tensor<f64>, tensor<f64>, tensor<1xi64>) -> tensor<4000xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<f64>
  %count = stablehlo.constant dense<4000.0> : tensor<f64>
  %sum = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4000xf64>, tensor<f64>) -> tensor<f64>
  %m = stablehlo.divide %sum, %count : tensor<f64>
  %e4 = stablehlo.constant dense<5.0> : tensor<f64>
  check.expect_almost_eq %m, %e4, tolerance = 0.1 : tensor<f64>
  %all = stablehlo.broadcast_in_dim %mean, dims = [] : (tensor<f64>) -> tensor<4000xf64>
  %d = stablehlo.subtract %0, %all : tensor<4000xf64>
  %dd = stablehlo.multiply %d, %d : tensor<4000xf64>
  %squares = stablehlo.reduce(%dd init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4000xf64>, tensor<f64>) -> tensor<f64>
  %variance = stablehlo.divide %squares, %count : tensor<f64>
  %e5 = stablehlo.constant dense<4.0> : tensor<f64>
  check.expect_almost_eq %variance, %e5, tolerance = 0.3 : tensor<f64>
  return
}
// -----
func.func @einsum() {
  %a = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %b = stablehlo.constant dense<[[1, 10, 100], [2, 20, 200]]> : tensor<2x3xi32>
  %0 = stablehlo.einsum %a, %b, config = "ij,jk->ki" : (tensor<2x2xi32>, tensor<2x3xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %0, dense<[[5, 11], [50, 110], [500, 1100]]> : tensor<3x2xi32>
  %1 = stablehlo.unary_einsum %b, config = "ij->j" : (tensor<2x3xi32>) -> tensor<3xi32>
  check.expect_eq_const %1, dense<[3, 30, 300]> : tensor<3xi32>
  %2 = stablehlo.unary_einsum %a, config = "ii->i" : (tensor<2x2xi32>) -> tensor<2xi32>
  check.expect_eq_const %2, dense<[1, 4]> : tensor<2xi32>
  %c = stablehlo.constant dense<[(0.0, 1.0), (2.0, 0.0)]> : tensor<2xcomplex<f32>>
  %3 = stablehlo.einsum %c, %c, config = "i,i->" : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<complex<f32>>
  check.expect_eq_const %3, dense<(3.0, 0.0)> : tensor<complex<f32>>
  return
}
// -----
// Indices outside are moved to the nearest inside.
func.func @selects() {
  %x = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %i = stablehlo.constant dense<[2, 0, 9, -1]> : tensor<4xi32>
  %0 = "stablehlo.torch_index_select"(%x, %i) <{batch_dims = 0 : i64, dim = 1 : i64}> : (tensor<2x3xi64>, tensor<4xi32>) -> tensor<2x4xi64>
  check.expect_eq_const %0, dense<[[3, 1, 3, 1], [6, 4, 6, 4]]> : tensor<2x4xi64>
  %k = stablehlo.constant dense<[[0], [2]]> : tensor<2x1xi32>
  %1 = "stablehlo.torch_index_select"(%x, %k) <{batch_dims = 1 : i64, dim = 1 : i64}> : (tensor<2x3xi64>, tensor<2x1xi32>) -> tensor<2x1xi64>
  check.expect_eq_const %1, dense<[[1], [6]]> : tensor<2x1xi64>
  return
}
// -----
func.func @starts() {
  %x = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %f = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<2xi32>):
    %y = stablehlo.add %a, %a : tensor<2xi32>
    stablehlo.return %y : tensor<2xi32>
  }) : (tensor<2xi32>) -> !stablehlo.future<tensor<2xi32>>
  %0 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xi32>>) -> tensor<2xi32>
  check.expect_eq_const %0, dense<[2, 4]> : tensor<2xi32>
  return
}
// -----
module {
  func.func public @sums(%x: tensor<2xi32>) -> tensor<2xi32> {
    %0 = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xi32>) -> tensor<2xi32>
    return %0 : tensor<2xi32>
  }
  func.func public @main() {
    %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
    %b = stablehlo.constant dense<[10, 20]> : tensor<2xi32>
    %0:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@sums], [@sums]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
    check.expect_eq_const %0#1, dense<[11, 22]> : tensor<2xi32>
    return
  }
}
