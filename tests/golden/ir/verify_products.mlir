// flags: -split-input-file -verify-diagnostics
// What the types, attributes and regions of these ops must be: dot, dot_general, convolution, dynamic_conv.
func.func @f(%o0: tensor<2xf8E4M3FNUZ>, %o1: tensor<2xf8E4M3FNUZ>) {
  // expected-error @+1 {{inferred shape '[]' is incompatible with return type of operation 'tensor<1xf8E4M3FNUZ>'}}
  %r:1 = stablehlo.dot %o0, %o1 : (tensor<2xf8E4M3FNUZ>, tensor<2xf8E4M3FNUZ>) -> (tensor<1xf8E4M3FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<4x1xi8>, %o1: tensor<1x3xi8>, %o2: tensor<1x3xi8>) {
  // expected-error @+1 {{'stablehlo.dot' op expected 2 operands, but found 3}}
  %r:1 = "stablehlo.dot"(%o0, %o1, %o2) <{precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}> : (tensor<4x1xi8>, tensor<1x3xi8>, tensor<1x3xi8>) -> (tensor<4x3xi8>)
  return
}
// -----
func.func @f(%o0: !stablehlo.token, %o1: tensor<4x4xf32>) {
  // expected-error @+1 {{'stablehlo.dot' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got '!stablehlo.token'}}
  %r:1 = "stablehlo.dot"(%o0, %o1) <{precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGH>]}> : (!stablehlo.token, tensor<4x4xf32>) -> (tensor<5x4xf32>)
  return
}
// -----
func.func @f(%o0: tensor<5xf4E2M1FN>, %o1: tensor<5x3xf4E2M1FN>) {
  // expected-error @+1 {{'stablehlo.dot' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<*xf32>'}}
  %r:1 = stablehlo.dot %o0, %o1 : (tensor<5xf4E2M1FN>, tensor<5x3xf4E2M1FN>) -> (tensor<*xf32>)
  return
}
// -----
func.func @f(%o0: tensor<1x2xui32>, %o1: tensor<2x1xui32>) {
  // expected-error @+1 {{'stablehlo.dot' op requires one result}}
  %r:2 = stablehlo.dot %o0, %o1 : (tensor<1x2xui32>, tensor<2x1xui32>) -> (tensor<1x1xui32>, tensor<1x1xui32>)
  return
}
// -----
func.func @f(%o0: tensor<1x3xui8>, %o1: i32) {
  // expected-error @+1 {{'stablehlo.dot' op operand #1 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'i32'}}
  %r:1 = stablehlo.dot %o0, %o1, precision = [HIGH, HIGHEST] : (tensor<1x3xui8>, i32) -> (tensor<1x5xui8>)
  return
}
// -----
func.func @f(%o0: tensor<5x5xi2>, %o1: tensor<5xi2>) {
  // expected-error @+1 {{inferred shape '[5, 5]' is incompatible with return type of operation 'tensor<5x4xi2>'}}
  %r:1 = stablehlo.dot_general %o0, %o1, batching_dims = [0] x [0], contracting_dims = [] x [], precision = [DEFAULT, HIGH] : (tensor<5x5xi2>, tensor<5xi2>) -> (tensor<5x4xi2>)
  return
}
// -----
func.func @f(%o0: tensor<2x3x3x4x5xf64>, %o1: tensor<2x3x4x0x5xf64>) {
  // expected-error @+1 {{batching dimension sizes must match for lhs/rhs}}
  %r:1 = "stablehlo.dot_general"(%o0, %o1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [3, 4], lhs_contracting_dimensions = [1, 2], rhs_batching_dimensions = [0, 4], rhs_contracting_dimensions = [1, 2]>}> : (tensor<2x3x3x4x5xf64>, tensor<2x3x4x0x5xf64>) -> (tensor<4x5x2x2xf64>)
  return
}
// -----
func.func @f(%o0: tensor<5x4x5x1x1xi4>, %o1: tensor<4x1x1x3x5xi4>) {
  // expected-error @+1 {{'stablehlo.dot_general' op requires one result}}
  "stablehlo.dot_general"(%o0, %o1) <{dot_dimension_numbers = #stablehlo.dot<rhs_batching_dimensions = [0, 1], lhs_contracting_dimensions = [3, 0], rhs_contracting_dimensions = [2, 3], lhs_batching_dimensions = [1, 4]>}> : (tensor<5x4x5x1x1xi4>, tensor<4x1x1x3x5xi4>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<2xf8E8M0FNU>, %o1: tensor<3x2xf8E8M0FNU>) {
  // expected-error @+1 {{lhs and rhs should have the same number of contracting dimensions}}
  %r:1 = "stablehlo.dot_general"(%o0, %o1) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0, 0], rhs_contracting_dimensions = [1]>}> : (tensor<2xf8E8M0FNU>, tensor<3x2xf8E8M0FNU>) -> (tensor<3xf8E8M0FNU>)
  return
}
// -----
func.func @f(%o0: tensor<4x4x4xf8E3M4>, %o1: tensor<4x4x4xf8E3M4>, %o2: tensor<4x4xf8E3M4>) {
  // expected-error @+1 {{'stablehlo.dot_general' op expected 2 operands, but found 3}}
  %r:1 = "stablehlo.dot_general"(%o0, %o1, %o2) <{dot_dimension_numbers = #stablehlo.dot<rhs_batching_dimensions = [0, 1], lhs_batching_dimensions = [1, 2]>}> : (tensor<4x4x4xf8E3M4>, tensor<4x4x4xf8E3M4>, tensor<4x4xf8E3M4>) -> (tensor<4x4x4xf8E3M4>)
  return
}
// -----
func.func @f(%o0: tensor<5x5x7xf8E4M3>, %o1: tensor<2x5x5xf8E4M3>) {
  // expected-error @+1 {{contracting dimension sizes must match for lhs/rhs}}
  %r:1 = "stablehlo.dot_general"(%o0, %o1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], rhs_contracting_dimensions = [2], lhs_contracting_dimensions = [2]>}> : (tensor<5x5x7xf8E4M3>, tensor<2x5x5xf8E4M3>) -> (tensor<5x5x2xf8E4M3>)
  return
}
// -----
func.func @f(%o0: tensor<5x1x2x5xi64>, %o1: tensor<5x5x1x1xi7>) {
  // expected-error @+1 {{'stablehlo.dot_general' op operand #1 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<5x5x1x1xi7>'}}
  %r:1 = stablehlo.dot_general %o0, %o1, batching_dims = [3] x [0], contracting_dims = [0, 1] x [1, 3], precision = [HIGHEST, HIGH] : (tensor<5x1x2x5xi64>, tensor<5x5x1x1xi7>) -> (tensor<5x2x1xi64>)
  return
}
// -----
func.func @f(%o0: tensor<1x4x1xui64>, %o1: tensor<1x1x4xui64>) {
  // expected-error @+1 {{'stablehlo.dot_general' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tuple<tensor<f32>>'}}
  %r:1 = "stablehlo.dot_general"(%o0, %o1) <{dot_dimension_numbers = #stablehlo.dot<rhs_contracting_dimensions = [1], rhs_batching_dimensions = [2, 0], lhs_batching_dimensions = [1, 0], lhs_contracting_dimensions = [2]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT >]}> : (tensor<1x4x1xui64>, tensor<1x1x4xui64>) -> (tuple<tensor<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<2x1xf16>, %o1: tensor<1x1x2xf16>) {
  // expected-error @+1 {{'stablehlo.dot_general' op requires attribute 'dot_dimension_numbers'}}
  %r:1 = "stablehlo.dot_general"(%o0, %o1) : (tensor<2x1xf16>, tensor<1x1x2xf16>) -> (tensor<1xf16>)
  return
}
// -----
func.func @f(%o0: tensor<3x1xui4>, %o1: tensor<1x3xui4>) {
  // expected-error @+1 {{lhs_contracting_dimensions value: 2 is out of range: [0, 2)}}
  %r:1 = "stablehlo.dot_general"(%o0, %o1) <{dot_dimension_numbers = #stablehlo.dot<rhs_batching_dimensions = [], lhs_contracting_dimensions = [2, 0], rhs_contracting_dimensions = [0, 1], lhs_batching_dimensions = []>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}> : (tensor<3x1xui4>, tensor<1x3xui4>) -> (tensor<ui4>)
  return
}
// -----
func.func @f(%o0: tensor<4x4x3x3xf8E4M3FNUZ>, %o1: tensor<3x3x4xf8E4M3FNUZ>) {
  // expected-error @+1 {{rhs_batching_dimensions value: -1 is out of range: [0, 3)}}
  %r:1 = "stablehlo.dot_general"(%o0, %o1) <{dot_dimension_numbers = #stablehlo.dot<rhs_contracting_dimensions = [2], lhs_contracting_dimensions = [0], rhs_batching_dimensions = [1, -1], lhs_batching_dimensions = [2, 3]>}> : (tensor<4x4x3x3xf8E4M3FNUZ>, tensor<3x3x4xf8E4M3FNUZ>) -> (tensor<3x3x1x4xf8E4M3FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<5x2xf8E4M3FN>, %o1: tensor<2x5xf8E4M3FN>) {
  // expected-error @+1 {{has duplicated dimension from rhs_batching_dimensions and rhs_contracting_dimensions: 1}}
  %r:1 = "stablehlo.dot_general"(%o0, %o1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [1, 0], rhs_batching_dimensions = [1, 1]>}> : (tensor<5x2xf8E4M3FN>, tensor<2x5xf8E4M3FN>) -> (tensor<2x5xf8E4M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<4x4x4xi4>, %o1: tensor<4x4xi4>) {
  // expected-error @+1 {{rhs_contracting_dimensions value: 2 is out of range: [0, 2)}}
  %r:1 = stablehlo.dot_general %o0, %o1, batching_dims = [0, 2] x [1, 0], contracting_dims = [1] x [2] : (tensor<4x4x4xi4>, tensor<4x4xi4>) -> (tensor<4x4xi4>)
  return
}
// -----
func.func @f(%o0: tensor<5x4xi32>, %o1: tensor<5x4x2xi32>) {
  // expected-error @+1 {{lhs_batching_dimensions value: -1 is out of range: [0, 2)}}
  %r:1 = "stablehlo.dot_general"(%o0, %o1) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [-1, 1], rhs_batching_dimensions = [0, 1]>}> : (tensor<5x4xi32>, tensor<5x4x2xi32>) -> (tensor<5x4x2xi32>)
  return
}
// -----
func.func @f(%o0: tensor<5x3x3x1xbf16>, %o1: tensor<3x1x1x3xbf16>) {
  // expected-error @+1 {{'stablehlo.convolution' op attribute 'feature_group_count' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %r:1 = "stablehlo.convolution"(%o0, %o1) <{window_strides = array<i64: 1, 1>, padding = dense<[[2, 1], [2, 1]]> : tensor<2x2xi64>, dimension_numbers = #stablehlo.conv<[0, 1, b, f]x[1, i, o, 0]->[b, 1, 0, f]>, feature_group_count = 0 : i64, batch_group_count = 1, precision_config = [#stablehlo<precision HIGH >, #stablehlo<precision HIGH>]}> : (tensor<5x3x3x1xbf16>, tensor<3x1x1x3xbf16>) -> (tensor<3x4x6x2xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<1x2x3xf8E4M3FN>, %o1: tensor<1x1x1xi64>) {
  // expected-error @+1 {{expects lhs and rhs to have compatible element type. Got: 'f8E4M3FN' and 'i64'}}
  %r:1 = "stablehlo.convolution"(%o0, %o1) <{window_reversal = array<i1: true>, dimension_numbers = #stablehlo.conv<[f, b, 0]x[0, i, o]->[b, f, 0]>, feature_group_count = 1 : i64, batch_group_count = 1, precision_config = [#stablehlo<precision HIGHEST >, #stablehlo<precision HIGHEST>]}> : (tensor<1x2x3xf8E4M3FN>, tensor<1x1x1xi64>) -> (tensor<2x1x3xf8E4M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<2x4x2xi8>, %o1: tensor<3x2x3xi8>) {
  // expected-error @+1 {{expects input feature dimension (2) / feature_group_count = kernel input feature dimension (3). Got feature_group_count = 1.}}
  %r:1 = "stablehlo.convolution"(%o0, %o1) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, o, i]->[0, b, f]>, feature_group_count = 1 : i64, batch_group_count = 1, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}> : (tensor<2x4x2xi8>, tensor<3x2x3xi8>) -> (tensor<2x2x2xi8>)
  return
}
// -----
func.func @f(%o0: tensor<3x7x1xui4>, %o1: tensor<3x1x1xui4>) {
  // expected-error @+1 {{inferred shape '[3, 5, 1]' is incompatible with return type of operation 'tensor<3x4x1xui4>'}}
  %r:1 = stablehlo.convolution(%o0, %o1) dim_numbers = [b, 0, f]x[0, o, i]->[b, 0, f], window = {reverse = [false]} {feature_group_count = 1 : i64, batch_group_count = 1, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGH>]} : (tensor<3x7x1xui4>, tensor<3x1x1xui4>) -> (tensor<3x4x1xui4>)
  return
}
// -----
func.func @f(%o0: tensor<5x2x4x2xf4E2M1FN>, %o1: tensor<3x2x3x1xf4E2M1FN>) {
  // expected-error @+1 {{'stablehlo.convolution' op requires one result}}
  stablehlo.convolution(%o0, %o1) dim_numbers = [0, f, 1, b]x[0, i, o, 1]->[f, b, 1, 0], window = {pad = [[1, 1], [2, 1]], stride = [1, 1]} {feature_group_count = 1 : i64, batch_group_count = 1} : (tensor<5x2x4x2xf4E2M1FN>, tensor<3x2x3x1xf4E2M1FN>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<1x2x2x1xi8>) {
  // expected-error @+1 {{'stablehlo.convolution' op expected 2 operands, but found 1}}
  %r:1 = stablehlo.convolution(%o0) dim_numbers = [f, b, 0, 1]x[0, 1, i, o]->[0, b, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]]} {feature_group_count = 1 : i64, batch_group_count = 1} : (tensor<1x2x2x1xi8>) -> (tensor<6x2x6x1xi8>)
  return
}
// -----
func.func @f(%o0: tensor<3x1x6xui32>, %o1: tensor<1x3x1x2xui32>) {
  // expected-error @+1 {{expects convolution arguments to have same number of dimensions. Got: 'tensor<3x1x6xui32>' and 'tensor<1x3x1x2xui32>'.}}
  %r:1 = "stablehlo.convolution"(%o0, %o1) <{window_strides = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 1>, dimension_numbers = #stablehlo.conv<[0, f, b, 1]x[1, i, o, 0]->[b, 0, 1, f]>, feature_group_count = 1 : i64, batch_group_count = 1}> : (tensor<3x1x6xui32>, tensor<1x3x1x2xui32>) -> (tensor<1x7x8x1xui32>)
  return
}
// -----
func.func @f(%o0: tensor<2xf32>, %o1: tensor<1x3x3x3xui32>) {
  // expected-error @+1 {{expects convolution arguments to have >= 2 dimensions. Got: 'tensor<2xf32>' and 'tensor<1x3x3x3xui32>'.}}
  %r:1 = "stablehlo.convolution"(%o0, %o1) <{padding = dense<[[1, 1], [2, 1]]> : tensor<2x2xi64>, rhs_dilation = array<i64: 1, 1>, dimension_numbers = #stablehlo.conv<[0, 1, f, b]x[o, 1, i, 0]->[f, 1, b, 0]>, feature_group_count = 1 : i64, batch_group_count = 1, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]}> : (tensor<2xf32>, tensor<1x3x3x3xui32>) -> (tensor<1x7x2x1x5xui32>)
  return
}
// -----
func.func @f(%o0: tensor<2x3x2xf32>, %o1: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.convolution' op operand #1 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got '!stablehlo.token'}}
  %r:1 = stablehlo.convolution(%o0, %o1) dim_numbers = [f, 0, b]x[0, o, i]->[f, b, 0], window = {stride = [1], pad = [[1, 1]]} {feature_group_count = 1 : i64, batch_group_count = 1, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST >]} : (tensor<2x3x2xf32>, !stablehlo.token) -> (tensor<2x2x4xf32>)
  return
}
// -----
func.func @f(%o0: tensor<3x3x6x3xi7>, %o1: tensor<2x3x3x1xf8E4M3FN>) {
  // expected-error @+1 {{'stablehlo.convolution' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<3x3x6x3xi7>'}}
  %r:1 = stablehlo.convolution(%o0, %o1) dim_numbers = [1, f, 0, b]x[o, 1, i, 0]->[1, 0, f, b], window = {rhs_dilate = [1, 1], stride = [1, 1]} {feature_group_count = 1 : i64, batch_group_count = 1, precision_config = [#stablehlo<precision HIGHEST >, #stablehlo<precision HIGHEST>]} : (tensor<3x3x6x3xi7>, tensor<2x3x3x1xf8E4M3FN>) -> (tensor<1x6x2x3xf8E4M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<6x1x2xf6E2M3FN>, %o1: tensor<1x2x1xf6E2M3FN>) {
  // expected-error @+1 {{'stablehlo.convolution' op requires attribute 'batch_group_count'}}
  %r:1 = "stablehlo.convolution"(%o0, %o1) <{window_reversal = array<i1: false>, dimension_numbers = #stablehlo.conv<[0, f, b]x[o, 0, i]->[f, 0, b]>, feature_group_count = 1 : i64}> : (tensor<6x1x2xf6E2M3FN>, tensor<1x2x1xf6E2M3FN>) -> (tensor<1x5x2xf6E2M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<4x1x2x3xf6E2M3FN>, %o1: tensor<1x2x2x1xf6E2M3FN>) {
  // expected-error @+1 {{expects window to have positive base dilation factor for 1-th window dimension, but got 0.}}
  %r:1 = "stablehlo.convolution"(%o0, %o1) <{window_strides = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>, lhs_dilation = array<i64: 1, 0>, rhs_dilation = array<i64: 1, 1>, dimension_numbers = #stablehlo.conv<[0, f, b, 1]x[i, 0, o, 1]->[0, 1, b, f]>, feature_group_count = 1 : i64, batch_group_count = 1}> : (tensor<4x1x2x3xf6E2M3FN>, tensor<1x2x2x1xf6E2M3FN>) -> (tensor<5x5x2x2xf6E2M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<4x3x3xui32>, %o1: tensor<1x2x3xui32>) {
  // expected-error @+1 {{expects input batch dimension (3) to be divisible by batch_group_count. Got batch_group_count = 2.}}
  %r:1 = "stablehlo.convolution"(%o0, %o1) <{window_strides = array<i64: 1>, dimension_numbers = #stablehlo.conv<[0, b, f]x[o, 0, i]->[f, 0, b]>, feature_group_count = 1 : i64, batch_group_count = 2}> : (tensor<4x3x3xui32>, tensor<1x2x3xui32>) -> (tensor<1x3x3xui32>)
  return
}
// -----
func.func @f(%o0: tensor<2x6x3xi64>, %o1: tensor<3x3x1xi64>) {
  // expected-error @+1 {{expects base-dilation factors to have same dimension-size as size of window dimensions (1), but got: 2.}}
  %r:1 = "stablehlo.convolution"(%o0, %o1) <{window_strides = array<i64: 1>, padding = dense<1> : tensor<1x2xi64>, lhs_dilation = array<i64: 2, 1>, rhs_dilation = array<i64: 1>, dimension_numbers = #stablehlo.conv<[b, 0, f]x[i, 0, o]->[b, f, 0]>, feature_group_count = 1 : i64, batch_group_count = 1}> : (tensor<2x6x3xi64>, tensor<3x3x1xi64>) -> (tensor<2x1x6xi64>)
  return
}
// -----
func.func @f(%o0: tensor<4x1x3xui32>, %o1: tensor<3x1x3xf6E2M3FN>, %o2: tensor<1x2xi64>) {
  // expected-error @+1 {{'stablehlo.dynamic_conv' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'i32'}}
  %r:1 = "stablehlo.dynamic_conv"(%o0, %o1, %o2) <{lhs_dilation = array<i64: 1>, dimension_numbers = #stablehlo.conv<[0, b, f]x[i, o, 0]->[f, 0, b]>, feature_group_count = 1 : i64, batch_group_count = 1, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGHEST>]}> : (tensor<4x1x3xui32>, tensor<3x1x3xf6E2M3FN>, tensor<1x2xi64>) -> (i32)
  return
}
// -----
func.func @f(%o0: tensor<3x4x2xi2>, %o1: tensor<3x2x1xi2>, %o2: tensor<1x2xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_conv' op requires attribute 'dimension_numbers'}}
  %r:1 = "stablehlo.dynamic_conv"(%o0, %o1, %o2) <{rhs_dilation = array<i64: 1>, feature_group_count = 1 : i64, batch_group_count = 1}> : (tensor<3x4x2xi2>, tensor<3x2x1xi2>, tensor<1x2xi32>) -> (tensor<?x?x?xi2>)
  return
}
// -----
func.func @f(%o0: tensor<5x1x6x2xf32>, %o1: tensor<3x1x1x3xf32>, %o2: tensor<2xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_conv' op attribute 'feature_group_count' failed to satisfy constraint: 64-bit signless integer attribute whose value is positive}}
  %r:1 = "stablehlo.dynamic_conv"(%o0, %o1, %o2) <{dimension_numbers = #stablehlo.conv<[0, f, 1, b]x[1, i, 0, o]->[1, f, 0, b]>, feature_group_count = 0 : i64, batch_group_count = 1}> : (tensor<5x1x6x2xf32>, tensor<3x1x1x3xf32>, tensor<2xi32>) -> (tensor<?x?x?x?xf32>)
  return
}
// -----
func.func @f(%o0: tensor<1x6x2xi2>, %o1: tensor<2x3x1xi2>) {
  // expected-error @+1 {{'stablehlo.dynamic_conv' op expected 3 operands, but found 2}}
  %r:1 = "stablehlo.dynamic_conv"(%o0, %o1) <{lhs_dilation = array<i64: 1>, dimension_numbers = #stablehlo.conv<[b, 0, f]x[i, 0, o]->[f, b, 0]>, feature_group_count = 1 : i64, batch_group_count = 1, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT >]}> : (tensor<1x6x2xi2>, tensor<2x3x1xi2>) -> (tensor<2x?x?xi2>)
  return
}
// -----
func.func @f(%o0: tensor<2x3x3xui16>, %o1: tensor<2x3x3xui16>, %o2: tensor<1x2xi32>) {
  // expected-error @+1 {{expects output feature dimension size (3) to be a multiple of batch_group_count. Got batch_group_count = 2.}}
  %r:1 = "stablehlo.dynamic_conv"(%o0, %o1, %o2) <{rhs_dilation = array<i64: 1>, dimension_numbers = #stablehlo.conv<[b, f, 0]x[0, i, o]->[f, b, 0]>, feature_group_count = 1 : i64, batch_group_count = 2}> : (tensor<2x3x3xui16>, tensor<2x3x3xui16>, tensor<1x2xi32>) -> (tensor<?x?x?xui16>)
  return
}
// -----
func.func @f(%o0: tensor<4x1x4x3xbf16>, %o1: tensor<2x0x3x3xbf16>, %o2: tensor<2x2xi32>) {
  // expected-error @+1 {{expects input feature dimension (3) / feature_group_count = kernel input feature dimension (0). Got feature_group_count = 1.}}
  %r:1 = "stablehlo.dynamic_conv"(%o0, %o1, %o2) <{window_strides = array<i64: 1, 1>, window_reversal = array<i1: true, false>, dimension_numbers = #stablehlo.conv<[1, b, 0, f]x[0, i, 1, o]->[f, 0, b, 1]>, feature_group_count = 1 : i64, batch_group_count = 1}> : (tensor<4x1x4x3xbf16>, tensor<2x0x3x3xbf16>, tensor<2x2xi32>) -> (tensor<?x?x?x?xf4E2M1FN>)
  return
}
// -----
func.func @f(%o0: tensor<2x4x4x3xf8E5M2FNUZ>, %o1: tensor<2x2x2x1xf8E5M2FNUZ>, %o2: tensor<2x2xi64>) {
  // expected-error @+1 {{expects input feature dimension (2) to be a multiple of feature_group_count. Got feature_group_count = 100.}}
  %r:1 = "stablehlo.dynamic_conv"(%o0, %o1, %o2) <{lhs_dilation = array<i64: 1, 1>, dimension_numbers = #stablehlo.conv<[f, 1, 0, b]x[o, 1, i, 0]->[0, 1, f, b]>, feature_group_count = 100 : i64, batch_group_count = 1}> : (tensor<2x4x4x3xf8E5M2FNUZ>, tensor<2x2x2x1xf8E5M2FNUZ>, tensor<2x2xi64>) -> (tensor<?x?x?x?xf8E5M2FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<6x3x6x1xf32>, %o1: tuple<tensor<f32>>, %o2: tensor<2x2xi64>) {
  // expected-error @+1 {{'stablehlo.dynamic_conv' op operand #1 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tuple<tensor<f32>>'}}
  %r:1 = "stablehlo.dynamic_conv"(%o0, %o1, %o2) <{lhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: true, false>, dimension_numbers = #stablehlo.conv<[1, f, 0, b]x[1, o, i, 0]->[f, b, 1, 0]>, feature_group_count = 1 : i64, batch_group_count = 1}> : (tensor<6x3x6x1xf32>, tuple<tensor<f32>>, tensor<2x2xi64>) -> (tensor<?x?x?x?xf32>)
  return
}
// -----
func.func @f(%o0: tensor<3x2x3xi64>, %o1: tensor<2x1xi64>, %o2: tensor<1x2xi64>) {
  // expected-error @+1 {{expects convolution arguments to have same number of dimensions. Got: 'tensor<3x2x3xi64>' and 'tensor<2x1xi64>'.}}
  %r:1 = "stablehlo.dynamic_conv"(%o0, %o1, %o2) <{window_strides = array<i64: 1>, rhs_dilation = array<i64: 1>, dimension_numbers = #stablehlo.conv<[f, b, 0]x[i, o, 0]->[f, 0, b]>, feature_group_count = 1 : i64, batch_group_count = 1, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision HIGH>]}> : (tensor<3x2x3xi64>, tensor<2x1xi64>, tensor<1x2xi64>) -> (tensor<?x?x?xi64>)
  return
}
// -----
func.func @f(%o0: tensor<3x2x3xui8>, %o1: tensor<1x3x2xui64>, %o2: tensor<1x2xi32>) {
  // expected-error @+1 {{expects lhs and rhs to have compatible element type. Got: 'ui8' and 'ui64'}}
  %r:1 = "stablehlo.dynamic_conv"(%o0, %o1, %o2) <{window_strides = array<i64: 1>, dimension_numbers = #stablehlo.conv<[0, b, f]x[0, i, o]->[0, f, b]>, feature_group_count = 1 : i64, batch_group_count = 1, precision_config = [#stablehlo<precision HIGH>, #stablehlo<precision DEFAULT >]}> : (tensor<3x2x3xui8>, tensor<1x3x2xui64>, tensor<1x2xi32>) -> (tensor<?x?x?xui64>)
  return
}
// -----
func.func @f(%o0: tensor<2x2x5xf6E3M2FN>, %o1: tensor<3x1x2xf6E3M2FN>, %o2: tensor<?x2xi64>) {
  // expected-error @+1 {{'stablehlo.dynamic_conv' op operand #2 must be statically shaped 2-dimensional integer tensor of 2/4/8/16/32/64-bit integer values, but got 'tensor<?x2xi64>'}}
  %r:1 = "stablehlo.dynamic_conv"(%o0, %o1, %o2) <{window_strides = array<i64: 1>, dimension_numbers = #stablehlo.conv<[b, f, 0]x[o, 0, i]->[f, b, 0]>, feature_group_count = 1 : i64, batch_group_count = 1, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}> : (tensor<2x2x5xf6E3M2FN>, tensor<3x1x2xf6E3M2FN>, tensor<?x2xi64>) -> (tensor<?x?x?xf6E3M2FN>)
  return
}
// -----
func.func @f(%o0: tensor<4x6x3x1xf8E3M4>, %o1: tensor<3x3x3x1xf8E3M4>, %o2: tensor<2x2xi64>) {
  // expected-error @+1 {{expects input batch dimension (1) to be divisible by batch_group_count. Got batch_group_count = 100.}}
  %r:1 = "stablehlo.dynamic_conv"(%o0, %o1, %o2) <{lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, window_reversal = array<i1: false, true>, dimension_numbers = #stablehlo.conv<[0, 1, f, b]x[i, o, 0, 1]->[0, f, 1, b]>, feature_group_count = 1 : i64, batch_group_count = 100}> : (tensor<4x6x3x1xf8E3M4>, tensor<3x3x3x1xf8E3M4>, tensor<2x2xi64>) -> (tensor<?x?x?x?xf8E3M4>)
  return
}
// -----
func.func @f(%o0: tensor<3x3x2xf32>, %o1: tensor<1x2x2xf32>, %o2: tensor<6x2xi32>) {
  // expected-error @+1 {{expects padding to be of shape [1, 2], but got [6, 2]}}
  %r:1 = "stablehlo.dynamic_conv"(%o0, %o1, %o2) <{dimension_numbers = #stablehlo.conv<[0, b, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1}> : (tensor<3x3x2xf32>, tensor<1x2x2xf32>, tensor<6x2xi32>) -> (tensor<?x?x?xf32>)
  return
}
// -----
func.func @f(%o0: tensor<2x2x6xi16>, %o1: tensor<3x2x1xi16>, %o2: tensor<1x2xi16>) {
  // expected-error @+1 {{'stablehlo.dynamic_conv' op requires one result}}
  %r:2 = "stablehlo.dynamic_conv"(%o0, %o1, %o2) <{window_strides = array<i64: 1>, lhs_dilation = array<i64: 1>, dimension_numbers = #stablehlo.conv<[b, f, 0]x[0, i, o]->[0, b, f]>, feature_group_count = 1 : i64, batch_group_count = 1}> : (tensor<2x2x6xi16>, tensor<3x2x1xi16>, tensor<1x2xi16>) -> (tensor<?x?x?xi16>, tensor<?x?x?xi16>)
  return
}
