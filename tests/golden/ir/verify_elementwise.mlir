// flags: -split-input-file -verify-diagnostics
// What the types, attributes and regions of these ops must be: add, and, abs, ceil, complex, compare, select, clamp, convert, is_finite, reduce_precision, bitcast_convert, cosine, real.
func.func @f(%o0: tensor<1xui16>, %o1: tensor<ui16>) {
  // expected-error @+1 {{'stablehlo.add' op requires the same shape for all operands and results}}
  %r:1 = "stablehlo.add"(%o0, %o1) : (tensor<1xui16>, tensor<ui16>) -> (tensor<ui16>)
  return
}
// -----
func.func @f(%o0: tensor<3x3x4x3xcomplex<f64>>, %o1: tensor<?x?x4x?xcomplex<f64>>) {
  // expected-error @+1 {{'stablehlo.add' op requires one result}}
  "stablehlo.add"(%o0, %o1) : (tensor<3x3x4x3xcomplex<f64>>, tensor<?x?x4x?xcomplex<f64>>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<3x5xf4E2M1FN>, %o1: tensor<3x5xi1>) {
  // expected-error @+1 {{op requires the same element type for all operands and results}}
  %r:1 = "stablehlo.add"(%o0, %o1) : (tensor<3x5xf4E2M1FN>, tensor<3x5xi1>) -> (tensor<3x5xf4E2M1FN>)
  return
}
// -----
func.func @f(%o0: tensor<4x2xui4>, %o1: tensor<4x2xui4>) {
  // expected-error @+1 {{'stablehlo.add' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<4x2xindex>'}}
  %r:1 = stablehlo.add %o0, %o1 : (tensor<4x2xui4>, tensor<4x2xui4>) -> (tensor<4x2xindex>)
  return
}
// -----
func.func @f(%o0: tensor<3xi7>, %o1: tensor<3xi7>) {
  // expected-error @+1 {{'stablehlo.add' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<3xi7>'}}
  %r:1 = "stablehlo.add"(%o0, %o1) : (tensor<3xi7>, tensor<3xi7>) -> (tensor<3xi1>)
  return
}
// -----
func.func @f(%o0: tensor<1x1x2x5xi2>, %o1: tensor<1x1x2x5xi2>, %o2: tensor<1x1x2x5xi2>) {
  // expected-error @+1 {{'stablehlo.add' op expected 2 operands, but found 3}}
  %r:1 = "stablehlo.add"(%o0, %o1, %o2) : (tensor<1x1x2x5xi2>, tensor<1x1x2x5xi2>, tensor<1x1x2x5xi2>) -> (tensor<1x1x2x5xi2>)
  return
}
// -----
func.func @f(%o0: tensor<3x1x1xi1>) {
  // expected-error @+1 {{'stablehlo.and' op expected 2 operands, but found 1}}
  %r:1 = "stablehlo.and"(%o0) : (tensor<3x1x1xi1>) -> (tensor<3x1x1xi1>)
  return
}
// -----
func.func @f(%o0: tensor<1xi1>, %o1: tensor<i1>) {
  // expected-error @+1 {{'stablehlo.and' op requires compatible types for all operands and results}}
  %r:1 = "stablehlo.and"(%o0, %o1) : (tensor<1xi1>, tensor<i1>) -> (tensor<i1>)
  return
}
// -----
func.func @f(%o0: tensor<2x5x3xi1>, %o1: tuple<tensor<f32>>) {
  // expected-error @+1 {{'stablehlo.and' op operand #1 must be ranked tensor of bool or 2/4/8/16/32/64-bit integer values, but got 'tuple<tensor<f32>>'}}
  %r:1 = "stablehlo.and"(%o0, %o1) : (tensor<2x5x3xi1>, tuple<tensor<f32>>) -> (tensor<2x5x3xi1>)
  return
}
// -----
func.func @f(%o0: tensor<1x5xi1>, %o1: tensor<1x5xi1>) {
  // expected-error @+1 {{'stablehlo.and' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<1x5xi7>'}}
  %r:1 = "stablehlo.and"(%o0, %o1) : (tensor<1x5xi1>, tensor<1x5xi1>) -> (tensor<1x5xi7>)
  return
}
// -----
func.func @f(%o0: tensor<5x4x1xi1>, %o1: tensor<5x4x1xi1>) {
  // expected-error @+1 {{'stablehlo.and' op requires one result}}
  %r:2 = "stablehlo.and"(%o0, %o1) : (tensor<5x4x1xi1>, tensor<5x4x1xi1>) -> (tensor<5x4x1xi1>, tensor<5x4x1xi1>)
  return
}
// -----
func.func @f(%o0: tensor<5x4x5xui2>, %o1: tensor<5x4x5xui2>) {
  // expected-error @+1 {{'stablehlo.abs' op requires a single operand}}
  %r:1 = "stablehlo.abs"(%o0, %o1) : (tensor<5x4x5xui2>, tensor<5x4x5xui2>) -> (tensor<5x4x5xui2>)
  return
}
// -----
func.func @f(%o0: tensor<2x5xf64>) {
  // expected-error @+1 {{'stablehlo.abs' op all non-scalar operands/results must have the same shape and base type}}
  %r:1 = "stablehlo.abs"(%o0) : (tensor<2x5xf64>) -> (tensor<7x5xf64>)
  return
}
// -----
func.func @f(%o0: tensor<5x1xi64>) {
  // expected-error @+1 {{'stablehlo.abs' op requires one result}}
  %r:2 = "stablehlo.abs"(%o0) : (tensor<5x1xi64>) -> (tensor<5x1xi64>, tensor<5x1xi64>)
  return
}
// -----
func.func @f(%o0: tensor<complex<f64>>) {
  // expected-error @+2 {{'stablehlo.abs' op inferred type(s) 'tensor<f64>' are incompatible with return type(s) of operation 'tensor<f6E2M3FN>'}}
  // expected-error @+1 {{'stablehlo.abs' op failed to infer returned types}}
  %r:1 = stablehlo.abs %o0 : (tensor<complex<f64>>) -> (tensor<f6E2M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<1x1xi1>) {
  // expected-error @+1 {{'stablehlo.abs' op operand #0 must be ranked tensor of 2/4/8/16/32/64-bit signless integer or 4/6/8/16/32/64-bit float or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<1x1xi1>'}}
  %r:1 = "stablehlo.abs"(%o0) : (tensor<1x1xi1>) -> (tensor<1x1xi1>)
  return
}
// -----
func.func @f(%o0: tensor<5x4x2x5xi32>) {
  // expected-error @+1 {{'stablehlo.abs' op result #0 must be ranked tensor of 2/4/8/16/32/64-bit signless integer or 4/6/8/16/32/64-bit float or per-tensor integer quantized values, but got 'tensor<5x4x2x5xcomplex<f64>>'}}
  %r:1 = stablehlo.abs %o0 : (tensor<5x4x2x5xi32>) -> (tensor<5x4x2x5xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<?xf64>) {
  // expected-error @+1 {{'stablehlo.ceil' op requires compatible types for all operands and results}}
  %r:1 = stablehlo.ceil %o0 : (tensor<?xf64>) -> (tensor<?x1xf64>)
  return
}
// -----
func.func @f(%o0: tensor<2x?xi32>) {
  // expected-error @+1 {{'stablehlo.ceil' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or per-tensor integer quantized values, but got 'tensor<2x?xi32>'}}
  %r:1 = "stablehlo.ceil"(%o0) : (tensor<2x?xi32>) -> (tensor<2x?xi32>)
  return
}
// -----
func.func @f(%o0: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.ceil' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or per-tensor integer quantized values, but got 'tensor<4xcomplex<f32>>'}}
  %r:1 = "stablehlo.ceil"(%o0) : (tensor<4xf32>) -> (tensor<4xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<3x3xf8E4M3>) {
  // expected-error @+1 {{'stablehlo.ceil' op requires one result}}
  %r:2 = "stablehlo.ceil"(%o0) : (tensor<3x3xf8E4M3>) -> (tensor<3x3xf8E4M3>, tensor<3x3xf8E4M3>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.ceil' op requires a single operand}}
  %r:1 = "stablehlo.ceil"() : () -> (tensor<?xf8E5M2>)
  return
}
// -----
func.func @f(%o0: tensor<f32>, %o1: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.complex' op requires the same shape for all operands and results}}
  %r:1 = "stablehlo.complex"(%o0, %o1) : (tensor<f32>, tensor<f32>) -> (tensor<1xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<5x3x1x5xi64>, %o1: tensor<5x3x1x5xf32>) {
  // expected-error @+1 {{'stablehlo.complex' op operand #0 must be ranked tensor of 32/64-bit float values, but got 'tensor<5x3x1x5xi64>'}}
  %r:1 = stablehlo.complex %o0, %o1 : (tensor<5x3x1x5xi64>, tensor<5x3x1x5xf32>) -> (tensor<5x3x1x5xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<5x4xf32>, %o1: tensor<5x4xf32>) {
  // expected-error @+1 {{'stablehlo.complex' op requires one result}}
  "stablehlo.complex"(%o0, %o1) : (tensor<5x4xf32>, tensor<5x4xf32>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<f64>, %o1: tensor<f64>) {
  // expected-error @+1 {{'stablehlo.complex' op result #0 must be ranked tensor of complex type with 32/64-bit float elements values, but got 'tensor<i16>'}}
  %r:1 = "stablehlo.complex"(%o0, %o1) : (tensor<f64>, tensor<f64>) -> (tensor<i16>)
  return
}
// -----
func.func @f(%o0: tensor<1x2x5xf64>) {
  // expected-error @+1 {{'stablehlo.complex' op expected 2 operands, but found 1}}
  %r:1 = "stablehlo.complex"(%o0) : (tensor<1x2x5xf64>) -> (tensor<1x2x5xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<1x3x5xf64>, %o1: tensor<1x3x5xf32>) {
  // expected-error @+1 {{'stablehlo.complex' op requires the same element type for all operands}}
  %r:1 = "stablehlo.complex"(%o0, %o1) : (tensor<1x3x5xf64>, tensor<1x3x5xf32>) -> (tensor<1x3x5xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<?x?xf64>, %o1: tensor<?x?xf64>) {
  // expected-error @+2 {{'stablehlo.complex' op inferred type(s) 'tensor<?x?xcomplex<f64>>' are incompatible with return type(s) of operation 'tensor<?x?xcomplex<f32>>'}}
  // expected-error @+1 {{'stablehlo.complex' op failed to infer returned types}}
  %r:1 = stablehlo.complex %o0, %o1 : (tensor<?x?xf64>, tensor<?x?xf64>) -> (tensor<?x?xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<complex<f32>>, %o1: tensor<complex<f32>>) {
  // expected-error @+1 {{'stablehlo.compare' op all non-scalar operands/results must have the same shape and base type}}
  %r:1 = stablehlo.compare EQ, %o0, %o1, FLOAT : (tensor<complex<f32>>, tensor<complex<f32>>) -> (tensor<2xi1>)
  return
}
// -----
func.func @f(%o0: tensor<4x2x5xf8E5M2>, %o1: tensor<4x2x5xf8E5M2>) {
  // expected-error @+1 {{'stablehlo.compare' op result #0 must be ranked tensor of bool values, but got 'tensor<2xf32>'}}
  %r:1 = "stablehlo.compare"(%o0, %o1) <{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<4x2x5xf8E5M2>, tensor<4x2x5xf8E5M2>) -> (tensor<2xf32>)
  return
}
// -----
func.func @f(%o0: tensor<2x4xi64>, %o1: tensor<2x4xf8E3M4>) {
  // expected-error @+1 {{'stablehlo.compare' op requires compatible element types for all operands}}
  %r:1 = "stablehlo.compare"(%o0, %o1) <{comparison_direction = #stablehlo<comparison_direction NE>}> : (tensor<2x4xi64>, tensor<2x4xf8E3M4>) -> (tensor<2x4xi1>)
  return
}
// -----
func.func @f(%o0: tensor<2x4xi1>) {
  // expected-error @+1 {{'stablehlo.compare' op expected 2 operands, but found 1}}
  %r:1 = "stablehlo.compare"(%o0) <{comparison_direction = #stablehlo<comparison_direction GT>, compare_type = #stablehlo<comparison_type NOTYPE >}> : (tensor<2x4xi1>) -> (tensor<2x4xi1>)
  return
}
// -----
func.func @f(%o0: tensor<1x3x4x2xcomplex<f64>>, %o1: tensor<1x3x4x2xcomplex<f64>>) {
  // expected-error @+1 {{'stablehlo.compare' op requires attribute 'comparison_direction'}}
  %r:1 = "stablehlo.compare"(%o0, %o1) : (tensor<1x3x4x2xcomplex<f64>>, tensor<1x3x4x2xcomplex<f64>>) -> (tensor<1x3x4x2xi1>)
  return
}
// -----
func.func @f(%o0: tensor<i7>, %o1: tensor<ui32>) {
  // expected-error @+1 {{'stablehlo.compare' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<i7>'}}
  %r:1 = stablehlo.compare LE, %o0, %o1, UNSIGNED : (tensor<i7>, tensor<ui32>) -> (tensor<i1>)
  return
}
// -----
func.func @f(%o0: tensor<2x5x2xf64>, %o1: tensor<2x5x2xf64>) {
  // expected-error @+1 {{'stablehlo.compare' op requires one result}}
  "stablehlo.compare"(%o0, %o1) <{comparison_direction = #stablehlo<comparison_direction EQ >}> : (tensor<2x5x2xf64>, tensor<2x5x2xf64>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<i1>, %o1: tensor<i1>, %o2: tensor<i1>) {
  // expected-error @+2 {{'stablehlo.select' op inferred type(s) 'tensor<i1>' are incompatible with return type(s) of operation 'tensor<4xi1>'}}
  // expected-error @+1 {{'stablehlo.select' op failed to infer returned types}}
  %r:1 = "stablehlo.select"(%o0, %o1, %o2) : (tensor<i1>, tensor<i1>, tensor<i1>) -> (tensor<4xi1>)
  return
}
// -----
func.func @f(%o0: tensor<3x1xbf16>, %o1: tensor<3x1xui8>, %o2: tensor<3x1xui8>) {
  // expected-error @+1 {{'stablehlo.select' op operand #0 must be ranked tensor of bool values, but got 'tensor<3x1xbf16>'}}
  %r:1 = "stablehlo.select"(%o0, %o1, %o2) : (tensor<3x1xbf16>, tensor<3x1xui8>, tensor<3x1xui8>) -> (tensor<3x1xui8>)
  return
}
// -----
func.func @f(%o0: tensor<i1>, %o1: tensor<i1>, %o2: tensor<3xi1>) {
  // expected-error @+2 {{requires compatible types for non-predicate operands}}
  // expected-error @+1 {{'stablehlo.select' op failed to infer returned types}}
  %r:1 = "stablehlo.select"(%o0, %o1, %o2) : (tensor<i1>, tensor<i1>, tensor<3xi1>) -> (tensor<3xi1>)
  return
}
// -----
func.func @f(%o0: tensor<3xi1>, %o1: tensor<5x4x1x5xf8E4M3B11FNUZ>, %o2: tensor<5x4x1x5xf8E4M3B11FNUZ>) {
  // expected-error @+2 {{requires the same shape for all operands}}
  // expected-error @+1 {{'stablehlo.select' op failed to infer returned types}}
  %r:1 = "stablehlo.select"(%o0, %o1, %o2) : (tensor<3xi1>, tensor<5x4x1x5xf8E4M3B11FNUZ>, tensor<5x4x1x5xf8E4M3B11FNUZ>) -> (tensor<5x4x1x5xf8E4M3B11FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<5x1x1x5xi1>, %o1: tensor<5x1x1x5xi1>, %o2: tensor<5x1x1x5xi1>) {
  // expected-error @+1 {{'stablehlo.select' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'i32'}}
  %r:1 = stablehlo.select %o0, %o1, %o2 : (tensor<5x1x1x5xi1>, tensor<5x1x1x5xi1>, tensor<5x1x1x5xi1>) -> (i32)
  return
}
// -----
func.func @f(%o0: tensor<i1>, %o1: tensor<f6E3M2FN>) {
  // expected-error @+1 {{'stablehlo.select' op expected 3 operands, but found 2}}
  %r:1 = "stablehlo.select"(%o0, %o1) : (tensor<i1>, tensor<f6E3M2FN>) -> (tensor<f16>)
  return
}
// -----
func.func @f(%o0: tensor<i1>, %o1: tensor<f8E5M2>, %o2: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.select' op operand #2 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got '!stablehlo.token'}}
  %r:1 = "stablehlo.select"(%o0, %o1, %o2) : (tensor<i1>, tensor<f8E5M2>, !stablehlo.token) -> (tensor<f8E5M2>)
  return
}
// -----
func.func @f(%o0: tensor<2x1x2xi1>, %o1: tensor<2x1x2xf8E4M3B11FNUZ>, %o2: tensor<2x1x2xf8E4M3B11FNUZ>) {
  // expected-error @+1 {{'stablehlo.select' op requires one result}}
  "stablehlo.select"(%o0, %o1, %o2) : (tensor<2x1x2xi1>, tensor<2x1x2xf8E4M3B11FNUZ>, tensor<2x1x2xf8E4M3B11FNUZ>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<3x2x5x4xui32>, %o1: tensor<3x2x5x4xui32>, %o2: tensor<3x2x5x4xui32>, %o3: tensor<3x2x5x4xui32>) {
  // expected-error @+1 {{'stablehlo.clamp' op expected 3 operands, but found 4}}
  %r:1 = "stablehlo.clamp"(%o0, %o1, %o2, %o3) : (tensor<3x2x5x4xui32>, tensor<3x2x5x4xui32>, tensor<3x2x5x4xui32>, tensor<3x2x5x4xui32>) -> (tensor<3x2x5x4xui32>)
  return
}
// -----
func.func @f(%o0: tensor<2xui32>, %o1: tensor<2x1xui32>, %o2: tensor<2x1xui32>) {
  // expected-error @+2 {{min shape [2] is not scalar and is not compatible to operand shape [2, 1]}}
  // expected-error @+1 {{'stablehlo.clamp' op failed to infer returned types}}
  %r:1 = "stablehlo.clamp"(%o0, %o1, %o2) : (tensor<2xui32>, tensor<2x1xui32>, tensor<2x1xui32>) -> (tensor<1x2x1xui32>)
  return
}
// -----
func.func @f(%o0: tensor<i7>, %o1: tensor<3xi7>, %o2: tensor<3xi7>) {
  // expected-error @+1 {{'stablehlo.clamp' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<i7>'}}
  %r:1 = stablehlo.clamp %o0, %o1, %o2 : (tensor<i7>, tensor<3xi7>, tensor<3xi7>) -> (tensor<3xi7>)
  return
}
// -----
func.func @f(%o0: tensor<3x2x5xi8>, %o1: tensor<3x2x5xi8>, %o2: tensor<i8>) {
  // expected-error @+2 {{'stablehlo.clamp' op inferred type(s) 'tensor<3x2x5xi8>' are incompatible with return type(s) of operation 'tensor<3x2x1xi8>'}}
  // expected-error @+1 {{'stablehlo.clamp' op failed to infer returned types}}
  %r:1 = stablehlo.clamp %o0, %o1, %o2 : (tensor<3x2x5xi8>, tensor<3x2x5xi8>, tensor<i8>) -> (tensor<3x2x1xi8>)
  return
}
// -----
func.func @f(%o0: tensor<ui64>, %o1: tensor<1x3x4x2xui64>, %o2: tensor<1x3x4x2xui64>) {
  // expected-error @+1 {{'stablehlo.clamp' op requires one result}}
  %r:2 = "stablehlo.clamp"(%o0, %o1, %o2) : (tensor<ui64>, tensor<1x3x4x2xui64>, tensor<1x3x4x2xui64>) -> (tensor<1x3x4x2xui64>, tensor<1x3x4x2xui64>)
  return
}
// -----
func.func @f(%o0: tensor<2xf32>, %o1: tensor<3x2x2xf8E8M0FNU>, %o2: tensor<f8E8M0FNU>) {
  // expected-error @+1 {{'stablehlo.clamp' op requires compatible element types for all operands and results}}
  %r:1 = stablehlo.clamp %o0, %o1, %o2 : (tensor<2xf32>, tensor<3x2x2xf8E8M0FNU>, tensor<f8E8M0FNU>) -> (tensor<3x2x2xf8E8M0FNU>)
  return
}
// -----
func.func @f(%o0: tensor<f6E2M3FN>, %o1: tensor<4xf6E2M3FN>, %o2: tensor<3xf6E2M3FN>) {
  // expected-error @+2 {{max shape [3] is not scalar and is not compatible to operand shape [4]}}
  // expected-error @+1 {{'stablehlo.clamp' op failed to infer returned types}}
  %r:1 = stablehlo.clamp %o0, %o1, %o2 : (tensor<f6E2M3FN>, tensor<4xf6E2M3FN>, tensor<3xf6E2M3FN>) -> (tensor<4xf6E2M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<4x2x2x5xi32>, %o1: tensor<4x2x2x5xi32>, %o2: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.clamp' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'vector<2xf32>'}}
  %r:1 = stablehlo.clamp %o0, %o1, %o2 : (tensor<4x2x2x5xi32>, tensor<4x2x2x5xi32>, tensor<i32>) -> (vector<2xf32>)
  return
}
// -----
func.func @f(%o0: tensor<*xf32>) {
  // expected-error @+1 {{'stablehlo.convert' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements values, but got 'tensor<*xf32>'}}
  %r:1 = "stablehlo.convert"(%o0) : (tensor<*xf32>) -> (tensor<2x2xui4>)
  return
}
// -----
func.func @f(%o0: tensor<f8E3M4>) {
  // expected-error @+1 {{'stablehlo.convert' op requires the same shape for all operands and results}}
  %r:1 = "stablehlo.convert"(%o0) : (tensor<f8E3M4>) -> (tensor<3xi1>)
  return
}
// -----
func.func @f(%o0: tensor<9xi32>) {
  // expected-error @+1 {{'stablehlo.convert' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements values, but got 'vector<2xf32>'}}
  %r:1 = "stablehlo.convert"(%o0) : (tensor<9xi32>) -> (vector<2xf32>)
  return
}
// -----
func.func @f(%o0: tensor<2x1xf8E8M0FNU>) {
  // expected-error @+1 {{'stablehlo.convert' op requires one result}}
  %r:2 = "stablehlo.convert"(%o0) : (tensor<2x1xf8E8M0FNU>) -> (tensor<2x1xi16>, tensor<2x2xi16>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.convert' op requires a single operand}}
  %r:1 = "stablehlo.convert"() : () -> (tensor<2x1x4x2xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<4x2x3x1xf8E8M0FNU>) {
  // expected-error @+1 {{'stablehlo.is_finite' op result #0 must be ranked tensor of bool values, but got 'tensor<4x2x3x1xi8>'}}
  %r:1 = "stablehlo.is_finite"(%o0) : (tensor<4x2x3x1xf8E8M0FNU>) -> (tensor<4x2x3x1xi8>)
  return
}
// -----
func.func @f(%o0: tensor<3xf8E4M3FN>, %o1: tensor<3xf8E4M3FN>) {
  // expected-error @+1 {{'stablehlo.is_finite' op requires a single operand}}
  %r:1 = "stablehlo.is_finite"(%o0, %o1) : (tensor<3xf8E4M3FN>, tensor<3xf8E4M3FN>) -> (tensor<3xi1>)
  return
}
// -----
func.func @f(%o0: tensor<4x3x2xi32>) {
  // expected-error @+1 {{'stablehlo.is_finite' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or per-tensor integer quantized values, but got 'tensor<4x3x2xi32>'}}
  %r:1 = "stablehlo.is_finite"(%o0) : (tensor<4x3x2xi32>) -> (tensor<4x3x2xi1>)
  return
}
// -----
func.func @f(%o0: tensor<?x?x3xf6E3M2FN>) {
  // expected-error @+1 {{'stablehlo.is_finite' op all non-scalar operands/results must have the same shape and base type}}
  %r:1 = "stablehlo.is_finite"(%o0) : (tensor<?x?x3xf6E3M2FN>) -> (tensor<?x?x?x3xi1>)
  return
}
// -----
func.func @f(%o0: tensor<f8E4M3>) {
  // expected-error @+1 {{'stablehlo.is_finite' op requires one result}}
  "stablehlo.is_finite"(%o0) : (tensor<f8E4M3>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<4x2x5x2xf6E2M3FN>) {
  // expected-error @+1 {{'stablehlo.reduce_precision' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or per-tensor integer quantized values, but got 'tensor<4x2x5x2xui64>'}}
  %r:1 = "stablehlo.reduce_precision"(%o0) <{exponent_bits = 2 : i32, mantissa_bits = 22 : i32}> : (tensor<4x2x5x2xf6E2M3FN>) -> (tensor<4x2x5x2xui64>)
  return
}
// -----
func.func @f(%o0: tensor<5x5x2x2xf8E3M4>) {
  // expected-error @+1 {{'stablehlo.reduce_precision' op all non-scalar operands/results must have the same shape and base type}}
  %r:1 = "stablehlo.reduce_precision"(%o0) <{exponent_bits = 4 : i32, mantissa_bits = 30 : i32}> : (tensor<5x5x2x2xf8E3M4>) -> (tensor<5x2x2xf8E3M4>)
  return
}
// -----
func.func @f(%o0: tensor<complex<f32>>) {
  // expected-error @+1 {{'stablehlo.reduce_precision' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or per-tensor integer quantized values, but got 'tensor<complex<f32>>'}}
  %r:1 = "stablehlo.reduce_precision"(%o0) <{exponent_bits = 12 : i32, mantissa_bits = 9 : i32}> : (tensor<complex<f32>>) -> (tensor<complex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<3xf6E2M3FN>) {
  // expected-error @+1 {{'stablehlo.reduce_precision' op requires one result}}
  %r:2 = "stablehlo.reduce_precision"(%o0) <{exponent_bits = 2 : i32, mantissa_bits = 41 : i32}> : (tensor<3xf6E2M3FN>) -> (tensor<3xf16>, tensor<3xf16>)
  return
}
// -----
func.func @f(%o0: tensor<2x5x4x1xf64>) {
  // expected-error @+1 {{'stablehlo.reduce_precision' op requires compatible types for all operands and results}}
  %r:1 = stablehlo.reduce_precision %o0, format = e9m27 : (tensor<2x5x4x1xf64>) -> (tensor<2x5x4x1xf8E4M3FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<2x4x1xf8E4M3>, %o1: tensor<2x4x1xf8E4M3>) {
  // expected-error @+1 {{'stablehlo.reduce_precision' op requires a single operand}}
  %r:1 = "stablehlo.reduce_precision"(%o0, %o1) <{exponent_bits = 3 : i32, mantissa_bits = 60 : i32}> : (tensor<2x4x1xf8E4M3>, tensor<2x4x1xf8E4M3>) -> (tensor<2x4x1xf8E4M3>)
  return
}
// -----
func.func @f(%o0: tensor<3x3xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_precision' op requires attribute 'mantissa_bits'}}
  %r:1 = "stablehlo.reduce_precision"(%o0) <{exponent_bits = 8 : i32}> : (tensor<3x3xf32>) -> (tensor<3x3xf32>)
  return
}
// -----
func.func @f(%o0: tensor<2x1x3xf32>) {
  // expected-error @+1 {{'stablehlo.reduce_precision' op attribute 'mantissa_bits' failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative}}
  %r:1 = "stablehlo.reduce_precision"(%o0) <{exponent_bits = 5 : i32, mantissa_bits = -2 : i32}> : (tensor<2x1x3xf32>) -> (tensor<2x1x3xf32>)
  return
}
// -----
func.func @f(%o0: tensor<f64>) {
  // expected-error @+1 {{'stablehlo.reduce_precision' op attribute 'exponent_bits' failed to satisfy constraint: 32-bit signless integer attribute whose value is positive}}
  %r:1 = "stablehlo.reduce_precision"(%o0) <{exponent_bits = 0 : i32, mantissa_bits = 39 : i32}> : (tensor<f64>) -> (tensor<f64>)
  return
}
// -----
func.func @f(%o0: tensor<f32>) {
  // expected-error @+1 {{rank of smaller element type (2) should be 1 more than rank of larger element type (0), but 2 != 0 + 1.}}
  %r:1 = stablehlo.bitcast_convert %o0 : (tensor<f32>) -> (tensor<4x4xi8>)
  return
}
// -----
func.func @f(%o0: tensor<5x1x2xcomplex<f64>>) {
  // expected-error @+1 {{cannot convert between real and complex types, but got: 'tensor<5x1x2xcomplex<f64>>' and 'tensor<5x1x2xi32>'}}
  %r:1 = "stablehlo.bitcast_convert"(%o0) : (tensor<5x1x2xcomplex<f64>>) -> (tensor<5x1x2xi32>)
  return
}
// -----
func.func @f(%o0: tensor<2x0x2xf32>) {
  // expected-error @+1 {{operand and result shapes must match except for the innermost dimension of the shape with the smaller element type. Got: 'tensor<2x0x2xf32>' and 'tensor<4x2x0xi32>'.}}
  %r:1 = stablehlo.bitcast_convert %o0 : (tensor<2x0x2xf32>) -> (tensor<4x2x0xi32>)
  return
}
// -----
func.func @f(%o0: tensor<1x2x3x3xui32>) {
  // expected-error @+1 {{requires compatible bit widths. Got: 'tensor<1x2x3x3xui32>' and 'tensor<1x2x3x3x2xi4>', but 4 * 2 != 32.}}
  %r:1 = stablehlo.bitcast_convert %o0 : (tensor<1x2x3x3xui32>) -> (tensor<1x2x3x3x2xi4>)
  return
}
// -----
func.func @f(%o0: tensor<3x2xindex>) {
  // expected-error @+1 {{'stablehlo.bitcast_convert' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<3x2xindex>'}}
  %r:1 = "stablehlo.bitcast_convert"(%o0) : (tensor<3x2xindex>) -> (tensor<3x2x?xi8>)
  return
}
// -----
func.func @f(%o0: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.bitcast_convert' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<4x4xi7>'}}
  %r:1 = "stablehlo.bitcast_convert"(%o0) : (tensor<4xf32>) -> (tensor<4x4xi7>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.bitcast_convert' op requires a single operand}}
  %r:1 = "stablehlo.bitcast_convert"() : () -> (tensor<4xi8>)
  return
}
// -----
func.func @f(%o0: tensor<1x5x1x5xui32>) {
  // expected-error @+1 {{'stablehlo.bitcast_convert' op requires one result}}
  %r:2 = stablehlo.bitcast_convert %o0 : (tensor<1x5x1x5xui32>) -> (tensor<1x5x1x5x2xbf16>, tensor<1x5x1x5x2xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<2x1x2x3xf64>) {
  // expected-error @+1 {{'stablehlo.cosine' op requires compatible types for all operands and results}}
  %r:1 = "stablehlo.cosine"(%o0) : (tensor<2x1x2x3xf64>) -> (tensor<2x?x1x2x3xf64>)
  return
}
// -----
func.func @f(%o0: tensor<4x1xf8E5M2>) {
  // expected-error @+1 {{'stablehlo.cosine' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<4x1xui64>'}}
  %r:1 = "stablehlo.cosine"(%o0) : (tensor<4x1xf8E5M2>) -> (tensor<4x1xui64>)
  return
}
// -----
func.func @f(%o0: tensor<?x1x?x2xi1>) {
  // expected-error @+1 {{'stablehlo.cosine' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<?x1x?x2xi1>'}}
  %r:1 = stablehlo.cosine %o0 : (tensor<?x1x?x2xi1>) -> (tensor<?x1x?x2xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<3x4x2xf32>) {
  // expected-error @+1 {{'stablehlo.cosine' op requires one result}}
  %r:2 = "stablehlo.cosine"(%o0) <{result_accuracy = #stablehlo.result_accuracy<rtol = 1.0e-05, ulps = 3, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<3x4x2xf32>) -> (tensor<3x4x2xf32>, tensor<3x4x2xf32>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.cosine' op requires a single operand}}
  %r:1 = "stablehlo.cosine"() <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<DEFAULT>>}> : () -> (tensor<complex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<f4E2M1FN>) {
  // expected-error @+2 {{'stablehlo.real' op inferred type(s) 'tensor<f4E2M1FN>' are incompatible with return type(s) of operation 'tensor<f64>'}}
  // expected-error @+1 {{'stablehlo.real' op failed to infer returned types}}
  %r:1 = "stablehlo.real"(%o0) : (tensor<f4E2M1FN>) -> (tensor<f64>)
  return
}
// -----
func.func @f(%o0: tensor<complex<f32>>) {
  // expected-error @+1 {{'stablehlo.real' op all non-scalar operands/results must have the same shape and base type}}
  %r:1 = "stablehlo.real"(%o0) : (tensor<complex<f32>>) -> (tensor<5xf32>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.real' op requires a single operand}}
  %r:1 = "stablehlo.real"() : () -> (tensor<?x3x2xf32>)
  return
}
// -----
func.func @f(%o0: tensor<1xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.real' op requires one result}}
  %r:2 = "stablehlo.real"(%o0) : (tensor<1xcomplex<f32>>) -> (tensor<f32>, tensor<f32>)
  return
}
// -----
func.func @f(%o0: tensor<complex<f32>>) {
  // expected-error @+1 {{'stablehlo.real' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float values, but got 'tensor<index>'}}
  %r:1 = stablehlo.real %o0 : (tensor<complex<f32>>) -> (tensor<index>)
  return
}
// -----
func.func @f(%o0: tensor<6xui8>) {
  // expected-error @+1 {{'stablehlo.real' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or complex type with 32/64-bit float elements values, but got 'tensor<6xui8>'}}
  %r:1 = "stablehlo.real"(%o0) : (tensor<6xui8>) -> (tensor<4xf8E4M3>)
  return
}
