// flags: -split-input-file -verify-diagnostics
// What the types, attributes and regions of these ops must be: broadcast, broadcast_in_dim, dynamic_broadcast_in_dim, reverse, transpose, reshape, dynamic_reshape, concatenate, iota, dynamic_iota, get_dimension_size, set_dimension_size, pad, dynamic_pad, constant.
func.func @f(%o0: tensor<1x5xf16>) {
  // expected-error @+1 {{'stablehlo.broadcast' op requires the same element type for all operands and results}}
  %r:1 = "stablehlo.broadcast"(%o0) <{broadcast_sizes = array<i64: 4, 1>}> : (tensor<1x5xf16>) -> (tensor<4x1x5xi1>)
  return
}
// -----
func.func @f(%o0: tensor<3x5xui16>) {
  // expected-error @+2 {{'stablehlo.broadcast' op inferred type(s) 'tensor<1x1x3x5xui16>' are incompatible with return type(s) of operation 'tensor<1x1x5xui16>'}}
  // expected-error @+1 {{'stablehlo.broadcast' op failed to infer returned types}}
  %r:1 = stablehlo.broadcast %o0, sizes = [1, 1] : (tensor<3x5xui16>) -> (tensor<1x1x5xui16>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.broadcast' op requires a single operand}}
  %r:1 = "stablehlo.broadcast"() <{broadcast_sizes = array<i64: 3, 4>}> : () -> (tensor<3x4x2xi2>)
  return
}
// -----
func.func @f(%o0: tuple<tensor<f32>>) {
  // expected-error @+1 {{'stablehlo.broadcast' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tuple<tensor<f32>>'}}
  %r:1 = stablehlo.broadcast %o0, sizes = [] : (tuple<tensor<f32>>) -> (tensor<1xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<1xui16>) {
  // expected-error @+1 {{'stablehlo.broadcast' op requires one result}}
  %r:2 = "stablehlo.broadcast"(%o0) <{broadcast_sizes = array<i64: 2>}> : (tensor<1xui16>) -> (tensor<2x1xui16>, tensor<2x1xui16>)
  return
}
// -----
func.func @f(%o0: tensor<2xi1>) {
  // expected-error @+1 {{'stablehlo.broadcast' op requires attribute 'broadcast_sizes'}}
  %r:1 = "stablehlo.broadcast"(%o0) : (tensor<2xi1>) -> (tensor<5x2xi1>)
  return
}
// -----
func.func @f(%o0: tensor<5xcomplex<f64>>) {
  // expected-error @+2 {{Broadcast with negative dimension size -1}}
  // expected-error @+1 {{'stablehlo.broadcast' op failed to infer returned types}}
  %r:1 = "stablehlo.broadcast"(%o0) <{broadcast_sizes = array<i64: 4, -1>}> : (tensor<5xcomplex<f64>>) -> (tensor<4x4x5xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<3x4xcomplex<f64>>) {
  // expected-error @+1 {{'stablehlo.broadcast' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<*xf32>'}}
  %r:1 = stablehlo.broadcast %o0, sizes = [2] : (tensor<3x4xcomplex<f64>>) -> (tensor<*xf32>)
  return
}
// -----
func.func @f(%o0: tensor<5x7x4xi1>) {
  // expected-error @+1 {{size of operand dimension 1 (7) is not equal to 1 or size of result dimension 1 (4)}}
  %r:1 = stablehlo.broadcast_in_dim %o0, dims = [0, 1, 2] : (tensor<5x7x4xi1>) -> (tensor<5x4x4x1x3xi1>)
  return
}
// -----
func.func @f(%o0: tensor<2xf8E8M0FNU>) {
  // expected-error @+1 {{broadcast_dimensions contains invalid value 100 for result with rank 2}}
  %r:1 = "stablehlo.broadcast_in_dim"(%o0) <{broadcast_dimensions = array<i64: 100>}> : (tensor<2xf8E8M0FNU>) -> (tensor<2x4xf8E8M0FNU>)
  return
}
// -----
func.func @f(%o0: tensor<3xi1>) {
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op result #0 must be statically shaped or single bounded dimension tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16}}
  %r:1 = "stablehlo.broadcast_in_dim"(%o0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<3xi1>) -> (vector<2xf32>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op requires a single operand}}
  %r:1 = "stablehlo.broadcast_in_dim"() <{broadcast_dimensions = array<i64: 1>}> : () -> (!stablehlo.token)
  return
}
// -----
func.func @f(%o0: tensor<5x2x1xi1>) {
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op requires compatible element types for all operands and results}}
  %r:1 = stablehlo.broadcast_in_dim %o0, dims = [0, 1, 2] : (tensor<5x2x1xi1>) -> (tensor<5x2x3xf6E2M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<1xui2>) {
  // expected-error @+1 {{broadcast_dimensions size (2) does not match operand rank (1)}}
  %r:1 = "stablehlo.broadcast_in_dim"(%o0) <{broadcast_dimensions = array<i64: 2, 2>}> : (tensor<1xui2>) -> (tensor<1x2x4xui2>)
  return
}
// -----
func.func @f(%o0: tensor<2x3xcomplex<f32>>) {
  // expected-error @+1 {{broadcast_dimensions should not have duplicates}}
  %r:1 = "stablehlo.broadcast_in_dim"(%o0) <{broadcast_dimensions = array<i64: 0, 0>}> : (tensor<2x3xcomplex<f32>>) -> (tensor<2x3xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tuple<tensor<f32>>) {
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tuple<tensor<f32>>'}}
  %r:1 = stablehlo.broadcast_in_dim %o0, dims = [] : (tuple<tensor<f32>>) -> (tensor<5x5xi1>)
  return
}
// -----
func.func @f(%o0: tensor<4x4x4xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op requires attribute 'broadcast_dimensions'}}
  %r:1 = "stablehlo.broadcast_in_dim"(%o0) : (tensor<4x4x4xcomplex<f32>>) -> (tensor<4x4x4xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<3x2x1xcomplex<f64>>) {
  // expected-error @+1 {{'stablehlo.broadcast_in_dim' op requires one result}}
  "stablehlo.broadcast_in_dim"(%o0) <{broadcast_dimensions = array<i64: 2, 0, 4>}> : (tensor<3x2x1xcomplex<f64>>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<4xi1>, %o1: tensor<0xi64>) {
  // expected-error @+1 {{broadcast_dimensions size (0) does not match operand rank (1)}}
  %r:1 = "stablehlo.dynamic_broadcast_in_dim"(%o0, %o1) <{broadcast_dimensions = array<i64>}> : (tensor<4xi1>, tensor<0xi64>) -> (tensor<i1>)
  return
}
// -----
func.func @f(%o0: tensor<5xi1>, %o1: tensor<2xindex>) {
  // expected-error @+1 {{expects operand and result to have compatible element type. Got: 'tensor<5xi1>' and 'tensor<2xf32>'}}
  %r:1 = "stablehlo.dynamic_broadcast_in_dim"(%o0, %o1) <{broadcast_dimensions = array<i64: 1>}> : (tensor<5xi1>, tensor<2xindex>) -> (tensor<2xf32>)
  return
}
// -----
func.func @f(%o0: tensor<f4E2M1FN>, %o1: tensor<1xf4E2M1FN>) {
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op operand #1 must be statically shaped 1-dimensional tensor of index or 2/4/8/16/32/64-bit integer values, but got 'tensor<1xf4E2M1FN>'}}
  %r:1 = "stablehlo.dynamic_broadcast_in_dim"(%o0, %o1) <{broadcast_dimensions = array<i64>}> : (tensor<f4E2M1FN>, tensor<1xf4E2M1FN>) -> (tensor<?xf8E5M2FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<5xcomplex<f64>>, %o1: tensor<3xi32>) {
  // expected-error @+1 {{size of operand dimension 0 (5) is not compatible with size of result dimension 2 (1)}}
  %r:1 = stablehlo.dynamic_broadcast_in_dim %o0, %o1, dims = [2] : (tensor<5xcomplex<f64>>, tensor<3xi32>) -> (tensor<?x?x1xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<3x2xf8E3M4>, %o1: tensor<3xindex>) {
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op requires attribute 'broadcast_dimensions'}}
  %r:1 = "stablehlo.dynamic_broadcast_in_dim"(%o0, %o1) : (tensor<3x2xf8E3M4>, tensor<3xindex>) -> (tensor<?x?x?xf8E3M4>)
  return
}
// -----
func.func @f(%o0: tensor<5x3xui4>, %o1: tensor<4xindex>) {
  // expected-error @+1 {{hint for expanding dimension -1 does not refer to a valid operand dimension}}
  %r:1 = "stablehlo.dynamic_broadcast_in_dim"(%o0, %o1) <{broadcast_dimensions = array<i64: 0, 2>, known_expanding_dimensions = array<i64: -1>, known_nonexpanding_dimensions = array<i64: 1>}> : (tensor<5x3xui4>, tensor<4xindex>) -> (tensor<?x?x?x?xui4>)
  return
}
// -----
func.func @f(%o0: tensor<4xi7>, %o1: tensor<1xi7>) {
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<4xi7>'}}
  %r:1 = "stablehlo.dynamic_broadcast_in_dim"(%o0, %o1) <{broadcast_dimensions = array<i64: 0>}> : (tensor<4xi7>, tensor<1xi7>) -> (tensor<?xi1>)
  return
}
// -----
func.func @f(%o0: tensor<i1>, %o1: tensor<0xindex>) {
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tuple<>'}}
  %r:1 = "stablehlo.dynamic_broadcast_in_dim"(%o0, %o1) <{broadcast_dimensions = array<i64>}> : (tensor<i1>, tensor<0xindex>) -> (tuple<>)
  return
}
// -----
func.func @f(%o0: tensor<5x1xf8E4M3FNUZ>, %o1: tensor<3xindex>) {
  // expected-error @+1 {{duplicate expansion hint for at least one operand dimension}}
  %r:1 = "stablehlo.dynamic_broadcast_in_dim"(%o0, %o1) <{broadcast_dimensions = array<i64: 0, 2>, known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 0>}> : (tensor<5x1xf8E4M3FNUZ>, tensor<3xindex>) -> (tensor<?x?x?xf8E4M3FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<4x1xi1>, %o1: tensor<3xindex>) {
  // expected-error @+1 {{broadcast_dimensions should not have duplicates}}
  %r:1 = "stablehlo.dynamic_broadcast_in_dim"(%o0, %o1) <{broadcast_dimensions = array<i64: 1, 1>}> : (tensor<4x1xi1>, tensor<3xindex>) -> (tensor<?x?x?xi1>)
  return
}
// -----
func.func @f(%o0: tensor<1xi64>) {
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op expected 2 operands, but found 1}}
  %r:1 = "stablehlo.dynamic_broadcast_in_dim"(%o0) <{broadcast_dimensions = array<i64: 0>}> : (tensor<1xi64>) -> (tensor<?xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<complex<f32>>, %o1: tensor<0xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_broadcast_in_dim' op requires one result}}
  %r:2 = "stablehlo.dynamic_broadcast_in_dim"(%o0, %o1) <{broadcast_dimensions = array<i64>}> : (tensor<complex<f32>>, tensor<0xi32>) -> (tensor<complex<f32>>, tensor<complex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<1x5xi1>, %o1: tensor<3xi64>) {
  // expected-error @+1 {{broadcast_dimensions contains invalid value -1 for result with rank 3}}
  %r:1 = "stablehlo.dynamic_broadcast_in_dim"(%o0, %o1) <{broadcast_dimensions = array<i64: -1, 2>}> : (tensor<1x5xi1>, tensor<3xi64>) -> (tensor<?x?x?xi1>)
  return
}
// -----
func.func @f(%o0: tensor<3x1xcomplex<f64>>, %o1: tensor<2xi32>) {
  // expected-error @+1 {{result rank (1) is less than operand rank (2)}}
  %r:1 = "stablehlo.dynamic_broadcast_in_dim"(%o0, %o1) <{broadcast_dimensions = array<i64: 0, 1>, known_expanding_dimensions = array<i64: 0>, known_nonexpanding_dimensions = array<i64: 1>}> : (tensor<3x1xcomplex<f64>>, tensor<2xi32>) -> (tensor<?xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<2x9x4x1xcomplex<f64>>) {
  // expected-error @+2 {{'stablehlo.reverse' op inferred type(s) 'tensor<2x9x4x1xcomplex<f64>>' are incompatible with return type(s) of operation 'tensor<2x4x4x1xcomplex<f64>>'}}
  // expected-error @+1 {{'stablehlo.reverse' op failed to infer returned types}}
  %r:1 = stablehlo.reverse %o0, dims = [2, 3] : (tensor<2x9x4x1xcomplex<f64>>) -> (tensor<2x4x4x1xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<2x5x5xui16>) {
  // expected-error @+1 {{dimensions should be unique. Got: 0, 0, 2}}
  %r:1 = "stablehlo.reverse"(%o0) <{dimensions = array<i64: 0, 0, 2>}> : (tensor<2x5x5xui16>) -> (tensor<2x5x5xui16>)
  return
}
// -----
func.func @f(%o0: tensor<4xsi32>) {
  // expected-error @+1 {{'stablehlo.reverse' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<4xsi32>'}}
  %r:1 = "stablehlo.reverse"(%o0) <{dimensions = array<i64>}> : (tensor<4xsi32>) -> (tensor<4xi1>)
  return
}
// -----
func.func @f(%o0: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.reverse' op requires the same element type for all operands and results}}
  %r:1 = stablehlo.reverse %o0, dims = [] : (tensor<i32>) -> (tensor<i1>)
  return
}
// -----
func.func @f(%o0: tensor<1x3x5x4xbf16>) {
  // expected-error @+1 {{dimensions should be unique. Got: 3, 0, 2, 2}}
  %r:1 = "stablehlo.reverse"(%o0) <{dimensions = array<i64: 3, 0, 2, 2>}> : (tensor<1x3x5x4xbf16>) -> (tensor<1x3x5x4xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<3x5xi1>) {
  // expected-error @+1 {{all dimensions should be between [0, 2). Got dimension: 2.}}
  %r:1 = "stablehlo.reverse"(%o0) <{dimensions = array<i64: 2, 0>}> : (tensor<3x5xi1>) -> (tensor<3x5xi1>)
  return
}
// -----
func.func @f(%o0: tensor<i16>) {
  // expected-error @+1 {{all dimensions should be non-negative. Got dimension: -2.}}
  %r:1 = "stablehlo.reverse"(%o0) <{dimensions = array<i64: -2>}> : (tensor<i16>) -> (tensor<i16>)
  return
}
// -----
func.func @f(%o0: tensor<4x2x4xf8E4M3FN>, %o1: tensor<4x2x4xf8E4M3FN>) {
  // expected-error @+1 {{'stablehlo.reverse' op requires a single operand}}
  %r:1 = "stablehlo.reverse"(%o0, %o1) <{dimensions = array<i64>}> : (tensor<4x2x4xf8E4M3FN>, tensor<4x2x4xf8E4M3FN>) -> (tensor<4x2xf8E4M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<2x5xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.reverse' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tuple<tensor<f32>>'}}
  %r:1 = "stablehlo.reverse"(%o0) <{dimensions = array<i64>}> : (tensor<2x5xcomplex<f32>>) -> (tuple<tensor<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<2x5x3x2xcomplex<f64>>) {
  // expected-error @+1 {{'stablehlo.reverse' op requires one result}}
  "stablehlo.reverse"(%o0) <{dimensions = array<i64: 2>}> : (tensor<2x5x3x2xcomplex<f64>>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<complex<f64>>) {
  // expected-error @+1 {{'stablehlo.reverse' op requires attribute 'dimensions'}}
  %r:1 = "stablehlo.reverse"(%o0) : (tensor<complex<f64>>) -> (tensor<complex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<1x1xi8>) {
  // expected-error @+1 {{dimensions should be unique. Got: 0, 0}}
  %r:1 = "stablehlo.reverse"(%o0) <{dimensions = array<i64: 0, 0>}> : (tensor<1x1xi8>) -> (tensor<1x1xi8>)
  return
}
// -----
func.func @f(%o0: tensor<1x1xui2>) {
  // expected-error @+1 {{'stablehlo.transpose' op requires compatible element types for all operands and results}}
  %r:1 = stablehlo.transpose %o0, dims = [1, 0] : (tensor<1x1xui2>) -> (tensor<1x1xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<7x1xcomplex<f64>>) {
  // expected-error @+2 {{'stablehlo.transpose' op inferred type(s) 'tensor<7x1xcomplex<f64>>' are incompatible with return type(s) of operation 'tensor<5x1xcomplex<f64>>'}}
  // expected-error @+1 {{'stablehlo.transpose' op failed to infer returned types}}
  %r:1 = "stablehlo.transpose"(%o0) <{permutation = array<i64: 0, 1>}> : (tensor<7x1xcomplex<f64>>) -> (tensor<5x1xcomplex<f64>>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.transpose' op requires a single operand}}
  %r:1 = "stablehlo.transpose"() <{permutation = array<i64: 1, 0>}> : () -> (tensor<4x3xi32>)
  return
}
// -----
func.func @f(%o0: tensor<2xf8E4M3FNUZ>) {
  // expected-error @+1 {{'stablehlo.transpose' op requires one result}}
  %r:2 = "stablehlo.transpose"(%o0) <{permutation = array<i64: 0>}> : (tensor<2xf8E4M3FNUZ>) -> (tensor<2xf8E4M3FNUZ>, tensor<2xf8E4M3FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<3x3x4xindex>) {
  // expected-error @+1 {{'stablehlo.transpose' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<3x3x4xindex>'}}
  %r:1 = stablehlo.transpose %o0, dims = [0, 1, 2] : (tensor<3x3x4xindex>) -> (tensor<3x3x4xui2>)
  return
}
// -----
func.func @f(%o0: tensor<1x1xcomplex<f64>>) {
  // expected-error @+1 {{'stablehlo.transpose' op requires attribute 'permutation'}}
  %r:1 = "stablehlo.transpose"(%o0) : (tensor<1x1xcomplex<f64>>) -> (tensor<1x1xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<4x2xcomplex<f64>>) {
  // expected-error @+2 {{attribute permutation must be a permutation of [0, 1] but got 0, 0}}
  // expected-error @+1 {{'stablehlo.transpose' op failed to infer returned types}}
  %r:1 = "stablehlo.transpose"(%o0) <{permutation = array<i64: 0, 0>}> : (tensor<4x2xcomplex<f64>>) -> (tensor<2x4xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<4x4x5x4xcomplex<f64>>) {
  // expected-error @+2 {{TransposeOp operand rank 4 does not match permutation size 0}}
  // expected-error @+1 {{'stablehlo.transpose' op failed to infer returned types}}
  %r:1 = "stablehlo.transpose"(%o0) <{permutation = array<i64>}> : (tensor<4x4x5x4xcomplex<f64>>) -> (tensor<4x4x5x4xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<4x3xf32>) {
  // expected-error @+1 {{'stablehlo.transpose' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<3x4xindex>'}}
  %r:1 = "stablehlo.transpose"(%o0) <{permutation = array<i64: 1, 0>}> : (tensor<4x3xf32>) -> (tensor<3x4xindex>)
  return
}
// -----
func.func @f(%o0: tensor<1x7x1xi1>) {
  // expected-error @+1 {{number of output elements (1) doesn't match expected number of elements (7)}}
  %r:1 = "stablehlo.reshape"(%o0) : (tensor<1x7x1xi1>) -> (tensor<1x1x1xi1>)
  return
}
// -----
func.func @f(%o0: tensor<3x1x5x3xcomplex<f64>>) {
  // expected-error @+1 {{'stablehlo.reshape' op result #0 must be statically shaped or single bounded dimension tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bi}}
  %r:1 = stablehlo.reshape %o0 : (tensor<3x1x5x3xcomplex<f64>>) -> (tensor<3x5x?x3xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<complex<f32>>) {
  // expected-error @+1 {{'stablehlo.reshape' op requires compatible element types for all operands and results}}
  %r:1 = "stablehlo.reshape"(%o0) : (tensor<complex<f32>>) -> (tensor<1x1xi16>)
  return
}
// -----
func.func @f(%o0: tensor<3x2x3x1xi4>) {
  // expected-error @+1 {{'stablehlo.reshape' op requires one result}}
  %r:2 = "stablehlo.reshape"(%o0) : (tensor<3x2x3x1xi4>) -> (tensor<2x1x3x3xcomplex<f64>>, tensor<2x1x3x3xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<4x1x1x3xindex>) {
  // expected-error @+1 {{'stablehlo.reshape' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<4x1x1x3xindex>'}}
  %r:1 = stablehlo.reshape %o0 : (tensor<4x1x1x3xindex>) -> (tensor<4x1x3x1x1x1xi1>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.reshape' op requires a single operand}}
  %r:1 = "stablehlo.reshape"() : () -> (tensor<4xf8E8M0FNU>)
  return
}
// -----
func.func @f(%o0: tensor<1xui2>, %o1: tensor<1xui2>) {
  // expected-error @+1 {{expects operand and result to have compatible element type. Got: 'tensor<1xui2>' and 'tensor<?xcomplex<f64>>'}}
  %r:1 = "stablehlo.dynamic_reshape"(%o0, %o1) : (tensor<1xui2>, tensor<1xui2>) -> (tensor<?xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<1x4xi1>, %o1: tensor<3xi64>) {
  // expected-error @+1 {{'stablehlo.dynamic_reshape' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<?x?x?xsi32>'}}
  %r:1 = "stablehlo.dynamic_reshape"(%o0, %o1) : (tensor<1x4xi1>, tensor<3xi64>) -> (tensor<?x?x?xsi32>)
  return
}
// -----
func.func @f(%o0: tensor<1xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_reshape' op expected 2 operands, but found 1}}
  %r:1 = "stablehlo.dynamic_reshape"(%o0) : (tensor<1xi32>) -> (tensor<?xi4>)
  return
}
// -----
func.func @f(%o0: tensor<4x5x3xf4E2M1FN>, %o1: tensor<3xf4E2M1FN>) {
  // expected-error @+1 {{'stablehlo.dynamic_reshape' op operand #1 must be statically shaped 1-dimensional tensor of index or 2/4/8/16/32/64-bit integer values, but got 'tensor<3xf4E2M1FN>'}}
  %r:1 = "stablehlo.dynamic_reshape"(%o0, %o1) : (tensor<4x5x3xf4E2M1FN>, tensor<3xf4E2M1FN>) -> (tensor<?x?x?xf4E2M1FN>)
  return
}
// -----
func.func @f(%o0: tuple<tensor<f32>>, %o1: tensor<3xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_reshape' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tuple<tensor<f32>>'}}
  %r:1 = stablehlo.dynamic_reshape %o0, %o1 : (tuple<tensor<f32>>, tensor<3xi32>) -> (tensor<?x?x?xi1>)
  return
}
// -----
func.func @f(%o0: tensor<4xcomplex<f32>>, %o1: tensor<1xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_reshape' op requires one result}}
  "stablehlo.dynamic_reshape"(%o0, %o1) : (tensor<4xcomplex<f32>>, tensor<1xi32>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<f8E8M0FNU>, %o1: tensor<1xi64>) {
  // expected-error @+1 {{number of output elements (0) doesn't match expected number of elements (1)}}
  %r:1 = stablehlo.dynamic_reshape %o0, %o1 : (tensor<f8E8M0FNU>, tensor<1xi64>) -> (tensor<0xf8E8M0FNU>)
  return
}
// -----
func.func @f(%o0: tensor<ui32>, %o1: tensor<1xi64>) {
  // expected-error @+1 {{result should have a rank equal to the number of elements in output_shape}}
  %r:1 = stablehlo.dynamic_reshape %o0, %o1 : (tensor<ui32>, tensor<1xi64>) -> (tensor<ui32>)
  return
}
// -----
func.func @f(%o0: tensor<1xi64>, %o1: tensor<1xi64>, %o2: tensor<3xi64>) {
  // expected-error @+2 {{'stablehlo.concatenate' op inferred type(s) 'tensor<5xi64>' are incompatible with return type(s) of operation 'tensor<2x5xi64>'}}
  // expected-error @+1 {{'stablehlo.concatenate' op failed to infer returned types}}
  %r:1 = "stablehlo.concatenate"(%o0, %o1, %o2) <{dimension = 0}> : (tensor<1xi64>, tensor<1xi64>, tensor<3xi64>) -> (tensor<2x5xi64>)
  return
}
// -----
func.func @f(%o0: tensor<4x4x3xi1>) {
  // expected-error @+1 {{'stablehlo.concatenate' op attribute 'dimension' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %r:1 = "stablehlo.concatenate"(%o0) <{dimension = 1 : i32}> : (tensor<4x4x3xi1>) -> (tensor<4x4x3xi1>)
  return
}
// -----
func.func @f(%o0: tensor<1x2x1x5xi1>, %o1: tensor<2x2x2x5xi1>, %o2: tensor<1x2x1x5xi1>) {
  // expected-error @+2 {{shapes of operand (0) and (1) are not compatible at non-concat index 0: (1, 2, 1, 5) != (2, 2, 2, 5)}}
  // expected-error @+1 {{'stablehlo.concatenate' op failed to infer returned types}}
  %r:1 = "stablehlo.concatenate"(%o0, %o1, %o2) <{dimension = 2 : i64}> : (tensor<1x2x1x5xi1>, tensor<2x2x2x5xi1>, tensor<1x2x1x5xi1>) -> (tensor<1x2x4x5xi1>)
  return
}
// -----
func.func @f(%o0: tensor<3x3xui64>, %o1: tensor<4x3xui64>, %o2: tensor<2x3xui64>) {
  // expected-error @+1 {{'stablehlo.concatenate' op requires attribute 'dimension'}}
  %r:1 = "stablehlo.concatenate"(%o0, %o1, %o2) : (tensor<3x3xui64>, tensor<4x3xui64>, tensor<2x3xui64>) -> (tensor<9x3xui64>)
  return
}
// -----
func.func @f(%o0: tensor<1x4xcomplex<f64>>, %o1: tensor<3x4xcomplex<f64>>, %o2: tensor<1x4xcomplex<f64>>) {
  // expected-error @+1 {{'stablehlo.concatenate' op requires the same element type for all operands and results}}
  %r:1 = stablehlo.concatenate %o0, %o1, %o2, dim = 0 : (tensor<1x4xcomplex<f64>>, tensor<3x4xcomplex<f64>>, tensor<1x4xcomplex<f64>>) -> (tensor<5x4xi1>)
  return
}
// -----
func.func @f(%o0: tensor<5x3x2x5xf6E2M3FN>, %o1: tensor<5x3x3x5xsi32>, %o2: tensor<5x3x3x5xf6E2M3FN>) {
  // expected-error @+1 {{'stablehlo.concatenate' op operand #1 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<5x3x3x5xsi32>'}}
  %r:1 = "stablehlo.concatenate"(%o0, %o1, %o2) <{dimension = 2}> : (tensor<5x3x2x5xf6E2M3FN>, tensor<5x3x3x5xsi32>, tensor<5x3x3x5xf6E2M3FN>) -> (tensor<5x3x8x5xf6E2M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<3xf8E3M4>, %o1: tensor<3xf8E3M4>, %o2: tensor<4xf8E3M4>) {
  // expected-error @+1 {{'stablehlo.concatenate' op requires one result}}
  stablehlo.concatenate %o0, %o1, %o2, dim = 0 : (tensor<3xf8E3M4>, tensor<3xf8E3M4>, tensor<4xf8E3M4>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<3xi1>, %o1: tensor<3xi1>) {
  // expected-error @+2 {{dimension 1 is out-of-bounds for input rank 1}}
  // expected-error @+1 {{'stablehlo.concatenate' op failed to infer returned types}}
  %r:1 = "stablehlo.concatenate"(%o0, %o1) <{dimension = 1 : i64}> : (tensor<3xi1>, tensor<3xi1>) -> (tensor<6xi1>)
  return
}
// -----
func.func @f(%o0: tensor<1x1xf8E5M2>, %o1: tensor<2xf8E5M2>) {
  // expected-error @+2 {{operands (0) and (1) do not match rank}}
  // expected-error @+1 {{'stablehlo.concatenate' op failed to infer returned types}}
  %r:1 = "stablehlo.concatenate"(%o0, %o1) <{dimension = 0}> : (tensor<1x1xf8E5M2>, tensor<2xf8E5M2>) -> (tensor<3xf8E5M2>)
  return
}
// -----
func.func @f(%o0: tensor<2x2xi1>, %o1: tensor<2x1xi1>) {
  // expected-error @+2 {{shapes of operand (0) and (1) are not compatible at non-concat index 1: (2, 2) != (2, 1)}}
  // expected-error @+1 {{'stablehlo.concatenate' op failed to infer returned types}}
  %r:1 = "stablehlo.concatenate"(%o0, %o1) <{dimension = 0 : i64}> : (tensor<2x2xi1>, tensor<2x1xi1>) -> (tensor<2x3xi1>)
  return
}
// -----
func.func @f(%o0: tensor<4x4x4xi2>, %o1: tensor<4x4x3xi2>) {
  // expected-error @+1 {{'stablehlo.concatenate' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'i32'}}
  %r:1 = "stablehlo.concatenate"(%o0, %o1) <{dimension = 2}> : (tensor<4x4x4xi2>, tensor<4x4x3xi2>) -> (i32)
  return
}
// -----
func.func @f(%o0: tensor<3x3x2xui32>, %o1: tensor<2x3x2xui32>) {
  // expected-error @+2 {{shapes of operand (0) and (1) are not compatible at non-concat index 0: (3, 3, 2) != (2, 3, 2)}}
  // expected-error @+1 {{'stablehlo.concatenate' op failed to infer returned types}}
  %r:1 = "stablehlo.concatenate"(%o0, %o1) <{dimension = 1 : i64}> : (tensor<3x3x2xui32>, tensor<2x3x2xui32>) -> (tensor<5x3x2xui32>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.concatenate' op expected 1 or more operands, but found 0}}
  %r:1 = "stablehlo.concatenate"() <{dimension = 3 : i64}> : () -> (tensor<3x3xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<i16>, %o1: tensor<3xi16>) {
  // expected-error @+2 {{rank-0 values cannot be concatenated}}
  // expected-error @+1 {{'stablehlo.concatenate' op failed to infer returned types}}
  %r:1 = stablehlo.concatenate %o0, %o1, dim = 0 : (tensor<i16>, tensor<3xi16>) -> (tensor<5xi16>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{iota dimension cannot go beyond the output rank.}}
  %r:1 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> (tensor<4xui64>)
  return
}
// -----
func.func @f(%o0: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.iota' op requires zero operands}}
  %r:1 = "stablehlo.iota"(%o0) <{iota_dimension = 0}> : (tensor<f32>) -> (tensor<5x4x4x1xcomplex<f32>>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.iota' op requires one result}}
  "stablehlo.iota"() <{iota_dimension = 0}> : () -> ()
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.iota' op requires attribute 'iota_dimension'}}
  %r:1 = "stablehlo.iota"() : () -> (tensor<1x1x4x1xf6E2M3FN>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.iota' op attribute 'iota_dimension' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %r:1 = "stablehlo.iota"() <{iota_dimension = -1}> : () -> (tensor<5x3x4xcomplex<f32>>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.iota' op result #0 must be statically shaped tensor of 2/4/8/16/32/64-bit integer or 4/6/8/16/32/64-bit float or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<1xi1>'}}
  %r:1 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> (tensor<1xi1>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{does not support scalars.}}
  %r:1 = "stablehlo.iota"() <{iota_dimension = 0}> : () -> (tensor<complex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<2xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_iota' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tuple<tensor<f32>>'}}
  %r:1 = stablehlo.dynamic_iota %o0, dim = 0 : (tensor<2xi32>) -> (tuple<tensor<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<2xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_iota' op requires one result}}
  stablehlo.dynamic_iota %o0, dim = 1 : (tensor<2xi32>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<1xi32>) {
  // expected-error @+1 {{iota dimension cannot go beyond the output rank.}}
  %r:1 = "stablehlo.dynamic_iota"(%o0) <{iota_dimension = 2}> : (tensor<1xi32>) -> (tensor<?xf4E2M1FN>)
  return
}
// -----
func.func @f(%o0: tensor<1x?xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_iota' op operand #0 must be statically shaped 1-dimensional tensor of index or 2/4/8/16/32/64-bit integer values, but got 'tensor<1x?xi32>'}}
  %r:1 = "stablehlo.dynamic_iota"(%o0) <{iota_dimension = 0}> : (tensor<1x?xi32>) -> (tensor<?xbf16>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.dynamic_iota' op requires a single operand}}
  %r:1 = "stablehlo.dynamic_iota"() <{iota_dimension = 2}> : () -> (tensor<?x?x?xi4>)
  return
}
// -----
func.func @f(%o0: tensor<2xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_iota' op attribute 'iota_dimension' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %r:1 = "stablehlo.dynamic_iota"(%o0) <{iota_dimension = -2}> : (tensor<2xi32>) -> (tensor<?x?xf8E8M0FNU>)
  return
}
// -----
func.func @f(%o0: tensor<2xindex>) {
  // expected-error @+1 {{'stablehlo.dynamic_iota' op requires attribute 'iota_dimension'}}
  %r:1 = "stablehlo.dynamic_iota"(%o0) : (tensor<2xindex>) -> (tensor<?x?xf4E2M1FN>)
  return
}
// -----
func.func @f(%o0: tensor<3x?x2x1xf8E3M4, #stablehlo.bounds<?, 7, ?, ?>>) {
  // expected-error @+1 {{'stablehlo.get_dimension_size' op result #0 must be ranked tensor of 32-bit signless integer values, but got 'tensor<f6E2M3FN>'}}
  %r:1 = stablehlo.get_dimension_size %o0, dim = 3 : (tensor<3x?x2x1xf8E3M4, #stablehlo.bounds<?, 7, ?, ?>>) -> (tensor<f6E2M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<5x2xf8E4M3B11FNUZ>) {
  // expected-error @+2 {{'stablehlo.get_dimension_size' op inferred type(s) 'tensor<i32>' are incompatible with return type(s) of operation 'tensor<4xi32>'}}
  // expected-error @+1 {{'stablehlo.get_dimension_size' op failed to infer returned types}}
  %r:1 = stablehlo.get_dimension_size %o0, dim = 1 : (tensor<5x2xf8E4M3B11FNUZ>) -> (tensor<4xi32>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.get_dimension_size' op requires a single operand}}
  %r:1 = "stablehlo.get_dimension_size"() <{dimension = 2}> : () -> (tensor<i32>)
  return
}
// -----
func.func @f(%o0: tensor<3x3x5x4xi2>) {
  // expected-error @+1 {{'stablehlo.get_dimension_size' op requires one result}}
  %r:2 = "stablehlo.get_dimension_size"(%o0) <{dimension = 3}> : (tensor<3x3x5x4xi2>) -> (tensor<i32>, tensor<i32>)
  return
}
// -----
func.func @f(%o0: tensor<?x3x2x5xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.get_dimension_size' op attribute 'dimension' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %r:1 = "stablehlo.get_dimension_size"(%o0) <{dimension = 1 : i32}> : (tensor<?x3x2x5xcomplex<f32>>) -> (tensor<i32>)
  return
}
// -----
func.func @f(%o0: tensor<5x4xi4>) {
  // expected-error @+2 {{requires dimension attribute in range [0, 2); found (3)}}
  // expected-error @+1 {{'stablehlo.get_dimension_size' op failed to infer returned types}}
  %r:1 = "stablehlo.get_dimension_size"(%o0) <{dimension = 3 : i64}> : (tensor<5x4xi4>) -> (tensor<i32>)
  return
}
// -----
func.func @f(%o0: tensor<4x4x4x5xi1>) {
  // expected-error @+1 {{'stablehlo.get_dimension_size' op requires attribute 'dimension'}}
  %r:1 = "stablehlo.get_dimension_size"(%o0) : (tensor<4x4x4x5xi1>) -> (tensor<i32>)
  return
}
// -----
func.func @f(%o0: tensor<1x1x3x2xsi32>) {
  // expected-error @+1 {{'stablehlo.get_dimension_size' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<1x1x3x2xsi32>'}}
  %r:1 = stablehlo.get_dimension_size %o0, dim = 0 : (tensor<1x1x3x2xsi32>) -> (tensor<i32>)
  return
}
// -----
func.func @f(%o0: tensor<1x5xi4>, %o1: tensor<i32>) {
  // expected-error @+2 {{'stablehlo.set_dimension_size' op inferred type(s) 'tensor<?x5xi4, #stablehlo.bounds<1, ?>>' are incompatible with return type(s) of operation 'tensor<?x5xi64, #stablehlo.bounds<1, ?>>'}}
  // expected-error @+1 {{'stablehlo.set_dimension_size' op failed to infer returned types}}
  %r:1 = "stablehlo.set_dimension_size"(%o0, %o1) <{dimension = 0 : i64}> : (tensor<1x5xi4>, tensor<i32>) -> (tensor<?x5xi64, #stablehlo.bounds<1, ?>>)
  return
}
// -----
func.func @f(%o0: tensor<2x3x5x1xf8E4M3FN>, %o1: tensor<i32>) {
  // expected-error @+2 {{requires dimension attribute in range [0, 4); found (5)}}
  // expected-error @+1 {{'stablehlo.set_dimension_size' op failed to infer returned types}}
  %r:1 = "stablehlo.set_dimension_size"(%o0, %o1) <{dimension = 5}> : (tensor<2x3x5x1xf8E4M3FN>, tensor<i32>) -> (tensor<2x3x5x?xf8E4M3FN, #stablehlo.bounds<?, ?, ?, 1>>)
  return
}
// -----
func.func @f(%o0: tensor<2x4x4x2xf8E4M3FNUZ>, %o1: tensor<i8>) {
  // expected-error @+1 {{'stablehlo.set_dimension_size' op operand #1 must be ranked tensor of 32-bit signless integer values, but got 'tensor<i8>'}}
  %r:1 = "stablehlo.set_dimension_size"(%o0, %o1) <{dimension = 2}> : (tensor<2x4x4x2xf8E4M3FNUZ>, tensor<i8>) -> (tensor<2x4x?x2xf8E4M3FNUZ, #stablehlo.bounds<?, ?, 4, ?>>)
  return
}
// -----
func.func @f(%o0: tensor<1x1x1xf6E2M3FN>, %o1: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.set_dimension_size' op attribute 'dimension' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %r:1 = "stablehlo.set_dimension_size"(%o0, %o1) <{dimension = -1 : i64}> : (tensor<1x1x1xf6E2M3FN>, tensor<i32>) -> (tensor<?x1x1xf6E2M3FN, #stablehlo.bounds<1, ?, ?>>)
  return
}
// -----
func.func @f(%o0: tensor<2x1x2x5xui4>) {
  // expected-error @+1 {{'stablehlo.set_dimension_size' op expected 2 operands, but found 1}}
  %r:1 = "stablehlo.set_dimension_size"(%o0) <{dimension = 1 : i64}> : (tensor<2x1x2x5xui4>) -> (tensor<2x?x2x5xui4, #stablehlo.bounds<?, 1, ?, ?>>)
  return
}
// -----
func.func @f(%o0: tensor<5x3xbf16>, %o1: tensor<?xi32>) {
  // expected-error @+2 {{size operand should be of rank-0}}
  // expected-error @+1 {{'stablehlo.set_dimension_size' op failed to infer returned types}}
  %r:1 = "stablehlo.set_dimension_size"(%o0, %o1) <{dimension = 0 : i64}> : (tensor<5x3xbf16>, tensor<?xi32>) -> (tensor<?x3xbf16, #stablehlo.bounds<5, ?>>)
  return
}
// -----
func.func @f(%o0: tensor<5x1xi16>, %o1: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.set_dimension_size' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got '!stablehlo.token'}}
  %r:1 = "stablehlo.set_dimension_size"(%o0, %o1) <{dimension = 1 : i64}> : (tensor<5x1xi16>, tensor<i32>) -> (!stablehlo.token)
  return
}
// -----
func.func @f(%o0: tensor<5x5x4xui32>, %o1: tensor<i32>, %o2: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.set_dimension_size' op requires one result}}
  %r:2 = "stablehlo.set_dimension_size"(%o0, %o1, %o2) <{dimension = 1}> : (tensor<5x5x4xui32>, tensor<i32>, tensor<i32>) -> (tensor<5x?x4xui32, #stablehlo.bounds<?, 5, ?>>, tensor<5x?x4xui32, #stablehlo.bounds<?, 5, ?>>)
  return
}
// -----
func.func @f(%o0: tensor<2xindex>, %o1: tensor<index>) {
  // expected-error @+1 {{'stablehlo.set_dimension_size' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<2xindex>'}}
  %r:1 = "stablehlo.set_dimension_size"(%o0, %o1) <{dimension = 0 : i64}> : (tensor<2xindex>, tensor<index>) -> (tensor<?xindex, #stablehlo.bounds<2>>)
  return
}
// -----
func.func @f(%o0: tensor<3xf6E2M3FN>, %o1: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.set_dimension_size' op requires attribute 'dimension'}}
  %r:1 = "stablehlo.set_dimension_size"(%o0, %o1) : (tensor<3xf6E2M3FN>, tensor<i32>) -> (tensor<?xf6E2M3FN, #stablehlo.bounds<3>>)
  return
}
// -----
func.func @f(%o0: tensor<3xi1>, %o1: tensor<i1>) {
  // expected-error @+2 {{'stablehlo.pad' op inferred type(s) 'tensor<19xi1>' are incompatible with return type(s) of operation 'tensor<13xi1>'}}
  // expected-error @+1 {{'stablehlo.pad' op failed to infer returned types}}
  %r:1 = "stablehlo.pad"(%o0, %o1) <{edge_padding_low = array<i64: 3>, edge_padding_high = array<i64: 3>, interior_padding = array<i64: 5>}> : (tensor<3xi1>, tensor<i1>) -> (tensor<13xi1>)
  return
}
// -----
func.func @f(%o0: tensor<i16>, %o1: tensor<i16>) {
  // expected-error @+1 {{'stablehlo.pad' op requires attribute 'edge_padding_low'}}
  %r:1 = "stablehlo.pad"(%o0, %o1) <{edge_padding_high = array<i64>, interior_padding = array<i64>}> : (tensor<i16>, tensor<i16>) -> (tensor<i16>)
  return
}
// -----
func.func @f(%o0: tensor<2xf32>, %o1: tensor<i1>) {
  // expected-error @+1 {{'stablehlo.pad' op requires the same element type for all operands and results}}
  %r:1 = stablehlo.pad %o0, %o1, low = [3, 1, 3], high = [3, 3, 0], interior = [0, 2, 0] : (tensor<2xf32>, tensor<i1>) -> (tensor<11x5x5xi1>)
  return
}
// -----
func.func @f(%o0: tensor<4x3xcomplex<f64>>, %o1: tensor<complex<f64>>) {
  // expected-error @+1 {{'stablehlo.pad' op failed to verify that all of {edge_padding_low, edge_padding_high, interior_padding} have same size}}
  %r:1 = "stablehlo.pad"(%o0, %o1) <{edge_padding_low = array<i64: 0, 0>, edge_padding_high = array<i64: 3, 1, 3>, interior_padding = array<i64: 0, 0>}> : (tensor<4x3xcomplex<f64>>, tensor<complex<f64>>) -> (tensor<7x4xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<1x1xf8E4M3B11FNUZ>, %o1: tensor<f8E4M3B11FNUZ>) {
  // expected-error @+2 {{edge_padding_low length (1) must match operand rank (2)}}
  // expected-error @+1 {{'stablehlo.pad' op failed to infer returned types}}
  %r:1 = stablehlo.pad %o0, %o1, low = [2], high = [0], interior = [2] : (tensor<1x1xf8E4M3B11FNUZ>, tensor<f8E4M3B11FNUZ>) -> (tensor<3xf8E4M3B11FNUZ>)
  return
}
// -----
func.func @f(%o0: !stablehlo.token, %o1: tensor<i4>) {
  // expected-error @+1 {{'stablehlo.pad' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got '!stablehlo.token'}}
  %r:1 = "stablehlo.pad"(%o0, %o1) <{edge_padding_low = array<i64: 3, 3, 1, 3>, edge_padding_high = array<i64: 1, 3, 1, 0>, interior_padding = array<i64: 2, 1, 0, 0>}> : (!stablehlo.token, tensor<i4>) -> (tensor<14x9x6x5xi4>)
  return
}
// -----
func.func @f(%o0: tensor<8x4xui4>, %o1: tensor<8x4xui4>, %o2: tensor<ui4>) {
  // expected-error @+1 {{'stablehlo.pad' op expected 2 operands, but found 3}}
  %r:1 = "stablehlo.pad"(%o0, %o1, %o2) <{edge_padding_low = array<i64: 0, 0>, edge_padding_high = array<i64: 2, 1>, interior_padding = array<i64: 0, 2>}> : (tensor<8x4xui4>, tensor<8x4xui4>, tensor<ui4>) -> (tensor<5x11xui4>)
  return
}
// -----
func.func @f(%o0: tensor<f8E3M4>, %o1: tensor<f8E3M4>) {
  // expected-error @+1 {{'stablehlo.pad' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<index>'}}
  %r:1 = stablehlo.pad %o0, %o1, low = [], high = [], interior = [] : (tensor<f8E3M4>, tensor<f8E3M4>) -> (tensor<index>)
  return
}
// -----
func.func @f(%o0: tensor<complex<f32>>, %o1: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.pad' op operand #1 must be 0D tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got '!stablehlo.token'}}
  %r:1 = "stablehlo.pad"(%o0, %o1) <{edge_padding_low = array<i64>, edge_padding_high = array<i64>, interior_padding = array<i64>}> : (tensor<complex<f32>>, !stablehlo.token) -> (tensor<complex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<complex<f64>>, %o1: tensor<complex<f64>>) {
  // expected-error @+1 {{'stablehlo.pad' op requires one result}}
  "stablehlo.pad"(%o0, %o1) <{edge_padding_low = array<i64>, edge_padding_high = array<i64>, interior_padding = array<i64>}> : (tensor<complex<f64>>, tensor<complex<f64>>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<5x1x3x5xui64>, %o1: tensor<ui64>) {
  // expected-error @+2 {{Interior padding cannot be negative: -1}}
  // expected-error @+1 {{'stablehlo.pad' op failed to infer returned types}}
  %r:1 = "stablehlo.pad"(%o0, %o1) <{edge_padding_low = array<i64: 1, 1, 0, 0>, edge_padding_high = array<i64: 0, 2, 0, 1>, interior_padding = array<i64: 1, 0, 2, -1>}> : (tensor<5x1x3x5xui64>, tensor<ui64>) -> (tensor<10x4x2x7x6xui64>)
  return
}
// -----
func.func @f(%o0: tensor<1xi1>, %o1: tensor<i1>, %o2: tensor<1xindex>, %o3: tensor<1xindex>, %o4: tensor<1xindex>) {
  // expected-error @+1 {{'stablehlo.dynamic_pad' op requires one result}}
  %r:2 = stablehlo.dynamic_pad %o0, %o1, %o2, %o3, %o4 : (tensor<1xi1>, tensor<i1>, tensor<1xindex>, tensor<1xindex>, tensor<1xindex>) -> (tensor<?xi1>, tensor<?xi1>)
  return
}
// -----
func.func @f(%o0: tensor<i1>, %o1: tensor<3xi32>, %o2: tensor<3xi32>, %o3: tensor<3xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_pad' op expected 5 operands, but found 4}}
  %r:1 = stablehlo.dynamic_pad %o0, %o1, %o2, %o3 : (tensor<i1>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> (tensor<?x?x?xi1>)
  return
}
// -----
func.func @f(%o0: tensor<5xf16>, %o1: tensor<f16>, %o2: tensor<1x3xi32>, %o3: tensor<1xi32>, %o4: tensor<1xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_pad' op operand #2 must be statically shaped 1-dimensional tensor of index or 2/4/8/16/32/64-bit integer values, but got 'tensor<1x3xi32>'}}
  %r:1 = "stablehlo.dynamic_pad"(%o0, %o1, %o2, %o3, %o4) : (tensor<5xf16>, tensor<f16>, tensor<1x3xi32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<?xf16>)
  return
}
// -----
func.func @f(%o0: tensor<3x5xi1>, %o1: tensor<i1>, %o2: tensor<2xi32>, %o3: tensor<2xi32>, %o4: tensor<2xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_pad' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'i32'}}
  %r:1 = stablehlo.dynamic_pad %o0, %o1, %o2, %o3, %o4 : (tensor<3x5xi1>, tensor<i1>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> (i32)
  return
}
// -----
func.func @f(%o0: tensor<5xf6E2M3FN>, %o1: tensor<f6E2M3FN>, %o2: tensor<1xi64>, %o3: tensor<6xi64>, %o4: tensor<1xi64>) {
  // expected-error @+1 {{'stablehlo.dynamic_pad' op failed to verify that all of {edge_padding_low, edge_padding_high, interior_padding} have same type}}
  %r:1 = stablehlo.dynamic_pad %o0, %o1, %o2, %o3, %o4 : (tensor<5xf6E2M3FN>, tensor<f6E2M3FN>, tensor<1xi64>, tensor<6xi64>, tensor<1xi64>) -> (tensor<?xf6E2M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<1x1x2x2xcomplex<f32>>, %o1: tensor<4xcomplex<f32>>, %o2: tensor<4xi32>, %o3: tensor<4xi32>, %o4: tensor<4xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_pad' op operand #1 must be 0D tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<4xcomplex<f32>>'}}
  %r:1 = stablehlo.dynamic_pad %o0, %o1, %o2, %o3, %o4 : (tensor<1x1x2x2xcomplex<f32>>, tensor<4xcomplex<f32>>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> (tensor<?x?x?x?xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<5x3x4x5x2xcomplex<f32>>, %o1: tensor<complex<f32>>, %o2: tensor<4xindex>, %o3: tensor<4xindex>, %o4: tensor<4xindex>) {
  // expected-error @+1 {{'stablehlo.dynamic_pad' op failed to verify that all of {operand, result} have same rank}}
  %r:1 = "stablehlo.dynamic_pad"(%o0, %o1, %o2, %o3, %o4) : (tensor<5x3x4x5x2xcomplex<f32>>, tensor<complex<f32>>, tensor<4xindex>, tensor<4xindex>, tensor<4xindex>) -> (tensor<?x?x?x?xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<1x2x5xi1>, %o1: tensor<i1>, %o2: tensor<3xi32>, %o3: tensor<3xi32>, %o4: tensor<3xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_pad' op failed to verify that all of {operand, padding_value, result} have same element type}}
  %r:1 = stablehlo.dynamic_pad %o0, %o1, %o2, %o3, %o4 : (tensor<1x2x5xi1>, tensor<i1>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> (tensor<?x?x?xui32>)
  return
}
// -----
func.func @f(%o0: tensor<1x5x5xcomplex<f32>>, %o1: tensor<complex<f32>>, %o2: tensor<4xindex>, %o3: tensor<4xindex>, %o4: tensor<4xindex>) {
  // expected-error @+1 {{padding operands size (4) must match operand rank (3)}}
  %r:1 = "stablehlo.dynamic_pad"(%o0, %o1, %o2, %o3, %o4) : (tensor<1x5x5xcomplex<f32>>, tensor<complex<f32>>, tensor<4xindex>, tensor<4xindex>, tensor<4xindex>) -> (tensor<?x?x?xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<4xindex>, %o1: tensor<index>, %o2: tensor<1xindex>, %o3: tensor<1xindex>, %o4: tensor<1xindex>) {
  // expected-error @+1 {{'stablehlo.dynamic_pad' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<4xindex>'}}
  %r:1 = "stablehlo.dynamic_pad"(%o0, %o1, %o2, %o3, %o4) : (tensor<4xindex>, tensor<index>, tensor<1xindex>, tensor<1xindex>, tensor<1xindex>) -> (tensor<?xf8E5M2FNUZ>)
  return
}
// -----
func.func @f() {
  // expected-error @+2 {{'stablehlo.constant' op inferred type(s) 'tensor<3x3xi1>' are incompatible with return type(s) of operation 'tensor<3x5xi1>'}}
  // expected-error @+1 {{'stablehlo.constant' op failed to infer returned types}}
  %r:1 = "stablehlo.constant"() <{value = dense<[[false, true, 1], [-1, -1, -1], [-1, 1, false]]> : tensor<3x3xi1>}> : () -> (tensor<3x5xi1>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.constant' op result #0 must be statically shaped tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<?xi1>'}}
  %r:1 = "stablehlo.constant"() <{value = dense<[1, false, true]> : tensor<3xi1>}> : () -> (tensor<?xi1>)
  return
}
// -----
func.func @f(%o0: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.constant' op requires zero operands}}
  %r:1 = "stablehlo.constant"(%o0) : (tensor<f32>) -> (tensor<4x1xi1>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{integer constant out of range for type}}
  %r:1 = stablehlo.constant dense<[[true, false, true], [true, 1, 1], [-2, true, false], [1, 1, 1]]> : tensor<4x3xi1>
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.constant' op requires attribute 'value'}}
  %r:1 = "stablehlo.constant"() : () -> (tensor<5xi1>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.constant' op requires one result}}
  "stablehlo.constant"() <{value = dense<(-137.625000, 1.3356655082838426e+17)> : tensor<complex<f32>>}> : () -> ()
  return
}
