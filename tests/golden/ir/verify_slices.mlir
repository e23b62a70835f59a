// flags: -split-input-file -verify-diagnostics
// What the types, attributes and regions of these ops must be: slice, dynamic_slice, dynamic_update_slice, real_dynamic_slice, gather, dynamic_gather, scatter.
func.func @f(%o0: tensor<i1>, %o1: tensor<i1>) {
  // expected-error @+1 {{'stablehlo.slice' op requires a single operand}}
  %r:1 = "stablehlo.slice"(%o0, %o1) <{start_indices = array<i64>, limit_indices = array<i64>, strides = array<i64>}> : (tensor<i1>, tensor<i1>) -> (tensor<i1>)
  return
}
// -----
func.func @f(%o0: tensor<3xi8>) {
  // expected-error @+2 {{the number of elements in start_indices (0) does not match the rank of the operand (1)}}
  // expected-error @+1 {{'stablehlo.slice' op failed to infer returned types}}
  %r:1 = "stablehlo.slice"(%o0) <{start_indices = array<i64>, limit_indices = array<i64>, strides = array<i64>}> : (tensor<3xi8>) -> (tensor<i8>)
  return
}
// -----
func.func @f(%o0: tensor<4x1xi1>) {
  // expected-error @+1 {{'stablehlo.slice' op failed to verify that all of {start_indices, limit_indices, strides} have same size}}
  %r:1 = "stablehlo.slice"(%o0) <{start_indices = array<i64: 2, 0>, limit_indices = array<i64: 2, 1>, strides = array<i64: 1, 1, 1>}> : (tensor<4x1xi1>) -> (tensor<0x1xi1>)
  return
}
// -----
func.func @f(%o0: tensor<5xcomplex<f64>>) {
  // expected-error @+2 {{'stablehlo.slice' op inferred type(s) 'tensor<2xcomplex<f64>>' are incompatible with return type(s) of operation 'tensor<3x3xcomplex<f64>>'}}
  // expected-error @+1 {{'stablehlo.slice' op failed to infer returned types}}
  %r:1 = "stablehlo.slice"(%o0) <{start_indices = array<i64: 1>, limit_indices = array<i64: 4>, strides = array<i64: 2>}> : (tensor<5xcomplex<f64>>) -> (tensor<3x3xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<3x3xf8E5M2>) {
  // expected-error @+2 {{stride must be positive but got -2 in dimension 0}}
  // expected-error @+1 {{'stablehlo.slice' op failed to infer returned types}}
  %r:1 = "stablehlo.slice"(%o0) <{start_indices = array<i64: 0, 1>, limit_indices = array<i64: 2, 3>, strides = array<i64: -2, 2>}> : (tensor<3x3xf8E5M2>) -> (tensor<1x1xf8E5M2>)
  return
}
// -----
func.func @f(%o0: tensor<3xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.slice' op requires one result}}
  stablehlo.slice %o0 [3:3:1] : (tensor<3xcomplex<f32>>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<1xui32>) {
  // expected-error @+1 {{'stablehlo.slice' op requires the same element type for all operands and results}}
  %r:1 = "stablehlo.slice"(%o0) <{start_indices = array<i64: 1>, limit_indices = array<i64: 1>, strides = array<i64: 2>}> : (tensor<1xui32>) -> (tensor<0xf6E2M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<5x3x2x3xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.slice' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got '!stablehlo.token'}}
  %r:1 = stablehlo.slice %o0 [0:5:3, 3:3:3, 0:2, 0:3] : (tensor<5x3x2x3xcomplex<f32>>) -> (!stablehlo.token)
  return
}
// -----
func.func @f(%o0: tensor<5x5x4xcomplex<f32>>) {
  // expected-error @+2 {{start index 2 is larger than limit index 0 in dimension 2}}
  // expected-error @+1 {{'stablehlo.slice' op failed to infer returned types}}
  %r:1 = "stablehlo.slice"(%o0) <{start_indices = array<i64: 3, 3, 2>, limit_indices = array<i64: 4, 3, 0>, strides = array<i64: 2, 2, 1>}> : (tensor<5x5x4xcomplex<f32>>) -> (tensor<1x0x2xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<4x2xf8E4M3FNUZ>) {
  // expected-error @+1 {{'stablehlo.slice' op requires attribute 'strides'}}
  %r:1 = "stablehlo.slice"(%o0) <{start_indices = array<i64: 1, 2>, limit_indices = array<i64: 1>}> : (tensor<4x2xf8E4M3FNUZ>) -> (tensor<0x0xf8E4M3FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<1xsi32>) {
  // expected-error @+1 {{'stablehlo.slice' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<1xsi32>'}}
  %r:1 = stablehlo.slice %o0 [1:1:3] : (tensor<1xsi32>) -> (tensor<0xf8E8M0FNU>)
  return
}
// -----
func.func @f(%o0: tensor<0xi8>) {
  // expected-error @+2 {{limit index 2 is larger than dimension size 0 in dimension 0}}
  // expected-error @+1 {{'stablehlo.slice' op failed to infer returned types}}
  %r:1 = "stablehlo.slice"(%o0) <{start_indices = array<i64: 0>, limit_indices = array<i64: 2>, strides = array<i64: 1>}> : (tensor<0xi8>) -> (tensor<2xi8>)
  return
}
// -----
func.func @f(%o0: tensor<3xi1>) {
  // expected-error @+2 {{negative start index -2 in dimension 0}}
  // expected-error @+1 {{'stablehlo.slice' op failed to infer returned types}}
  %r:1 = "stablehlo.slice"(%o0) <{start_indices = array<i64: -2>, limit_indices = array<i64: 3>, strides = array<i64: 1>}> : (tensor<3xi1>) -> (tensor<0xi1>)
  return
}
// -----
func.func @f(%o0: tensor<3x5x3x5xcomplex<f32>>, %o1: tensor<2xui8>, %o2: tensor<ui8>, %o3: tensor<ui8>, %o4: tensor<ui8>) {
  // expected-error @+1 {{'stablehlo.dynamic_slice' op operand #1 must be variadic of 0D tensor of 2/4/8/16/32/64-bit integer values, but got 'tensor<2xui8>'}}
  %r:1 = stablehlo.dynamic_slice %o0, %o1, %o2, %o3, %o4, sizes = [2, 2, 3, 3] : (tensor<3x5x3x5xcomplex<f32>>, tensor<2xui8>, tensor<ui8>, tensor<ui8>, tensor<ui8>) -> (tensor<2x2x3x3xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<5x4x5x3xf8E4M3FN>, %o1: tensor<i64>, %o2: tensor<i64>, %o3: tensor<i64>, %o4: tensor<i64>) {
  // expected-error @+2 {{'stablehlo.dynamic_slice' op inferred type(s) 'tensor<5x2x1x2xf8E4M3FN>' are incompatible with return type(s) of operation 'tensor<5x5x2x1x2xf8E4M3FN>'}}
  // expected-error @+1 {{'stablehlo.dynamic_slice' op failed to infer returned types}}
  %r:1 = "stablehlo.dynamic_slice"(%o0, %o1, %o2, %o3, %o4) <{slice_sizes = array<i64: 5, 2, 1, 2>}> : (tensor<5x4x5x3xf8E4M3FN>, tensor<i64>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<5x5x2x1x2xf8E4M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<complex<f64>>) {
  // expected-error @+1 {{'stablehlo.dynamic_slice' op failed to verify that all of {operand, result} have same element type}}
  %r:1 = "stablehlo.dynamic_slice"(%o0) <{slice_sizes = array<i64>}> : (tensor<complex<f64>>) -> (tensor<ui4>)
  return
}
// -----
func.func @f(%o0: tensor<4xf8E4M3B11FNUZ>) {
  // expected-error @+2 {{has mismatched number of start indices (0) and the rank of operand (1)}}
  // expected-error @+1 {{'stablehlo.dynamic_slice' op failed to infer returned types}}
  %r:1 = "stablehlo.dynamic_slice"(%o0) <{slice_sizes = array<i64>}> : (tensor<4xf8E4M3B11FNUZ>) -> (tensor<f8E4M3B11FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<1x4x3xi1>, %o1: tensor<ui8>, %o2: tensor<ui8>, %o3: tensor<ui8>) {
  // expected-error @+2 {{has mismatched number of slice sizes (4) and number of start indices (3)}}
  // expected-error @+1 {{'stablehlo.dynamic_slice' op failed to infer returned types}}
  %r:1 = "stablehlo.dynamic_slice"(%o0, %o1, %o2, %o3) <{slice_sizes = array<i64: 1, 1, 0, 2>}> : (tensor<1x4x3xi1>, tensor<ui8>, tensor<ui8>, tensor<ui8>) -> (tensor<1x1x0xi1>)
  return
}
// -----
func.func @f(%o0: tensor<4x4xi1>, %o1: tensor<i32>, %o2: tensor<i32>) {
  // expected-error @+2 {{has negative size index to dynamic slice: -1}}
  // expected-error @+1 {{'stablehlo.dynamic_slice' op failed to infer returned types}}
  %r:1 = "stablehlo.dynamic_slice"(%o0, %o1, %o2) <{slice_sizes = array<i64: 3, -1>}> : (tensor<4x4xi1>, tensor<i32>, tensor<i32>) -> (tensor<3x1xi1>)
  return
}
// -----
func.func @f(%o0: tensor<5xcomplex<f32>>, %o1: tensor<i64>) {
  // expected-error @+1 {{'stablehlo.dynamic_slice' op requires one result}}
  stablehlo.dynamic_slice %o0, %o1, sizes = [1] : (tensor<5xcomplex<f32>>, tensor<i64>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<3x5x5x2xi1>, %o1: tensor<i8>, %o2: tensor<i64>, %o3: tensor<i64>, %o4: tensor<i64>) {
  // expected-error @+2 {{start indices must have same element type}}
  // expected-error @+1 {{'stablehlo.dynamic_slice' op failed to infer returned types}}
  %r:1 = stablehlo.dynamic_slice %o0, %o1, %o2, %o3, %o4, sizes = [2, 5, 5, 2] : (tensor<3x5x5x2xi1>, tensor<i8>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<2x5x5x2xi1>)
  return
}
// -----
func.func @f(%o0: tuple<>, %o1: tensor<1xi64>, %o2: tensor<i64>, %o3: tensor<i64>) {
  // expected-error @+1 {{'stablehlo.dynamic_slice' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tuple<>'}}
  %r:1 = "stablehlo.dynamic_slice"(%o0, %o1, %o2, %o3) <{slice_sizes = array<i64: 4, 3, 3>}> : (tuple<>, tensor<1xi64>, tensor<i64>, tensor<i64>) -> (tensor<4x3x3xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<2xf16>, %o1: tensor<i32>) {
  // expected-error @+2 {{has slice size 3 greater than dimension size 2 in dimension 0 of operand}}
  // expected-error @+1 {{'stablehlo.dynamic_slice' op failed to infer returned types}}
  %r:1 = "stablehlo.dynamic_slice"(%o0, %o1) <{slice_sizes = array<i64: 3>}> : (tensor<2xf16>, tensor<i32>) -> (tensor<3xf16>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.dynamic_slice' op expected 1 or more operands, but found 0}}
  %r:1 = "stablehlo.dynamic_slice"() <{slice_sizes = array<i64>}> : () -> (tensor<i2>)
  return
}
// -----
func.func @f(%o0: tensor<1xi1>, %o1: tensor<1xi64>) {
  // expected-error @+1 {{'stablehlo.dynamic_slice' op requires attribute 'slice_sizes'}}
  %r:1 = "stablehlo.dynamic_slice"(%o0, %o1) : (tensor<1xi1>, tensor<1xi64>) -> (tensor<1xi1>)
  return
}
// -----
func.func @f(%o0: tensor<i1>) {
  // expected-error @+1 {{'stablehlo.dynamic_slice' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got '!stablehlo.token'}}
  %r:1 = stablehlo.dynamic_slice %o0, sizes = [] : (tensor<i1>) -> (!stablehlo.token)
  return
}
// -----
func.func @f(%o0: tensor<4x1xcomplex<f64>>, %o1: tensor<1x1xcomplex<f64>>, %o2: tensor<i64>, %o3: tensor<i64>) {
  // expected-error @+1 {{'stablehlo.dynamic_update_slice' op failed to verify that all of {operand, update, result} have same element type}}
  %r:1 = "stablehlo.dynamic_update_slice"(%o0, %o1, %o2, %o3) : (tensor<4x1xcomplex<f64>>, tensor<1x1xcomplex<f64>>, tensor<i64>, tensor<i64>) -> (tensor<4x1xi32>)
  return
}
// -----
func.func @f(%o0: tensor<5x4x3xi1>, %o1: tensor<5x1x3xi1>, %o2: tensor<i64>, %o3: tensor<i64>, %o4: tensor<i64>) {
  // expected-error @+2 {{'stablehlo.dynamic_update_slice' op inferred type(s) 'tensor<5x4x3xi1>' are incompatible with return type(s) of operation 'tensor<4x3xi1>'}}
  // expected-error @+1 {{'stablehlo.dynamic_update_slice' op failed to infer returned types}}
  %r:1 = "stablehlo.dynamic_update_slice"(%o0, %o1, %o2, %o3, %o4) : (tensor<5x4x3xi1>, tensor<5x1x3xi1>, tensor<i64>, tensor<i64>, tensor<i64>) -> (tensor<4x3xi1>)
  return
}
// -----
func.func @f(%o0: tensor<4x4x3x2xcomplex<f64>>, %o1: tensor<2x4x3x2xcomplex<f64>>, %o2: tensor<ui8>, %o3: tensor<ui8>, %o4: tensor<ui8>, %o5: tensor<2xui8>) {
  // expected-error @+1 {{'stablehlo.dynamic_update_slice' op operand #5 must be variadic of 0D tensor of 2/4/8/16/32/64-bit integer values, but got 'tensor<2xui8>'}}
  %r:1 = stablehlo.dynamic_update_slice %o0, %o1, %o2, %o3, %o4, %o5 : (tensor<4x4x3x2xcomplex<f64>>, tensor<2x4x3x2xcomplex<f64>>, tensor<ui8>, tensor<ui8>, tensor<ui8>, tensor<2xui8>) -> (tensor<4x4x3x2xi8>)
  return
}
// -----
func.func @f(%o0: tensor<1x4x2x4xcomplex<f64>>, %o1: tensor<2x1x2x1x4xcomplex<f64>>, %o2: tensor<i32>, %o3: tensor<i32>, %o4: tensor<i32>, %o5: tensor<i32>) {
  // expected-error @+2 {{update rank does not match operand rank: 5 vs 4.}}
  // expected-error @+1 {{'stablehlo.dynamic_update_slice' op failed to infer returned types}}
  %r:1 = stablehlo.dynamic_update_slice %o0, %o1, %o2, %o3, %o4, %o5 : (tensor<1x4x2x4xcomplex<f64>>, tensor<2x1x2x1x4xcomplex<f64>>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<1x4x2x4xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<f32>, %o1: vector<2xf32>) {
  // expected-error @+1 {{'stablehlo.dynamic_update_slice' op operand #1 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'vector<2xf32>'}}
  %r:1 = stablehlo.dynamic_update_slice %o0, %o1 : (tensor<f32>, vector<2xf32>) -> (tensor<f32>)
  return
}
// -----
func.func @f(%o0: tensor<5x3xi64>, %o1: tensor<4x2xi64>, %o2: tensor<i32>) {
  // expected-error @+2 {{expects number of start_indices to match operand rank: 1 vs 2.}}
  // expected-error @+1 {{'stablehlo.dynamic_update_slice' op failed to infer returned types}}
  %r:1 = stablehlo.dynamic_update_slice %o0, %o1, %o2 : (tensor<5x3xi64>, tensor<4x2xi64>, tensor<i32>) -> (tensor<5x3xi64>)
  return
}
// -----
func.func @f(%o0: tensor<4x4xi1>, %o1: tensor<3x1xi1>, %o2: tensor<ui8>, %o3: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_update_slice' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'vector<2xf32>'}}
  %r:1 = "stablehlo.dynamic_update_slice"(%o0, %o1, %o2, %o3) : (tensor<4x4xi1>, tensor<3x1xi1>, tensor<ui8>, tensor<i32>) -> (vector<2xf32>)
  return
}
// -----
func.func @f(%o0: tensor<4x3xf32>, %o1: tensor<3x2xf32>, %o2: tensor<i32>, %o3: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.dynamic_update_slice' op requires one result}}
  %r:2 = stablehlo.dynamic_update_slice %o0, %o1, %o2, %o3 : (tensor<4x3xf32>, tensor<3x2xf32>, tensor<i32>, tensor<i32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
  return
}
// -----
func.func @f(%o0: tensor<4x5x0xui8>, %o1: tensor<3x1x2xui8>, %o2: tensor<ui8>, %o3: tensor<ui8>, %o4: tensor<ui8>) {
  // expected-error @+2 {{expects size at dimension 2 of update to be in range [0, 0]. Got: 2.}}
  // expected-error @+1 {{'stablehlo.dynamic_update_slice' op failed to infer returned types}}
  %r:1 = "stablehlo.dynamic_update_slice"(%o0, %o1, %o2, %o3, %o4) : (tensor<4x5x0xui8>, tensor<3x1x2xui8>, tensor<ui8>, tensor<ui8>, tensor<ui8>) -> (tensor<4x4x5xui8>)
  return
}
// -----
func.func @f(%o0: tensor<5x3xi16>, %o1: tensor<5x1xi16>, %o2: tensor<i64>, %o3: tensor<i4>) {
  // expected-error @+2 {{start indices must have same element type}}
  // expected-error @+1 {{'stablehlo.dynamic_update_slice' op failed to infer returned types}}
  %r:1 = stablehlo.dynamic_update_slice %o0, %o1, %o2, %o3 : (tensor<5x3xi16>, tensor<5x1xi16>, tensor<i64>, tensor<i4>) -> (tensor<5x3xi16>)
  return
}
// -----
func.func @f(%o0: tensor<i1>) {
  // expected-error @+1 {{'stablehlo.dynamic_update_slice' op expected 2 or more operands, but found 1}}
  %r:1 = "stablehlo.dynamic_update_slice"(%o0) : (tensor<i1>) -> (tensor<i1>)
  return
}
// -----
func.func @f(%o0: tensor<4x3x4x5xi4>, %o1: tensor<4xi4>, %o2: tensor<4xi4>, %o3: tensor<4xi4>) {
  // expected-error @+1 {{'stablehlo.real_dynamic_slice' op failed to verify that all of {operand, result} have same element type}}
  %r:1 = "stablehlo.real_dynamic_slice"(%o0, %o1, %o2, %o3) : (tensor<4x3x4x5xi4>, tensor<4xi4>, tensor<4xi4>, tensor<4xi4>) -> (tensor<?x?x?x?xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<i2>, %o1: tensor<i2>, %o2: tensor<0xindex>, %o3: tensor<0xindex>, %o4: tensor<0xindex>) {
  // expected-error @+1 {{'stablehlo.real_dynamic_slice' op expected 4 operands, but found 5}}
  %r:1 = stablehlo.real_dynamic_slice %o0, %o1, %o2, %o3, %o4 : (tensor<i2>, tensor<i2>, tensor<0xindex>, tensor<0xindex>, tensor<0xindex>) -> (tensor<2xi2>)
  return
}
// -----
func.func @f(%o0: tensor<4x2x5xf4E2M1FN>, %o1: tensor<3xf4E2M1FN>, %o2: tensor<3xf4E2M1FN>, %o3: tensor<3xf4E2M1FN>) {
  // expected-error @+1 {{'stablehlo.real_dynamic_slice' op operand #1 must be 1D tensor of index or 2/4/8/16/32/64-bit integer values, but got 'tensor<3xf4E2M1FN>'}}
  %r:1 = stablehlo.real_dynamic_slice %o0, %o1, %o2, %o3 : (tensor<4x2x5xf4E2M1FN>, tensor<3xf4E2M1FN>, tensor<3xf4E2M1FN>, tensor<3xf4E2M1FN>) -> (tensor<?x?x?xf4E2M1FN>)
  return
}
// -----
func.func @f(%o0: tensor<1x3x5x5xcomplex<f64>>, %o1: tensor<5xi32>, %o2: tensor<4xi32>, %o3: tensor<4xi32>) {
  // expected-error @+1 {{'stablehlo.real_dynamic_slice' op failed to verify that all of {start_indices, limit_indices, strides} have same type}}
  %r:1 = "stablehlo.real_dynamic_slice"(%o0, %o1, %o2, %o3) : (tensor<1x3x5x5xcomplex<f64>>, tensor<5xi32>, tensor<4xi32>, tensor<4xi32>) -> (tensor<?x?x?x?xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<1x2x5xf64>, %o1: tensor<2xi32>, %o2: tensor<2xi32>, %o3: tensor<2xi32>) {
  // expected-error @+1 {{has mismatched number of operand rank (3) and start_indices size (2)}}
  %r:1 = "stablehlo.real_dynamic_slice"(%o0, %o1, %o2, %o3) : (tensor<1x2x5xf64>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<?x?xf64>)
  return
}
// -----
func.func @f(%o0: tensor<4x2x3xcomplex<f64>>, %o1: tensor<3xi32>, %o2: tensor<3xi32>, %o3: tensor<3xi32>) {
  // expected-error @+1 {{'stablehlo.real_dynamic_slice' op requires one result}}
  stablehlo.real_dynamic_slice %o0, %o1, %o2, %o3 : (tensor<4x2x3xcomplex<f64>>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<4x3x5xi7>, %o1: tensor<3xi7>, %o2: tensor<3xi7>, %o3: tensor<3xi7>) {
  // expected-error @+1 {{'stablehlo.real_dynamic_slice' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<4x3x5xi7>'}}
  %r:1 = "stablehlo.real_dynamic_slice"(%o0, %o1, %o2, %o3) : (tensor<4x3x5xi7>, tensor<3xi7>, tensor<3xi7>, tensor<3xi7>) -> (tensor<?x?x?xf64>)
  return
}
// -----
func.func @f(%o0: tensor<4x1x4x4xi1>, %o1: tensor<4xi4>, %o2: tensor<4xi32>, %o3: tensor<4xi32>) {
  // expected-error @+1 {{'stablehlo.real_dynamic_slice' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<?x?x?x?xi7>'}}
  %r:1 = "stablehlo.real_dynamic_slice"(%o0, %o1, %o2, %o3) : (tensor<4x1x4x4xi1>, tensor<4xi4>, tensor<4xi32>, tensor<4xi32>) -> (tensor<?x?x?x?xi7>)
  return
}
// -----
func.func @f(%o0: tensor<5x1xi1>, %o1: tensor<1x1xi32>) {
  // expected-error @+2 {{'stablehlo.gather' op inferred type(s) 'tensor<1x1xi1>' are incompatible with return type(s) of operation 'tensor<6x1xi1>'}}
  // expected-error @+1 {{'stablehlo.gather' op failed to infer returned types}}
  %r:1 = "stablehlo.gather"(%o0, %o1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], index_vector_dim = 1, start_index_map = [0], collapsed_slice_dims = [0]>, slice_sizes = array<i64: 1, 1>}> : (tensor<5x1xi1>, tensor<1x1xi32>) -> (tensor<6x1xi1>)
  return
}
// -----
func.func @f(%o0: tensor<2xf8E8M0FNU>, %o1: tensor<2x1xi32>) {
  // expected-error @+2 {{Expects each element of start_index_map to be in range [0, rank-of('operand')) i.e. [0, 1). got: 1.}}
  // expected-error @+1 {{'stablehlo.gather' op failed to infer returned types}}
  %r:1 = "stablehlo.gather"(%o0, %o1) <{dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<2xf8E8M0FNU>, tensor<2x1xi32>) -> (tensor<2xf8E8M0FNU>)
  return
}
// -----
func.func @f(%o0: tensor<4x1xi64>, %o1: tensor<2x1xi1>) {
  // expected-error @+1 {{'stablehlo.gather' op operand #1 must be ranked tensor of 2/4/8/16/32/64-bit integer values, but got 'tensor<2x1xi1>'}}
  %r:1 = "stablehlo.gather"(%o0, %o1) <{dimension_numbers = #stablehlo.gather<index_vector_dim = 1, offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0]>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x1xi64>, tensor<2x1xi1>) -> (tensor<2x1xi64>)
  return
}
// -----
func.func @f(%o0: tensor<5xindex>, %o1: tensor<4x1xindex>) {
  // expected-error @+1 {{'stablehlo.gather' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<5xindex>'}}
  %r:1 = "stablehlo.gather"(%o0, %o1) <{dimension_numbers = #stablehlo.gather<start_index_map = [0], index_vector_dim = 1, offset_dims = [], collapsed_slice_dims = [0]>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<5xindex>, tensor<4x1xindex>) -> (tensor<4xindex>)
  return
}
// -----
func.func @f(%o0: tensor<2x4xcomplex<f64>>, %o1: tensor<3x1xui32>) {
  // expected-error @+1 {{'stablehlo.gather' op requires attribute 'slice_sizes'}}
  %r:1 = "stablehlo.gather"(%o0, %o1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], index_vector_dim = 1, start_index_map = [0], offset_dims = [1]>, indices_are_sorted = true}> : (tensor<2x4xcomplex<f64>>, tensor<3x1xui32>) -> (tensor<3x4xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<2xi32>, %o1: tensor<2x1xi32>) {
  // expected-error @+1 {{'stablehlo.gather' op requires one result}}
  "stablehlo.gather"(%o0, %o1) <{dimension_numbers = #stablehlo.gather<index_vector_dim = 1, collapsed_slice_dims = [0], start_index_map = [0], offset_dims = []>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<2xi32>, tensor<2x1xi32>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<3x3xi1>, %o1: tensor<2x1xui32>) {
  // expected-error @+1 {{'stablehlo.gather' op failed to verify that all of {operand, result} have same element type}}
  %r:1 = "stablehlo.gather"(%o0, %o1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], index_vector_dim = 1, start_index_map = [0], collapsed_slice_dims = [0]>, slice_sizes = array<i64: 1, 3>}> : (tensor<3x3xi1>, tensor<2x1xui32>) -> (tensor<2x3xui32>)
  return
}
// -----
func.func @f(%o0: tensor<5xf8E3M4>, %o1: tensor<3x1xi64>) {
  // expected-error @+2 {{slice_sizes size (2) not equal to operand rank (1)}}
  // expected-error @+1 {{'stablehlo.gather' op failed to infer returned types}}
  %r:1 = "stablehlo.gather"(%o0, %o1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], offset_dims = [], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<5xf8E3M4>, tensor<3x1xi64>) -> (tensor<3xf8E3M4>)
  return
}
// -----
func.func @f(%o0: tensor<3x2xi1>, %o1: tensor<2x1xi64>) {
  // expected-error @+2 {{slice size (100) is out of bounds for operand dimension (2) at index 1}}
  // expected-error @+1 {{'stablehlo.gather' op failed to infer returned types}}
  %r:1 = "stablehlo.gather"(%o0, %o1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], collapsed_slice_dims = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 100>}> : (tensor<3x2xi1>, tensor<2x1xi64>) -> (tensor<2x7xi1>)
  return
}
// -----
func.func @f(%o0: tensor<4x2xui4>, %o1: tensor<4x1xi32>) {
  // expected-error @+2 {{offset_dims size (0) plus collapse_slice_dims size (1) plus operand_batching_dims size (0) is not equal to operand rank (2)}}
  // expected-error @+1 {{'stablehlo.gather' op failed to infer returned types}}
  %r:1 = "stablehlo.gather"(%o0, %o1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], index_vector_dim = 1, offset_dims = [], start_index_map = [0]>, indices_are_sorted = false, slice_sizes = array<i64: 1, 2>}> : (tensor<4x2xui4>, tensor<4x1xi32>) -> (tensor<2xui4>)
  return
}
// -----
func.func @f(%o0: tensor<2xui4>, %o1: tensor<2x1xi64>) {
  // expected-error @+1 {{'stablehlo.gather' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<2xsi32>'}}
  %r:1 = "stablehlo.gather"(%o0, %o1) <{dimension_numbers = #stablehlo.gather<operand_batching_dims = [], start_indices_batching_dims = [], offset_dims = [], start_index_map = [0], collapsed_slice_dims = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<2xui4>, tensor<2x1xi64>) -> (tensor<2xsi32>)
  return
}
// -----
func.func @f(%o0: tensor<4xi32>, %o1: tensor<4x1xi32>) {
  // expected-error @+2 {{start_index_map size (2) is not equal to size of index dimension (1) of start_indices (1)}}
  // expected-error @+1 {{'stablehlo.gather' op failed to infer returned types}}
  %r:1 = "stablehlo.gather"(%o0, %o1) <{dimension_numbers = #stablehlo.gather<start_indices_batching_dims = [], start_index_map = [0, 0], offset_dims = [], collapsed_slice_dims = [0], index_vector_dim = 1, operand_batching_dims = []>, indices_are_sorted = true, slice_sizes = array<i64: 1>}> : (tensor<4xi32>, tensor<4x1xi32>) -> (tensor<4xi32>)
  return
}
// -----
func.func @f(%o0: tensor<5xcomplex<f64>>, %o1: tensor<5xcomplex<f64>>, %o2: tensor<1x1xi64>) {
  // expected-error @+1 {{'stablehlo.gather' op expected 2 operands, but found 3}}
  %r:1 = "stablehlo.gather"(%o0, %o1, %o2) <{dimension_numbers = #stablehlo.gather<start_index_map = [0], collapsed_slice_dims = [0], index_vector_dim = 1, offset_dims = []>, indices_are_sorted = true, slice_sizes = array<i64: 1>}> : (tensor<5xcomplex<f64>>, tensor<5xcomplex<f64>>, tensor<1x1xi64>) -> (tensor<1xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<3x2xcomplex<f64>>, %o1: tensor<1x1xi32>) {
  // expected-error @+2 {{Expects that for each dim in collapsed_slice_dims, slice_sizes[dim] should be <= 1, but got 2}}
  // expected-error @+1 {{'stablehlo.gather' op failed to infer returned types}}
  %r:1 = "stablehlo.gather"(%o0, %o1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], offset_dims = [1], index_vector_dim = 1>, slice_sizes = array<i64: 2, 2>}> : (tensor<3x2xcomplex<f64>>, tensor<1x1xi32>) -> (tensor<1x2xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<2x2xf6E3M2FN>, %o1: tensor<4x1xi32>, %o2: tensor<1xi32>) {
  // expected-error @+2 {{offset_dims size (0) plus collapse_slice_dims size (1) plus operand_batching_dims size (0) is not equal to operand rank (2)}}
  // expected-error @+1 {{'stablehlo.dynamic_gather' op failed to infer returned types}}
  %r:1 = "stablehlo.dynamic_gather"(%o0, %o1, %o2) <{dimension_numbers = #stablehlo.gather<index_vector_dim = 1, start_index_map = [0], collapsed_slice_dims = [0], offset_dims = []>, indices_are_sorted = false}> : (tensor<2x2xf6E3M2FN>, tensor<4x1xi32>, tensor<1xi32>) -> (tensor<3xf6E3M2FN>)
  return
}
// -----
func.func @f(%o0: tensor<5xui64>, %o1: tensor<3x1xi64>, %o2: tensor<1xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_gather' op requires one result}}
  %r:2 = "stablehlo.dynamic_gather"(%o0, %o1, %o2) <{dimension_numbers = #stablehlo.gather<offset_dims = [], index_vector_dim = 1, collapsed_slice_dims = [0], start_index_map = [0]>}> : (tensor<5xui64>, tensor<3x1xi64>, tensor<1xi32>) -> (tensor<3xui64>, tensor<3xui64>)
  return
}
// -----
func.func @f(%o0: tensor<3x3xcomplex<f32>>, %o1: tensor<2x1xui32>, %o2: tensor<2xi64>) {
  // expected-error @+2 {{'stablehlo.dynamic_gather' op inferred type(s) 'tensor<2x?xcomplex<f32>>' are incompatible with return type(s) of operation 'tensor<3x?xcomplex<f32>>'}}
  // expected-error @+1 {{'stablehlo.dynamic_gather' op failed to infer returned types}}
  %r:1 = "stablehlo.dynamic_gather"(%o0, %o1, %o2) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x3xcomplex<f32>>, tensor<2x1xui32>, tensor<2xi64>) -> (tensor<3x?xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<4xcomplex<f32>>, %o1: tensor<3x1xui32>, %o2: tensor<1xi64>) {
  // expected-error @+2 {{Expects each element of start_index_map to be in range [0, rank-of('operand')) i.e. [0, 1). got: 1.}}
  // expected-error @+1 {{'stablehlo.dynamic_gather' op failed to infer returned types}}
  %r:1 = "stablehlo.dynamic_gather"(%o0, %o1, %o2) <{dimension_numbers = #stablehlo.gather<offset_dims = [], collapsed_slice_dims = [0], index_vector_dim = 1, start_indices_batching_dims = [], start_index_map = [1], operand_batching_dims = []>}> : (tensor<4xcomplex<f32>>, tensor<3x1xui32>, tensor<1xi64>) -> (tensor<complex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<5xf4E2M1FN>, %o1: tensor<3x1xi32>, %o2: tensor<1xi32>) {
  // expected-error @+1 {{'stablehlo.dynamic_gather' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<3xi7>'}}
  %r:1 = "stablehlo.dynamic_gather"(%o0, %o1, %o2) <{dimension_numbers = #stablehlo.gather<index_vector_dim = 1, offset_dims = [], start_index_map = [0], operand_batching_dims = [], collapsed_slice_dims = [0], start_indices_batching_dims = []>}> : (tensor<5xf4E2M1FN>, tensor<3x1xi32>, tensor<1xi32>) -> (tensor<3xi7>)
  return
}
// -----
func.func @f(%o0: tensor<3xcomplex<f32>>, %o1: tensor<2x1xi32>, %o2: tensor<1x1xi64>) {
  // expected-error @+1 {{'stablehlo.dynamic_gather' op operand #2 must be statically shaped 1-dimensional integer tensor of 2/4/8/16/32/64-bit integer values, but got 'tensor<1x1xi64>'}}
  %r:1 = "stablehlo.dynamic_gather"(%o0, %o1, %o2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], index_vector_dim = 1, offset_dims = [], start_index_map = [0]>}> : (tensor<3xcomplex<f32>>, tensor<2x1xi32>, tensor<1x1xi64>) -> (tensor<2xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<2x1xf8E4M3>, %o1: tensor<3x1xi32>, %o2: tensor<2xi32>) {
  // expected-error @+2 {{Expects each element of offset_dims to be in range [0, implied-result-rank) i.e. [0, 2). got: 2.}}
  // expected-error @+1 {{'stablehlo.dynamic_gather' op failed to infer returned types}}
  %r:1 = "stablehlo.dynamic_gather"(%o0, %o1, %o2) <{dimension_numbers = #stablehlo.gather<index_vector_dim = 1, start_indices_batching_dims = [], start_index_map = [0], collapsed_slice_dims = [0], offset_dims = [2], operand_batching_dims = []>, indices_are_sorted = true}> : (tensor<2x1xf8E4M3>, tensor<3x1xi32>, tensor<2xi32>) -> (tensor<3x?xf8E4M3>)
  return
}
// -----
func.func @f(%o0: tensor<5x1xcomplex<f32>>, %o1: tensor<2xi64>) {
  // expected-error @+1 {{'stablehlo.dynamic_gather' op expected 3 operands, but found 2}}
  %r:1 = "stablehlo.dynamic_gather"(%o0, %o1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], offset_dims = [1], index_vector_dim = 1, start_index_map = [3], start_indices_batching_dims = [], operand_batching_dims = []>}> : (tensor<5x1xcomplex<f32>>, tensor<2xi64>) -> (tensor<2x?xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<4x3xi1>, %o1: tensor<3x1xi64>, %o2: tensor<2xi64>) {
  // expected-error @+1 {{'stablehlo.dynamic_gather' op requires attribute 'dimension_numbers'}}
  %r:1 = "stablehlo.dynamic_gather"(%o0, %o1, %o2) : (tensor<4x3xi1>, tensor<3x1xi64>, tensor<2xi64>) -> (tensor<3x?xi1>)
  return
}
// -----
func.func @f(%o0: tensor<4xf8E4M3FN>, %o1: tensor<1x1xi64>, %o2: tensor<1xi64>) {
  // expected-error @+2 {{Expects each element of collapsed_slice_dims to be in range [0, rank-of('operand')) i.e. [0, 1). got: 1.}}
  // expected-error @+1 {{'stablehlo.dynamic_gather' op failed to infer returned types}}
  %r:1 = "stablehlo.dynamic_gather"(%o0, %o1, %o2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [], start_index_map = [0], start_indices_batching_dims = [], index_vector_dim = 1, offset_dims = []>}> : (tensor<4xf8E4M3FN>, tensor<1x1xi64>, tensor<1xi64>) -> (tensor<1xf8E4M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<5xcomplex<f32>>, %o1: !stablehlo.token, %o2: tensor<1xi64>) {
  // expected-error @+1 {{'stablehlo.dynamic_gather' op operand #1 must be ranked tensor of 2/4/8/16/32/64-bit integer values, but got '!stablehlo.token'}}
  %r:1 = "stablehlo.dynamic_gather"(%o0, %o1, %o2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], offset_dims = [], start_index_map = [0], index_vector_dim = 1>}> : (tensor<5xcomplex<f32>>, !stablehlo.token, tensor<1xi64>) -> (tensor<4xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<2xi7>, %o1: tensor<3x1xui32>, %o2: tensor<1xui64>) {
  // expected-error @+1 {{'stablehlo.dynamic_gather' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<2xi7>'}}
  %r:1 = "stablehlo.dynamic_gather"(%o0, %o1, %o2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], index_vector_dim = 1, start_index_map = [0], offset_dims = []>}> : (tensor<2xi7>, tensor<3x1xui32>, tensor<1xui64>) -> (tensor<3xui8>)
  return
}
// -----
func.func @f(%o0: tensor<1xui8>, %o1: tensor<4x6xi32>, %o2: tensor<1xi32>) {
  // expected-error @+2 {{start_index_map size (1) is not equal to size of index dimension (1) of start_indices (6)}}
  // expected-error @+1 {{'stablehlo.dynamic_gather' op failed to infer returned types}}
  %r:1 = "stablehlo.dynamic_gather"(%o0, %o1, %o2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1, offset_dims = []>, indices_are_sorted = false}> : (tensor<1xui8>, tensor<4x6xi32>, tensor<1xi32>) -> (tensor<1xui8>)
  return
}
// -----
func.func @f(%o0: tensor<2xui8>, %o1: tensor<3x1xui8>, %o2: tensor<2xui8>) {
  // expected-error @+2 {{slice_sizes size (2) not equal to operand rank (1)}}
  // expected-error @+1 {{'stablehlo.dynamic_gather' op failed to infer returned types}}
  %r:1 = "stablehlo.dynamic_gather"(%o0, %o1, %o2) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], offset_dims = [], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = true}> : (tensor<2xui8>, tensor<3x1xui8>, tensor<2xui8>) -> (tensor<3xui8>)
  return
}
// -----
func.func @f(%o0: tensor<?x1xbf16>, %o1: tensor<2x1xi32>, %o2: tensor<2x1xbf16>) {
  // expected-error @+1 {{The type of reduction-region's parameter at index 0 is different than the corresponding result type: 'tensor<4xbf16>' vs 'tensor<bf16>'}}
  %r:1 = "stablehlo.scatter"(%o0, %o1, %o2) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], index_vector_dim = 1, scatter_dims_to_operand_dims = [0], update_window_dims = [1]>, indices_are_sorted = false, unique_indices = true}> ({
  ^bb0(%a0: tensor<4xbf16>, %a1: tensor<bf16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<bf16>
  "stablehlo.return"(%m0) : (tensor<bf16>) -> ()
  }) : (tensor<?x1xbf16>, tensor<2x1xi32>, tensor<2x1xbf16>) -> (tensor<4x1xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<2x1xf32>, %o1: tensor<1x1xi64>, %o2: tensor<1x1xf32>) {
  // expected-error @+2 {{'stablehlo.scatter' op inferred type(s) 'tensor<2x1xf8E5M2>' are incompatible with return type(s) of operation 'tensor<2x1xf32>'}}
  // expected-error @+1 {{'stablehlo.scatter' op failed to infer returned types}}
  %r:1 = "stablehlo.scatter"(%o0, %o1, %o2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_indices_batching_dims = [], index_vector_dim = 1, scatter_dims_to_operand_dims = [0], input_batching_dims = [], inserted_window_dims = [0]>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a0: tensor<f8E5M2>, %a1: tensor<f8E5M2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E5M2>
  "stablehlo.return"(%m0) : (tensor<f8E5M2>) -> ()
  }) : (tensor<2x1xf32>, tensor<1x1xi64>, tensor<1x1xf32>) -> (tensor<2x1xf32>)
  return
}
// -----
func.func @f(%o0: tensor<3xcomplex<f64>>, %o1: tensor<3xi1>, %o2: tensor<2x1xi64>, %o3: tensor<2xf4E2M1FN>, %o4: tensor<2xi1>) {
  // expected-error @+1 {{The element-type of reduction-region's result type at index 0 is expected to be promotable from the op's corresponding init-value element-type: 'tensor<complex<f64>>' vs 'tensor<f4E2M1FN>'}}
  %r:2 = "stablehlo.scatter"(%o0, %o1, %o2, %o3, %o4) <{scatter_dimension_numbers = #stablehlo.scatter<index_vector_dim = 1, inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], update_window_dims = []>, indices_are_sorted = false}> ({
  ^bb0(%a0: tensor<complex<f64>>, %a1: tensor<i1>, %a2: tensor<complex<f64>>, %a3: tensor<i1>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<complex<f64>>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0, %m1) : (tensor<complex<f64>>, tensor<i1>) -> ()
  }) : (tensor<3xcomplex<f64>>, tensor<3xi1>, tensor<2x1xi64>, tensor<2xf4E2M1FN>, tensor<2xi1>) -> (tensor<3xcomplex<f64>>, tensor<3xi1>)
  return
}
// -----
func.func @f(%o0: tensor<5x5xcomplex<f32>>, %o1: tensor<4x1xui32>, %o2: tensor<4x5xcomplex<f32>>) {
  // expected-error @+1 {{Expects each element of inserted_window_dims to be in range [0, rank-of('operand')) i.e. [0, 2). got: -1.}}
  %r:1 = "stablehlo.scatter"(%o0, %o1, %o2) <{scatter_dimension_numbers = #stablehlo.scatter<scatter_indices_batching_dims = [], inserted_window_dims = [-1], index_vector_dim = 1, input_batching_dims = [], update_window_dims = [1], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
  ^bb0(%a0: tensor<complex<f32>>, %a1: tensor<complex<f32>>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<complex<f32>>
  "stablehlo.return"(%m0) : (tensor<complex<f32>>) -> ()
  }) : (tensor<5x5xcomplex<f32>>, tensor<4x1xui32>, tensor<4x5xcomplex<f32>>) -> (tensor<5x5xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<1x1xcomplex<f64>>, %o1: tensor<2x1xi32>, %o2: tensor<2x1xcomplex<f64>>) {
  // expected-error @+1 {{Reduction-region here must produce 1 tensors, but produces 2 instead}}
  %r:1 = "stablehlo.scatter"(%o0, %o1, %o2) <{scatter_dimension_numbers = #stablehlo.scatter<scatter_dims_to_operand_dims = [0], index_vector_dim = 1, update_window_dims = [1], inserted_window_dims = [0]>, indices_are_sorted = false}> ({
  ^bb0(%a0: tensor<complex<f64>>, %a1: tensor<complex<f64>>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<complex<f64>>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<complex<f64>>
  "stablehlo.return"(%m0, %m1) : (tensor<complex<f64>>, tensor<complex<f64>>) -> ()
  }) : (tensor<1x1xcomplex<f64>>, tensor<2x1xi32>, tensor<2x1xcomplex<f64>>) -> (tensor<1x1xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<5x1xcomplex<f32>>, %o1: tensor<1x1xf6E2M3FN>, %o2: tensor<1x1xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.scatter' op operand #1 must be ranked tensor of integer or index values, but got 'tensor<1x1xf6E2M3FN>'}}
  %r:1 = "stablehlo.scatter"(%o0, %o1, %o2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], index_vector_dim = 1, inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
  ^bb0(%a0: tensor<complex<f32>>, %a1: tensor<complex<f32>>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<complex<f32>>
  "stablehlo.return"(%m0) : (tensor<complex<f32>>) -> ()
  }) : (tensor<5x1xcomplex<f32>>, tensor<1x1xf6E2M3FN>, tensor<1x1xcomplex<f32>>) -> (tensor<5x1xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<2x3xcomplex<f32>>, %o1: tensor<4x1xui32>, %o2: tensor<4x3xcomplex<f32>>) {
  // expected-error @+1 {{expects bounds of the window dimensions of updates to not exceed the bounds of the corresponding dimensions of operand. For dimension 0, updates bound is 4, operand bound is 3.}}
  %r:1 = "stablehlo.scatter"(%o0, %o1, %o2) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], index_vector_dim = 1, update_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a0: tensor<complex<f32>>, %a1: tensor<complex<f32>>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<complex<f32>>
  "stablehlo.return"(%m0) : (tensor<complex<f32>>) -> ()
  }) : (tensor<2x3xcomplex<f32>>, tensor<4x1xui32>, tensor<4x3xcomplex<f32>>) -> (tensor<2x3xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<2x2xi64>, %o1: tensor<4x1xi64>, %o2: tensor<4x2xi64>) {
  // expected-error @+1 {{Reduction-region must take 2 parameters, but takes 3 parameter(s)}}
  %r:1 = "stablehlo.scatter"(%o0, %o1, %o2) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], index_vector_dim = 1, scatter_dims_to_operand_dims = [0], update_window_dims = [1]>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a0: tensor<i64>, %a1: tensor<i64>, %a2: tensor<i64>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i64>
  "stablehlo.return"(%m0) : (tensor<i64>) -> ()
  }) : (tensor<2x2xi64>, tensor<4x1xi64>, tensor<4x2xi64>) -> (tensor<2x2xi64>)
  return
}
// -----
func.func @f(%o0: tensor<3xf32>, %o1: tensor<2x1xui32>, %o2: tensor<2xf32>) {
  // expected-error @+1 {{The reduction-region expected to return some value(s)}}
  %r:1 = "stablehlo.scatter"(%o0, %o1, %o2) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1, inserted_window_dims = [0]>, unique_indices = false}> ({
  ^bb0(%a0: tensor<f32>, %a1: tensor<f32>):
  "stablehlo.return"() : () -> ()
  }) : (tensor<3xf32>, tensor<2x1xui32>, tensor<2xf32>) -> (tensor<3xf32>)
  return
}
// -----
func.func @f(%o0: tensor<5xi7>, %o1: tensor<5xi7>, %o2: tensor<1xi7>, %o3: tensor<1xi7>, %o4: tensor<1xi7>) {
  // expected-error @+1 {{'stablehlo.scatter' op operand #0 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<5xi7>'}}
  %r:2 = "stablehlo.scatter"(%o0, %o1, %o2, %o3, %o4) <{scatter_dimension_numbers = #stablehlo.scatter<scatter_indices_batching_dims = [], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], input_batching_dims = [], index_vector_dim = 1, update_window_dims = []>, indices_are_sorted = false}> ({
  ^bb0(%a0: tensor<f8E4M3FN>, %a1: tensor<i8>, %a2: tensor<f8E4M3FN>, %a3: tensor<i8>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E4M3FN>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i8>
  "stablehlo.return"(%m0, %m1) : (tensor<f8E4M3FN>, tensor<i8>) -> ()
  }) : (tensor<5xi7>, tensor<5xi7>, tensor<1xi7>, tensor<1xi7>, tensor<1xi7>) -> (tensor<5xi7>, tensor<5xi7>)
  return
}
// -----
func.func @f(%o0: tensor<4x1xcomplex<f64>>, %o1: tensor<4x1xui32>, %o2: tensor<1x1xcomplex<f64>>) {
  // expected-error @+1 {{expects bounds of the scatter dimensions of updates to be same as the bounds of the corresponding dimensions of scatter indices. For scatter dimension 0, updates bound is 1 , scatter_indices bound is 4.}}
  %r:1 = "stablehlo.scatter"(%o0, %o1, %o2) <{scatter_dimension_numbers = #stablehlo.scatter<input_batching_dims = [], scatter_dims_to_operand_dims = [0], index_vector_dim = 1, inserted_window_dims = [0], scatter_indices_batching_dims = [], update_window_dims = [1]>, indices_are_sorted = false}> ({
  ^bb0(%a0: tensor<complex<f64>>, %a1: tensor<complex<f64>>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<complex<f64>>
  "stablehlo.return"(%m0) : (tensor<complex<f64>>) -> ()
  }) : (tensor<4x1xcomplex<f64>>, tensor<4x1xui32>, tensor<1x1xcomplex<f64>>) -> (tensor<4x1xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<1x2xi1>, %o1: tensor<3x1xi32>, %o2: tensor<3x2xi1>) {
  // expected-error @+1 {{The type of reduction-region's parameter at index 0 is different than the corresponding result type: 'tensor<1xi1>' vs 'tensor<i1>'}}
  %r:1 = "stablehlo.scatter"(%o0, %o1, %o2) <{scatter_dimension_numbers = #stablehlo.scatter<scatter_dims_to_operand_dims = [0], update_window_dims = [1], index_vector_dim = 1, inserted_window_dims = [0]>, indices_are_sorted = false}> ({
  ^bb0(%a0: tensor<1xi1>, %a1: tensor<i1>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }) : (tensor<1x2xi1>, tensor<3x1xi32>, tensor<3x2xi1>) -> (tensor<1x2xi1>)
  return
}
// -----
func.func @f(%o0: tensor<2xi1>, %o1: tensor<1x1xi32>, %o2: tensor<1x1xi1>) {
  // expected-error @+1 {{Expects rank-of operand to match size-of('update_window_dims') + size-of('inserted_window_dims') + size-of('input_batching_dims') i.e. 2 but got 1.}}
  %r:1 = "stablehlo.scatter"(%o0, %o1, %o2) <{scatter_dimension_numbers = #stablehlo.scatter<index_vector_dim = 1, inserted_window_dims = [0], input_batching_dims = [], scatter_dims_to_operand_dims = [0], update_window_dims = [1], scatter_indices_batching_dims = []>}> ({
  ^bb0(%a0: tensor<i1>, %a1: tensor<i1>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }) : (tensor<2xi1>, tensor<1x1xi32>, tensor<1x1xi1>) -> (tensor<2x1xi1>)
  return
}
// -----
func.func @f(%o0: tensor<2x1xcomplex<f32>>, %o1: tensor<3x1xi32>, %o2: tensor<1x3x1xcomplex<f32>>) {
  // expected-error @+1 {{expects updates tensor must be of rank 2 ( == rank-of('scatter_indices') - 1 + size-of('update_window_dims'), where 'scatter_indices' is expanded by a trailing 1 dimension if 'index_vector_dim' == rank-of('scatter_indices')), but got 3.}}
  %r:1 = "stablehlo.scatter"(%o0, %o1, %o2) <{scatter_dimension_numbers = #stablehlo.scatter<index_vector_dim = 1, update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, indices_are_sorted = false}> ({
  ^bb0(%a0: tensor<complex<f32>>, %a1: tensor<complex<f32>>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<complex<f32>>
  "stablehlo.return"(%m0) : (tensor<complex<f32>>) -> ()
  }) : (tensor<2x1xcomplex<f32>>, tensor<3x1xi32>, tensor<1x3x1xcomplex<f32>>) -> (tensor<2x1xcomplex<f32>>)
  return
}
