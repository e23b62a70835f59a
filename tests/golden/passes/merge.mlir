// flags: -split-input-file -allow-unregistered-dialect -sdy-constant-or-scalar-merger
// Equal constants become the first, whatever op they are; other types and attributes stay.
func.func @constants() {
  %0 = sdy.constant dense<1> : tensor<3xi32>
  %1 = stablehlo.constant dense<1> : tensor<3xi32>
  %2 = sdy.constant dense<1> : tensor<3xi64>
  %3 = sdy.constant {note} dense<1> : tensor<3xi32>
  %4 = sdy.constant dense<1> : tensor<3xi32>
  %5 = stablehlo.iota dim = 0 : tensor<3xi32>
  %6 = stablehlo.iota dim = 0 : tensor<3xi32>
  "a.use"(%0, %1, %2, %3, %4, %5, %6) : (tensor<3xi32>, tensor<3xi32>, tensor<3xi64>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> ()
  return
}
// -----
// Broadcasts of one scalar, also one that has become another.
func.func @broadcasts(%x: tensor<i32>) {
  %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<i32>) -> tensor<3xi32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<i32>) -> tensor<3xi32>
  %2 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<i32>) -> tensor<3x1xi32>
  %a = stablehlo.constant dense<4> : tensor<i32>
  %b = stablehlo.constant dense<4> : tensor<i32>
  %3 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<i32>) -> tensor<3xi32>
  %4 = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<i32>) -> tensor<3xi32>
  "a.use"(%0, %1, %2, %3, %4) : (tensor<3xi32>, tensor<3xi32>, tensor<3x1xi32>, tensor<3xi32>, tensor<3xi32>) -> ()
  return
}
// -----
// Not out of a region.
func.func @regions(%p: tensor<i1>) -> tensor<3xi32> {
  %c = sdy.constant dense<1> : tensor<3xi32>
  %0 = "stablehlo.if"(%p) ({
    %1 = sdy.constant dense<1> : tensor<3xi32>
    %2 = sdy.constant dense<1> : tensor<3xi32>
    %3 = stablehlo.add %1, %2 : tensor<3xi32>
    stablehlo.return %3 : tensor<3xi32>
  }, {
    stablehlo.return %c : tensor<3xi32>
  }) : (tensor<i1>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}
