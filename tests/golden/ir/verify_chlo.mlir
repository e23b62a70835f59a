// flags: -split-input-file -verify-diagnostics
// What the types, attributes and regions of these ops must be: acos, is_inf, broadcast_add, broadcast_and, broadcast_select, top_k, constant_like, ragged_dot, scan.
func.func @f(%o0: tensor<f64>) {
  // expected-error @+1 {{'chlo.acos' op result #0 must be tensor of 4/6/8/16/32/64-bit float or complex type with 32/64-bit float elements values, but got 'tensor<ui64>'}}
  %r:1 = "chlo.acos"(%o0) : (tensor<f64>) -> (tensor<ui64>)
  return
}
// -----
func.func @f(%o0: tensor<4xi1>) {
  // expected-error @+1 {{'chlo.acos' op operand #0 must be tensor of 4/6/8/16/32/64-bit float or complex type with 32/64-bit float elements values, but got 'tensor<4xi1>'}}
  %r:1 = chlo.acos %o0 : tensor<4xi1> -> tensor<4xi1>
  return
}
// -----
func.func @f(%o0: tensor<?x?xcomplex<f64>>) {
  // expected-error @+1 {{'chlo.acos' op requires compatible types for all operands and results}}
  %r:1 = chlo.acos %o0 : tensor<?x?xcomplex<f64>> -> tensor<?x?xf16>
  return
}
// -----
func.func @f(%o0: tensor<1x4x1xsi32>) {
  // expected-error @+1 {{'chlo.acos' op requires one result}}
  "chlo.acos"(%o0) : (tensor<1x4x1xsi32>) -> ()
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'chlo.acos' op requires a single operand}}
  %r:1 = "chlo.acos"() : () -> (tensor<5x3x3x5xf64>)
  return
}
// -----
func.func @f(%o0: tensor<2xf32>) {
  // expected-error @+1 {{'chlo.acos' op all non-scalar operands/results must have the same shape and base type}}
  %r:1 = "chlo.acos"(%o0) : (tensor<2xf32>) -> (tensor<*xf32>)
  return
}
// -----
func.func @f(%o0: tensor<f64>, %o1: tensor<f64>) {
  // expected-error @+1 {{'chlo.is_inf' op requires a single operand}}
  %r:1 = "chlo.is_inf"(%o0, %o1) : (tensor<f64>, tensor<f64>) -> (tensor<i1>)
  return
}
// -----
func.func @f(%o0: vector<2xf32>) {
  // expected-error @+1 {{'chlo.is_inf' op operand #0 must be tensor of 4/6/8/16/32/64-bit float values, but got 'vector<2xf32>'}}
  %r:1 = "chlo.is_inf"(%o0) : (vector<2xf32>) -> (tensor<i1>)
  return
}
// -----
func.func @f(%o0: tensor<2xf8E4M3FN>) {
  // expected-error @+1 {{'chlo.is_inf' op all non-scalar operands/results must have the same shape and base type}}
  %r:1 = "chlo.is_inf"(%o0) : (tensor<2xf8E4M3FN>) -> (tensor<4xi1>)
  return
}
// -----
func.func @f(%o0: tensor<2x1x4xf64>) {
  // expected-error @+1 {{'chlo.is_inf' op result #0 must be tensor of bool values, but got 'tensor<2x1x4xf64>'}}
  %r:1 = "chlo.is_inf"(%o0) : (tensor<2x1x4xf64>) -> (tensor<2x1x4xf64>)
  return
}
// -----
func.func @f(%o0: tensor<4x3x3xf6E3M2FN>) {
  // expected-error @+1 {{'chlo.is_inf' op requires one result}}
  "chlo.is_inf"(%o0) : (tensor<4x3x3xf6E3M2FN>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<7xf8E4M3FNUZ>) {
  // expected-error @+2 {{'chlo.is_inf' op inferred type(s) 'tensor<7xi1>' are incompatible with return type(s) of operation 'tensor<?xi1, #stablehlo.bounds<1>>'}}
  // expected-error @+1 {{'chlo.is_inf' op failed to infer returned types}}
  %r:1 = "chlo.is_inf"(%o0) : (tensor<7xf8E4M3FNUZ>) -> (tensor<?xi1, #stablehlo.bounds<1>>)
  return
}
// -----
func.func @f(%o0: tensor<2xi1>, %o1: tensor<i1>) {
  // expected-error @+2 {{'chlo.broadcast_add' op inferred type(s) 'tensor<2xi1>' are incompatible with return type(s) of operation 'tensor<i1>'}}
  // expected-error @+1 {{'chlo.broadcast_add' op failed to infer returned types}}
  %r:1 = "chlo.broadcast_add"(%o0, %o1) : (tensor<2xi1>, tensor<i1>) -> (tensor<i1>)
  return
}
// -----
func.func @f(%o0: tensor<3xui32>, %o1: tensor<ui32>) {
  // expected-error @+1 {{'chlo.broadcast_add' op requires compatible element types for all operands and results}}
  %r:1 = chlo.broadcast_add %o0, %o1 : (tensor<3xui32>, tensor<ui32>) -> tensor<i1>
  return
}
// -----
func.func @f(%o0: tensor<7x2xf4E2M1FN>, %o1: tensor<1x2xf4E2M1FN>) {
  // expected-error @+1 {{'chlo.broadcast_add' op result #0 must be tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<1x2xsi32>'}}
  %r:1 = "chlo.broadcast_add"(%o0, %o1) : (tensor<7x2xf4E2M1FN>, tensor<1x2xf4E2M1FN>) -> (tensor<1x2xsi32>)
  return
}
// -----
func.func @f(%o0: tensor<2x4x1x4xi1>, %o1: tensor<index>) {
  // expected-error @+1 {{'chlo.broadcast_add' op operand #1 must be tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<index>'}}
  %r:1 = "chlo.broadcast_add"(%o0, %o1) : (tensor<2x4x1x4xi1>, tensor<index>) -> (tensor<2x4x1x4xi1>)
  return
}
// -----
func.func @f(%o0: tensor<i1>) {
  // expected-error @+1 {{'chlo.broadcast_add' op expected 2 operands, but found 1}}
  %r:1 = "chlo.broadcast_add"(%o0) <{broadcast_dimensions = array<i64>}> : (tensor<i1>) -> (tensor<1x3x3xi1>)
  return
}
// -----
func.func @f(%o0: tensor<complex<f64>>, %o1: tensor<i8>) {
  // expected-error @+1 {{'chlo.broadcast_add' op requires one result}}
  "chlo.broadcast_add"(%o0, %o1) : (tensor<complex<f64>>, tensor<i8>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<i1>, %o1: tensor<i1>) {
  // expected-error @+2 {{'chlo.broadcast_and' op inferred type(s) 'tensor<i1>' are incompatible with return type(s) of operation 'tensor<2xi1>'}}
  // expected-error @+1 {{'chlo.broadcast_and' op failed to infer returned types}}
  %r:1 = "chlo.broadcast_and"(%o0, %o1) : (tensor<i1>, tensor<i1>) -> (tensor<2xi1>)
  return
}
// -----
func.func @f(%o0: tensor<2xf16>, %o1: tensor<i8>) {
  // expected-error @+1 {{'chlo.broadcast_and' op operand #0 must be tensor of bool or 2/4/8/16/32/64-bit integer values, but got 'tensor<2xf16>'}}
  %r:1 = chlo.broadcast_and %o0, %o1 {broadcast_dimensions = array<i64>} : (tensor<2xf16>, tensor<i8>) -> tensor<2xi8>
  return
}
// -----
func.func @f(%o0: tensor<4x1xi64>, %o1: tensor<4x1xi1>) {
  // expected-error @+2 {{mismatched operand types}}
  // expected-error @+1 {{'chlo.broadcast_and' op failed to infer returned types}}
  %r:1 = chlo.broadcast_and %o0, %o1 : (tensor<4x1xi64>, tensor<4x1xi1>) -> tensor<4x1xi1>
  return
}
// -----
func.func @f(%o0: tensor<i1>, %o1: tensor<i1>) {
  // expected-error @+1 {{'chlo.broadcast_and' op requires one result}}
  %r:2 = "chlo.broadcast_and"(%o0, %o1) : (tensor<i1>, tensor<i1>) -> (tensor<i1>, tensor<i1>)
  return
}
// -----
func.func @f(%o0: tensor<5x2x1x5xi2>, %o1: tensor<i2>) {
  // expected-error @+1 {{'chlo.broadcast_and' op result #0 must be tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<5x2x1x5xindex>'}}
  %r:1 = "chlo.broadcast_and"(%o0, %o1) : (tensor<5x2x1x5xi2>, tensor<i2>) -> (tensor<5x2x1x5xindex>)
  return
}
// -----
func.func @f(%o0: tensor<2x1x5xbf16>, %o1: tensor<2x1x5xbf16>, %o2: tensor<2x1x5xbf16>) {
  // expected-error @+1 {{'chlo.broadcast_and' op expected 2 operands, but found 3}}
  %r:1 = "chlo.broadcast_and"(%o0, %o1, %o2) : (tensor<2x1x5xbf16>, tensor<2x1x5xbf16>, tensor<2x1x5xbf16>) -> (tensor<2x1x5xbf16>)
  return
}
// -----
func.func @f(%o0: !stablehlo.token, %o1: tensor<2x5x1xi1>, %o2: tensor<2x5x1xi1>) {
  // expected-error @+1 {{'chlo.broadcast_select' op operand #0 must be ranked tensor of bool values, but got '!stablehlo.token'}}
  %r:1 = "chlo.broadcast_select"(%o0, %o1, %o2) : (!stablehlo.token, tensor<2x5x1xi1>, tensor<2x5x1xi1>) -> (!stablehlo.token)
  return
}
// -----
func.func @f(%o0: tensor<i1>, %o1: tensor<complex<f32>>, %o2: tensor<complex<f32>>) {
  // expected-error @+1 {{'chlo.broadcast_select' op requires one result}}
  %r:3 = "chlo.broadcast_select"(%o0, %o1, %o2) : (tensor<i1>, tensor<complex<f32>>, tensor<complex<f32>>) -> (tensor<complex<f32>>, tensor<complex<f32>>, tensor<complex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<1x1xi1>, %o1: tensor<1x1xf8E3M4>, %o2: tensor<1x1xf8E3M4>) {
  // expected-error @+1 {{'chlo.broadcast_select' op result #0 must be tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<1x1xindex>'}}
  %r:1 = chlo.broadcast_select %o0, %o1, %o2 : (tensor<1x1xi1>, tensor<1x1xf8E3M4>, tensor<1x1xf8E3M4>) -> tensor<1x1xindex>
  return
}
// -----
func.func @f(%o0: tensor<i1>, %o1: tensor<f64>, %o2: tensor<?xf64>) {
  // expected-error @+2 {{'chlo.broadcast_select' op inferred type(s) 'tensor<?xf64>' are incompatible with return type(s) of operation 'tensor<f64>'}}
  // expected-error @+1 {{'chlo.broadcast_select' op failed to infer returned types}}
  %r:1 = chlo.broadcast_select %o0, %o1, %o2 : (tensor<i1>, tensor<f64>, tensor<?xf64>) -> tensor<f64>
  return
}
// -----
func.func @f(%o0: tensor<5x2x2x1xi1>, %o1: tensor<5x2x2x1xi7>, %o2: tensor<5x2x2x1xi64>) {
  // expected-error @+1 {{'chlo.broadcast_select' op operand #1 must be tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<5x2x2x1xi7>'}}
  %r:1 = "chlo.broadcast_select"(%o0, %o1, %o2) : (tensor<5x2x2x1xi1>, tensor<5x2x2x1xi7>, tensor<5x2x2x1xi64>) -> (tensor<5x2x2x1xi64>)
  return
}
// -----
func.func @f(%o0: tensor<2x2x3x2xi1>, %o1: tensor<2x2x3x2xf8E5M2>, %o2: tensor<2x2x3x2xi16>) {
  // expected-error @+2 {{mismatched operand types}}
  // expected-error @+1 {{'chlo.broadcast_select' op failed to infer returned types}}
  %r:1 = chlo.broadcast_select %o0, %o1, %o2 : (tensor<2x2x3x2xi1>, tensor<2x2x3x2xf8E5M2>, tensor<2x2x3x2xi16>) -> tensor<2x2x3x2xf8E5M2>
  return
}
// -----
func.func @f(%o0: tensor<3xi1>, %o1: tensor<3xi1>, %o2: tensor<3xcomplex<f64>>, %o3: tensor<3xcomplex<f64>>) {
  // expected-error @+1 {{'chlo.broadcast_select' op expected 3 operands, but found 4}}
  %r:1 = "chlo.broadcast_select"(%o0, %o1, %o2, %o3) : (tensor<3xi1>, tensor<3xi1>, tensor<3xcomplex<f64>>, tensor<3xcomplex<f64>>) -> (tensor<?xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<5xi32>, %o1: tensor<5xi32>, %o2: tensor<5xi32>) {
  // expected-error @+1 {{'chlo.top_k' op requires a single operand}}
  %r:2 = "chlo.top_k"(%o0, %o1, %o2) <{k = 2 : i64}> : (tensor<5xi32>, tensor<5xi32>, tensor<5xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  return
}
// -----
func.func @f(%o0: tensor<1x3x2x1xi64>) {
  // expected-error @+1 {{'chlo.top_k' op result #0 must be tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<1x3x2x1xsi32>'}}
  %r:2 = chlo.top_k(%o0, k = 1) : tensor<1x3x2x1xi64> -> (tensor<1x3x2x1xsi32>, tensor<1x3x2x1xsi32>)
  return
}
// -----
func.func @f(%o0: tensor<5x2x1xi2>) {
  // expected-error @+2 {{'chlo.top_k' op inferred type(s) 'tensor<5x2x1xi2>', 'tensor<5x2x1xi32>' are incompatible with return type(s) of operation 'tensor<5x2x1xi2>', 'tensor<5x3x1xi32>'}}
  // expected-error @+1 {{'chlo.top_k' op failed to infer returned types}}
  %r:2 = "chlo.top_k"(%o0) <{k = 1 : i64}> : (tensor<5x2x1xi2>) -> (tensor<5x2x1xi2>, tensor<5x3x1xi32>)
  return
}
// -----
func.func @f(%o0: tensor<2x2x2x4xi7>) {
  // expected-error @+1 {{'chlo.top_k' op operand #0 must be tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<2x2x2x4xi7>'}}
  %r:2 = "chlo.top_k"(%o0) <{k = 4 : i64}> : (tensor<2x2x2x4xi7>) -> (tensor<2x2x2x4xbf16>, tensor<2x2x2x4xi32>)
  return
}
// -----
func.func @f(%o0: tensor<3x5x1xi64>) {
  // expected-error @+1 {{'chlo.top_k' op expected 2 results}}
  %r:1 = "chlo.top_k"(%o0) <{k = 1 : i64}> : (tensor<3x5x1xi64>) -> (tensor<3x5x1xi64>)
  return
}
// -----
func.func @f(%o0: tensor<2x3x5x3xf16>) {
  // expected-error @+1 {{'chlo.top_k' op requires attribute 'k'}}
  %r:2 = "chlo.top_k"(%o0) : (tensor<2x3x5x3xf16>) -> (tensor<2x3x5x2xf16>, tensor<2x3x5x2xi32>)
  return
}
// -----
func.func @f(%o0: tensor<1x5x3xf8E5M2FNUZ>) {
  // expected-error @+2 {{operand's last dimension must be at least 5}}
  // expected-error @+1 {{'chlo.top_k' op failed to infer returned types}}
  %r:2 = "chlo.top_k"(%o0) <{k = 5 : i64}> : (tensor<1x5x3xf8E5M2FNUZ>) -> (tensor<1x5x1xf8E5M2FNUZ>, tensor<1x5x1xi32>)
  return
}
// -----
func.func @f(%o0: tensor<f8E5M2FNUZ>) {
  // expected-error @+2 {{operand's rank must be at least 1}}
  // expected-error @+1 {{'chlo.top_k' op failed to infer returned types}}
  %r:2 = "chlo.top_k"(%o0) <{k = 5 : i64}> : (tensor<f8E5M2FNUZ>) -> (tensor<5xf8E5M2FNUZ>, tensor<5xi32>)
  return
}
// -----
func.func @f(%o0: tensor<3xf8E5M2>) {
  // expected-error @+1 {{'chlo.top_k' op attribute 'k' failed to satisfy constraint: 64-bit signless integer attribute}}
  %r:2 = "chlo.top_k"(%o0) <{k = true}> : (tensor<3xf8E5M2>) -> (tensor<3xf8E5M2>, tensor<3xi32>)
  return
}
// -----
func.func @f(%o0: tensor<f32>, %o1: tensor<f32>) {
  // expected-error @+1 {{'chlo.constant_like' op requires a single operand}}
  %r:1 = "chlo.constant_like"(%o0, %o1) <{value = -660.000000 : f32}> : (tensor<f32>, tensor<f32>) -> (tensor<f32>)
  return
}
// -----
func.func @f(%o0: tensor<3xf32>) {
  // expected-error @+1 {{'chlo.constant_like' op requires the same shape for all operands and results}}
  %r:1 = "chlo.constant_like"(%o0) <{value = 0x66DDABB2 : f32}> : (tensor<3xf32>) -> (tensor<f32>)
  return
}
// -----
func.func @f(%o0: tensor<i8>) {
  // expected-error @+1 {{'chlo.constant_like' op requires attribute 'value'}}
  %r:1 = "chlo.constant_like"(%o0) : (tensor<i8>) -> (tensor<i8>)
  return
}
// -----
func.func @f(%o0: i32) {
  // expected-error @+1 {{'chlo.constant_like' op operand #0 must be tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'i32'}}
  %r:1 = "chlo.constant_like"(%o0) <{value = 424.000000 : f64}> : (i32) -> (tensor<3x1x2x5xf64>)
  return
}
// -----
func.func @f(%o0: tensor<2x5xf32>) {
  // expected-error @+1 {{'chlo.constant_like' op value's type doesn't match element return type}}
  %r:1 = "chlo.constant_like"(%o0) <{value = -0.0 : f32}> : (tensor<2x5xf32>) -> (tensor<2x5xf6E2M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<2x2x2xi32>) {
  // expected-error @+1 {{integer constant out of range for attribute}}
  %r:1 = "chlo.constant_like"(%o0) <{value = -2147483649 : i32}> : (tensor<2x2x2xi32>) -> (tensor<2x2x2xi32>)
  return
}
// -----
func.func @f(%o0: tensor<3x4x3x2xf64>) {
  // expected-error @+1 {{'chlo.constant_like' op result #0 must be tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<3x4x3x2x1xindex>'}}
  %r:1 = "chlo.constant_like"(%o0) <{value = 1.5 : f64}> : (tensor<3x4x3x2xf64>) -> (tensor<3x4x3x2x1xindex>)
  return
}
// -----
func.func @f(%o0: tensor<i32>) {
  // expected-error @+1 {{'chlo.constant_like' op requires one result}}
  %r:2 = "chlo.constant_like"(%o0) <{value = -798853984 : i32}> : (tensor<i32>) -> (tensor<i32>, tensor<i32>)
  return
}
// -----
func.func @f(%o0: tensor<2x4xi1>, %o1: tensor<1x4x3xi1>, %o2: tensor<1xi1>) {
  // expected-error @+1 {{'chlo.ragged_dot' op operand #2 must be ranked tensor of 2/4/8/16/32/64-bit integer values, but got 'tensor<1xi1>'}}
  %r:1 = "chlo.ragged_dot"(%o0, %o1, %o2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_ragged_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], rhs_group_dimensions = [0]>}> : (tensor<2x4xi1>, tensor<1x4x3xi1>, tensor<1xi1>) -> (tensor<2x3xi1>)
  return
}
// -----
func.func @f(%o0: tensor<1x4xf4E2M1FN>, %o1: tensor<1x4x2xf4E2M1FN>, %o2: tensor<1xf4E2M1FN>, %o3: tensor<1xf4E2M1FN>) {
  // expected-error @+1 {{'chlo.ragged_dot' op expected 3 operands, but found 4}}
  %r:1 = "chlo.ragged_dot"(%o0, %o1, %o2, %o3) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_ragged_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], rhs_group_dimensions = [0]>}> : (tensor<1x4xf4E2M1FN>, tensor<1x4x2xf4E2M1FN>, tensor<1xf4E2M1FN>, tensor<1xf4E2M1FN>) -> (tensor<1x2xf4E2M1FN>)
  return
}
// -----
func.func @f(%o0: tensor<2x2xf32>, %o1: tensor<3x2x4xf32>, %o2: tensor<3xi64>) {
  // expected-error @+1 {{lhs and rhs should have the same number of contracting dimensions}}
  %r:1 = "chlo.ragged_dot"(%o0, %o1, %o2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_ragged_dimensions = [0], lhs_contracting_dimensions = [], rhs_contracting_dimensions = [1], rhs_group_dimensions = [0]>}> : (tensor<2x2xf32>, tensor<3x2x4xf32>, tensor<3xi64>) -> (tensor<2x4xf32>)
  return
}
// -----
func.func @f(%o0: tensor<4x1xbf16>, %o1: tensor<4x1x3xbf16>, %o2: tensor<4xi64>) {
  // expected-error @+1 {{has duplicated dimension from rhs_group_dimensions and rhs_contracting_dimensions: 1}}
  %r:1 = "chlo.ragged_dot"(%o0, %o1, %o2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [1]>}> : (tensor<4x1xbf16>, tensor<4x1x3xbf16>, tensor<4xi64>) -> (tensor<4x3xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<2xf32>, %o1: tensor<2x3x2xf32>, %o2: tensor<2xi64>) {
  // expected-error @+1 {{lhs_contracting_dimensions value: 1 is out of range: [0, 1)}}
  %r:1 = "chlo.ragged_dot"(%o0, %o1, %o2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_ragged_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], rhs_group_dimensions = [0]>, precision_config = [#chlo<precision HIGHEST>, #chlo<precision DEFAULT>]}> : (tensor<2xf32>, tensor<2x3x2xf32>, tensor<2xi64>) -> (tensor<2x2xf32>)
  return
}
// -----
func.func @f(%o0: tensor<2x1xf32>, %o1: tensor<2x1x3xf32>, %o2: tensor<2xi64>) {
  // expected-error @+1 {{inferred shape '[2, 3]' is incompatible with return type of operation 'tensor<2x5xf32>'}}
  %r:1 = "chlo.ragged_dot"(%o0, %o1, %o2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<rhs_contracting_dimensions = [1], lhs_contracting_dimensions = [1], rhs_group_dimensions = [0], lhs_ragged_dimensions = [0]>}> : (tensor<2x1xf32>, tensor<2x1x3xf32>, tensor<2xi64>) -> (tensor<2x5xf32>)
  return
}
// -----
func.func @f(%o0: tensor<2x4xf32>, %o1: tensor<2x4x2xf32>, %o2: tensor<3xi64>) {
  // expected-error @+1 {{rhs group dimension is expected to have size=3, got 2}}
  %r:1 = "chlo.ragged_dot"(%o0, %o1, %o2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<rhs_contracting_dimensions = [1], lhs_contracting_dimensions = [1], rhs_group_dimensions = [0], lhs_ragged_dimensions = [0]>, precision_config = [#chlo<precision HIGHEST>, #chlo<precision HIGH>]}> : (tensor<2x4xf32>, tensor<2x4x2xf32>, tensor<3xi64>) -> (tensor<2x2xf32>)
  return
}
// -----
func.func @f(%o0: tensor<4x4xf32>, %o1: tensor<2x4x4xf32>, %o2: tensor<2xi64>) {
  // expected-error @+1 {{contracting dimension sizes must match for lhs/rhs}}
  %r:1 = "chlo.ragged_dot"(%o0, %o1, %o2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<rhs_contracting_dimensions = [0], lhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<4x4xf32>, tensor<2x4x4xf32>, tensor<2xi64>) -> (tensor<4x4xf32>)
  return
}
// -----
func.func @f(%o0: tensor<1x4xsi32>, %o1: tensor<3x4x1xf32>, %o2: tensor<3xi64>) {
  // expected-error @+1 {{'chlo.ragged_dot' op operand #0 must be tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<1x4xsi32>'}}
  %r:1 = "chlo.ragged_dot"(%o0, %o1, %o2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_ragged_dimensions = [0], rhs_group_dimensions = [0], rhs_contracting_dimensions = [1], lhs_contracting_dimensions = [1]>, precision_config = [#chlo<precision HIGHEST>, #chlo<precision HIGH>]}> : (tensor<1x4xsi32>, tensor<3x4x1xf32>, tensor<3xi64>) -> (tensor<1x1xf32>)
  return
}
// -----
func.func @f(%o0: tensor<1x3xf32>, %o1: tensor<2x3x3xf32>, %o2: tensor<2xi64>) {
  // expected-error @+1 {{'chlo.ragged_dot' op requires one result}}
  %r:2 = "chlo.ragged_dot"(%o0, %o1, %o2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_ragged_dimensions = [0], rhs_contracting_dimensions = [1], rhs_group_dimensions = [0], lhs_contracting_dimensions = [1]>, precision_config = [#chlo<precision HIGHEST >, #chlo<precision HIGH>]}> : (tensor<1x3xf32>, tensor<2x3x3xf32>, tensor<2xi64>) -> (tensor<1x3xf32>, tensor<1x3xf32>)
  return
}
// -----
func.func @f(%o0: tensor<1x2xf32>, %o1: tensor<4x2x1xf32>, %o2: tensor<4xi64>) {
  // expected-error @+1 {{There must be zero group dimensions in the rhs when the ragged dimension is batch or contracting.}}
  %r:1 = "chlo.ragged_dot"(%o0, %o1, %o2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<rhs_contracting_dimensions = [1], rhs_group_dimensions = [0], lhs_contracting_dimensions = [1], lhs_ragged_dimensions = [1]>}> : (tensor<1x2xf32>, tensor<4x2x1xf32>, tensor<4xi64>) -> (tensor<1x1xf32>)
  return
}
// -----
func.func @f(%o0: tensor<3x1xf32>, %o1: tensor<2x1x2xf32>, %o2: tensor<2xi64>) {
  // expected-error @+1 {{'chlo.ragged_dot' op requires attribute 'ragged_dot_dimension_numbers'}}
  %r:1 = "chlo.ragged_dot"(%o0, %o1, %o2) : (tensor<3x1xf32>, tensor<2x1x2xf32>, tensor<2xi64>) -> (tensor<3x2xf32>)
  return
}
// -----
func.func @f(%o0: tensor<4x4xf32>, %o1: tensor<2x4x1xf32>, %o2: tensor<2xi64>) {
  // expected-error @+1 {{rhs_contracting_dimensions value: 100 is out of range: [0, 3)}}
  %r:1 = "chlo.ragged_dot"(%o0, %o1, %o2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_ragged_dimensions = [0], rhs_contracting_dimensions = [100], rhs_group_dimensions = [0], lhs_contracting_dimensions = [1]>}> : (tensor<4x4xf32>, tensor<2x4x1xf32>, tensor<2xi64>) -> (tensor<4x1xf32>)
  return
}
// -----
func.func @f(%o0: tensor<4x1xbf16>, %o1: tensor<1x1x3xbf16>, %o2: tensor<1xi64>) {
  // expected-error @+1 {{'chlo.ragged_dot' op result #0 must be tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<4x3xsi32>'}}
  %r:1 = "chlo.ragged_dot"(%o0, %o1, %o2) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<rhs_group_dimensions = [0], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], lhs_contracting_dimensions = [1]>}> : (tensor<4x1xbf16>, tensor<1x1x3xbf16>, tensor<1xi64>) -> (tensor<4x3xsi32>)
  return
}
// -----
func.func @f(%o0: tensor<4xf32>, %o1: tensor<f32>) {
  // expected-error @+1 {{'chlo.scan' op attribute 'dimension' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %r:2 = "chlo.scan"(%o0, %o1) <{dimension = -1 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a0: tensor<f32>, %a1: tensor<f32>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f32>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f32>
  "stablehlo.return"(%m0, %m1) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return
}
// -----
func.func @f(%o0: tensor<2x1xf32>, %o1: tensor<1xf32>) {
  // expected-error @+1 {{'chlo.scan' op expects 2 arguments in the body, but got 0}}
  %r:2 = "chlo.scan"(%o0, %o1) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>, is_reverse = true}> ({
  ^bb0():
  "stablehlo.return"() : () -> ()
  }) : (tensor<2x1xf32>, tensor<1xf32>) -> (tensor<2x1xf32>, tensor<1xf32>)
  return
}
// -----
func.func @f(%o0: tensor<3x5xi32>, %o1: tensor<5xi32>) {
  // expected-error @+1 {{'chlo.scan' op 'operandSegmentSizes' attribute cannot have negative elements}}
  %r:2 = "chlo.scan"(%o0, %o1) <{dimension = 0 : i64, operandSegmentSizes = array<i32: -2, 1>, resultSegmentSizes = array<i32: 1, 1>, is_reverse = false}> ({
  ^bb0(%a0: tensor<5xi32>, %a1: tensor<5xi32>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<5xi32>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<5xi32>
  "stablehlo.return"(%m0, %m1) : (tensor<5xi32>, tensor<5xi32>) -> ()
  }) : (tensor<3x5xi32>, tensor<5xi32>) -> (tensor<3x5xi32>, tensor<5xi32>)
  return
}
// -----
func.func @f(%o0: tensor<2x4xf32>, %o1: tensor<4xf32>) {
  // expected-error @+2 {{'chlo.scan' op inferred type(s) 'tensor<2x4xf32>', 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<2x2xf32>', 'tensor<4xf32>'}}
  // expected-error @+1 {{'chlo.scan' op failed to infer returned types}}
  %r:2 = "chlo.scan"(%o0, %o1) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a0: tensor<4xf32>, %a1: tensor<4xf32>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<4xf32>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<4xf32>
  "stablehlo.return"(%m0, %m1) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) : (tensor<2x4xf32>, tensor<4xf32>) -> (tensor<2x2xf32>, tensor<4xf32>)
  return
}
// -----
func.func @f(%o0: tensor<4xf32>, %o1: tensor<?xf32>) {
  // expected-error @+1 {{'chlo.scan' op operand and body argument 1 are incompatible}}
  %r:2 = "chlo.scan"(%o0, %o1) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a0: tensor<f32>, %a1: tensor<f32>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f32>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f32>
  "stablehlo.return"(%m0, %m1) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<?xf32>) -> (tensor<4xf32>, tensor<f32>)
  return
}
// -----
func.func @f(%o0: tensor<4xindex>, %o1: tensor<index>) {
  // expected-error @+1 {{'chlo.scan' op operand #0 must be variadic of tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<4xindex>'}}
  %r:2 = "chlo.scan"(%o0, %o1) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a0: tensor<f32>, %a1: tensor<f32>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f32>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f32>
  "stablehlo.return"(%m0, %m1) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<4xindex>, tensor<index>) -> (tensor<4xf32>, tensor<f32>)
  return
}
// -----
func.func @f(%o0: tensor<2xi32>, %o1: tensor<i32>) {
  // expected-error @+1 {{'chlo.scan' op result count (2) does not match with the total size (1) specified in attribute 'resultSegmentSizes'}}
  %r:2 = "chlo.scan"(%o0, %o1) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 0, 1>, is_reverse = true}> ({
  ^bb0(%a0: tensor<i32>, %a1: tensor<i32>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i32>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i32>
  "stablehlo.return"(%m0, %m1) : (tensor<i32>, tensor<i32>) -> ()
  }) : (tensor<2xi32>, tensor<i32>) -> (tensor<2xi32>, tensor<i32>)
  return
}
// -----
func.func @f(%o0: tensor<4xf32>, %o1: tensor<f32>) {
  // expected-error @+1 {{'chlo.scan' op scan dimension of operand 0 is out of bounds}}
  %r:2 = "chlo.scan"(%o0, %o1) <{dimension = 1 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a0: tensor<f32>, %a1: tensor<f32>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f32>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f32>
  "stablehlo.return"(%m0, %m1) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return
}
// -----
func.func @f(%o0: tensor<4xi32>) {
  // expected-error @+1 {{'chlo.scan' op operand count (1) does not match with the total size (2) specified in attribute 'operandSegmentSizes'}}
  %r:2 = "chlo.scan"(%o0) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a0: tensor<i32>, %a1: tensor<i32>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i32>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i32>
  "stablehlo.return"(%m0, %m1) : (tensor<i32>, tensor<i32>) -> ()
  }) : (tensor<4xi32>) -> (tensor<4xi32>, tensor<i32>)
  return
}
// -----
func.func @f(%o0: tensor<3xi32>, %o1: tensor<i32>) {
  // expected-error @+1 {{'chlo.scan' op result #0 must be variadic of tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<3xindex>'}}
  %r:2 = "chlo.scan"(%o0, %o1) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>, is_reverse = true}> ({
  ^bb0(%a0: tensor<i32>, %a1: tensor<i32>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i32>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i32>
  "stablehlo.return"(%m0, %m1) : (tensor<i32>, tensor<i32>) -> ()
  }) : (tensor<3xi32>, tensor<i32>) -> (tensor<3xindex>, tensor<i32>)
  return
}
// -----
func.func @f(%o0: tensor<3x4xf32>, %o1: tensor<4xf32>) {
  // expected-error @+1 {{'chlo.scan' op requires one region}}
  %r:2 = "chlo.scan"(%o0, %o1) <{dimension = 0 : i64, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
  ^bb0(%a0: tensor<4xf32>, %a1: tensor<4xf32>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<4xf32>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<4xf32>
  "stablehlo.return"(%m0, %m1) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }, {
  ^bb0(%a0: tensor<4xf32>, %a1: tensor<4xf32>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<4xf32>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<4xf32>
  "stablehlo.return"(%m0, %m1) : (tensor<4xf32>, tensor<4xf32>) -> ()
  }) : (tensor<3x4xf32>, tensor<4xf32>) -> (tensor<3x4xf32>, tensor<4xf32>)
  return
}
// -----
func.func @f(%o0: tensor<4xf32>, %o1: tensor<f32>) {
  // expected-error @+1 {{'chlo.scan' op requires attribute 'dimension'}}
  %r:2 = "chlo.scan"(%o0, %o1) <{operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>, is_reverse = true}> ({
  ^bb0(%a0: tensor<f32>, %a1: tensor<f32>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f32>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f32>
  "stablehlo.return"(%m0, %m1) : (tensor<f32>, tensor<f32>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> (tensor<4xf32>, tensor<f32>)
  return
}
