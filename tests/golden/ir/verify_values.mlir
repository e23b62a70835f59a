// flags: -split-input-file -verify-diagnostics
// What the types, attributes and regions of these ops must be: tuple, get_tuple_element, after_all, create_token, partition_id, optimization_barrier, custom_call.
func.func @f(%o0: tensor<i2>, %o1: tensor<?x?x4xi1>) {
  // expected-error @+1 {{'stablehlo.tuple' op result #0 must be nested tuple with any combination of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit in}}
  %r:1 = "stablehlo.tuple"(%o0, %o1) : (tensor<i2>, tensor<?x?x4xi1>) -> (vector<2xf32>)
  return
}
// -----
func.func @f(%o0: tensor<5x3x4x3xi1>, %o1: tensor<5x3x4x3xi1>) {
  // expected-error @+2 {{'stablehlo.tuple' op inferred type(s) 'tuple<tensor<5x3x4x3xi1>, tensor<5x3x4x3xi1>>' are incompatible with return type(s) of operation 'tuple<tensor<5x3x4x3xi1>>'}}
  // expected-error @+1 {{'stablehlo.tuple' op failed to infer returned types}}
  %r:1 = "stablehlo.tuple"(%o0, %o1) : (tensor<5x3x4x3xi1>, tensor<5x3x4x3xi1>) -> (tuple<tensor<5x3x4x3xi1>>)
  return
}
// -----
func.func @f(%o0: tensor<3x3xcomplex<f64>>) {
  // expected-error @+1 {{'stablehlo.tuple' op requires one result}}
  %r:2 = "stablehlo.tuple"(%o0) : (tensor<3x3xcomplex<f64>>) -> (tuple<tensor<3x3xcomplex<f64>>>, tuple<tensor<3x3xcomplex<f64>>>)
  return
}
// -----
func.func @f(%o0: i32) {
  // expected-error @+1 {{'stablehlo.tuple' op operand #0 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type wi}}
  %r:1 = "stablehlo.tuple"(%o0) : (i32) -> (tuple<!stablehlo.token>)
  return
}
// -----
func.func @f(%o0: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.get_tuple_element' op operand #0 must be nested tuple with any combination of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16}}
  %r:1 = stablehlo.get_tuple_element %o0[0] : (tensor<2xf32>) -> (tensor<3xf6E3M2FN>)
  return
}
// -----
func.func @f(%o0: tuple<tensor<f32>>) {
  // expected-error @+2 {{index 1 is out of bounds of operand with size 1}}
  // expected-error @+1 {{'stablehlo.get_tuple_element' op failed to infer returned types}}
  %r:1 = stablehlo.get_tuple_element %o0[1] : (tuple<tensor<f32>>) -> (tensor<5x4x4x3xf6E2M3FN>)
  return
}
// -----
func.func @f(%o0: tuple<!stablehlo.token, tensor<4x4x2xcomplex<f64>>, !stablehlo.token, tensor<0x3x4x1xcomplex<f64>>>) {
  // expected-error @+1 {{'stablehlo.get_tuple_element' op requires one result}}
  %r:2 = stablehlo.get_tuple_element %o0[3] : (tuple<!stablehlo.token, tensor<4x4x2xcomplex<f64>>, !stablehlo.token, tensor<0x3x4x1xcomplex<f64>>>) -> (tensor<0x3x4x1xcomplex<f64>>, tensor<0x3x4x1xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tuple<tensor<4x1x4x3xi2>>) {
  // expected-error @+2 {{'stablehlo.get_tuple_element' op inferred type(s) 'tensor<4x1x4x3xi2>' are incompatible with return type(s) of operation 'tensor<4x1x4x3xi16>'}}
  // expected-error @+1 {{'stablehlo.get_tuple_element' op failed to infer returned types}}
  %r:1 = "stablehlo.get_tuple_element"(%o0) <{index = 0 : i32}> : (tuple<tensor<4x1x4x3xi2>>) -> (tensor<4x1x4x3xi16>)
  return
}
// -----
func.func @f(%o0: tuple<!stablehlo.token, tensor<5x4x5xi1>>, %o1: tuple<!stablehlo.token, tensor<5x4x5xi1>>) {
  // expected-error @+1 {{'stablehlo.get_tuple_element' op requires a single operand}}
  %r:1 = "stablehlo.get_tuple_element"(%o0, %o1) <{index = 1 : i32}> : (tuple<!stablehlo.token, tensor<5x4x5xi1>>, tuple<!stablehlo.token, tensor<5x4x5xi1>>) -> (tensor<5x4x5xi1>)
  return
}
// -----
func.func @f(%o0: tuple<!stablehlo.token, tensor<3x2x1x5xf8E4M3FN>>) {
  // expected-error @+1 {{'stablehlo.get_tuple_element' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type wit}}
  %r:1 = stablehlo.get_tuple_element %o0[0] : (tuple<!stablehlo.token, tensor<3x2x1x5xf8E4M3FN>>) -> (i32)
  return
}
// -----
func.func @f(%o0: tuple<tensor<3x1x4x5xcomplex<f32>>, tensor<f16>, tensor<3x4xf8E5M2>, tensor<3x1x4xf6E2M3FN>>) {
  // expected-error @+1 {{'stablehlo.get_tuple_element' op attribute 'index' failed to satisfy constraint: 32-bit signless integer attribute whose value is non-negative}}
  %r:1 = "stablehlo.get_tuple_element"(%o0) <{index = -1 : i32}> : (tuple<tensor<3x1x4x5xcomplex<f32>>, tensor<f16>, tensor<3x4xf8E5M2>, tensor<3x1x4xf6E2M3FN>>) -> (tensor<3x1x4x5xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.get_tuple_element' op requires attribute 'index'}}
  %r:1 = "stablehlo.get_tuple_element"(%o0) : (!stablehlo.token) -> (tensor<5x2x4xi1>)
  return
}
// -----
func.func @f(%o0: i32, %o1: tensor<2xf32>) {
  // expected-error @+1 {{'stablehlo.after_all' op operand #0 must be variadic of token, but got 'i32'}}
  %r:1 = "stablehlo.after_all"(%o0, %o1) : (i32, tensor<2xf32>) -> (!stablehlo.token)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.after_all' op result #0 must be token, but got 'vector<2xf32>'}}
  %r:1 = "stablehlo.after_all"() : () -> (vector<2xf32>)
  return
}
// -----
func.func @f(%o0: !stablehlo.token, %o1: !stablehlo.token, %o2: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.after_all' op requires one result}}
  %r:2 = "stablehlo.after_all"(%o0, %o1, %o2) : (!stablehlo.token, !stablehlo.token, !stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.create_token' op result #0 must be token, but got 'tensor<2xf32>'}}
  %r:1 = "stablehlo.create_token"() : () -> (tensor<2xf32>)
  return
}
// -----
func.func @f(%o0: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.create_token' op requires zero operands}}
  %r:1 = "stablehlo.create_token"(%o0) : (tensor<f32>) -> (!stablehlo.token)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.create_token' op requires one result}}
  %r:2 = "stablehlo.create_token"() : () -> (!stablehlo.token, !stablehlo.token)
  return
}
// -----
func.func @f(%o0: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.partition_id' op requires zero operands}}
  %r:1 = "stablehlo.partition_id"(%o0) : (tensor<f32>) -> (tensor<ui32>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.partition_id' op result #0 must be ranked tensor of 32-bit unsigned integer values, but got 'tensor<f16>'}}
  %r:1 = stablehlo.partition_id : tensor<f16>
  return
}
// -----
func.func @f() {
  // expected-error @+2 {{'stablehlo.partition_id' op inferred type(s) 'tensor<ui32>' are incompatible with return type(s) of operation 'tensor<4xui32>'}}
  // expected-error @+1 {{'stablehlo.partition_id' op failed to infer returned types}}
  %r:1 = stablehlo.partition_id : tensor<4xui32>
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.partition_id' op requires one result}}
  %r:2 = "stablehlo.partition_id"() : () -> (tensor<ui32>, tensor<ui32>)
  return
}
// -----
func.func @f(%o0: i32) {
  // expected-error @+1 {{'stablehlo.optimization_barrier' op operand #0 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values or token, but got 'i32'}}
  %r:1 = "stablehlo.optimization_barrier"(%o0) : (i32) -> (!stablehlo.token)
  return
}
// -----
func.func @f(%o0: !stablehlo.token, %o1: tensor<?x1x1xui64, #stablehlo.type_extensions<bounds = [9, ?, ?]>>) {
  // expected-error @+1 {{'stablehlo.optimization_barrier' op requires the same type for operand and result at index 0}}
  %r:2 = "stablehlo.optimization_barrier"(%o0, %o1) : (!stablehlo.token, tensor<?x1x1xui64, #stablehlo.type_extensions<bounds = [9, ?, ?]>>) -> (tensor<2xf32>, tensor<?x1x1xui64, #stablehlo.type_extensions<bounds = [9, ?, ?]>>)
  return
}
// -----
func.func @f(%o0: !stablehlo.token, %o1: tensor<3x3xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.optimization_barrier' op requires the same number of operands and results}}
  %r:3 = "stablehlo.optimization_barrier"(%o0, %o1) : (!stablehlo.token, tensor<3x3xcomplex<f32>>) -> (!stablehlo.token, tensor<3x3xcomplex<f32>>, !stablehlo.token)
  return
}
// -----
func.func @f(%o0: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.optimization_barrier' op result #0 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values or token, but got 'i32'}}
  %r:1 = "stablehlo.optimization_barrier"(%o0) : (!stablehlo.token) -> (i32)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{cannot name an operation with no results}}
  %r:1 = stablehlo.optimization_barrier ()
  return
}
// -----
func.func @f(%o0: tensor<4xi1>, %o1: tensor<4xui64>) {
  // expected-error @+1 {{'stablehlo.custom_call' op incorrect layout dense<> : tensor<0xindex> for type 'tensor<4xui64>', layout must be a permutation of [0, 1)}}
  %r:2 = stablehlo.custom_call @foo(%o0, %o1) {has_side_effect = true, called_computations = [], operand_layouts = [dense<[0]> : tensor<1xindex>, dense<> : tensor<0xindex>], result_layouts = [dense<[0, 1, 2, 3]> : tensor<4xindex>, dense<> : tensor<0xindex>]} : (tensor<4xi1>, tensor<4xui64>) -> (tensor<2x3x3x2xui16>, tensor<i1>)
  return
}
// -----
func.func @f(%o0: vector<2xf32>) {
  // expected-error @+1 {{'stablehlo.custom_call' op operand #0 must be variadic of tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type wit}}
  %r:1 = "stablehlo.custom_call"(%o0) <{call_target_name = "Sharding", has_side_effect = false, api_version = 4 : i32, called_computations = []}> : (vector<2xf32>) -> (tensor<3x4xi64>)
  return
}
// -----
func.func @f(%o0: tensor<2x3x?x5xi1>, %o1: tensor<4x5x2xf8E5M2>) {
  // expected-error @+1 {{'stablehlo.custom_call' op shapes mismatch in the output_operand_alias attribute: operand part has type 'tensor<2x3x?x5xi1>' and output part has type 'tensor<2x2x5xi1>'}}
  %r:1 = "stablehlo.custom_call"(%o0, %o1) <{call_target_name = "lapack_ffi", has_side_effect = true, api_version = 2 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]}> : (tensor<2x3x?x5xi1>, tensor<4x5x2xf8E5M2>) -> (tensor<2x2x5xi1>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.custom_call' op incorrect layout dense<[2, 2, 1]> : tensor<3xindex> for type 'tensor<4x2x5xui16>', layout must be a permutation of [0, 3)}}
  %r:1 = "stablehlo.custom_call"() <{call_target_name = "q\22", has_side_effect = true, backend_config = "loc(", operand_layouts = [], result_layouts = [dense<[2, 2, 1]> : tensor<3xindex>]}> : () -> (tensor<4x2x5xui16>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.custom_call' op backend_config for api_version API_VERSION_STATUS_RETURNING_UNIFIED must be a string attribute.}}
  "stablehlo.custom_call"() <{call_target_name = "x.y", has_side_effect = true, api_version = 3 : i32, backend_config = {f328 = -35, mhlo.frontend_attributes = dense<[18446744073709551615, 5]> : tensor<2xui64>, "a b" = -29}}> : () -> ()
  return
}
// -----
func.func @f(%o0: !stablehlo.token, %o1: tensor<3x4xui16>) {
  // expected-error @+1 {{'stablehlo.custom_call' op result #0 must be variadic of tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with}}
  %r:2 = "stablehlo.custom_call"(%o0, %o1) <{call_target_name = "odd name", api_version = 2 : i32, backend_config = "%0 = #x"}> : (!stablehlo.token, tensor<3x4xui16>) -> (tensor<2x4x1xi7>, tensor<5xi7>)
  return
}
// -----
func.func @f(%o0: tensor<1x1xcomplex<f32>>, %o1: tensor<1x1xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.custom_call' op Number of operands must match the number of operand layouts, 2 != 1}}
  "stablehlo.custom_call"(%o0, %o1) <{call_target_name = "x.y", has_side_effect = true, api_version = 4 : i32, backend_config = {}, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], result_layouts = []}> : (tensor<1x1xcomplex<f32>>, tensor<1x1xcomplex<f32>>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<i1>, %o1: tensor<complex<f32>>, %o2: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.custom_call' op output_tuple_indices in the output_operand_alias attribute out of bounds}}
  %r:1 = "stablehlo.custom_call"(%o0, %o1, %o2) <{call_target_name = "x.y", has_side_effect = true, backend_config = "a\22b", output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [2], operand_index = 0, operand_tuple_indices = []>]}> : (tensor<i1>, tensor<complex<f32>>, !stablehlo.token) -> (tensor<i1>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.custom_call' op requires attribute 'call_target_name'}}
  "stablehlo.custom_call"() <{backend_config = "{}"}> : () -> ()
  return
}
// -----
func.func @f(%o0: tensor<2x1x2x3xcomplex<f64>>, %o1: tensor<3x5xui16>, %o2: tensor<5x1xi1>) {
  // expected-error @+1 {{'stablehlo.custom_call' op Layout attributes should be specified for either both operands and results or none.}}
  %r:1 = stablehlo.custom_call @"q\22"(%o0, %o1, %o2) {has_side_effect = true, api_version = 4 : i32, operand_layouts = [dense<[2, 0, 3, 1]> : tensor<4xindex>, dense<[1, 0]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x1x2x3xcomplex<f64>>, tensor<3x5xui16>, tensor<5x1xi1>) -> (tensor<2x1xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<2x3x4xf8E4M3>) {
  // expected-error @+1 {{'stablehlo.custom_call' op backend_config for api_version API_VERSION_UNSPECIFIED must be a string attribute.}}
  %r:1 = "stablehlo.custom_call"(%o0) <{call_target_name = "q\22", api_version = 0 : i32, backend_config = {}}> : (tensor<2x3x4xf8E4M3>) -> (tensor<3x2xi64>)
  return
}
// -----
func.func @f(%o0: tensor<f8E8M0FNU>) {
  // expected-error @+1 {{'stablehlo.custom_call' op operand_tuple_indices in the output_operand_alias attribute out of bounds}}
  %r:1 = "stablehlo.custom_call"(%o0) <{call_target_name = "odd name", api_version = 1 : i32, output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = [-1]>]}> : (tensor<f8E8M0FNU>) -> (tensor<?xf8E8M0FNU>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.custom_call' op Tuple types are not fully supported with layout constraints yet}}
  %r:3 = "stablehlo.custom_call"() <{call_target_name = "foo", api_version = 2 : i32, operand_layouts = [], result_layouts = [dense<[0, 1, 2]> : tensor<3xindex>, dense<[0, 1, 3, 2]> : tensor<4xindex>, dense<> : tensor<0xindex>]}> : () -> (tensor<3x2x3xi64>, tensor<4x2x4x3xcomplex<f32>>, tuple<tensor<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<2xf8E4M3B11FNUZ>) {
  // expected-error @+1 {{'stablehlo.custom_call' op Number of results must match the number of result layouts, 3 != 2}}
  %r:3 = stablehlo.custom_call @"odd name"(%o0) {backend_config = "{}", operand_layouts = [dense<[0]> : tensor<1xindex>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[0, 2, 1]> : tensor<3xindex>]} : (tensor<2xf8E4M3B11FNUZ>) -> (tensor<4x2x5xi32>, tensor<2x2x2xcomplex<f64>>, tensor<2x2x2xcomplex<f64>>)
  return
}
