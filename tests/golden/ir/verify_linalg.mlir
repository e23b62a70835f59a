// flags: -split-input-file -verify-diagnostics
// What the types, attributes and regions of these ops must be: cholesky, triangular_solve, fft, batch_norm_training, batch_norm_inference, batch_norm_grad, rng, rng_bit_generator.
func.func @f(%o0: tensor<5x4x2x2xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.cholesky' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tuple<>'}}
  %r:1 = "stablehlo.cholesky"(%o0) : (tensor<5x4x2x2xcomplex<f32>>) -> (tuple<>)
  return
}
// -----
func.func @f(%o0: tensor<7x2xf64>) {
  // expected-error @+2 {{minor dimensions of 'a' must have equal size, got shape 7, 2.}}
  // expected-error @+1 {{'stablehlo.cholesky' op failed to infer returned types}}
  %r:1 = stablehlo.cholesky %o0, lower = true : (tensor<7x2xf64>) -> (tensor<2x2xf64>)
  return
}
// -----
func.func @f(%o0: tensor<2x2x2xui64>) {
  // expected-error @+1 {{'stablehlo.cholesky' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<2x2x2xui64>'}}
  %r:1 = "stablehlo.cholesky"(%o0) : (tensor<2x2x2xui64>) -> (tensor<2x2x2xf16>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.cholesky' op requires a single operand}}
  %r:1 = "stablehlo.cholesky"() <{lower = true}> : () -> (tensor<5x5x3x3xf32>)
  return
}
// -----
func.func @f(%o0: tensor<4x4x4xcomplex<f64>>) {
  // expected-error @+1 {{'stablehlo.cholesky' op requires compatible element types for all operands and results}}
  %r:1 = "stablehlo.cholesky"(%o0) <{lower = true}> : (tensor<4x4x4xcomplex<f64>>) -> (tensor<2xf32>)
  return
}
// -----
func.func @f(%o0: tensor<4x4xf16>) {
  // expected-error @+1 {{'stablehlo.cholesky' op requires one result}}
  %r:2 = "stablehlo.cholesky"(%o0) <{lower = true}> : (tensor<4x4xf16>) -> (tensor<4x4xf16>, tensor<4x4xf16>)
  return
}
// -----
func.func @f(%o0: tensor<1x1xcomplex<f32>>) {
  // expected-error @+2 {{'stablehlo.cholesky' op inferred type(s) 'tensor<1x1xcomplex<f32>>' are incompatible with return type(s) of operation 'tensor<3x1xcomplex<f32>>'}}
  // expected-error @+1 {{'stablehlo.cholesky' op failed to infer returned types}}
  %r:1 = "stablehlo.cholesky"(%o0) <{lower = false}> : (tensor<1x1xcomplex<f32>>) -> (tensor<3x1xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<4x1x4x9xf32>) {
  // expected-error @+2 {{minor dimensions of 'a' must have equal size, got shape 4, 1, 4, 9.}}
  // expected-error @+1 {{'stablehlo.cholesky' op failed to infer returned types}}
  %r:1 = "stablehlo.cholesky"(%o0) : (tensor<4x1x4x9xf32>) -> (tensor<4x1x4x4xf32>)
  return
}
// -----
func.func @f(%o0: tensor<1x4x2x2x3xf32>) {
  // expected-error @+2 {{minor dimensions of 'a' must have equal size, got shape 1, 4, 2, 2, 3.}}
  // expected-error @+1 {{'stablehlo.cholesky' op failed to infer returned types}}
  %r:1 = "stablehlo.cholesky"(%o0) <{lower = false}> : (tensor<1x4x2x2x3xf32>) -> (tensor<1x4x2x2xf32>)
  return
}
// -----
func.func @f(%o0: tensor<5x3x4xf16>) {
  // expected-error @+2 {{minor dimensions of 'a' must have equal size, got shape 5, 3, 4.}}
  // expected-error @+1 {{'stablehlo.cholesky' op failed to infer returned types}}
  %r:1 = "stablehlo.cholesky"(%o0) <{lower = false}> : (tensor<5x3x4xf16>) -> (tensor<5x3x4x4xf16>)
  return
}
// -----
func.func @f(%o0: tensor<2xf64>) {
  // expected-error @+2 {{argument 'a' must have rank >= 2, got shape 2.}}
  // expected-error @+1 {{'stablehlo.cholesky' op failed to infer returned types}}
  %r:1 = stablehlo.cholesky %o0, lower = true : (tensor<2xf64>) -> (tensor<2x2xf64>)
  return
}
// -----
func.func @f(%o0: tensor<3x3xcomplex<f32>>, %o1: tensor<3x3xcomplex<f32>>, %o2: tensor<3x3xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.triangular_solve' op expected 2 operands, but found 3}}
  %r:1 = "stablehlo.triangular_solve"(%o0, %o1, %o2) <{left_side = true, lower = false, unit_diagonal = true, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> (tensor<3x3xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<3x3xcomplex<f32>>, %o1: tensor<3x3xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.triangular_solve' op requires compatible element types for all operands and results}}
  %r:1 = "stablehlo.triangular_solve"(%o0, %o1) <{left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<3x3xcomplex<f32>>, tensor<3x3xcomplex<f32>>) -> (tensor<3x3xf6E2M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<1x1xf32>, %o1: tensor<1x2xf32>) {
  // expected-error @+2 {{'stablehlo.triangular_solve' op inferred type(s) 'tensor<1x2xf32>' are incompatible with return type(s) of operation 'tensor<2xf32>'}}
  // expected-error @+1 {{'stablehlo.triangular_solve' op failed to infer returned types}}
  %r:1 = "stablehlo.triangular_solve"(%o0, %o1) <{left_side = true, lower = false, unit_diagonal = true, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<1x1xf32>, tensor<1x2xf32>) -> (tensor<2xf32>)
  return
}
// -----
func.func @f(%o0: tensor<3x3xf64>, %o1: tensor<1xf64>) {
  // expected-error @+2 {{operands must have equal rank, but got 'tensor<3x3xf64>' and 'tensor<1xf64>'}}
  // expected-error @+1 {{'stablehlo.triangular_solve' op failed to infer returned types}}
  %r:1 = "stablehlo.triangular_solve"(%o0, %o1) <{left_side = true, lower = false, unit_diagonal = true, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<3x3xf64>, tensor<1xf64>) -> (tensor<3x1xf64>)
  return
}
// -----
func.func @f(%o0: tensor<1x1xcomplex<f64>>, %o1: tensor<1x3xcomplex<f64>>) {
  // expected-error @+1 {{'stablehlo.triangular_solve' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or complex type with 32/64-bit float elements values, but got 'tensor<1x3xi64>'}}
  %r:1 = "stablehlo.triangular_solve"(%o0, %o1) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<1x1xcomplex<f64>>, tensor<1x3xcomplex<f64>>) -> (tensor<1x3xi64>)
  return
}
// -----
func.func @f(%o0: tensor<3x3xf32>, %o1: tensor<3x2xf32>) {
  // expected-error @+2 {{shared dimension of operands 'a' and 'b' must be compatible, but got 'tensor<3x3xf32>' and 'tensor<3x2xf32>'}}
  // expected-error @+1 {{'stablehlo.triangular_solve' op failed to infer returned types}}
  %r:1 = "stablehlo.triangular_solve"(%o0, %o1) <{left_side = false, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> (tensor<3x2xf32>)
  return
}
// -----
func.func @f(%o0: tensor<4x4xf64>, %o1: tensor<4x3xf64>) {
  // expected-error @+1 {{'stablehlo.triangular_solve' op requires attribute 'lower'}}
  %r:1 = "stablehlo.triangular_solve"(%o0, %o1) <{left_side = true, unit_diagonal = false, transpose_a = #stablehlo<transpose TRANSPOSE>}> : (tensor<4x4xf64>, tensor<4x3xf64>) -> (tensor<4x3xf64>)
  return
}
// -----
func.func @f(%o0: tensor<1x1xcomplex<f32>>, %o1: tensor<1x1xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.triangular_solve' op requires one result}}
  "stablehlo.triangular_solve"(%o0, %o1) <{left_side = true, lower = false, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<1x1xcomplex<f32>>, tensor<1x1xcomplex<f32>>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<3x3xi32>, %o1: tensor<3x1xi64>) {
  // expected-error @+1 {{'stablehlo.triangular_solve' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or complex type with 32/64-bit float elements values, but got 'tensor<3x3xi32>'}}
  %r:1 = "stablehlo.triangular_solve"(%o0, %o1) <{left_side = true, lower = true, unit_diagonal = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xi32>, tensor<3x1xi64>) -> (tensor<3x1xf64>)
  return
}
// -----
func.func @f(%o0: tensor<4x2x4xf64>, %o1: tensor<4x2xf64>) {
  // expected-error @+2 {{two minor dimensions of operand 'a' must be compatible, but got 'tensor<4x2x4xf64>'}}
  // expected-error @+1 {{'stablehlo.triangular_solve' op failed to infer returned types}}
  %r:1 = "stablehlo.triangular_solve"(%o0, %o1) <{left_side = true, lower = false, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<4x2x4xf64>, tensor<4x2xf64>) -> (tensor<4x2xf64>)
  return
}
// -----
func.func @f(%o0: tensor<2xf64>, %o1: tensor<2x3xf64>) {
  // expected-error @+2 {{operand 'a' must have rank >= 2, but got 'tensor<2xf64>'}}
  // expected-error @+1 {{'stablehlo.triangular_solve' op failed to infer returned types}}
  %r:1 = "stablehlo.triangular_solve"(%o0, %o1) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2xf64>, tensor<2x3xf64>) -> (tensor<2x5xf64>)
  return
}
// -----
func.func @f(%o0: tensor<4xcomplex<f32>>) {
  // expected-error @+2 {{'stablehlo.fft' op inferred type(s) 'tensor<7xf32>' are incompatible with return type(s) of operation 'tensor<6xf32>'}}
  // expected-error @+1 {{'stablehlo.fft' op failed to infer returned types}}
  %r:1 = "stablehlo.fft"(%o0) <{fft_type = #stablehlo<fft_type IRFFT>, fft_length = array<i64: 7>}> : (tensor<4xcomplex<f32>>) -> (tensor<6xf32>)
  return
}
// -----
func.func @f(%o0: tensor<8xcomplex<f32>>) {
  // expected-error @+2 {{IRFFT requires innermost dimension to be compatible with fft_length[-1]/2+1. Got: 8 but fft_length is 10.}}
  // expected-error @+1 {{'stablehlo.fft' op failed to infer returned types}}
  %r:1 = stablehlo.fft %o0, type = IRFFT, length = [10] : (tensor<8xcomplex<f32>>) -> (tensor<10xf32>)
  return
}
// -----
func.func @f(%o0: tensor<5x6xcomplex<f32>>, %o1: tensor<5x6xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.fft' op requires a single operand}}
  %r:1 = "stablehlo.fft"(%o0, %o1) <{fft_type = #stablehlo<fft_type IFFT>, fft_length = array<i64: 6>}> : (tensor<5x6xcomplex<f32>>, tensor<5x6xcomplex<f32>>) -> (tensor<5x6xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<3x5xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.fft' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or complex type with 32/64-bit float elements values, but got 'tensor<*xf32>'}}
  %r:1 = "stablehlo.fft"(%o0) <{fft_type = #stablehlo<fft_type IFFT>, fft_length = array<i64: 5>}> : (tensor<3x5xcomplex<f32>>) -> (tensor<*xf32>)
  return
}
// -----
func.func @f(%o0: tensor<*xf32>) {
  // expected-error @+1 {{'stablehlo.fft' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or complex type with 32/64-bit float elements values, but got 'tensor<*xf32>'}}
  %r:1 = "stablehlo.fft"(%o0) <{fft_type = #stablehlo<fft_type IFFT>, fft_length = array<i64: 4>}> : (tensor<*xf32>) -> (tensor<3x4xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<5x5xcomplex<f64>>) {
  // expected-error @+2 {{RFFT requires f32 or f64 input type, but is given 'complex<f64>'.}}
  // expected-error @+1 {{'stablehlo.fft' op failed to infer returned types}}
  %r:1 = stablehlo.fft %o0, type = RFFT, length = [5] : (tensor<5x5xcomplex<f64>>) -> (tensor<5x3xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<5x?xf16>) {
  // expected-error @+2 {{FFT/IFFT/IRFFT take a complex tensor as input, but is given 'tensor<5x?xf16>'.}}
  // expected-error @+1 {{'stablehlo.fft' op failed to infer returned types}}
  %r:1 = stablehlo.fft %o0, type = IFFT, length = [4] : (tensor<5x?xf16>) -> (tensor<5x4xf16>)
  return
}
// -----
func.func @f(%o0: tensor<2xf32>) {
  // expected-error @+2 {{RFFT requires innermost dimensions to be compatible with fft_length. Got: 2 but wanted 1.}}
  // expected-error @+1 {{'stablehlo.fft' op failed to infer returned types}}
  %r:1 = "stablehlo.fft"(%o0) <{fft_type = #stablehlo<fft_type RFFT>, fft_length = array<i64: 1>}> : (tensor<2xf32>) -> (tensor<2xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<2xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.fft' op requires one result}}
  stablehlo.fft %o0, type = IRFFT, length = [2] : (tensor<2xcomplex<f32>>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<2xcomplex<f64>>) {
  // expected-error @+2 {{rank must be between 1 and 3, but got 0.}}
  // expected-error @+1 {{'stablehlo.fft' op failed to infer returned types}}
  %r:1 = "stablehlo.fft"(%o0) <{fft_type = #stablehlo<fft_type IFFT>, fft_length = array<i64>}> : (tensor<2xcomplex<f64>>) -> (tensor<2xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<3xcomplex<f64>>) {
  // expected-error @+2 {{operand rank must not be less than fft rank of 2 for operand of type 'tensor<3xcomplex<f64>>'.}}
  // expected-error @+1 {{'stablehlo.fft' op failed to infer returned types}}
  %r:1 = "stablehlo.fft"(%o0) <{fft_type = #stablehlo<fft_type FFT>, fft_length = array<i64: 3, 3>}> : (tensor<3xcomplex<f64>>) -> (tensor<3xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<4xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.fft' op requires attribute 'fft_length'}}
  %r:1 = "stablehlo.fft"(%o0) <{fft_type = #stablehlo<fft_type IRFFT>}> : (tensor<4xcomplex<f32>>) -> (tensor<6xf32>)
  return
}
// -----
func.func @f(%o0: tensor<3x1x4x2xf32>, %o1: tensor<3xf32>, %o2: tensor<3xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_training' op attribute 'feature_index' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %r:3 = "stablehlo.batch_norm_training"(%o0, %o1, %o2) <{epsilon = 0x3A83126F : f32, feature_index = -2 : i64}> : (tensor<3x1x4x2xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3x1x4x2xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}
// -----
func.func @f(%o0: tensor<2xbf16>, %o1: tensor<2xbf16>, %o2: tensor<2xbf16>) {
  // expected-error @+2 {{expects featureIndex to be smaller than the rank of multi-dimensional operands; got featureIndex 1, and rank 1.}}
  // expected-error @+1 {{'stablehlo.batch_norm_training' op failed to infer returned types}}
  %r:3 = "stablehlo.batch_norm_training"(%o0, %o1, %o2) <{epsilon = 0x3A83126F : f32, feature_index = 1 : i64}> : (tensor<2xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> (tensor<2xbf16>, tensor<2xbf16>, tensor<2xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<5x2x1xf32>, %o1: tensor<1xf32>, %o2: tensor<1xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_training' op result #2 must be 1D tensor of 4/6/8/16/32/64-bit float or per-tensor integer quantized values, but got 'i32'}}
  %r:3 = "stablehlo.batch_norm_training"(%o0, %o1, %o2) <{epsilon = 0.0 : f32, feature_index = 2 : i64}> : (tensor<5x2x1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<5x2x1xf32>, tensor<?xf32>, i32)
  return
}
// -----
func.func @f(%o0: tensor<1x3x3xf32>, %o1: tensor<3xf32>, %o2: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_training' op operand #2 must be 1D tensor of 4/6/8/16/32/64-bit float or per-tensor integer quantized values, but got 'tensor<f32>'}}
  %r:3 = "stablehlo.batch_norm_training"(%o0, %o1, %o2) <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : (tensor<1x3x3xf32>, tensor<3xf32>, tensor<f32>) -> (tensor<1x3x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return
}
// -----
func.func @f(%o0: tensor<1x1x1xbf16>, %o1: tensor<1xbf16>, %o2: tensor<1xbf16>) {
  // expected-error @+2 {{'stablehlo.batch_norm_training' op inferred type(s) 'tensor<1x1x1xbf16>', 'tensor<1xbf16>', 'tensor<1xbf16>' are incompatible with return type(s) of operation 'tensor<1x1x1xbf16>', 'tensor<2xbf16>', 'tensor<1xbf16>'}}
  // expected-error @+1 {{'stablehlo.batch_norm_training' op failed to infer returned types}}
  %r:3 = "stablehlo.batch_norm_training"(%o0, %o1, %o2) <{epsilon = 0x3A83126F : f32, feature_index = 0 : i64}> : (tensor<1x1x1xbf16>, tensor<1xbf16>, tensor<1xbf16>) -> (tensor<1x1x1xbf16>, tensor<2xbf16>, tensor<1xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<1xf64>, %o1: tensor<4xf64>, %o2: tensor<4xf64>) {
  // expected-error @+2 {{expects the size of single-dimensional operands to be compatible with feature count, but the size of single-dimensional operands is 4 and the feature count is 1.}}
  // expected-error @+1 {{'stablehlo.batch_norm_training' op failed to infer returned types}}
  %r:3 = "stablehlo.batch_norm_training"(%o0, %o1, %o2) <{epsilon = 0.0 : f32, feature_index = 0 : i64}> : (tensor<1xf64>, tensor<4xf64>, tensor<4xf64>) -> (tensor<4x1xf64>, tensor<4xf64>, tensor<4xf64>)
  return
}
// -----
func.func @f(%o0: tensor<1x4xf64>, %o1: tensor<4xf64>, %o2: tensor<4xf64>) {
  // expected-error @+1 {{'stablehlo.batch_norm_training' op requires attribute 'epsilon'}}
  %r:3 = "stablehlo.batch_norm_training"(%o0, %o1, %o2) <{feature_index = 1 : i64}> : (tensor<1x4xf64>, tensor<4xf64>, tensor<4xf64>) -> (tensor<1x4xf64>, tensor<4xf64>, tensor<4xf64>)
  return
}
// -----
func.func @f(%o0: tensor<1x2x1xf32>, %o1: tensor<2xf32>, %o2: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_training' op requires compatible element types for all operands and results}}
  %r:3 = "stablehlo.batch_norm_training"(%o0, %o1, %o2) <{epsilon = 0x3A83126F : f32, feature_index = 1 : i64}> : (tensor<1x2x1xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<1x2x1xf32>, tensor<2xf32>, tensor<2xf8E5M2>)
  return
}
// -----
func.func @f(%o0: tensor<3x3xi16>, %o1: tensor<3xi16>, %o2: tensor<3xi16>) {
  // expected-error @+1 {{'stablehlo.batch_norm_training' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or per-tensor integer quantized values, but got 'tensor<3x3xi16>'}}
  %r:3 = "stablehlo.batch_norm_training"(%o0, %o1, %o2) <{epsilon = 0x3A83126F : f32, feature_index = 1 : i64}> : (tensor<3x3xi16>, tensor<3xi16>, tensor<3xi16>) -> (tensor<3x3xi16>, tensor<3xi16>, tensor<3xi16>)
  return
}
// -----
func.func @f(%o0: tensor<4x2x4xbf16>, %o1: tensor<4x2x4xbf16>, %o2: tensor<2xbf16>, %o3: tensor<2xbf16>) {
  // expected-error @+1 {{'stablehlo.batch_norm_training' op expected 3 operands, but found 4}}
  %r:3 = "stablehlo.batch_norm_training"(%o0, %o1, %o2, %o3) <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : (tensor<4x2x4xbf16>, tensor<4x2x4xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> (tensor<4x2x4xbf16>, tensor<2xbf16>, tensor<2xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<3x5x5x3xbf16>, %o1: tensor<3xbf16>, %o2: tensor<3xbf16>) {
  // expected-error @+1 {{'stablehlo.batch_norm_training' op expected 3 results}}
  %r:4 = "stablehlo.batch_norm_training"(%o0, %o1, %o2) <{epsilon = 0x3A83126F : f32, feature_index = 3 : i64}> : (tensor<3x5x5x3xbf16>, tensor<3xbf16>, tensor<3xbf16>) -> (tensor<3x5x5x3xbf16>, tensor<3xbf16>, tensor<3x5x5x3xbf16>, tensor<3xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<4x1xbf16>, %o1: tensor<4xbf16>, %o2: tensor<4xbf16>) {
  // expected-error @+1 {{'stablehlo.batch_norm_training' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or per-tensor integer quantized values, but got 'tensor<4x1xi2>'}}
  %r:3 = "stablehlo.batch_norm_training"(%o0, %o1, %o2) <{epsilon = 0.0 : f32, feature_index = 0 : i64}> : (tensor<4x1xbf16>, tensor<4xbf16>, tensor<4xbf16>) -> (tensor<4x1xi2>, tensor<4xi2>, tensor<4xi2>)
  return
}
// -----
func.func @f(%o0: tensor<3xbf16>, %o1: tensor<0xbf16>, %o2: tensor<3xbf16>) {
  // expected-error @+2 {{expects single-dimensional operands to have compatible shapes.}}
  // expected-error @+1 {{'stablehlo.batch_norm_training' op failed to infer returned types}}
  %r:3 = "stablehlo.batch_norm_training"(%o0, %o1, %o2) <{epsilon = 1.000000e-03 : f32, feature_index = 0 : i64}> : (tensor<3xbf16>, tensor<0xbf16>, tensor<3xbf16>) -> (tensor<3xbf16>, tensor<3xbf16>, tensor<3xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<4xbf16>, %o1: tensor<2xbf16>, %o2: tensor<2xbf16>, %o3: tensor<2xbf16>, %o4: tensor<2xbf16>) {
  // expected-error @+2 {{expects the size of single-dimensional operands to be compatible with feature count, but the size of single-dimensional operands is 2 and the feature count is 4.}}
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op failed to infer returned types}}
  %r:1 = "stablehlo.batch_norm_inference"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 0.0 : f32, feature_index = 0 : i64}> : (tensor<4xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> (tensor<2xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<4x3x1xf32>, %o1: tensor<4xf32>, %o2: tensor<4xf32>, %o3: tensor<4xf32>, %o4: tensor<4xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op attribute 'feature_index' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %r:1 = "stablehlo.batch_norm_inference"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 0x3A83126F : f32, feature_index = -1 : i64}> : (tensor<4x3x1xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x3x1xf32>)
  return
}
// -----
func.func @f(%o0: tensor<3x3x2xbf16>, %o1: tensor<bf16>, %o2: tensor<3xbf16>, %o3: tensor<3xbf16>, %o4: tensor<3xbf16>) {
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op operand #1 must be 1D tensor of 4/6/8/16/32/64-bit float or per-tensor integer quantized values, but got 'tensor<bf16>'}}
  %r:1 = "stablehlo.batch_norm_inference"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 1.000000e-03 : f32, feature_index = 0 : i64}> : (tensor<3x3x2xbf16>, tensor<bf16>, tensor<3xbf16>, tensor<3xbf16>, tensor<3xbf16>) -> (tensor<3x3x2xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<1x4x3x3xf64>, %o1: tensor<3xf64>, %o2: tensor<3xf64>, %o3: tensor<3xf64>, %o4: tensor<3xf64>) {
  // expected-error @+2 {{'stablehlo.batch_norm_inference' op inferred type(s) 'tensor<1x4x3x3xf64>' are incompatible with return type(s) of operation 'tensor<1x4x8x3xf64>'}}
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op failed to infer returned types}}
  %r:1 = "stablehlo.batch_norm_inference"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 1.000000e-03 : f32, feature_index = 2 : i64}> : (tensor<1x4x3x3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<1x4x8x3xf64>)
  return
}
// -----
func.func @f(%o0: tensor<1x2x1xbf16>, %o1: tensor<2xbf16>, %o2: tensor<2xbf16>, %o3: tensor<2xbf16>, %o4: tensor<2xbf16>) {
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op requires attribute 'epsilon'}}
  %r:1 = "stablehlo.batch_norm_inference"(%o0, %o1, %o2, %o3, %o4) <{feature_index = 1 : i64}> : (tensor<1x2x1xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<2xbf16>, tensor<2xbf16>) -> (tensor<1x2x1xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<4x1x1xf32>, %o1: tensor<1xf32>, %o2: tensor<1xf32>, %o3: tensor<1xf32>, %o4: tensor<1xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or per-tensor integer quantized values, but got 'tensor<4x1x1xui2>'}}
  %r:1 = "stablehlo.batch_norm_inference"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 0x3A83126F : f32, feature_index = 1 : i64}> : (tensor<4x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<4x1x1xui2>)
  return
}
// -----
func.func @f(%o0: tensor<2xi2>, %o1: tensor<2xi2>, %o2: tensor<2xi2>, %o3: tensor<2xi2>, %o4: tensor<2xi2>) {
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or per-tensor integer quantized values, but got 'tensor<2xi2>'}}
  %r:1 = "stablehlo.batch_norm_inference"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 0.0 : f32, feature_index = 0 : i64}> : (tensor<2xi2>, tensor<2xi2>, tensor<2xi2>, tensor<2xi2>, tensor<2xi2>) -> (tensor<2xi2>)
  return
}
// -----
func.func @f(%o0: tensor<3x5xf64>, %o1: tensor<3xf64>, %o2: tensor<3xf64>, %o3: tensor<3xf64>) {
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op expected 5 operands, but found 4}}
  %r:1 = "stablehlo.batch_norm_inference"(%o0, %o1, %o2, %o3) <{epsilon = 0.0 : f32, feature_index = 0 : i64}> : (tensor<3x5xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>) -> (tensor<3x5xf64>)
  return
}
// -----
func.func @f(%o0: tensor<5x4x3xbf16>, %o1: tensor<4xbf16>, %o2: tensor<4xbf16>, %o3: tensor<4xbf16>, %o4: tensor<0xbf16>) {
  // expected-error @+2 {{expects single-dimensional operands to have compatible shapes.}}
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op failed to infer returned types}}
  %r:1 = "stablehlo.batch_norm_inference"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : (tensor<5x4x3xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<0xbf16>) -> (tensor<5x4x3xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<1x5x1xf8E5M2>, %o1: tensor<5xf8E5M2>, %o2: tensor<5xf8E5M2>, %o3: tensor<5xf8E5M2>, %o4: tensor<5xf8E5M2>) {
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op requires compatible element types for all operands and results}}
  %r:1 = "stablehlo.batch_norm_inference"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 0x3A83126F : f32, feature_index = 1 : i64}> : (tensor<1x5x1xf8E5M2>, tensor<5xf8E5M2>, tensor<5xf8E5M2>, tensor<5xf8E5M2>, tensor<5xf8E5M2>) -> (tensor<1x5x1xf64>)
  return
}
// -----
func.func @f(%o0: tensor<3x5x4xf32>, %o1: tensor<5xf32>, %o2: tensor<5xf32>, %o3: tensor<5xf32>, %o4: tensor<5xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op requires one result}}
  "stablehlo.batch_norm_inference"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : (tensor<3x5x4xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<5x5xbf16>, %o1: tensor<5xbf16>, %o2: tensor<5xbf16>, %o3: tensor<5xbf16>, %o4: tensor<5xbf16>) {
  // expected-error @+2 {{expects featureIndex to be smaller than the rank of multi-dimensional operands; got featureIndex 100, and rank 2.}}
  // expected-error @+1 {{'stablehlo.batch_norm_inference' op failed to infer returned types}}
  %r:1 = "stablehlo.batch_norm_inference"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 1.000000e-03 : f32, feature_index = 100 : i64}> : (tensor<5x5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>) -> (tensor<5x5xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<3xf64>, %o1: tensor<3xf64>, %o2: tensor<3xf64>, %o3: tensor<3xi32>, %o4: tensor<3xf64>) {
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op operand #3 must be 1D tensor of 4/6/8/16/32/64-bit float or per-tensor integer quantized values, but got 'tensor<3xi32>'}}
  %r:3 = "stablehlo.batch_norm_grad"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 0.0 : f32, feature_index = 0 : i64}> : (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xi32>, tensor<3xf64>) -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf64>)
  return
}
// -----
func.func @f(%o0: tensor<1x3x5x3xf32>, %o1: tensor<5xf32>, %o2: tensor<5xf32>, %o3: tensor<5xf32>, %o4: tensor<1x3x5x3xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op result #1 must be 1D tensor of 4/6/8/16/32/64-bit float or per-tensor integer quantized values, but got 'tensor<f32>'}}
  %r:3 = "stablehlo.batch_norm_grad"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 1.000000e-03 : f32, feature_index = 2 : i64}> : (tensor<1x3x5x3xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<1x3x5x3xf32>) -> (tensor<1x3x5x3xf32>, tensor<f32>, tensor<5xf32>)
  return
}
// -----
func.func @f(%o0: tensor<2x1x3xf64>, %o1: tensor<3xf64>, %o2: tensor<3xf64>, %o3: tensor<3xf64>, %o4: tensor<2x1x3xf64>) {
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or per-tensor integer quantized values, but got 'tensor<2x1x3xsi32>'}}
  %r:3 = "stablehlo.batch_norm_grad"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 0x3A83126F : f32, feature_index = 2 : i64}> : (tensor<2x1x3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<2x1x3xf64>) -> (tensor<2x1x3xsi32>, tensor<3xsi32>, tensor<3xsi32>)
  return
}
// -----
func.func @f(%o0: tensor<4x1x5x2xf32>, %o1: tensor<5xf32>, %o2: tensor<6xf32>, %o3: tensor<5xf32>, %o4: tensor<4x1x5x2xf32>) {
  // expected-error @+2 {{expects single-dimensional operands to have compatible shapes.}}
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op failed to infer returned types}}
  %r:3 = "stablehlo.batch_norm_grad"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 0.0 : f32, feature_index = 2 : i64}> : (tensor<4x1x5x2xf32>, tensor<5xf32>, tensor<6xf32>, tensor<5xf32>, tensor<4x1x5x2xf32>) -> (tensor<4x1x5x2xf32>, tensor<5xf32>, tensor<5xf32>)
  return
}
// -----
func.func @f(%o0: tensor<1x4x1x3xbf16>, %o1: tensor<1xbf16>, %o2: tensor<1xbf16>, %o3: tensor<1xbf16>, %o4: tensor<1x4x1x3xbf16>) {
  // expected-error @+2 {{'stablehlo.batch_norm_grad' op inferred type(s) 'tensor<1x4x1x3xbf16>', 'tensor<1xbf16>', 'tensor<1xbf16>' are incompatible with return type(s) of operation 'tensor<1x4x1x3xbf16>', 'tensor<2xbf16>', 'tensor<1xbf16>'}}
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op failed to infer returned types}}
  %r:3 = "stablehlo.batch_norm_grad"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 0x3A83126F : f32, feature_index = 0 : i64}> : (tensor<1x4x1x3xbf16>, tensor<1xbf16>, tensor<1xbf16>, tensor<1xbf16>, tensor<1x4x1x3xbf16>) -> (tensor<1x4x1x3xbf16>, tensor<2xbf16>, tensor<1xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<1xf64>, %o1: tensor<1xf64>, %o2: tensor<1xf64>, %o3: tensor<1xf64>, %o4: tensor<1xf64>, %o5: tensor<1xf64>) {
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op expected 5 operands, but found 6}}
  %r:3 = "stablehlo.batch_norm_grad"(%o0, %o1, %o2, %o3, %o4, %o5) <{epsilon = 0.0 : f32, feature_index = 0 : i64}> : (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>, tensor<1xf64>) -> (tensor<1xf64>, tensor<1xf64>, tensor<1xf64>)
  return
}
// -----
func.func @f(%o0: tensor<3x4xf64>, %o1: tensor<4xf64>, %o2: tensor<4xf64>, %o3: tensor<4xf64>, %o4: tensor<3x4xf64>) {
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op requires compatible element types for all operands and results}}
  %r:3 = "stablehlo.batch_norm_grad"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 1.000000e-4 : f32, feature_index = 1 : i64}> : (tensor<3x4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<3x4xf64>) -> (tensor<3x4xf64>, tensor<4xf8E5M2>, tensor<4xf64>)
  return
}
// -----
func.func @f(%o0: tensor<3x2xi16>, %o1: tensor<3xi16>, %o2: tensor<3xi16>, %o3: tensor<3xi16>, %o4: tensor<3x2xi16>) {
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or per-tensor integer quantized values, but got 'tensor<3x2xi16>'}}
  %r:3 = "stablehlo.batch_norm_grad"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 1.000000e-03 : f32, feature_index = 0 : i64}> : (tensor<3x2xi16>, tensor<3xi16>, tensor<3xi16>, tensor<3xi16>, tensor<3x2xi16>) -> (tensor<3x2xbf16>, tensor<3xbf16>, tensor<3xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<2x4x5x4xf64>, %o1: tensor<4xf64>, %o2: tensor<4xf64>, %o3: tensor<4xf64>, %o4: tensor<4x5x4xf64>) {
  // expected-error @+2 {{expects multi-dimensional operands to have compatible shapes.}}
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op failed to infer returned types}}
  %r:3 = "stablehlo.batch_norm_grad"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 1.000000e-03 : f32, feature_index = 2 : i64}> : (tensor<2x4x5x4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4x5x4xf64>) -> (tensor<4x5x4xf64>, tensor<4xf64>, tensor<4xf64>)
  return
}
// -----
func.func @f(%o0: tensor<5xf32>, %o1: tensor<5xf32>, %o2: tensor<5xf32>, %o3: tensor<5xf32>, %o4: tensor<5xf32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op attribute 'feature_index' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %r:3 = "stablehlo.batch_norm_grad"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 1.000000e-03 : f32, feature_index = -1 : i64}> : (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>)
  return
}
// -----
func.func @f(%o0: tensor<4xf64>, %o1: tensor<4xf64>, %o2: tensor<4xf64>, %o3: tensor<4xf64>, %o4: tensor<4xf64>) {
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op expected 3 results}}
  %r:4 = "stablehlo.batch_norm_grad"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 0.0 : f32, feature_index = 0 : i64}> : (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>) -> (tensor<4xf64>, tensor<4xf64>, tensor<4xf64>, tensor<4xf64>)
  return
}
// -----
func.func @f(%o0: tensor<5x1x3xf64>, %o1: tensor<3xf64>, %o2: tensor<3xf64>, %o3: tensor<3xf64>, %o4: tensor<5x1x3xf64>) {
  // expected-error @+2 {{expects the size of single-dimensional operands to be compatible with feature count, but the size of single-dimensional operands is 3 and the feature count is 1.}}
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op failed to infer returned types}}
  %r:3 = "stablehlo.batch_norm_grad"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 0.0 : f32, feature_index = 1 : i64}> : (tensor<5x1x3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<3xf64>, tensor<5x1x3xf64>) -> (tensor<5x1x3xf64>, tensor<3xf64>, tensor<3xf64>)
  return
}
// -----
func.func @f(%o0: tensor<5x4xbf16>, %o1: tensor<5xbf16>, %o2: tensor<5xbf16>, %o3: tensor<5xbf16>, %o4: tensor<5x4xbf16>) {
  // expected-error @+2 {{expects featureIndex to be smaller than the rank of multi-dimensional operands; got featureIndex 100, and rank 2.}}
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op failed to infer returned types}}
  %r:3 = "stablehlo.batch_norm_grad"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 1.000000e-03 : f32, feature_index = 100 : i64}> : (tensor<5x4xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5xbf16>, tensor<5x4xbf16>) -> (tensor<5x4xbf16>, tensor<5xbf16>, tensor<5xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<3x5x1x4xbf16>, %o1: tensor<4xbf16>, %o2: tensor<4xbf16>, %o3: tensor<4xbf16>, %o4: tensor<3x5x1x4xsi32>) {
  // expected-error @+1 {{'stablehlo.batch_norm_grad' op requires attribute 'feature_index'}}
  %r:3 = "stablehlo.batch_norm_grad"(%o0, %o1, %o2, %o3, %o4) <{epsilon = 1.000000e-03 : f32}> : (tensor<3x5x1x4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>, tensor<3x5x1x4xsi32>) -> (tensor<3x5x1x4xbf16>, tensor<4xbf16>, tensor<4xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<f8E5M2>, %o1: tensor<f8E5M2>, %o2: tensor<1xi64>) {
  // expected-error @+1 {{'stablehlo.rng' op failed to verify that all of {a, b, result} have same element type}}
  %r:1 = stablehlo.rng %o0, %o1, %o2, distribution = NORMAL : (tensor<f8E5M2>, tensor<f8E5M2>, tensor<1xi64>) -> (tensor<1xf4E2M1FN>)
  return
}
// -----
func.func @f(%o0: tensor<3xui16>, %o1: tensor<ui16>, %o2: tensor<0xi64>) {
  // expected-error @+1 {{'stablehlo.rng' op operand #0 must be 0D tensor of bool or 2/4/8/16/32/64-bit integer or 4/6/8/16/32/64-bit float values, but got 'tensor<3xui16>'}}
  %r:1 = stablehlo.rng %o0, %o1, %o2, distribution = UNIFORM : (tensor<3xui16>, tensor<ui16>, tensor<0xi64>) -> (tensor<ui16>)
  return
}
// -----
func.func @f(%o0: tensor<i1>, %o1: tensor<i1>, %o2: tensor<3xi1>) {
  // expected-error @+1 {{'stablehlo.rng' op operand #2 must be statically shaped 1-dimensional tensor of index or 2/4/8/16/32/64-bit integer values, but got 'tensor<3xi1>'}}
  %r:1 = stablehlo.rng %o0, %o1, %o2, distribution = UNIFORM : (tensor<i1>, tensor<i1>, tensor<3xi1>) -> (tensor<1x5x4xui32>)
  return
}
// -----
func.func @f(%o0: tensor<i64>, %o1: tensor<i64>, %o2: tensor<0xi64>) {
  // expected-error @+2 {{'stablehlo.rng' op inferred type(s) 'tensor<i64>' are incompatible with return type(s) of operation 'tensor<3xi64>'}}
  // expected-error @+1 {{'stablehlo.rng' op failed to infer returned types}}
  %r:1 = "stablehlo.rng"(%o0, %o1, %o2) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<i64>, tensor<i64>, tensor<0xi64>) -> (tensor<3xi64>)
  return
}
// -----
func.func @f(%o0: tensor<ui64>, %o1: tensor<4xi64>, %o2: tensor<ui64>, %o3: tensor<4xi64>) {
  // expected-error @+1 {{'stablehlo.rng' op expected 3 operands, but found 4}}
  %r:1 = "stablehlo.rng"(%o0, %o1, %o2, %o3) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<ui64>, tensor<4xi64>, tensor<ui64>, tensor<4xi64>) -> (tensor<2x?x3x1x3xui64>)
  return
}
// -----
func.func @f(%o0: tensor<ui8>, %o1: tensor<ui8>, %o2: tensor<2xi64>) {
  // expected-error @+2 {{mu and sigma must be floats}}
  // expected-error @+1 {{'stablehlo.rng' op failed to infer returned types}}
  %r:1 = "stablehlo.rng"(%o0, %o1, %o2) <{rng_distribution = #stablehlo<rng_distribution NORMAL>}> : (tensor<ui8>, tensor<ui8>, tensor<2xi64>) -> (tensor<3xui8>)
  return
}
// -----
func.func @f(%o0: tensor<f6E3M2FN>, %o1: tensor<f6E3M2FN>, %o2: tensor<2xi64>) {
  // expected-error @+1 {{'stablehlo.rng' op result #0 must be ranked tensor of bool or 2/4/8/16/32/64-bit integer or 4/6/8/16/32/64-bit float values, but got 'tensor<3x2xindex>'}}
  %r:1 = "stablehlo.rng"(%o0, %o1, %o2) <{rng_distribution = #stablehlo<rng_distribution NORMAL>}> : (tensor<f6E3M2FN>, tensor<f6E3M2FN>, tensor<2xi64>) -> (tensor<3x2xindex>)
  return
}
// -----
func.func @f(%o0: tensor<ui2>, %o1: tensor<ui2>, %o2: tensor<2xi64>) {
  // expected-error @+1 {{'stablehlo.rng' op requires attribute 'rng_distribution'}}
  %r:1 = "stablehlo.rng"(%o0, %o1, %o2) : (tensor<ui2>, tensor<ui2>, tensor<2xi64>) -> (tensor<1x1xui2>)
  return
}
// -----
func.func @f(%o0: tensor<i16>, %o1: tensor<i16>, %o2: tensor<4xi64>) {
  // expected-error @+1 {{'stablehlo.rng' op requires one result}}
  %r:2 = "stablehlo.rng"(%o0, %o1, %o2) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<i16>, tensor<i16>, tensor<4xi64>) -> (tensor<5x3x4x2xi16>, tensor<5x3x4x2xi16>)
  return
}
// -----
func.func @f(%o0: tensor<2xui64>) {
  // expected-error @+1 {{output state shape must be compatible with initial state shape. Got: 'tensor<2xui64>' and 'tensor<2x2xui64>'}}
  %r:2 = "stablehlo.rng_bit_generator"(%o0) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2x2xui64>, tensor<bf16>)
  return
}
// -----
func.func @f(%o0: tensor<2xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.rng_bit_generator' op operand #0 must be ranked tensor of 2/4/8/16/32/64-bit integer or 4/6/8/16/32/64-bit float values, but got 'tensor<2xcomplex<f32>>'}}
  %r:2 = stablehlo.rng_bit_generator %o0, algorithm = DEFAULT : (tensor<2xcomplex<f32>>) -> (tensor<2xui64>, tensor<f64>)
  return
}
// -----
func.func @f(%o0: tensor<3xui64>) {
  // expected-error @+1 {{'stablehlo.rng_bit_generator' op result #0 must be ranked tensor of 2/4/8/16/32/64-bit integer or 4/6/8/16/32/64-bit float values, but got 'tensor<3xindex>'}}
  %r:2 = "stablehlo.rng_bit_generator"(%o0) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<3xui64>) -> (tensor<3xindex>, tensor<5x3xindex>)
  return
}
// -----
func.func @f(%o0: tensor<2xui64>) {
  // expected-error @+1 {{'stablehlo.rng_bit_generator' op result #1 must be statically shaped tensor of 2/4/8/16/32/64-bit integer or 4/6/8/16/32/64-bit float values, but got 'tensor<4x2x1x5x?xf8E4M3FN>'}}
  %r:2 = stablehlo.rng_bit_generator %o0, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x2x1x5x?xf8E4M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<3xui64>) {
  // expected-error @+1 {{'stablehlo.rng_bit_generator' op expected 2 results}}
  %r:1 = "stablehlo.rng_bit_generator"(%o0) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<3xui64>) -> (tensor<4x5x3x3xi32>)
  return
}
// -----
func.func @f(%o0: tensor<2xui64>) {
  // expected-error @+1 {{'stablehlo.rng_bit_generator' op requires attribute 'rng_algorithm'}}
  %r:2 = "stablehlo.rng_bit_generator"(%o0) : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5x3x3x3xf4E2M1FN>)
  return
}
// -----
func.func @f(%o0: tensor<3xui64>, %o1: tensor<3xui64>) {
  // expected-error @+1 {{'stablehlo.rng_bit_generator' op requires a single operand}}
  %r:2 = "stablehlo.rng_bit_generator"(%o0, %o1) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}> : (tensor<3xui64>, tensor<3xui64>) -> (tensor<3xui64>, tensor<3xi8>)
  return
}
