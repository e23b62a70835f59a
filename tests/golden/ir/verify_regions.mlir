// flags: -split-input-file -verify-diagnostics
// What the types, attributes and regions of these ops must be: reduce, reduce_window, select_and_scatter, sort, map, while, if, case.
func.func @f(%o0: tensor<2x3xf16>, %o1: tensor<2x3xi1>, %o2: tensor<f16>, %o3: tensor<i1>) {
  // expected-error @+1 {{The type of reduction-region's parameter at index 2 is different than the corresponding result type: 'tensor<3xf16>' vs 'tensor<f16>'}}
  %r:2 = "stablehlo.reduce"(%o0, %o1, %o2, %o3) <{dimensions = array<i64>}> ({
  ^bb0(%a0: tensor<f16>, %a1: tensor<i1>, %a2: tensor<3xf16>, %a3: tensor<i1>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f16>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0, %m1) : (tensor<f16>, tensor<i1>) -> ()
  }) : (tensor<2x3xf16>, tensor<2x3xi1>, tensor<f16>, tensor<i1>) -> (tensor<2x3xf16>, tensor<2x3xi1>)
  return
}
// -----
func.func @f(%o0: tensor<5x5x4xui4>, %o1: tensor<5x5x4xcomplex<f32>>, %o2: tensor<5x5x4xbf16>, %o3: tensor<i32>, %o4: tensor<complex<f32>>, %o5: tensor<bf16>) {
  // expected-error @+1 {{The element-type of reduction-region's result type at index 0 is expected to be promotable from the op's corresponding init-value element-type: 'tensor<ui4>' vs 'tensor<i32>'}}
  %r:3 = "stablehlo.reduce"(%o0, %o1, %o2, %o3, %o4, %o5) <{dimensions = array<i64>}> ({
  ^bb0(%a0: tensor<ui4>, %a1: tensor<complex<f32>>, %a2: tensor<bf16>, %a3: tensor<ui4>, %a4: tensor<complex<f32>>, %a5: tensor<bf16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui4>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<complex<f32>>
  %m2 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<bf16>
  "stablehlo.return"(%m0, %m1, %m2) : (tensor<ui4>, tensor<complex<f32>>, tensor<bf16>) -> ()
  }) : (tensor<5x5x4xui4>, tensor<5x5x4xcomplex<f32>>, tensor<5x5x4xbf16>, tensor<i32>, tensor<complex<f32>>, tensor<bf16>) -> (tensor<5x5x4xui4>, tensor<5x5x4xcomplex<f32>>, tensor<5x5x4xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<3xf6E3M2FN>, %o1: tensor<3xcomplex<f64>>, %o2: tensor<3xf16>, %o3: tensor<f6E3M2FN>, %o4: tensor<complex<f64>>, %o5: tensor<f16>) {
  // expected-error @+1 {{The type of reduction-region's parameter at index 3 is different than the corresponding result type: 'tensor<4xf6E3M2FN>' vs 'tensor<f6E3M2FN>'}}
  %r:3 = "stablehlo.reduce"(%o0, %o1, %o2, %o3, %o4, %o5) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a0: tensor<f6E3M2FN>, %a1: tensor<complex<f64>>, %a2: tensor<f16>, %a3: tensor<4xf6E3M2FN>, %a4: tensor<complex<f64>>, %a5: tensor<f16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f6E3M2FN>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<complex<f64>>
  %m2 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f16>
  "stablehlo.return"(%m0, %m1, %m2) : (tensor<f6E3M2FN>, tensor<complex<f64>>, tensor<f16>) -> ()
  }) : (tensor<3xf6E3M2FN>, tensor<3xcomplex<f64>>, tensor<3xf16>, tensor<f6E3M2FN>, tensor<complex<f64>>, tensor<f16>) -> (tensor<f6E3M2FN>, tensor<complex<f64>>, tensor<f16>)
  return
}
// -----
func.func @f(%o0: tensor<2xbf16>, %o1: tensor<2xi32>, %o2: tensor<bf16>, %o3: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.reduce' op requires one region}}
  %r:2 = "stablehlo.reduce"(%o0, %o1, %o2, %o3) <{dimensions = array<i64>}> : (tensor<2xbf16>, tensor<2xi32>, tensor<bf16>, tensor<i32>) -> (tensor<2xbf16>, tensor<2xi32>)
  return
}
// -----
func.func @f(%o0: tensor<5xcomplex<f64>>, %o1: tensor<5xui2>, %o2: tensor<complex<f64>>, %o3: tensor<ui2>) {
  // expected-error @+1 {{Out-of-bounds dimension 100, expected to be in range [0, 1)}}
  %r:2 = "stablehlo.reduce"(%o0, %o1, %o2, %o3) <{dimensions = array<i64: 100>}> ({
  ^bb0(%a0: tensor<complex<f64>>, %a1: tensor<ui2>, %a2: tensor<complex<f64>>, %a3: tensor<ui2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<complex<f64>>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui2>
  "stablehlo.return"(%m0, %m1) : (tensor<complex<f64>>, tensor<ui2>) -> ()
  }) : (tensor<5xcomplex<f64>>, tensor<5xui2>, tensor<complex<f64>>, tensor<ui2>) -> (tensor<5xcomplex<f64>>, tensor<5xui2>)
  return
}
// -----
func.func @f(%o0: tensor<1xcomplex<f32>>, %o1: tensor<1xi1>, %o2: tensor<complex<f32>>, %o3: tensor<i1>) {
  // expected-error @+2 {{'stablehlo.reduce' op inferred type(s) 'tensor<1xcomplex<f32>>', 'tensor<1xi1>' are incompatible with return type(s) of operation 'tensor<1xi16>', 'tensor<1xi16>'}}
  // expected-error @+1 {{'stablehlo.reduce' op failed to infer returned types}}
  %r:2 = "stablehlo.reduce"(%o0, %o1, %o2, %o3) <{dimensions = array<i64>}> ({
  ^bb0(%a0: tensor<complex<f32>>, %a1: tensor<i1>, %a2: tensor<complex<f32>>, %a3: tensor<i1>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<complex<f32>>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0, %m1) : (tensor<complex<f32>>, tensor<i1>) -> ()
  }) : (tensor<1xcomplex<f32>>, tensor<1xi1>, tensor<complex<f32>>, tensor<i1>) -> (tensor<1xi16>, tensor<1xi16>)
  return
}
// -----
func.func @f(%o0: tensor<3x4x4xi1>, %o1: tensor<3x2x4xi1>, %o2: tensor<3x4x4xf6E2M3FN>, %o3: tensor<i1>, %o4: tensor<i1>, %o5: tensor<f6E2M3FN>) {
  // expected-error @+1 {{expects all inputs to have compatible shapes. Shape at input-index 1 is not compatible with shape at input-index 0}}
  %r:3 = "stablehlo.reduce"(%o0, %o1, %o2, %o3, %o4, %o5) <{dimensions = array<i64: 1, 2>}> ({
  ^bb0(%a0: tensor<i1>, %a1: tensor<i1>, %a2: tensor<f6E2M3FN>, %a3: tensor<i1>, %a4: tensor<i1>, %a5: tensor<f6E2M3FN>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  %m2 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f6E2M3FN>
  "stablehlo.return"(%m0, %m1, %m2) : (tensor<i1>, tensor<i1>, tensor<f6E2M3FN>) -> ()
  }) : (tensor<3x4x4xi1>, tensor<3x2x4xi1>, tensor<3x4x4xf6E2M3FN>, tensor<i1>, tensor<i1>, tensor<f6E2M3FN>) -> (tensor<3xi1>, tensor<3xi1>, tensor<3xf6E2M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<1x1xcomplex<f32>>, %o1: tensor<complex<f32>>) {
  // expected-error @+1 {{Reduction-region here must produce 1 tensors, but produces 2 instead}}
  %r:1 = "stablehlo.reduce"(%o0, %o1) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a0: tensor<complex<f32>>, %a1: tensor<complex<f32>>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<complex<f32>>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<complex<f32>>
  "stablehlo.return"(%m0, %m1) : (tensor<complex<f32>>, tensor<complex<f32>>) -> ()
  }) : (tensor<1x1xcomplex<f32>>, tensor<complex<f32>>) -> (tensor<complex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<2x4xf8E5M2FNUZ>, %o1: tensor<2x4xf32>, %o2: tensor<2x4xbf16>, %o3: tensor<f8E5M2FNUZ>, %o4: tensor<f32>, %o5: tensor<bf16>) {
  // expected-error @+1 {{The type of reduction-region's parameter at index 0 is different than the corresponding result type: 'tensor<f8E5M2FNUZ>' vs 'tensor<2xf32>'}}
  %r:3 = "stablehlo.reduce"(%o0, %o1, %o2, %o3, %o4, %o5) <{dimensions = array<i64>}> ({
  ^bb0(%a0: tensor<f8E5M2FNUZ>, %a1: tensor<f32>, %a2: tensor<bf16>, %a3: tensor<f8E5M2FNUZ>, %a4: tensor<f32>, %a5: tensor<bf16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<2xf32>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f32>
  %m2 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<bf16>
  "stablehlo.return"(%m0, %m1, %m2) : (tensor<2xf32>, tensor<f32>, tensor<bf16>) -> ()
  }) : (tensor<2x4xf8E5M2FNUZ>, tensor<2x4xf32>, tensor<2x4xbf16>, tensor<f8E5M2FNUZ>, tensor<f32>, tensor<bf16>) -> (tensor<2x4xf8E5M2FNUZ>, tensor<2x4xf32>, tensor<2x4xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<i1>, %o1: tensor<i1>) {
  // expected-error @+1 {{Reduction-region must take 2 parameters, but takes 1 parameter(s)}}
  %r:1 = "stablehlo.reduce"(%o0, %o1) <{dimensions = array<i64>}> ({
  ^bb0(%a0: tensor<i1>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }) : (tensor<i1>, tensor<i1>) -> (tensor<i1>)
  return
}
// -----
func.func @f(%o0: tensor<ui2>, %o1: tensor<f4E2M1FN>, %o2: tensor<f8E4M3>, %o3: tensor<ui2>, %o4: tensor<f4E2M1FN>, %o5: tensor<f8E4M3>) {
  // expected-error @+1 {{The type of reduction-region's parameter at index 0 is different than the corresponding result type: 'tensor<ui2>' vs 'tensor<?xui2>'}}
  %r:3 = "stablehlo.reduce"(%o0, %o1, %o2, %o3, %o4, %o5) <{dimensions = array<i64>}> ({
  ^bb0(%a0: tensor<ui2>, %a1: tensor<f4E2M1FN>, %a2: tensor<f8E4M3>, %a3: tensor<ui2>, %a4: tensor<f4E2M1FN>, %a5: tensor<f8E4M3>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<?xui2>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f4E2M1FN>
  %m2 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E4M3>
  "stablehlo.return"(%m0, %m1, %m2) : (tensor<?xui2>, tensor<f4E2M1FN>, tensor<f8E4M3>) -> ()
  }) : (tensor<ui2>, tensor<f4E2M1FN>, tensor<f8E4M3>, tensor<ui2>, tensor<f4E2M1FN>, tensor<f8E4M3>) -> (tensor<ui2>, tensor<f4E2M1FN>, tensor<f8E4M3>)
  return
}
// -----
func.func @f(%o0: tensor<3x5x1xui32>, %o1: tensor<3x5x1xf8E4M3FN>, %o2: tensor<f6E3M2FN>, %o3: tensor<f8E4M3FN>) {
  // expected-error @+1 {{The element-type of reduction-region's argument at index 2 is expected to be promotable from 'ui32', but got 'f6E3M2FN'}}
  %r:2 = "stablehlo.reduce"(%o0, %o1, %o2, %o3) <{dimensions = array<i64: 0, 1, 2>}> ({
  ^bb0(%a0: tensor<f6E3M2FN>, %a1: tensor<f8E4M3FN>, %a2: tensor<f6E3M2FN>, %a3: tensor<f8E4M3FN>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f6E3M2FN>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E4M3FN>
  "stablehlo.return"(%m0, %m1) : (tensor<f6E3M2FN>, tensor<f8E4M3FN>) -> ()
  }) : (tensor<3x5x1xui32>, tensor<3x5x1xf8E4M3FN>, tensor<f6E3M2FN>, tensor<f8E4M3FN>) -> (tensor<f6E3M2FN>, tensor<f8E4M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<1x2xi4>, %o1: tensor<i4>) {
  // expected-error @+1 {{Duplicate reduction dimension: 0}}
  %r:1 = "stablehlo.reduce"(%o0, %o1) <{dimensions = array<i64: 0, 0>}> ({
  ^bb0(%a0: tensor<i4>, %a1: tensor<i4>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i4>
  "stablehlo.return"(%m0) : (tensor<i4>) -> ()
  }) : (tensor<1x2xi4>, tensor<i4>) -> (tensor<2xi4>)
  return
}
// -----
func.func @f(%o0: tensor<ui2>, %o1: tensor<ui2>) {
  // expected-error @+1 {{'stablehlo.reduce' op requires attribute 'dimensions'}}
  %r:1 = "stablehlo.reduce"(%o0, %o1) ({
  ^bb0(%a0: tensor<ui2>, %a1: tensor<ui2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui2>
  "stablehlo.return"(%m0) : (tensor<ui2>) -> ()
  }) : (tensor<ui2>, tensor<ui2>) -> (tensor<ui2>)
  return
}
// -----
func.func @f(%o0: tensor<5xf16>, %o1: tensor<2xf16>) {
  // expected-error @+1 {{The shape of reduction-region's result type at index 0 differs from the op's corresponding init-value type: 'tensor<f16>' vs 'tensor<2xf16>'}}
  %r:1 = "stablehlo.reduce_window"(%o0, %o1) <{window_dimensions = array<i64: 2>, base_dilations = array<i64: 1>}> ({
  ^bb0(%a0: tensor<f16>, %a1: tensor<f16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f16>
  "stablehlo.return"(%m0) : (tensor<f16>) -> ()
  }) : (tensor<5xf16>, tensor<2xf16>) -> (tensor<4xf16>)
  return
}
// -----
func.func @f(%o0: tensor<4xi4>, %o1: tensor<i4>) {
  // expected-error @+2 {{'stablehlo.reduce_window' op inferred type(s) 'tensor<0xi4>' are incompatible with return type(s) of operation 'tensor<3xi4>'}}
  // expected-error @+1 {{'stablehlo.reduce_window' op failed to infer returned types}}
  %r:1 = "stablehlo.reduce_window"(%o0, %o1) <{window_dimensions = array<i64: 2>, padding = dense<-2> : tensor<1x2xi64>}> ({
  ^bb0(%a0: tensor<i4>, %a1: tensor<i4>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i4>
  "stablehlo.return"(%m0) : (tensor<i4>) -> ()
  }) : (tensor<4xi4>, tensor<i4>) -> (tensor<3xi4>)
  return
}
// -----
func.func @f(%o0: tensor<3x4x3xbf16>, %o1: tensor<3x5x3xf8E4M3B11FNUZ>, %o2: tensor<bf16>, %o3: tensor<f8E4M3B11FNUZ>) {
  // expected-error @+1 {{expects all inputs to have compatible shapes. Shape at input-index 1 is not compatible with shape at input-index 0}}
  %r:2 = "stablehlo.reduce_window"(%o0, %o1, %o2, %o3) <{window_dimensions = array<i64: 2, 1, 2>, window_strides = array<i64: 1, 1, 1>}> ({
  ^bb0(%a0: tensor<bf16>, %a1: tensor<f8E4M3B11FNUZ>, %a2: tensor<bf16>, %a3: tensor<f8E4M3B11FNUZ>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<bf16>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E4M3B11FNUZ>
  "stablehlo.return"(%m0, %m1) : (tensor<bf16>, tensor<f8E4M3B11FNUZ>) -> ()
  }) : (tensor<3x4x3xbf16>, tensor<3x5x3xf8E4M3B11FNUZ>, tensor<bf16>, tensor<f8E4M3B11FNUZ>) -> (tensor<2x5x2xbf16>, tensor<2x5x2xf8E4M3B11FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<5xf16>, %o1: tensor<5xi2>, %o2: tensor<f16>, %o3: tensor<i2>) {
  // expected-error @+1 {{expects padding-entries to have same dimension-size as size of window dimensions (1), but got: 2.}}
  %r:2 = "stablehlo.reduce_window"(%o0, %o1, %o2, %o3) <{window_dimensions = array<i64: 1>, padding = dense<[[0, 5], [1, 2]]> : tensor<2x2xi64>, window_dilations = array<i64: 1>}> ({
  ^bb0(%a0: tensor<f16>, %a1: tensor<i2>, %a2: tensor<f16>, %a3: tensor<i2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f16>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i2>
  "stablehlo.return"(%m0, %m1) : (tensor<f16>, tensor<i2>) -> ()
  }) : (tensor<5xf16>, tensor<5xi2>, tensor<f16>, tensor<i2>) -> (tensor<9xf16>, tensor<9xi2>)
  return
}
// -----
func.func @f(%o0: tensor<3x3x5xf4E2M1FN>, %o1: tensor<f4E2M1FN>) {
  // expected-error @+1 {{Reduction-region must take 2 parameters, but takes 1 parameter(s)}}
  %r:1 = "stablehlo.reduce_window"(%o0, %o1) <{window_dimensions = array<i64: 1, 2, 2>, window_strides = array<i64: 1, 1, 1>}> ({
  ^bb0(%a0: tensor<f4E2M1FN>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f4E2M1FN>
  "stablehlo.return"(%m0) : (tensor<f4E2M1FN>) -> ()
  }) : (tensor<3x3x5xf4E2M1FN>, tensor<f4E2M1FN>) -> (tensor<3x2x4xf4E2M1FN>)
  return
}
// -----
func.func @f(%o0: tensor<4xi4>, %o1: tensor<i4>) {
  // expected-error @+1 {{The element-type of reduction-region's result type at index 0 is expected to be promotable from the op's corresponding init-value element-type: 'tensor<f8E5M2>' vs 'tensor<i4>'}}
  %r:1 = "stablehlo.reduce_window"(%o0, %o1) <{window_dimensions = array<i64: 1>, window_dilations = array<i64: 1>}> ({
  ^bb0(%a0: tensor<f8E5M2>, %a1: tensor<f8E5M2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E5M2>
  "stablehlo.return"(%m0) : (tensor<f8E5M2>) -> ()
  }) : (tensor<4xi4>, tensor<i4>) -> (tensor<4xi4>)
  return
}
// -----
func.func @f(%o0: tensor<3xf32>, %o1: tensor<3xf6E2M3FN>, %o2: tensor<f32>, %o3: tensor<f6E2M3FN>) {
  // expected-error @+1 {{expects window to have positive value for 0-th window dimension, but got -2.}}
  %r:2 = "stablehlo.reduce_window"(%o0, %o1, %o2, %o3) <{window_dimensions = array<i64: -2>, padding = dense<[[0, 2]]> : tensor<1x2xi64>}> ({
  ^bb0(%a0: tensor<f8E5M2>, %a1: tensor<f8E5M2>, %a2: tensor<f8E5M2>, %a3: tensor<f8E5M2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E5M2>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E5M2>
  "stablehlo.return"(%m0, %m1) : (tensor<f8E5M2>, tensor<f8E5M2>) -> ()
  }) : (tensor<3xf32>, tensor<3xf6E2M3FN>, tensor<f32>, tensor<f6E2M3FN>) -> (tensor<5xf32>, tensor<5xf6E2M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<5x5x5xui32>, %o1: tensor<ui32>) {
  // expected-error @+1 {{expects window to have positive window dilation factor for 0-th window dimension, but got 0.}}
  %r:1 = "stablehlo.reduce_window"(%o0, %o1) <{window_dimensions = array<i64: 1, 1, 1>, padding = dense<[[0, 1], [2, 0], [1, 1]]> : tensor<3x2xi64>, window_dilations = array<i64: 0, 1, 1>}> ({
  ^bb0(%a0: tensor<ui32>, %a1: tensor<ui32>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui32>
  "stablehlo.return"(%m0) : (tensor<ui32>) -> ()
  }) : (tensor<5x5x5xui32>, tensor<ui32>) -> (tensor<6x7x7xui32>)
  return
}
// -----
func.func @f(%o0: tensor<3xui64>, %o1: tensor<ui64>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op requires attribute 'window_dimensions'}}
  %r:1 = "stablehlo.reduce_window"(%o0, %o1) ({
  ^bb0(%a0: tensor<ui64>, %a1: tensor<ui64>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui64>
  "stablehlo.return"(%m0) : (tensor<ui64>) -> ()
  }) : (tensor<3xui64>, tensor<ui64>) -> (tensor<3xui64>)
  return
}
// -----
func.func @f(%o0: tensor<3x5x5xi64>, %o1: tensor<3x5x5xi4>, %o2: tensor<i64>, %o3: tensor<i4>) {
  // expected-error @+1 {{The type of reduction-region's parameter at index 0 is different than the corresponding result type: 'tensor<i64>' vs 'tensor<1xi64>'}}
  %r:2 = "stablehlo.reduce_window"(%o0, %o1, %o2, %o3) <{window_dimensions = array<i64: 2, 2, 2>, padding = dense<[[0, 2], [2, 2], [2, 0]]> : tensor<3x2xi64>, window_strides = array<i64: 1, 1, 1>}> ({
  ^bb0(%a0: tensor<i64>, %a1: tensor<i4>, %a2: tensor<i64>, %a3: tensor<i4>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<1xi64>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i4>
  "stablehlo.return"(%m0, %m1) : (tensor<1xi64>, tensor<i4>) -> ()
  }) : (tensor<3x5x5xi64>, tensor<3x5x5xi4>, tensor<i64>, tensor<i4>) -> (tensor<4x8x6xi64>, tensor<4x8x6xi4>)
  return
}
// -----
func.func @f(%o0: tensor<3xi64>, %o1: tensor<complex<f32>>) {
  // expected-error @+1 {{The reduction-region expected to return some value(s)}}
  %r:1 = "stablehlo.reduce_window"(%o0, %o1) <{window_dimensions = array<i64: 1>}> ({
  ^bb0(%a0: tensor<i64>, %a1: tensor<i64>):
  "stablehlo.return"() : () -> ()
  }) : (tensor<3xi64>, tensor<complex<f32>>) -> (tensor<3xi64>)
  return
}
// -----
func.func @f(%o0: tensor<5xui4>, %o1: tensor<5xbf16>, %o2: tensor<ui4>, %o3: tensor<bf16>) {
  // expected-error @+1 {{expects window-dimensions size == input rank, but got window-dimensions size: 0 and input: 'tensor<5xui4>' with rank = 1.}}
  %r:2 = "stablehlo.reduce_window"(%o0, %o1, %o2, %o3) <{window_dimensions = array<i64>}> ({
  ^bb0(%a0: tensor<ui4>, %a1: tensor<bf16>, %a2: tensor<ui4>, %a3: tensor<bf16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui4>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<bf16>
  "stablehlo.return"(%m0, %m1) : (tensor<ui4>, tensor<bf16>) -> ()
  }) : (tensor<5xui4>, tensor<5xbf16>, tensor<ui4>, tensor<bf16>) -> (tensor<4xui4>, tensor<4xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<5x5x5xf6E3M2FN>, %o1: tensor<f6E3M2FN>) {
  // expected-error @+1 {{'stablehlo.reduce_window' op requires one region}}
  %r:1 = "stablehlo.reduce_window"(%o0, %o1) <{window_dimensions = array<i64: 1, 1, 1>}> ({
  ^bb0(%a0: tensor<f6E3M2FN>, %a1: tensor<f6E3M2FN>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f6E3M2FN>
  "stablehlo.return"(%m0) : (tensor<f6E3M2FN>) -> ()
  }, {
  ^bb0(%a0: tensor<f6E3M2FN>, %a1: tensor<f6E3M2FN>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f6E3M2FN>
  "stablehlo.return"(%m0) : (tensor<f6E3M2FN>) -> ()
  }) : (tensor<5x5x5xf6E3M2FN>, tensor<f6E3M2FN>) -> (tensor<5x5x5xf6E3M2FN>)
  return
}
// -----
func.func @f(%o0: tensor<4xf8E5M2FNUZ>, %o1: tensor<f8E5M2FNUZ>) {
  // expected-error @+1 {{Reduction-region here must produce 1 tensors, but produces 2 instead}}
  %r:1 = "stablehlo.reduce_window"(%o0, %o1) <{window_dimensions = array<i64: 1>, window_dilations = array<i64: 1>}> ({
  ^bb0(%a0: tensor<f8E5M2FNUZ>, %a1: tensor<f8E5M2FNUZ>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E5M2FNUZ>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E5M2FNUZ>
  "stablehlo.return"(%m0, %m1) : (tensor<f8E5M2FNUZ>, tensor<f8E5M2FNUZ>) -> ()
  }) : (tensor<4xf8E5M2FNUZ>, tensor<f8E5M2FNUZ>) -> (tensor<4xf8E5M2FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<5x4xi64>, %o1: tensor<5x4xi64>, %o2: tensor<i64>) {
  // expected-error @+1 {{expects the type of select-region's parameter at index 0 to be 'tensor<i64>', but got 'tensor<ui16>'}}
  %r:1 = "stablehlo.select_and_scatter"(%o0, %o1, %o2) <{window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%a0: tensor<ui16>, %a1: tensor<ui16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a0: tensor<ui16>, %a1: tensor<ui16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui16>
  "stablehlo.return"(%m0) : (tensor<ui16>) -> ()
  }) : (tensor<5x4xi64>, tensor<5x4xi64>, tensor<i64>) -> (tensor<5x4xi64>)
  return
}
// -----
func.func @f(%o0: tensor<1x5xui2>, %o1: tensor<1x5xui2>, %o2: tensor<ui2>) {
  // expected-error @+1 {{expects window-dimensions size == operand rank, but got window-dimensions size: 1 and operand-type: 'tensor<1x5xui2>' with rank = 2.}}
  %r:1 = "stablehlo.select_and_scatter"(%o0, %o1, %o2) <{window_dimensions = array<i64: 1>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%a0: tensor<ui2>, %a1: tensor<ui2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a0: tensor<ui2>, %a1: tensor<ui2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui2>
  "stablehlo.return"(%m0) : (tensor<ui2>) -> ()
  }) : (tensor<1x5xui2>, tensor<1x5xui2>, tensor<ui2>) -> (tensor<1x5xui2>)
  return
}
// -----
func.func @f(%o0: tensor<5xi2>, %o1: tensor<5xi2>, %o2: tensor<i2>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<5xindex>'}}
  %r:1 = "stablehlo.select_and_scatter"(%o0, %o1, %o2) <{window_dimensions = array<i64: 1>, window_strides = array<i64: 1>}> ({
  ^bb0(%a0: tensor<i2>, %a1: tensor<i2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a0: tensor<i2>, %a1: tensor<i2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i2>
  "stablehlo.return"(%m0) : (tensor<i2>) -> ()
  }) : (tensor<5xi2>, tensor<5xi2>, tensor<i2>) -> (tensor<5xindex>)
  return
}
// -----
func.func @f(%o0: tensor<1xbf16>, %o1: tensor<1xbf16>, %o2: tensor<bf16>) {
  // expected-error @+2 {{'stablehlo.select_and_scatter' op inferred type(s) 'tensor<1xbf16>' are incompatible with return type(s) of operation 'tensor<bf16>'}}
  // expected-error @+1 {{'stablehlo.select_and_scatter' op failed to infer returned types}}
  %r:1 = "stablehlo.select_and_scatter"(%o0, %o1, %o2) <{window_dimensions = array<i64: 1>, window_strides = array<i64: 1>}> ({
  ^bb0(%a0: tensor<bf16>, %a1: tensor<bf16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a0: tensor<bf16>, %a1: tensor<bf16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<bf16>
  "stablehlo.return"(%m0) : (tensor<bf16>) -> ()
  }) : (tensor<1xbf16>, tensor<1xbf16>, tensor<bf16>) -> (tensor<bf16>)
  return
}
// -----
func.func @f(%o0: tensor<4x4xui16>, %o1: tensor<4x4xui16>, %o2: tensor<ui16>) {
  // expected-error @+1 {{The type of reduction-region's parameter at index 1 is different than the corresponding result type: 'tensor<1xui16>' vs 'tensor<ui16>'}}
  %r:1 = "stablehlo.select_and_scatter"(%o0, %o1, %o2) <{window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>}> ({
  ^bb0(%a0: tensor<ui16>, %a1: tensor<ui16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a0: tensor<ui16>, %a1: tensor<1xui16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui16>
  "stablehlo.return"(%m0) : (tensor<ui16>) -> ()
  }) : (tensor<4x4xui16>, tensor<4x4xui16>, tensor<ui16>) -> (tensor<4x4xui16>)
  return
}
// -----
func.func @f(%o0: tensor<5x1xi2>, %o1: tensor<5x1xi2>, %o2: tensor<i2>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op expected 2 regions}}
  %r:1 = "stablehlo.select_and_scatter"(%o0, %o1, %o2) <{window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%a0: tensor<i2>, %a1: tensor<i2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a0: tensor<i2>, %a1: tensor<i2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i2>
  "stablehlo.return"(%m0) : (tensor<i2>) -> ()
  }, {
  ^bb0(%a0: tensor<i2>, %a1: tensor<i2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }) : (tensor<5x1xi2>, tensor<5x1xi2>, tensor<i2>) -> (tensor<5x1xi2>)
  return
}
// -----
func.func @f(%o0: tensor<2x4xi32>, %o1: tensor<2x4xi32>, %o2: tensor<i32>) {
  // expected-error @+1 {{expects window-strides to have same dimension-size as size of window dimensions (2), but got: 3.}}
  %r:1 = "stablehlo.select_and_scatter"(%o0, %o1, %o2) <{window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 1, 1>, padding = dense<0> : tensor<2x2xi64>}> ({
  ^bb0(%a0: tensor<i32>, %a1: tensor<i32>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a0: tensor<i32>, %a1: tensor<i32>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i32>
  "stablehlo.return"(%m0) : (tensor<i32>) -> ()
  }) : (tensor<2x4xi32>, tensor<2x4xi32>, tensor<i32>) -> (tensor<2x4xi32>)
  return
}
// -----
func.func @f(%o0: tensor<1x4xf64>, %o1: tensor<1x4xf64>, %o2: tensor<f64>) {
  // expected-error @+1 {{expects source-type to be 'tensor<3x6xf64>', but got'tensor<1x4xf64>'}}
  %r:1 = "stablehlo.select_and_scatter"(%o0, %o1, %o2) <{window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 1>, padding = dense<1> : tensor<2x2xi64>}> ({
  ^bb0(%a0: tensor<f64>, %a1: tensor<f64>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a0: tensor<f64>, %a1: tensor<f64>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f64>
  "stablehlo.return"(%m0) : (tensor<f64>) -> ()
  }) : (tensor<1x4xf64>, tensor<1x4xf64>, tensor<f64>) -> (tensor<1x4xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<4x1xf8E4M3FN>, %o1: tensor<4x1xf8E4M3FN>, %o2: tensor<f8E4M3FN>) {
  // expected-error @+1 {{expects the select-region to take 2 parameters, but takes 0}}
  %r:1 = "stablehlo.select_and_scatter"(%o0, %o1, %o2) <{window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>}> ({
  ^bb0():
  "stablehlo.return"() : () -> ()
  }, {
  ^bb0(%a0: tensor<f8E4M3FN>, %a1: tensor<f8E4M3FN>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E4M3FN>
  "stablehlo.return"(%m0) : (tensor<f8E4M3FN>) -> ()
  }) : (tensor<4x1xf8E4M3FN>, tensor<4x1xf8E4M3FN>, tensor<f8E4M3FN>) -> (tensor<4x1xf8E4M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<4xf8E5M2FNUZ>, %o1: tensor<f8E5M2FNUZ>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op expected 3 operands, but found 2}}
  %r:1 = "stablehlo.select_and_scatter"(%o0, %o1) <{window_dimensions = array<i64: 1>, window_strides = array<i64: 1>}> ({
  ^bb0(%a0: tensor<f8E5M2FNUZ>, %a1: tensor<f8E5M2FNUZ>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a0: tensor<f8E5M2FNUZ>, %a1: tensor<f8E5M2FNUZ>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E5M2FNUZ>
  "stablehlo.return"(%m0) : (tensor<f8E5M2FNUZ>) -> ()
  }) : (tensor<4xf8E5M2FNUZ>, tensor<f8E5M2FNUZ>) -> (tensor<4xf8E5M2FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<2x3xbf16>, %o1: tensor<2x3xbf16>, %o2: tensor<4xbf16>) {
  // expected-error @+1 {{expects the return-type of select-region to be tensor<i1>, but got: 'tensor<f64>'}}
  %r:1 = "stablehlo.select_and_scatter"(%o0, %o1, %o2) <{window_dimensions = array<i64: 1, 1>}> ({
  ^bb0(%a0: tensor<f64>, %a1: tensor<f64>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f64>
  "stablehlo.return"(%m0) : (tensor<f64>) -> ()
  }, {
  ^bb0(%a0: tensor<bf16>, %a1: tensor<bf16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<bf16>
  "stablehlo.return"(%m0) : (tensor<bf16>) -> ()
  }) : (tensor<2x3xbf16>, tensor<2x3xbf16>, tensor<4xbf16>) -> (tensor<2x3xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<1xi2>, %o1: tensor<1xi2>, %o2: tensor<i2>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op requires one result}}
  %r:2 = "stablehlo.select_and_scatter"(%o0, %o1, %o2) <{window_dimensions = array<i64: 1>, window_strides = array<i64: 1>}> ({
  ^bb0(%a0: tensor<i2>, %a1: tensor<i2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a0: tensor<i2>, %a1: tensor<i2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i2>
  "stablehlo.return"(%m0) : (tensor<i2>) -> ()
  }) : (tensor<1xi2>, tensor<1xi2>, tensor<i2>) -> (tensor<1xi2>, tensor<1xi2>)
  return
}
// -----
func.func @f(%o0: tensor<2x5xi16>, %o1: tensor<2x5xi16>, %o2: tensor<i16>) {
  // expected-error @+1 {{Reduction-region must take 2 parameters, but takes 0 parameter(s)}}
  %r:1 = "stablehlo.select_and_scatter"(%o0, %o1, %o2) <{window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 1>, padding = dense<0> : tensor<2x2xi64>}> ({
  ^bb0(%a0: tensor<i16>, %a1: tensor<i16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }, {
  ^bb0():
  "stablehlo.return"() : () -> ()
  }) : (tensor<2x5xi16>, tensor<2x5xi16>, tensor<i16>) -> (tensor<2x5xi16>)
  return
}
// -----
func.func @f(%o0: tensor<4x2xsi32>, %o1: tensor<4x2xsi32>, %o2: tensor<si32>) {
  // expected-error @+1 {{'stablehlo.select_and_scatter' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<4x2xsi32>'}}
  %r:1 = "stablehlo.select_and_scatter"(%o0, %o1, %o2) <{window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 1>}> ({
  ^bb0(%a0: tensor<ui2>, %a1: tensor<ui2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a0: tensor<ui2>, %a1: tensor<ui2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui2>
  "stablehlo.return"(%m0) : (tensor<ui2>) -> ()
  }) : (tensor<4x2xsi32>, tensor<4x2xsi32>, tensor<si32>) -> (tensor<4x2xsi32>)
  return
}
// -----
func.func @f(%o0: tensor<2x4x1xui64>) {
  // expected-error @+1 {{'stablehlo.sort' op requires the same shape for all operands and results}}
  %r:1 = "stablehlo.sort"(%o0) <{dimension = 2 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<ui64>, %a1: tensor<ui64>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }) : (tensor<2x4x1xui64>) -> (tensor<4x1xui64>)
  return
}
// -----
func.func @f(%o0: tensor<5x5xbf16>, %o1: tensor<5x5xi16>) {
  // expected-error @+1 {{comparator block should have 4 arguments}}
  %r:2 = "stablehlo.sort"(%o0, %o1) <{dimension = 1 : i64}> ({
  ^bb0(%a0: tensor<bf16>, %a1: tensor<i16>, %a2: tensor<i16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }) : (tensor<5x5xbf16>, tensor<5x5xi16>) -> (tensor<5x5xbf16>, tensor<5x5xi16>)
  return
}
// -----
func.func @f(%o0: tensor<?xi2>, %o1: tensor<2xi2>, %o2: tensor<2xi2>) {
  // expected-error @+1 {{comparator block argument #0 should be of type 'tensor<i2>' but got 'tensor<f16>'}}
  %r:3 = "stablehlo.sort"(%o0, %o1, %o2) <{dimension = 0 : i64, is_stable = false}> ({
  ^bb0(%a0: tensor<f16>, %a1: tensor<f16>, %a2: tensor<i8>, %a3: tensor<i8>, %a4: tensor<f8E4M3B11FNUZ>, %a5: tensor<f8E4M3B11FNUZ>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }) : (tensor<?xi2>, tensor<2xi2>, tensor<2xi2>) -> (tensor<2xi2>, tensor<2xi2>, tensor<2xi2>)
  return
}
// -----
func.func @f(%o0: i32) {
  // expected-error @+1 {{'stablehlo.sort' op operand #0 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'i32'}}
  %r:1 = "stablehlo.sort"(%o0) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a0: tensor<f6E2M3FN>, %a1: tensor<f6E2M3FN>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }) : (i32) -> (tensor<5xf6E2M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<1xui4>, %o1: tensor<1xui4>) {
  // expected-error @+1 {{'stablehlo.sort' op requires one region}}
  %r:2 = "stablehlo.sort"(%o0, %o1) <{is_stable = true}> ({
  ^bb0(%a0: tensor<ui4>, %a1: tensor<ui4>, %a2: tensor<ui4>, %a3: tensor<ui4>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a0: tensor<ui4>, %a1: tensor<ui4>, %a2: tensor<ui4>, %a3: tensor<ui4>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }) : (tensor<1xui4>, tensor<1xui4>) -> (tensor<1xui4>, tensor<1xui4>)
  return
}
// -----
func.func @f(%o0: tensor<5x2xf8E4M3B11FNUZ>, %o1: tensor<5x2xui4>) {
  // expected-error @+1 {{dimension attribute value must be in range [-2, 2), but found -3}}
  %r:2 = "stablehlo.sort"(%o0, %o1) <{dimension = -3 : i64}> ({
  ^bb0(%a0: tensor<f8E4M3B11FNUZ>, %a1: tensor<f8E4M3B11FNUZ>, %a2: tensor<ui4>, %a3: tensor<ui4>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }) : (tensor<5x2xf8E4M3B11FNUZ>, tensor<5x2xui4>) -> (tensor<5x2xf8E4M3B11FNUZ>, tensor<5x2xui4>)
  return
}
// -----
func.func @f(%o0: tensor<5x5x5xui4>, %o1: tensor<5x5x5xf8E3M4>) {
  // expected-error @+1 {{comparator must return tensor<i1> but got 'tensor<?xi1>'}}
  %r:2 = "stablehlo.sort"(%o0, %o1) <{dimension = 2 : i64, is_stable = false}> ({
  ^bb0(%a0: tensor<ui4>, %a1: tensor<ui4>, %a2: tensor<f8E3M4>, %a3: tensor<f8E3M4>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<?xi1>
  "stablehlo.return"(%m0) : (tensor<?xi1>) -> ()
  }) : (tensor<5x5x5xui4>, tensor<5x5x5xf8E3M4>) -> (tensor<5x5x5xui4>, tensor<5x5x5xf8E3M4>)
  return
}
// -----
func.func @f(%o0: tensor<2x5x2xf8E4M3B11FNUZ>, %o1: tensor<2x5x2xi4>) {
  // expected-error @+2 {{'stablehlo.sort' op inferred type(s) 'tensor<2x5x2xf8E4M3B11FNUZ>', 'tensor<2x5x2xi4>' are incompatible with return type(s) of operation 'tensor<2x5x2xi8>', 'tensor<2x5x2xi8>'}}
  // expected-error @+1 {{'stablehlo.sort' op failed to infer returned types}}
  %r:2 = "stablehlo.sort"(%o0, %o1) <{is_stable = false}> ({
  ^bb0(%a0: tensor<f8E4M3B11FNUZ>, %a1: tensor<f8E4M3B11FNUZ>, %a2: tensor<i4>, %a3: tensor<i4>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }) : (tensor<2x5x2xf8E4M3B11FNUZ>, tensor<2x5x2xi4>) -> (tensor<2x5x2xi8>, tensor<2x5x2xi8>)
  return
}
// -----
func.func @f(%o0: tensor<5x4xf16>, %o1: tensor<5x4xi64>) {
  // expected-error @+1 {{comparator must return single output but got 0}}
  %r:2 = "stablehlo.sort"(%o0, %o1) <{dimension = -1 : i64, is_stable = false}> ({
  ^bb0(%a0: tensor<f16>, %a1: tensor<f16>, %a2: tensor<i64>, %a3: tensor<i64>):
  "stablehlo.return"() : () -> ()
  }) : (tensor<5x4xf16>, tensor<5x4xi64>) -> (tensor<5x4xf16>, tensor<5x4xi64>)
  return
}
// -----
func.func @f(%o0: tensor<2x4x4xf8E4M3B11FNUZ>, %o1: tensor<2x4x4xf8E4M3FNUZ>, %o2: tensor<2x4x4xui4>) {
  // expected-error @+1 {{'stablehlo.sort' op result #0 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'vector<2xf32>'}}
  %r:3 = "stablehlo.sort"(%o0, %o1, %o2) <{dimension = 0 : i64}> ({
  ^bb0(%a0: tensor<f8E4M3B11FNUZ>, %a1: tensor<f8E4M3B11FNUZ>, %a2: tensor<f8E4M3FNUZ>, %a3: tensor<f8E4M3FNUZ>, %a4: tensor<ui4>, %a5: tensor<ui4>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }) : (tensor<2x4x4xf8E4M3B11FNUZ>, tensor<2x4x4xf8E4M3FNUZ>, tensor<2x4x4xui4>) -> (vector<2xf32>, tensor<2x4x4xf8E4M3FNUZ>, tensor<2x4x4xui4>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.sort' op expected 1 or more operands, but found 0}}
  %r:1 = "stablehlo.sort"() ({
  ^bb0(%a0: tensor<f8E5M2>, %a1: tensor<f8E5M2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }) : () -> (tensor<4x4xf8E5M2>)
  return
}
// -----
func.func @f(%o0: tensor<f32>, %o1: tensor<f32>, %o2: tensor<f32>, %o3: tensor<f32>) {
  // expected-error @+2 {{expects number of operands to match the arity of map computation, but got: 4 and 3}}
  // expected-error @+1 {{'stablehlo.map' op failed to infer returned types}}
  %r:1 = "stablehlo.map"(%o0, %o1, %o2, %o3) <{dimensions = array<i64>}> ({
  ^bb0(%a0: tensor<f32>, %a1: tensor<f32>, %a2: tensor<f32>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f32>
  "stablehlo.return"(%m0) : (tensor<f32>) -> ()
  }) : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>)
  return
}
// -----
func.func @f(%o0: tuple<tensor<f32>>) {
  // expected-error @+1 {{'stablehlo.map' op operand #0 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tuple<tensor<f32>>'}}
  %r:1 = "stablehlo.map"(%o0) <{dimensions = array<i64: 1, 1, 2, 3>}> ({
  ^bb0(%a0: tensor<ui2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui2>
  "stablehlo.return"(%m0) : (tensor<ui2>) -> ()
  }) : (tuple<tensor<f32>>) -> (tensor<3x3x4x1xui2>)
  return
}
// -----
func.func @f(%o0: tensor<5x1xbf16>, %o1: tensor<5x1xbf16>, %o2: tensor<5x1xbf16>) {
  // expected-error @+2 {{element type of operands and computation arguments must match, but got: 'bf16' and 'i32'}}
  // expected-error @+1 {{'stablehlo.map' op failed to infer returned types}}
  %r:1 = "stablehlo.map"(%o0, %o1, %o2) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a0: tensor<i32>, %a1: tensor<i32>, %a2: tensor<i32>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i32>
  "stablehlo.return"(%m0) : (tensor<i32>) -> ()
  }) : (tensor<5x1xbf16>, tensor<5x1xbf16>, tensor<5x1xbf16>) -> (tensor<5x1xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<1x2xui2>, %o1: tensor<1x1xui2>) {
  // expected-error @+1 {{'stablehlo.map' op requires the same shape for all operands and results}}
  %r:1 = "stablehlo.map"(%o0, %o1) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a0: tensor<ui2>, %a1: tensor<ui2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui2>
  "stablehlo.return"(%m0) : (tensor<ui2>) -> ()
  }) : (tensor<1x2xui2>, tensor<1x1xui2>) -> (tensor<1x2xui2>)
  return
}
// -----
func.func @f(%o0: tensor<f8E4M3FNUZ>) {
  // expected-error @+2 {{'stablehlo.map' op inferred type(s) 'tensor<f8E4M3FNUZ>' are incompatible with return type(s) of operation 'tensor<ui64>'}}
  // expected-error @+1 {{'stablehlo.map' op failed to infer returned types}}
  %r:1 = "stablehlo.map"(%o0) <{dimensions = array<i64>}> ({
  ^bb0(%a0: tensor<f8E4M3FNUZ>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E4M3FNUZ>
  "stablehlo.return"(%m0) : (tensor<f8E4M3FNUZ>) -> ()
  }) : (tensor<f8E4M3FNUZ>) -> (tensor<ui64>)
  return
}
// -----
func.func @f(%o0: tensor<3xf8E4M3FNUZ>, %o1: tensor<3xf8E4M3FNUZ>, %o2: tensor<3xf8E4M3FNUZ>) {
  // expected-error @+2 {{requires monotonically increasing dimension numbers, but got: -1}}
  // expected-error @+1 {{'stablehlo.map' op failed to infer returned types}}
  %r:1 = "stablehlo.map"(%o0, %o1, %o2) <{dimensions = array<i64: -1>}> ({
  ^bb0(%a0: tensor<f8E4M3FNUZ>, %a1: tensor<f8E4M3FNUZ>, %a2: tensor<f8E4M3FNUZ>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E4M3FNUZ>
  "stablehlo.return"(%m0) : (tensor<f8E4M3FNUZ>) -> ()
  }) : (tensor<3xf8E4M3FNUZ>, tensor<3xf8E4M3FNUZ>, tensor<3xf8E4M3FNUZ>) -> (tensor<3xf8E4M3FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<2xf8E4M3FN>, %o1: tensor<2xf8E4M3FN>, %o2: tensor<2xf8E4M3FN>) {
  // expected-error @+2 {{computation must return single output, but got: 2}}
  // expected-error @+1 {{'stablehlo.map' op failed to infer returned types}}
  %r:1 = "stablehlo.map"(%o0, %o1, %o2) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a0: tensor<f8E4M3FN>, %a1: tensor<f8E4M3FN>, %a2: tensor<f8E4M3FN>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E4M3FN>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E4M3FN>
  "stablehlo.return"(%m0, %m1) : (tensor<f8E4M3FN>, tensor<f8E4M3FN>) -> ()
  }) : (tensor<2xf8E4M3FN>, tensor<2xf8E4M3FN>, tensor<2xf8E4M3FN>) -> (tensor<2xf8E4M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<2x3x3xi8>, %o1: tensor<2x3x3xi8>) {
  // expected-error @+1 {{'stablehlo.map' op requires one result}}
  "stablehlo.map"(%o0, %o1) <{dimensions = array<i64: 0, 1, 2>}> ({
  ^bb0(%a0: tensor<i8>, %a1: tensor<i8>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i8>
  "stablehlo.return"(%m0) : (tensor<i8>) -> ()
  }) : (tensor<2x3x3xi8>, tensor<2x3x3xi8>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<ui2>, %o1: tensor<ui2>) {
  // expected-error @+1 {{'stablehlo.map' op requires attribute 'dimensions'}}
  %r:1 = "stablehlo.map"(%o0, %o1) ({
  ^bb0(%a0: tensor<ui2>, %a1: tensor<ui2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui2>
  "stablehlo.return"(%m0) : (tensor<ui2>) -> ()
  }) : (tensor<ui2>, tensor<ui2>) -> (tensor<ui2>)
  return
}
// -----
func.func @f(%o0: tensor<1x2xui8>, %o1: tensor<1x2xui8>, %o2: tensor<1x2xui8>) {
  // expected-error @+1 {{'stablehlo.map' op requires one region}}
  %r:1 = "stablehlo.map"(%o0, %o1, %o2) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a0: tensor<ui8>, %a1: tensor<ui8>, %a2: tensor<ui8>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui8>
  "stablehlo.return"(%m0) : (tensor<ui8>) -> ()
  }, {
  ^bb0(%a0: tensor<ui8>, %a1: tensor<ui8>, %a2: tensor<ui8>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui8>
  "stablehlo.return"(%m0) : (tensor<ui8>) -> ()
  }) : (tensor<1x2xui8>, tensor<1x2xui8>, tensor<1x2xui8>) -> (tensor<1x2xui8>)
  return
}
// -----
func.func @f(%o0: tensor<i16>, %o1: tensor<i16>, %o2: tensor<i16>) {
  // expected-error @+2 {{computation arguments must be 0-rank tensor, but got: arg #1 of type 'tensor<?xi16>'}}
  // expected-error @+1 {{'stablehlo.map' op failed to infer returned types}}
  %r:1 = "stablehlo.map"(%o0, %o1, %o2) <{dimensions = array<i64>}> ({
  ^bb0(%a0: tensor<i16>, %a1: tensor<?xi16>, %a2: tensor<i16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i16>
  "stablehlo.return"(%m0) : (tensor<i16>) -> ()
  }) : (tensor<i16>, tensor<i16>, tensor<i16>) -> (tensor<i16>)
  return
}
// -----
func.func @f(%o0: tensor<4xi64>, %o1: tensor<4xi64>) {
  // expected-error @+1 {{'stablehlo.map' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<4xindex>'}}
  %r:1 = "stablehlo.map"(%o0, %o1) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a0: tensor<i64>, %a1: tensor<i64>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i64>
  "stablehlo.return"(%m0) : (tensor<i64>) -> ()
  }) : (tensor<4xi64>, tensor<4xi64>) -> (tensor<4xindex>)
  return
}
// -----
func.func @f(%o0: tensor<i4>, %o1: tensor<i4>) {
  // expected-error @+2 {{computation must return 0-rank tensor, but got: 'tensor<3xi4>'}}
  // expected-error @+1 {{'stablehlo.map' op failed to infer returned types}}
  %r:1 = "stablehlo.map"(%o0, %o1) <{dimensions = array<i64>}> ({
  ^bb0(%a0: tensor<i4>, %a1: tensor<i4>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<3xi4>
  "stablehlo.return"(%m0) : (tensor<3xi4>) -> ()
  }) : (tensor<i4>, tensor<i4>) -> (tensor<i4>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.map' op expected 1 or more operands, but found 0}}
  %r:1 = "stablehlo.map"() <{dimensions = array<i64>}> ({
  ^bb0(%a0: tensor<f64>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f64>
  "stablehlo.return"(%m0) : (tensor<f64>) -> ()
  }) : () -> (tensor<f64>)
  return
}
// -----
func.func @f(%o0: !stablehlo.token, %o1: tensor<4x3xi4>) {
  // expected-error @+1 {{expect condition block return a zero-ranked tensor of i1 but got 'tensor<ui64>'}}
  %r:2 = "stablehlo.while"(%o0, %o1) ({
  ^bb0(%a0: !stablehlo.token, %a1: tensor<4x3xi4>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui64>
  "stablehlo.return"(%m0) : (tensor<ui64>) -> ()
  }, {
  ^bb0(%a0: !stablehlo.token, %a1: tensor<4x3xi4>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> !stablehlo.token
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<4x3xi4>
  "stablehlo.return"(%m0, %m1) : (!stablehlo.token, tensor<4x3xi4>) -> ()
  }) : (!stablehlo.token, tensor<4x3xi4>) -> (!stablehlo.token, tensor<4x3xi4>)
  return
}
// -----
func.func @f(%o0: !stablehlo.token, %o1: tensor<complex<f32>>, %o2: tensor<i1>) {
  // expected-error @+1 {{expect condition body returns a single value but got 0}}
  %r:3 = "stablehlo.while"(%o0, %o1, %o2) ({
  ^bb0(%a0: !stablehlo.token, %a1: tensor<complex<f32>>, %a2: tensor<i1>):
  "stablehlo.return"() : () -> ()
  }, {
  ^bb0(%a0: !stablehlo.token, %a1: tensor<complex<f32>>, %a2: tensor<i1>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> !stablehlo.token
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<complex<f32>>
  %m2 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0, %m1, %m2) : (!stablehlo.token, tensor<complex<f32>>, tensor<i1>) -> ()
  }) : (!stablehlo.token, tensor<complex<f32>>, tensor<i1>) -> (!stablehlo.token, tensor<complex<f32>>, tensor<i1>)
  return
}
// -----
func.func @f(%o0: tensor<5x1xcomplex<f32>>, %o1: !stablehlo.token, %o2: tensor<3xi1>) {
  // expected-error @+2 {{'stablehlo.while' op inferred type(s) 'tensor<5x1xcomplex<f32>>', '!stablehlo.token', 'tensor<3xi1>' are incompatible with return type(s) of operation 'tensor<5x1xcomplex<f32>>', '!stablehlo.token', 'tensor<7xi1>'}}
  // expected-error @+1 {{'stablehlo.while' op failed to infer returned types}}
  %r:3 = "stablehlo.while"(%o0, %o1, %o2) ({
  ^bb0(%a0: tensor<5x1xcomplex<f32>>, %a1: !stablehlo.token, %a2: tensor<3xi1>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a0: tensor<5x1xcomplex<f32>>, %a1: !stablehlo.token, %a2: tensor<3xi1>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<5x1xcomplex<f32>>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> !stablehlo.token
  %m2 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<3xi1>
  "stablehlo.return"(%m0, %m1, %m2) : (tensor<5x1xcomplex<f32>>, !stablehlo.token, tensor<3xi1>) -> ()
  }) : (tensor<5x1xcomplex<f32>>, !stablehlo.token, tensor<3xi1>) -> (tensor<5x1xcomplex<f32>>, !stablehlo.token, tensor<7xi1>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.while' op expected 2 regions}}
  "stablehlo.while"() ({
  ^bb0():
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }) : () -> ()
  return
}
// -----
func.func @f(%o0: tensor<1x3x3xi1>, %o1: tensor<4x5x1xi1>) {
  // expected-error @+1 {{expect operands to be compatible with condition block arguments but got 'tensor<1x3x3xi1>', 'tensor<4x5x1xi1>' vs 'tensor<3x3xi1>', 'tensor<4x5x?xi1>'}}
  %r:2 = "stablehlo.while"(%o0, %o1) ({
  ^bb0(%a0: tensor<3x3xi1>, %a1: tensor<4x5x?xi1>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a0: tensor<1x3x3xi1>, %a1: tensor<4x5x1xi1>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<1x3x3xi1>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<4x5x1xi1>
  "stablehlo.return"(%m0, %m1) : (tensor<1x3x3xi1>, tensor<4x5x1xi1>) -> ()
  }) : (tensor<1x3x3xi1>, tensor<4x5x1xi1>) -> (tensor<1x3x3xi1>, tensor<4x5x1xi1>)
  return
}
// -----
func.func @f(%o0: vector<2xf32>, %o1: tensor<4xcomplex<f64>>) {
  // expected-error @+1 {{'stablehlo.while' op operand #0 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type wi}}
  %r:2 = "stablehlo.while"(%o0, %o1) ({
  ^bb0(%a0: !stablehlo.token, %a1: tensor<4xcomplex<f64>>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a0: !stablehlo.token, %a1: tensor<4xcomplex<f64>>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> !stablehlo.token
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<4xcomplex<f64>>
  "stablehlo.return"(%m0, %m1) : (!stablehlo.token, tensor<4xcomplex<f64>>) -> ()
  }) : (vector<2xf32>, tensor<4xcomplex<f64>>) -> (!stablehlo.token, tensor<4xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.while' op result #0 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type wit}}
  %r:1 = "stablehlo.while"(%o0) ({
  ^bb0(%a0: !stablehlo.token):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a0: !stablehlo.token):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> !stablehlo.token
  "stablehlo.return"(%m0) : (!stablehlo.token) -> ()
  }) : (!stablehlo.token) -> (tuple<tensor<f32>>)
  return
}
// -----
func.func @f(%o0: !stablehlo.token, %o1: tensor<3x5x4x3xi1>) {
  // expected-error @+1 {{expect operands to be compatible with body block arguments but got '!stablehlo.token', 'tensor<3x5x4x3xi1>' vs '!stablehlo.token', 'tensor<3x5x4x3xui64>'}}
  %r:2 = "stablehlo.while"(%o0, %o1) ({
  ^bb0(%a0: !stablehlo.token, %a1: tensor<3x5x4x3xi1>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a0: !stablehlo.token, %a1: tensor<3x5x4x3xui64>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> !stablehlo.token
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<3x5x4x3xi1>
  "stablehlo.return"(%m0, %m1) : (!stablehlo.token, tensor<3x5x4x3xi1>) -> ()
  }) : (!stablehlo.token, tensor<3x5x4x3xi1>) -> (!stablehlo.token, tensor<3x5x4x3xi1>)
  return
}
// -----
func.func @f(%o0: !stablehlo.token, %o1: tensor<complex<f32>>) {
  // expected-error @+1 {{expect operands to be compatible with body block return types but got '!stablehlo.token', 'tensor<complex<f32>>' vs '!stablehlo.token'}}
  %r:2 = "stablehlo.while"(%o0, %o1) ({
  ^bb0(%a0: !stablehlo.token, %a1: tensor<complex<f32>>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a0: !stablehlo.token, %a1: tensor<complex<f32>>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> !stablehlo.token
  "stablehlo.return"(%m0) : (!stablehlo.token) -> ()
  }) : (!stablehlo.token, tensor<complex<f32>>) -> (!stablehlo.token, tensor<complex<f32>>)
  return
}
// -----
func.func @f() {
  // expected-error @+2 {{'stablehlo.while' op inferred type(s)  are incompatible with return type(s) of operation 'tensor<f32>'}}
  // expected-error @+1 {{'stablehlo.while' op failed to infer returned types}}
  %r:1 = "stablehlo.while"() ({
  ^bb0():
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i1>
  "stablehlo.return"(%m0) : (tensor<i1>) -> ()
  }, {
  ^bb0():
  "stablehlo.return"() : () -> ()
  }) : () -> (tensor<f32>)
  return
}
// -----
func.func @f(%o0: tensor<complex<f32>>) {
  // expected-error @+1 {{'stablehlo.if' op operand #0 must be ranked tensor of bool values, but got 'tensor<complex<f32>>'}}
  "stablehlo.if"(%o0) ({
  ^bb0():
  "stablehlo.return"() : () -> ()
  }, {
  ^bb0():
  "stablehlo.return"() : () -> ()
  }) : (tensor<complex<f32>>) -> ()
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.if' op requires a single operand}}
  "stablehlo.if"() ({
  ^bb0():
  "stablehlo.return"() : () -> ()
  }, {
  ^bb0():
  "stablehlo.return"() : () -> ()
  }) : () -> ()
  return
}
// -----
func.func @f(%o0: tensor<1xi1>) {
  // expected-error @+2 {{operand should be rank 0 tensor but got rank 1}}
  // expected-error @+1 {{'stablehlo.if' op failed to infer returned types}}
  "stablehlo.if"(%o0) ({
  ^bb0():
  "stablehlo.return"() : () -> ()
  }, {
  ^bb0():
  "stablehlo.return"() : () -> ()
  }) : (tensor<1xi1>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<i1>) {
  // expected-error @+2 {{branch 0 and branch 1 have mismatched return types:  vs 'tensor<f32>'}}
  // expected-error @+1 {{'stablehlo.if' op failed to infer returned types}}
  "stablehlo.if"(%o0) ({
  ^bb0():
  "stablehlo.return"() : () -> ()
  }, {
  ^bb0():
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f32>
  "stablehlo.return"(%m0) : (tensor<f32>) -> ()
  }) : (tensor<i1>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<i1>) {
  // expected-error @+1 {{'stablehlo.if' op expected 2 regions}}
  "stablehlo.if"(%o0) ({
  ^bb0():
  "stablehlo.return"() : () -> ()
  }) : (tensor<i1>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<i1>) {
  // expected-error @+2 {{'stablehlo.if' op inferred type(s) 'tensor<4x4x5x3xi1>' are incompatible with return type(s) of operation 'tensor<4x4x7x3xi1>'}}
  // expected-error @+1 {{'stablehlo.if' op failed to infer returned types}}
  %r:1 = "stablehlo.if"(%o0) ({
  ^bb0():
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<4x4x5x3xi1>
  "stablehlo.return"(%m0) : (tensor<4x4x5x3xi1>) -> ()
  }, {
  ^bb0():
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<4x4x5x3xi1>
  "stablehlo.return"(%m0) : (tensor<4x4x5x3xi1>) -> ()
  }) : (tensor<i1>) -> (tensor<4x4x7x3xi1>)
  return
}
// -----
func.func @f(%o0: tensor<i1>) {
  // expected-error @+2 {{branch 1 must have 0 arguments, but found 1}}
  // expected-error @+1 {{'stablehlo.if' op failed to infer returned types}}
  "stablehlo.if"(%o0) ({
  ^bb0():
  "stablehlo.return"() : () -> ()
  }, {
  ^bb0(%a0: tensor<f32>):
  "stablehlo.return"() : () -> ()
  }) : (tensor<i1>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<i1>) {
  // expected-error @+2 {{'stablehlo.if' op inferred type(s)  are incompatible with return type(s) of operation 'tensor<f32>'}}
  // expected-error @+1 {{'stablehlo.if' op failed to infer returned types}}
  %r:1 = "stablehlo.if"(%o0) ({
  ^bb0():
  "stablehlo.return"() : () -> ()
  }, {
  ^bb0():
  "stablehlo.return"() : () -> ()
  }) : (tensor<i1>) -> (tensor<f32>)
  return
}
// -----
func.func @f(%o0: tensor<i1>) {
  // expected-error @+1 {{'stablehlo.if' op result #0 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values or ranked tensor of per-axis integer quantized values or token, but got 'tensor<*xf32>'}}
  %r:1 = "stablehlo.if"(%o0) ({
  ^bb0():
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<3x2x2x5xcomplex<f32>>
  "stablehlo.return"(%m0) : (tensor<3x2x2x5xcomplex<f32>>) -> ()
  }, {
  ^bb0():
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<3x2x2x5xcomplex<f32>>
  "stablehlo.return"(%m0) : (tensor<3x2x2x5xcomplex<f32>>) -> ()
  }) : (tensor<i1>) -> (tensor<*xf32>)
  return
}
// -----
func.func @f(%o0: tensor<i1>) {
  // expected-error @+2 {{'stablehlo.if' op inferred type(s) 'tensor<2x4xcomplex<f32>>' are incompatible with return type(s) of operation }}
  // expected-error @+1 {{'stablehlo.if' op failed to infer returned types}}
  "stablehlo.if"(%o0) ({
  ^bb0():
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<2x4xcomplex<f32>>
  "stablehlo.return"(%m0) : (tensor<2x4xcomplex<f32>>) -> ()
  }, {
  ^bb0():
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<2x4xcomplex<f32>>
  "stablehlo.return"(%m0) : (tensor<2x4xcomplex<f32>>) -> ()
  }) : (tensor<i1>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<i32>) {
  // expected-error @+2 {{branch 0 and branch 1 have mismatched return types: 'tensor<5x4xcomplex<f64>>' vs 'tensor<5x4xi64>'}}
  // expected-error @+1 {{'stablehlo.case' op failed to infer returned types}}
  %r:1 = "stablehlo.case"(%o0) ({
  ^bb0():
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<5x4xcomplex<f64>>
  "stablehlo.return"(%m0) : (tensor<5x4xcomplex<f64>>) -> ()
  }, {
  ^bb0():
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<5x4xi64>
  "stablehlo.return"(%m0) : (tensor<5x4xi64>) -> ()
  }) : (tensor<i32>) -> (tensor<5x4xi64>)
  return
}
// -----
func.func @f(%o0: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.case' op result #0 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with}}
  %r:1 = "stablehlo.case"(%o0) ({
  ^bb0():
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<5x1x4x4xi1>
  "stablehlo.return"(%m0) : (tensor<5x1x4x4xi1>) -> ()
  }, {
  ^bb0():
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<5x1x4x4xi1>
  "stablehlo.return"(%m0) : (tensor<5x1x4x4xi1>) -> ()
  }, {
  ^bb0():
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<5x1x4x4xi1>
  "stablehlo.return"(%m0) : (tensor<5x1x4x4xi1>) -> ()
  }) : (tensor<i32>) -> (tensor<5x1x4x4xindex>)
  return
}
// -----
func.func @f(%o0: tensor<3xi32>) {
  // expected-error @+2 {{operand should be rank 0 tensor but got rank 1}}
  // expected-error @+1 {{'stablehlo.case' op failed to infer returned types}}
  %r:2 = "stablehlo.case"(%o0) ({
  ^bb0():
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<5x5x1x3xi1>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<2x3x1x2xi1>
  "stablehlo.return"(%m0, %m1) : (tensor<5x5x1x3xi1>, tensor<2x3x1x2xi1>) -> ()
  }, {
  ^bb0():
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<5x5x1x3xi1>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<2x3x1x2xi1>
  "stablehlo.return"(%m0, %m1) : (tensor<5x5x1x3xi1>, tensor<2x3x1x2xi1>) -> ()
  }) : (tensor<3xi32>) -> (tensor<5x5x1x3xi1>, tensor<2x3x1x2xi1>)
  return
}
// -----
func.func @f(%o0: tensor<si32>) {
  // expected-error @+1 {{'stablehlo.case' op operand #0 must be ranked tensor of 32-bit signless integer values, but got 'tensor<si32>'}}
  %r:1 = "stablehlo.case"(%o0) ({
  ^bb0():
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<1x2xi8>
  "stablehlo.return"(%m0) : (tensor<1x2xi8>) -> ()
  }, {
  ^bb0():
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<1x2xi8>
  "stablehlo.return"(%m0) : (tensor<1x2xi8>) -> ()
  }) : (tensor<si32>) -> (tensor<1x2xi8>)
  return
}
// -----
func.func @f(%o0: tensor<i32>) {
  // expected-error @+2 {{'stablehlo.case' op inferred type(s) 'tensor<1x4xi1>', 'tensor<5xi1>' are incompatible with return type(s) of operation 'tensor<1x4xi1>', 'tensor<5xi4>'}}
  // expected-error @+1 {{'stablehlo.case' op failed to infer returned types}}
  %r:2 = "stablehlo.case"(%o0) ({
  ^bb0():
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<1x4xi1>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<5xi1>
  "stablehlo.return"(%m0, %m1) : (tensor<1x4xi1>, tensor<5xi1>) -> ()
  }) : (tensor<i32>) -> (tensor<1x4xi1>, tensor<5xi4>)
  return
}
// -----
func.func @f(%o0: tensor<i32>) {
  // expected-error @+2 {{'stablehlo.case' op inferred type(s)  are incompatible with return type(s) of operation 'tensor<complex<f32>>'}}
  // expected-error @+1 {{'stablehlo.case' op failed to infer returned types}}
  %r:1 = "stablehlo.case"(%o0) ({
  ^bb0():
  "stablehlo.return"() : () -> ()
  }) : (tensor<i32>) -> (tensor<complex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<i32>) {
  // expected-error @+2 {{branch 0 must have 0 arguments, but found 1}}
  // expected-error @+1 {{'stablehlo.case' op failed to infer returned types}}
  %r:2 = "stablehlo.case"(%o0) ({
  ^bb0(%a0: tensor<f32>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<1x4xi1>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E4M3FNUZ>
  "stablehlo.return"(%m0, %m1) : (tensor<1x4xi1>, tensor<f8E4M3FNUZ>) -> ()
  }) : (tensor<i32>) -> (tensor<1x4xi1>, tensor<f8E4M3FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<i32>) {
  // expected-error @+2 {{expect at least one branch}}
  // expected-error @+1 {{'stablehlo.case' op failed to infer returned types}}
  "stablehlo.case"(%o0) : (tensor<i32>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<i32>, %o1: tensor<i32>) {
  // expected-error @+1 {{'stablehlo.case' op requires a single operand}}
  "stablehlo.case"(%o0, %o1) ({
  ^bb0():
  "stablehlo.return"() : () -> ()
  }, {
  ^bb0():
  "stablehlo.return"() : () -> ()
  }) : (tensor<i32>, tensor<i32>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<i32>) {
  // expected-error @+2 {{'stablehlo.case' op inferred type(s) 'tensor<f32>' are incompatible with return type(s) of operation }}
  // expected-error @+1 {{'stablehlo.case' op failed to infer returned types}}
  "stablehlo.case"(%o0) ({
  ^bb0():
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f32>
  "stablehlo.return"(%m0) : (tensor<f32>) -> ()
  }) : (tensor<i32>) -> ()
  return
}
