// flags: -split-input-file -verify-diagnostics
// What the types, attributes and regions of these ops must be: all_gather, all_reduce, reduce_scatter, all_to_all, collective_broadcast, collective_permute, send, recv, infeed, outfeed.
func.func @f(%o0: tensor<2x4xi16>, %o1: tensor<3x4x2x2xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.all_gather' op requires attribute 'all_gather_dim'}}
  %r:2 = "stablehlo.all_gather"(%o0, %o1) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[#stablehlo.mesh_axis<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 4>]>, axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>]>}> : (tensor<2x4xi16>, tensor<3x4x2x2xcomplex<f32>>) -> (tensor<4x4xi16>, tensor<6x4x2x2xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<2x5x3x1xf8E5M2>) {
  // expected-error @+1 {{'stablehlo.all_gather' op requires the same element type for operand and result at index 0}}
  %r:1 = "stablehlo.all_gather"(%o0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>}> : (tensor<2x5x3x1xf8E5M2>) -> (tensor<4x5x3x1xi1>)
  return
}
// -----
func.func @f(%o0: tensor<4x5xf8E4M3>, %o1: tensor<?x1x3xf32>) {
  // expected-error @+1 {{operand and result must have the same rank}}
  %r:2 = "stablehlo.all_gather"(%o0, %o1) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<axes = [#stablehlo.axis_ref<name = "x">], mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, <name = "y", size = 4>]>>}> : (tensor<4x5xf8E4M3>, tensor<?x1x3xf32>) -> (tensor<8x5xf8E4M3>, tensor<2x3xf32>)
  return
}
// -----
func.func @f(%o0: tensor<3x1xf8E4M3FNUZ>) {
  // expected-error @+1 {{'stablehlo.all_gather' op requires the same number of operands and results}}
  %r:2 = "stablehlo.all_gather"(%o0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>}> : (tensor<3x1xf8E4M3FNUZ>) -> (tensor<8x1x1xi2>, tensor<6x1xf8E4M3FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<3xui16>) {
  // expected-error @+1 {{result gather dimension has size 7, expected to be a multiple of operand gather dimension size 3}}
  %r:1 = "stablehlo.all_gather"(%o0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<type = 1, handle = 2>}> : (tensor<3xui16>) -> (tensor<7xui16>)
  return
}
// -----
func.func @f(%o0: tensor<1x5xi1>) {
  // expected-error @+1 {{'stablehlo.all_gather' op attribute 'all_gather_dim' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %r:1 = "stablehlo.all_gather"(%o0) <{all_gather_dim = -1 : i64, replica_groups = dense<[[1, 0], [6, 5], [2, 7], [4, 3]]> : tensor<4x2xi64>}> : (tensor<1x5xi1>) -> (tensor<2x5xi1>)
  return
}
// -----
func.func @f(%o0: tensor<1xindex>) {
  // expected-error @+1 {{'stablehlo.all_gather' op operand #0 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<1xindex>'}}
  %r:1 = "stablehlo.all_gather"(%o0) <{all_gather_dim = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>], mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 4>]>>, channel_handle = #stablehlo.channel_handle<handle = 4, type = 0>}> : (tensor<1xindex>) -> (tensor<2xi1>)
  return
}
// -----
func.func @f(%o0: tensor<2x3x5x1xf8E5M2>) {
  // expected-error @+1 {{'stablehlo.all_gather' op result #0 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<4x3x5x1xindex>'}}
  %r:1 = "stablehlo.all_gather"(%o0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[1, 0], [6, 5], [2, 3], [7, 4]]> : tensor<4x2xi64>}> : (tensor<2x3x5x1xf8E5M2>) -> (tensor<4x3x5x1xindex>)
  return
}
// -----
func.func @f(%o0: tensor<5x5x3xcomplex<f64>>, %o1: tensor<3x5xi1>) {
  // expected-error @+1 {{operand and result should have the same shape except for the dimension size at 'all_gather_dim'}}
  %r:2 = "stablehlo.all_gather"(%o0, %o1) <{all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>], mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, <name = "y", size = 4>]>>}> : (tensor<5x5x3xcomplex<f64>>, tensor<3x5xi1>) -> (tensor<10x5x3xcomplex<f64>>, tensor<6x5xi1>)
  return
}
// -----
func.func @f(%o0: tensor<0x2xi1>, %o1: tensor<2xf8E4M3B11FNUZ>) {
  // expected-error @+1 {{dimension size of operand at 'all_gather_dim' cannot be zero}}
  %r:2 = "stablehlo.all_gather"(%o0, %o1) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2]]> : tensor<1x3xi64>}> : (tensor<0x2xi1>, tensor<2xf8E4M3B11FNUZ>) -> (tensor<10x2xi1>, tensor<4xf8E4M3B11FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<2xf8E4M3B11FNUZ>) {
  // expected-error @+1 {{all_gather_dim must be a valid index of operand}}
  %r:1 = "stablehlo.all_gather"(%o0) <{all_gather_dim = 1 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<axes = [#stablehlo.axis_ref<name = "x">], mesh = #stablehlo.mesh<axes=[#stablehlo.mesh_axis<name = "x", size = 2>, <name = "y", size = 4>], device_ids=dense<[0, 3, 7, 6, 5, 1, 4, 2]> : tensor<8xi64>>>}> : (tensor<2xf8E4M3B11FNUZ>) -> (tensor<4xf8E4M3B11FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<4x5x3xi1>) {
  // expected-error @+1 {{'stablehlo.all_gather' op attribute 'replica_groups' failed to satisfy constraint: 64-bit signless integer elements attribute or mesh and axes based replica groups representation.}}
  %r:1 = "stablehlo.all_gather"(%o0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi32>}> : (tensor<4x5x3xi1>) -> (tensor<8x5x3xi1>)
  return
}
// -----
func.func @f(%o0: tensor<2x5xui64>, %o1: tensor<2x1x3xi1>) {
  // expected-error @+1 {{replica id #4 seen more than once}}
  %r:2 = "stablehlo.all_gather"(%o0, %o1) <{all_gather_dim = 0 : i64, replica_groups = dense<[[7, 1], [2, 5], [4, 6], [4, 0]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 3, type = 0>}> : (tensor<2x5xui64>, tensor<2x1x3xi1>) -> (tensor<4x5xui64>, tensor<4x1x3xi1>)
  return
}
// -----
func.func @f(%o0: tensor<2x2x3xf6E2M3FN>) {
  // expected-error @+1 {{replica groups should be a rank 2 tensor}}
  %r:1 = "stablehlo.all_gather"(%o0) <{all_gather_dim = 0 : i64, replica_groups = dense<1> : tensor<2xi64>, channel_handle = #stablehlo.channel_handle<handle = 9, type = 1>, use_global_device_ids = unit}> : (tensor<2x2x3xf6E2M3FN>) -> (tensor<4x2x3xf6E2M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<1xf8E5M2FNUZ>, %o1: tensor<1xf8E5M2FNUZ>) {
  // expected-error @+2 {{'stablehlo.all_reduce' op inferred type(s) 'tensor<1xf8E5M2FNUZ>', 'tensor<1xf8E5M2FNUZ>' are incompatible with return type(s) of operation 'tensor<1xf8E5M2FNUZ>'}}
  // expected-error @+1 {{'stablehlo.all_reduce' op failed to infer returned types}}
  %r:1 = "stablehlo.all_reduce"(%o0, %o1) <{replica_groups = dense<[[5, 1, 6, 3, 4, 7, 2, 0]]> : tensor<1x8xi64>, channel_handle = #stablehlo.channel_handle<type = 1, handle = 7>}> ({
  ^bb0(%a0: tensor<f8E5M2FNUZ>, %a1: tensor<f8E5M2FNUZ>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E5M2FNUZ>
  "stablehlo.return"(%m0) : (tensor<f8E5M2FNUZ>) -> ()
  }) : (tensor<1xf8E5M2FNUZ>, tensor<1xf8E5M2FNUZ>) -> (tensor<1xf8E5M2FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<1x3xi16>) {
  // expected-error @+1 {{The type of reduction-region's parameter at index 1 is different than the corresponding result type: 'tensor<2xi16>' vs 'tensor<i16>'}}
  %r:1 = "stablehlo.all_reduce"(%o0) <{replica_groups = dense<[[0, 6, 1, 2, 5, 3, 7, 4]]> : tensor<1x8xi64>, channel_handle = #stablehlo.channel_handle<type = 1, handle = 5>}> ({
  ^bb0(%a0: tensor<i16>, %a1: tensor<2xi16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i16>
  "stablehlo.return"(%m0) : (tensor<i16>) -> ()
  }) : (tensor<1x3xi16>) -> (tensor<1x3xi16>)
  return
}
// -----
func.func @f(%o0: tensor<3x4x5x1xindex>, %o1: tensor<i2>) {
  // expected-error @+1 {{'stablehlo.all_reduce' op operand #0 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<3x4x5x1xindex>'}}
  %r:2 = "stablehlo.all_reduce"(%o0, %o1) <{replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, channel_handle = #stablehlo.channel_handle<type = 1, handle = 2>}> ({
  ^bb0(%a0: tensor<i2>, %a1: tensor<i2>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i2>
  "stablehlo.return"(%m0) : (tensor<i2>) -> ()
  }) : (tensor<3x4x5x1xindex>, tensor<i2>) -> (tensor<3x4x5x1xi2>, tensor<i2>)
  return
}
// -----
func.func @f(%o0: tensor<i4>) {
  // expected-error @+1 {{'stablehlo.all_reduce' op result #0 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<*xf32>'}}
  %r:1 = "stablehlo.all_reduce"(%o0) <{replica_groups = dense<[[0, 5, 2, 3], [4, 1, 6, 7]]> : tensor<2x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 6, type = 1>, use_global_device_ids = unit}> ({
  ^bb0(%a0: tensor<i4>, %a1: tensor<i4>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i4>
  "stablehlo.return"(%m0) : (tensor<i4>) -> ()
  }) : (tensor<i4>) -> (tensor<*xf32>)
  return
}
// -----
func.func @f(%o0: tensor<i64>) {
  // expected-error @+1 {{The element-type of reduction-region's result type at index 0 is expected to be promotable from the op's corresponding init-value element-type: 'tensor<ui32>' vs 'tensor<i64>'}}
  %r:1 = "stablehlo.all_reduce"(%o0) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 4>], device_ids=dense<[0, 4, 1, 5, 3, 6, 2, 7]> : tensor<8xi64>>, axes = [#stablehlo.axis_ref<name = "x">]>, channel_handle = #stablehlo.channel_handle<handle = 3, type = 1>}> ({
  ^bb0(%a0: tensor<ui32>, %a1: tensor<ui32>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui32>
  "stablehlo.return"(%m0) : (tensor<ui32>) -> ()
  }) : (tensor<i64>) -> (tensor<ui32>)
  return
}
// -----
func.func @f(%o0: tensor<2x3x5x3xf8E3M4>) {
  // expected-error @+1 {{replica id #2 seen more than once}}
  %r:1 = "stablehlo.all_reduce"(%o0) <{replica_groups = dense<[[3, 0, 5, 7], [2, 4, 6, 2]]> : tensor<2x4xi64>}> ({
  ^bb0(%a0: tensor<f8E3M4>, %a1: tensor<f8E3M4>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E3M4>
  "stablehlo.return"(%m0) : (tensor<f8E3M4>) -> ()
  }) : (tensor<2x3x5x3xf8E3M4>) -> (tensor<2x3x5x3xf8E3M4>)
  return
}
// -----
func.func @f(%o0: tensor<1x5x5x?xf6E2M3FN>) {
  // expected-error @+1 {{The reduction-region expected to return some value(s)}}
  %r:1 = "stablehlo.all_reduce"(%o0) <{replica_groups = #stablehlo.replica_group_mesh_axes<axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>], mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, <name = "y", size = 4>], device_ids=dense<[0, 4, 3, 7, 5, 6, 1, 2]> : tensor<8xi64>>>, channel_handle = #stablehlo.channel_handle<handle = 7, type = 0>}> ({
  ^bb0(%a0: tensor<f6E2M3FN>, %a1: tensor<f6E2M3FN>):
  "stablehlo.return"() : () -> ()
  }) : (tensor<1x5x5x?xf6E2M3FN>) -> (tensor<1x5x5x4xf6E2M3FN>)
  return
}
// -----
func.func @f(%o0: tensor<1x5x1xf16>, %o1: tensor<2xf16>) {
  // expected-error @+1 {{Reduction-region must take 2 parameters, but takes 3 parameter(s)}}
  %r:2 = "stablehlo.all_reduce"(%o0, %o1) <{replica_groups = dense<[[3], [0], [1], [7], [4], [2], [5], [6]]> : tensor<8x1xi64>}> ({
  ^bb0(%a0: tensor<f16>, %a1: tensor<f16>, %a2: tensor<f16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f16>
  "stablehlo.return"(%m0) : (tensor<f16>) -> ()
  }) : (tensor<1x5x1xf16>, tensor<2xf16>) -> (tensor<1x5x1xf16>, tensor<2xf16>)
  return
}
// -----
func.func @f(%o0: tensor<5xui8>) {
  // expected-error @+1 {{The type of reduction-region's parameter at index 0 is different than the corresponding result type: 'tensor<?xui8>' vs 'tensor<ui8>'}}
  %r:1 = "stablehlo.all_reduce"(%o0) <{replica_groups = dense<[[1, 6, 2, 7], [5, 4, 3, 0]]> : tensor<2x4xi64>}> ({
  ^bb0(%a0: tensor<?xui8>, %a1: tensor<ui8>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui8>
  "stablehlo.return"(%m0) : (tensor<ui8>) -> ()
  }) : (tensor<5xui8>) -> (tensor<5xui8>)
  return
}
// -----
func.func @f(%o0: tensor<3x5x3xi16>) {
  // expected-error @+1 {{'stablehlo.all_reduce' op requires one region}}
  %r:1 = "stablehlo.all_reduce"(%o0) <{replica_groups = dense<[[0], [1], [2], [3], [4], [5], [6], [7]]> : tensor<8x1xi64>}> : (tensor<3x5x3xi16>) -> (tensor<3x5x3xi16>)
  return
}
// -----
func.func @f(%o0: tensor<5x3xi8>) {
  // expected-error @+1 {{'stablehlo.all_reduce' op requires attribute 'replica_groups'}}
  %r:1 = "stablehlo.all_reduce"(%o0) ({
  ^bb0(%a0: tensor<i8>, %a1: tensor<i8>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i8>
  "stablehlo.return"(%m0) : (tensor<i8>) -> ()
  }) : (tensor<5x3xi8>) -> (tensor<5x3xi8>)
  return
}
// -----
func.func @f() {
  // expected-error @+2 {{'stablehlo.all_reduce' op inferred type(s)  are incompatible with return type(s) of operation 'tensor<5x1xf16>'}}
  // expected-error @+1 {{'stablehlo.all_reduce' op failed to infer returned types}}
  %r:1 = "stablehlo.all_reduce"() <{replica_groups = dense<[[4, 6, 5, 2], [3, 1, 7, 0]]> : tensor<2x4xi64>, channel_handle = #stablehlo.channel_handle<type = 1, handle = 8>}> ({
  ^bb0(%a0: tensor<f16>, %a1: tensor<f16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f16>
  "stablehlo.return"(%m0) : (tensor<f16>) -> ()
  }) : () -> (tensor<5x1xf16>)
  return
}
// -----
func.func @f(%o0: tensor<3x2xui4>) {
  // expected-error @+2 {{'stablehlo.all_reduce' op inferred type(s) 'tensor<3x2xui4>' are incompatible with return type(s) of operation }}
  // expected-error @+1 {{'stablehlo.all_reduce' op failed to infer returned types}}
  "stablehlo.all_reduce"(%o0) <{replica_groups = dense<[[4, 5, 2, 6, 7, 3, 1, 0]]> : tensor<1x8xi64>, channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>, use_global_device_ids = unit}> ({
  ^bb0(%a0: tensor<ui4>, %a1: tensor<ui4>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui4>
  "stablehlo.return"(%m0) : (tensor<ui4>) -> ()
  }) : (tensor<3x2xui4>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<1xi32>) {
  // expected-error @+1 {{The type of reduction-region's parameter at index 1 is different than the corresponding result type: 'tensor<f16>' vs 'tensor<i32>'}}
  %r:1 = "stablehlo.all_reduce"(%o0) <{replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 4, type = 0>, use_global_device_ids = unit}> ({
  ^bb0(%a0: tensor<i32>, %a1: tensor<f16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<i32>
  "stablehlo.return"(%m0) : (tensor<i32>) -> ()
  }) : (tensor<1xi32>) -> (tensor<1xi32>)
  return
}
// -----
func.func @f(%o0: tensor<4x2x4xf64>) {
  // expected-error @+1 {{'stablehlo.reduce_scatter' op requires one result}}
  %r:2 = "stablehlo.reduce_scatter"(%o0) <{scatter_dimension = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (2)2>], mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 4>]>>}> ({
  ^bb0(%a0: tensor<f64>, %a1: tensor<f64>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f64>
  "stablehlo.return"(%m0) : (tensor<f64>) -> ()
  }) : (tensor<4x2x4xf64>) -> (tensor<2x2x4xf64>, tensor<2x2x4xf64>)
  return
}
// -----
func.func @f(%o0: tensor<6x5x5xindex>) {
  // expected-error @+1 {{'stablehlo.reduce_scatter' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<6x5x5xindex>'}}
  %r:1 = "stablehlo.reduce_scatter"(%o0) <{scatter_dimension = 0 : i64, replica_groups = dense<[[5, 7], [2, 1], [3, 4], [0, 6]]> : tensor<4x2xi64>}> ({
  ^bb0(%a0: tensor<ui8>, %a1: tensor<ui8>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui8>
  "stablehlo.return"(%m0) : (tensor<ui8>) -> ()
  }) : (tensor<6x5x5xindex>) -> (tensor<3x5x5xui8>)
  return
}
// -----
func.func @f(%o0: tensor<6xui64>) {
  // expected-error @+1 {{operand scatter dimension has size 6, expected to be a multiple of result scatter dimension size 4}}
  %r:1 = "stablehlo.reduce_scatter"(%o0) <{scatter_dimension = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<axes = [#stablehlo.axis_ref<name = "x">], mesh = #stablehlo.mesh<axes=[#stablehlo.mesh_axis<name = "x", size = 2>, <name = "y", size = 4>]>>, channel_handle = #stablehlo.channel_handle<handle = 4, type = 0>}> ({
  ^bb0(%a0: tensor<ui64>, %a1: tensor<ui64>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui64>
  "stablehlo.return"(%m0) : (tensor<ui64>) -> ()
  }) : (tensor<6xui64>) -> (tensor<4xui64>)
  return
}
// -----
func.func @f(%o0: tensor<6xf8E8M0FNU>) {
  // expected-error @+1 {{scatter dim should be less than operand/result rank}}
  %r:1 = "stablehlo.reduce_scatter"(%o0) <{scatter_dimension = 1 : i64, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 8, type = 1>}> ({
  ^bb0(%a0: tensor<f8E8M0FNU>, %a1: tensor<f8E8M0FNU>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E8M0FNU>
  "stablehlo.return"(%m0) : (tensor<f8E8M0FNU>) -> ()
  }) : (tensor<6xf8E8M0FNU>) -> (tensor<3xf8E8M0FNU>)
  return
}
// -----
func.func @f(%o0: tensor<4x4x2xf64>) {
  // expected-error @+1 {{The element-type of reduction-region's result type at index 0 is expected to be promotable from the op's corresponding init-value element-type: 'tensor<ui64>' vs 'tensor<f64>'}}
  %r:1 = "stablehlo.reduce_scatter"(%o0) <{scatter_dimension = 0 : i64, replica_groups = dense<[[7, 1], [5, 2], [4, 3], [6, 0]]> : tensor<4x2xi64>}> ({
  ^bb0(%a0: tensor<ui64>, %a1: tensor<ui64>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui64>
  "stablehlo.return"(%m0) : (tensor<ui64>) -> ()
  }) : (tensor<4x4x2xf64>) -> (tensor<2x4x2xf64>)
  return
}
// -----
func.func @f(%o0: tensor<?x3x1xf6E3M2FN>) {
  // expected-error @+1 {{Reduction-region here must produce 1 tensors, but produces 2 instead}}
  %r:1 = "stablehlo.reduce_scatter"(%o0) <{scatter_dimension = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 4>]>, axes = [#stablehlo.axis_ref<name = "x">]>, channel_handle = #stablehlo.channel_handle<handle = 8, type = 1>, use_global_device_ids = unit}> ({
  ^bb0(%a0: tensor<f6E3M2FN>, %a1: tensor<f6E3M2FN>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f6E3M2FN>
  %m1 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f6E3M2FN>
  "stablehlo.return"(%m0, %m1) : (tensor<f6E3M2FN>, tensor<f6E3M2FN>) -> ()
  }) : (tensor<?x3x1xf6E3M2FN>) -> (tensor<3x3x1xf6E3M2FN>)
  return
}
// -----
func.func @f(%o0: tensor<8x3x1x5xf6E3M2FN>) {
  // expected-error @+1 {{Invalid replica id -1}}
  %r:1 = "stablehlo.reduce_scatter"(%o0) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>}> ({
  ^bb0(%a0: tensor<f6E3M2FN>, %a1: tensor<f6E3M2FN>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f6E3M2FN>
  "stablehlo.return"(%m0) : (tensor<f6E3M2FN>) -> ()
  }) : (tensor<8x3x1x5xf6E3M2FN>) -> (tensor<4x3x1x5xf6E3M2FN>)
  return
}
// -----
func.func @f(%o0: tensor<4x5x4xf8E8M0FNU>) {
  // expected-error @+1 {{non scatter dimensions should be same for operand (5) and result (6)}}
  %r:1 = "stablehlo.reduce_scatter"(%o0) <{scatter_dimension = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[#stablehlo.mesh_axis<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 4>], device_ids=dense<[6, 3, 2, 5, 7, 4, 0, 1]> : tensor<8xi64>>, axes = [#stablehlo.axis_ref<name = "x">]>}> ({
  ^bb0(%a0: tensor<f8E8M0FNU>, %a1: tensor<f8E8M0FNU>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E8M0FNU>
  "stablehlo.return"(%m0) : (tensor<f8E8M0FNU>) -> ()
  }) : (tensor<4x5x4xf8E8M0FNU>) -> (tensor<2x6x4xf8E8M0FNU>)
  return
}
// -----
func.func @f(%o0: tensor<8x5x1x1xui32>) {
  // expected-error @+1 {{operand and result should have same rank}}
  %r:1 = "stablehlo.reduce_scatter"(%o0) <{scatter_dimension = 0 : i64, replica_groups = dense<[[5, 3], [6, 7], [2, 4], [0, 1]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 4, type = 0>, use_global_device_ids = unit}> ({
  ^bb0(%a0: tensor<ui32>, %a1: tensor<ui32>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui32>
  "stablehlo.return"(%m0) : (tensor<ui32>) -> ()
  }) : (tensor<8x5x1x1xui32>) -> (tensor<4x?x5x1x1xui32>)
  return
}
// -----
func.func @f(%o0: tensor<8x4xf4E2M1FN>) {
  // expected-error @+1 {{result element-type is expected to be 'f6E2M3FN', but got 'f4E2M1FN'}}
  %r:1 = "stablehlo.reduce_scatter"(%o0) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>}> ({
  ^bb0(%a0: tensor<f6E2M3FN>, %a1: tensor<f6E2M3FN>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f6E2M3FN>
  "stablehlo.return"(%m0) : (tensor<f6E2M3FN>) -> ()
  }) : (tensor<8x4xf4E2M1FN>) -> (tensor<4x4xf4E2M1FN>)
  return
}
// -----
func.func @f(%o0: tensor<10xui16>) {
  // expected-error @+1 {{'stablehlo.reduce_scatter' op requires one region}}
  %r:1 = "stablehlo.reduce_scatter"(%o0) <{scatter_dimension = 0 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>], mesh = #stablehlo.mesh<axes=[#stablehlo.mesh_axis<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 4>]>>}> ({
  ^bb0(%a0: tensor<ui16>, %a1: tensor<ui16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui16>
  "stablehlo.return"(%m0) : (tensor<ui16>) -> ()
  }, {
  ^bb0(%a0: tensor<ui16>, %a1: tensor<ui16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<ui16>
  "stablehlo.return"(%m0) : (tensor<ui16>) -> ()
  }) : (tensor<10xui16>) -> (tensor<5xui16>)
  return
}
// -----
func.func @f(%o0: tensor<4xf8E8M0FNU>) {
  // expected-error @+1 {{'stablehlo.reduce_scatter' op requires attribute 'replica_groups'}}
  %r:1 = "stablehlo.reduce_scatter"(%o0) <{scatter_dimension = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> ({
  ^bb0(%a0: tensor<f8E8M0FNU>, %a1: tensor<f8E8M0FNU>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E8M0FNU>
  "stablehlo.return"(%m0) : (tensor<f8E8M0FNU>) -> ()
  }) : (tensor<4xf8E8M0FNU>) -> (tensor<2xf8E8M0FNU>)
  return
}
// -----
func.func @f(%o0: tensor<6x5x3xbf16>, %o1: tensor<6x5x3xbf16>) {
  // expected-error @+1 {{'stablehlo.reduce_scatter' op requires a single operand}}
  %r:1 = "stablehlo.reduce_scatter"(%o0, %o1) <{scatter_dimension = 0 : i64, replica_groups = dense<[[6, 0], [2, 3], [7, 1], [5, 4]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<type = 1, handle = 7>, use_global_device_ids = unit}> ({
  ^bb0(%a0: tensor<bf16>, %a1: tensor<bf16>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<bf16>
  "stablehlo.return"(%m0) : (tensor<bf16>) -> ()
  }) : (tensor<6x5x3xbf16>, tensor<6x5x3xbf16>) -> (tensor<3x5x3xbf16>)
  return
}
// -----
func.func @f(%o0: tensor<8xf8E4M3>) {
  // expected-error @+1 {{The type of reduction-region's parameter at index 0 is different than the corresponding result type: 'tensor<i8>' vs 'tensor<f8E4M3>'}}
  %r:1 = "stablehlo.reduce_scatter"(%o0) <{scatter_dimension = 0 : i64, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>}> ({
  ^bb0(%a0: tensor<i8>, %a1: tensor<f8E4M3>):
  %m0 = "stablehlo.custom_call"() <{call_target_name = "make"}> : () -> tensor<f8E4M3>
  "stablehlo.return"(%m0) : (tensor<f8E4M3>) -> ()
  }) : (tensor<8xf8E4M3>) -> (tensor<4xf8E4M3>)
  return
}
// -----
func.func @f(%o0: tensor<8x1x5xcomplex<f32>>, %o1: tensor<4x2x3xui64>) {
  // expected-error @+2 {{'stablehlo.all_to_all' op inferred type(s) 'tensor<4x2x5xcomplex<f32>>', 'tensor<2x4x3xui64>' are incompatible with return type(s) of operation 'tensor<4x2x5xcomplex<f32>>', 'tensor<7x4x3xui64>'}}
  // expected-error @+1 {{'stablehlo.all_to_all' op failed to infer returned types}}
  %r:2 = "stablehlo.all_to_all"(%o0, %o1) <{split_dimension = 0 : i64, concat_dimension = 1, split_count = 2 : i64, replica_groups = dense<[[4, 5], [3, 0], [7, 2], [1, 6]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 7, type = 0>}> : (tensor<8x1x5xcomplex<f32>>, tensor<4x2x3xui64>) -> (tensor<4x2x5xcomplex<f32>>, tensor<7x4x3xui64>)
  return
}
// -----
func.func @f(%o0: tensor<8xui64>, %o1: tensor<4x1xi1>) {
  // expected-error @+2 {{AllToAll concat_dimension 1 is out-of-bounds for input rank 1}}
  // expected-error @+1 {{'stablehlo.all_to_all' op failed to infer returned types}}
  %r:2 = "stablehlo.all_to_all"(%o0, %o1) <{split_dimension = 0 : i64, concat_dimension = 1, split_count = 2 : i64, replica_groups = dense<[[4, 7], [1, 0], [2, 3], [6, 5]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<type = 1, handle = 9>}> : (tensor<8xui64>, tensor<4x1xi1>) -> (tensor<4x4xui64>, tensor<2x2xi1>)
  return
}
// -----
func.func @f(%o0: tensor<4x1x1xui8>) {
  // expected-error @+1 {{'stablehlo.all_to_all' op attribute 'split_dimension' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %r:1 = "stablehlo.all_to_all"(%o0) <{split_dimension = -1 : i64, concat_dimension = 1, split_count = 2 : i64, replica_groups = dense<[[5, 1], [0, 7], [2, 3], [6, 4]]> : tensor<4x2xi64>}> : (tensor<4x1x1xui8>) -> (tensor<2x2x1xui8>)
  return
}
// -----
func.func @f(%o0: tensor<10x1xf8E5M2>) {
  // expected-error @+1 {{'stablehlo.all_to_all' op requires the same element type for operand and result at index 0}}
  %r:1 = "stablehlo.all_to_all"(%o0) <{split_dimension = 0 : i64, concat_dimension = 1, split_count = 2 : i64, replica_groups = dense<[[7, 0], [3, 2], [6, 1], [5, 4]]> : tensor<4x2xi64>}> : (tensor<10x1xf8E5M2>) -> (tensor<5x2xf64>)
  return
}
// -----
func.func @f(%o0: !stablehlo.token, %o1: tensor<6x4xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.all_to_all' op operand #0 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got '!stablehlo.token'}}
  %r:2 = "stablehlo.all_to_all"(%o0, %o1) <{split_dimension = 0 : i64, concat_dimension = 1, split_count = 2 : i64, replica_groups = dense<[[0, 1], [2, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>}> : (!stablehlo.token, tensor<6x4xcomplex<f32>>) -> (tensor<5x10x3xui4>, tensor<3x8xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<2x2x1x5xui2>, %o1: tensor<6x3x5x3xcomplex<f64>>) {
  // expected-error @+1 {{'stablehlo.all_to_all' op requires attribute 'split_dimension'}}
  %r:2 = "stablehlo.all_to_all"(%o0, %o1) <{concat_dimension = 1, split_count = 2 : i64, replica_groups = dense<[[4, 1], [2, 6], [5, 7], [3, 0]]> : tensor<4x2xi64>}> : (tensor<2x2x1x5xui2>, tensor<6x3x5x3xcomplex<f64>>) -> (tensor<1x4x1x5xui2>, tensor<3x6x5x3xcomplex<f64>>)
  return
}
// -----
func.func @f(%o0: tensor<8x4xi1>) {
  // expected-error @+1 {{'stablehlo.all_to_all' op requires the same number of operands and results}}
  "stablehlo.all_to_all"(%o0) <{split_dimension = 0 : i64, concat_dimension = 0, split_count = 2 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[#stablehlo.mesh_axis<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 4>], device_ids=dense<[7, 0, 2, 3, 6, 4, 5, 1]> : tensor<8xi64>>, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<8x4xi1>) -> ()
  return
}
// -----
func.func @f(%o0: tensor<4x5xf16>) {
  // expected-error @+2 {{Invalid replica id -1}}
  // expected-error @+1 {{'stablehlo.all_to_all' op failed to infer returned types}}
  %r:1 = "stablehlo.all_to_all"(%o0) <{split_dimension = 0 : i64, concat_dimension = 1, split_count = 2 : i64, replica_groups = dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<4x5xf16>) -> (tensor<2x10xf16>)
  return
}
// -----
func.func @f(%o0: tensor<2x1x1xcomplex<f32>>, %o1: tensor<10x4xf8E5M2>) {
  // expected-error @+2 {{split dimension has size 1, expected to be a multiple of split_count 2}}
  // expected-error @+1 {{'stablehlo.all_to_all' op failed to infer returned types}}
  %r:2 = "stablehlo.all_to_all"(%o0, %o1) <{split_dimension = 1 : i64, concat_dimension = 1, split_count = 2 : i64, replica_groups = dense<[[1, 4], [2, 3], [7, 0], [6, 5]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<type = 1, handle = 1>}> : (tensor<2x1x1xcomplex<f32>>, tensor<10x4xf8E5M2>) -> (tensor<1x2x1x1xcomplex<f32>>, tensor<5x8xf8E5M2>)
  return
}
// -----
func.func @f(%o0: tensor<2x5x5xcomplex<f32>>) {
  // expected-error @+2 {{replica id #2 seen more than once}}
  // expected-error @+1 {{'stablehlo.all_to_all' op failed to infer returned types}}
  %r:1 = "stablehlo.all_to_all"(%o0) <{split_dimension = 0 : i64, concat_dimension = 1, split_count = 2 : i64, replica_groups = dense<[[6, 1], [4, 7], [0, 2], [2, 5]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<2x5x5xcomplex<f32>>) -> (tensor<1x10x5xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<6x1xcomplex<f32>>) {
  // expected-error @+2 {{AllToAll split_dimension 3 is out-of-bounds for input rank 2}}
  // expected-error @+1 {{'stablehlo.all_to_all' op failed to infer returned types}}
  %r:1 = "stablehlo.all_to_all"(%o0) <{split_dimension = 3 : i64, concat_dimension = 1, split_count = 2 : i64, replica_groups = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, <name = "y", size = 4>]>, axes = [#stablehlo.axis_ref<name = "x">]>}> : (tensor<6x1xcomplex<f32>>) -> (tensor<3x2xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<2x5xf8E4M3FNUZ>) {
  // expected-error @+1 {{'stablehlo.all_to_all' op attribute 'replica_groups' failed to satisfy constraint: 64-bit signless integer elements attribute or mesh and axes based replica groups representation.}}
  %r:1 = "stablehlo.all_to_all"(%o0) <{split_dimension = 0 : i64, concat_dimension = 1, split_count = 2 : i64, replica_groups = array<i64: 1, 2, 3>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 0>}> : (tensor<2x5xf8E4M3FNUZ>) -> (tensor<1x10xf8E4M3FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<10x1x2x1xi1>) {
  // expected-error @+1 {{'stablehlo.all_to_all' op result #0 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<5x2x2x1xi7>'}}
  %r:1 = "stablehlo.all_to_all"(%o0) <{split_dimension = 0 : i64, concat_dimension = 1, split_count = 2 : i64, replica_groups = dense<[[6, 3], [1, 2], [4, 5], [0, 7]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 6, type = 1>}> : (tensor<10x1x2x1xi1>) -> (tensor<5x2x2x1xi7>)
  return
}
// -----
func.func @f(%o0: tensor<6x5x5xi1>) {
  // expected-error @+2 {{group size of replica_groups must be 3}}
  // expected-error @+1 {{'stablehlo.all_to_all' op failed to infer returned types}}
  %r:1 = "stablehlo.all_to_all"(%o0) <{split_dimension = 0 : i64, concat_dimension = 1, split_count = 3 : i64, replica_groups = dense<[[0, 7], [3, 6], [2, 4], [1, 5]]> : tensor<4x2xi64>}> : (tensor<6x5x5xi1>) -> (tensor<3x10x5xi1>)
  return
}
// -----
func.func @f(%o0: tensor<3x3x3x4xui16>) {
  // expected-error @+1 {{replica_groups values must be positive, but was given -1}}
  %r:1 = "stablehlo.collective_broadcast"(%o0) <{replica_groups = dense<[[0, 1], [-1, -1]]> : tensor<2x2xi64>}> : (tensor<3x3x3x4xui16>) -> (tensor<3x3x3x4xui16>)
  return
}
// -----
func.func @f(%o0: tensor<5x1x5xf8E4M3>) {
  // expected-error @+2 {{'stablehlo.collective_broadcast' op inferred type(s) 'tensor<5x1x5xf8E4M3>' are incompatible with return type(s) of operation 'tensor<5x1x2x5xf8E4M3>'}}
  // expected-error @+1 {{'stablehlo.collective_broadcast' op failed to infer returned types}}
  %r:1 = "stablehlo.collective_broadcast"(%o0) <{replica_groups = #stablehlo.replica_group_mesh_axes<axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>], mesh = #stablehlo.mesh<axes=[#stablehlo.mesh_axis<name = "x", size = 2>, #stablehlo.mesh_axis<name = "y", size = 4>]>>}> : (tensor<5x1x5xf8E4M3>) -> (tensor<5x1x2x5xf8E4M3>)
  return
}
// -----
func.func @f(%o0: tensor<4xi1>) {
  // expected-error @+1 {{'stablehlo.collective_broadcast' op requires attribute 'replica_groups'}}
  %r:1 = "stablehlo.collective_broadcast"(%o0) <{channel_handle = #stablehlo.channel_handle<type = 0, handle = 8>}> : (tensor<4xi1>) -> (tensor<4xi1>)
  return
}
// -----
func.func @f(%o0: tensor<2x3x1xui2>) {
  // expected-error @+1 {{replica id #5 seen more than once}}
  %r:1 = "stablehlo.collective_broadcast"(%o0) <{replica_groups = dense<[[0, 1], [5, 3], [4, 5], [6, 7]]> : tensor<4x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>}> : (tensor<2x3x1xui2>) -> (tensor<2x3x1xui2>)
  return
}
// -----
func.func @f(%o0: tensor<3x2x1xi4>) {
  // expected-error @+1 {{'stablehlo.collective_broadcast' op requires the same element type for all operands and results}}
  %r:1 = "stablehlo.collective_broadcast"(%o0) <{replica_groups = #stablehlo.replica_group_mesh_axes<axes = [#stablehlo.axis_ref<name = "y", sub_axis_info = (1)2>], mesh = #stablehlo.mesh<axes=[<name = "x", size = 2>, <name = "y", size = 4>]>>}> : (tensor<3x2x1xi4>) -> (tensor<3x2x1xf4E2M1FN>)
  return
}
// -----
func.func @f(%o0: tensor<4x4x3x4xf8E5M2FNUZ>) {
  // expected-error @+1 {{'stablehlo.collective_broadcast' op attribute 'replica_groups' failed to satisfy constraint: 64-bit signless integer elements attribute or mesh and axes based replica groups representation.}}
  %r:1 = "stablehlo.collective_broadcast"(%o0) <{replica_groups = @x, channel_handle = #stablehlo.channel_handle<handle = 4, type = 1>}> : (tensor<4x4x3x4xf8E5M2FNUZ>) -> (tensor<4x4x3x4xf8E5M2FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<1x2x2x1xcomplex<f32>>) {
  // expected-error @+1 {{replica groups should be a rank 2 tensor,but instead it is of rank 1}}
  %r:1 = "stablehlo.collective_broadcast"(%o0) <{replica_groups = dense<0> : tensor<2xi64>}> : (tensor<1x2x2x1xcomplex<f32>>) -> (tensor<1x2x2x1xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<4x5xi1>) {
  // expected-error @+1 {{'stablehlo.collective_broadcast' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<4x5xi7>'}}
  %r:1 = "stablehlo.collective_broadcast"(%o0) <{replica_groups = dense<[[0, 1, 2, 3], [4, 5, 6, 7]]> : tensor<2x4xi64>, channel_handle = #stablehlo.channel_handle<type = 1, handle = 1>}> : (tensor<4x5xi1>) -> (tensor<4x5xi7>)
  return
}
// -----
func.func @f(%o0: tensor<3x2x3x2xindex>) {
  // expected-error @+1 {{'stablehlo.collective_broadcast' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<3x2x3x2xindex>'}}
  %r:1 = "stablehlo.collective_broadcast"(%o0) <{replica_groups = #stablehlo.replica_group_mesh_axes<axes = [#stablehlo.axis_ref<name = "x">], mesh = #stablehlo.mesh<axes=[#stablehlo.mesh_axis<name = "x", size = 3>, <name = "y", size = 4>]>>}> : (tensor<3x2x3x2xindex>) -> (tensor<3x2x3x2xf4E2M1FN>)
  return
}
// -----
func.func @f(%o0: tensor<2x5x5xi1>) {
  // expected-error @+1 {{duplicate sources not allowed.}}
  %r:1 = "stablehlo.collective_permute"(%o0) <{source_target_pairs = dense<[[0, 0], [1, 3], [1, 2]]> : tensor<3x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>}> : (tensor<2x5x5xi1>) -> (tensor<2x5x5xi1>)
  return
}
// -----
func.func @f(%o0: tensor<?xcomplex<f32>>) {
  // expected-error @+2 {{'stablehlo.collective_permute' op inferred type(s) 'tensor<?xcomplex<f32>>' are incompatible with return type(s) of operation 'tensor<complex<f32>>'}}
  // expected-error @+1 {{'stablehlo.collective_permute' op failed to infer returned types}}
  %r:1 = "stablehlo.collective_permute"(%o0) <{source_target_pairs = dense<[[0, 1], [1, 0], [2, 2]]> : tensor<3x2xi64>}> : (tensor<?xcomplex<f32>>) -> (tensor<complex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<5xcomplex<f32>>) {
  // expected-error @+1 {{'stablehlo.collective_permute' op requires one result}}
  %r:2 = "stablehlo.collective_permute"(%o0) <{source_target_pairs = dense<> : tensor<0x2xi64>}> : (tensor<5xcomplex<f32>>) -> (tensor<5xcomplex<f32>>, tensor<5xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tuple<tensor<f32>>) {
  // expected-error @+1 {{'stablehlo.collective_permute' op operand #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tuple<tensor<f32>>'}}
  %r:1 = "stablehlo.collective_permute"(%o0) <{source_target_pairs = dense<[[0, 2], [1, 0]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<type = 0, handle = 7>}> : (tuple<tensor<f32>>) -> (tensor<4xui8>)
  return
}
// -----
func.func @f(%o0: tensor<1x3x4x3xui16>, %o1: tensor<1x3x4x3xui16>) {
  // expected-error @+1 {{'stablehlo.collective_permute' op requires a single operand}}
  %r:1 = "stablehlo.collective_permute"(%o0, %o1) <{source_target_pairs = dense<[[0, 1], [1, 3]]> : tensor<2x2xi64>, channel_handle = #stablehlo.channel_handle<type = 1, handle = 5>}> : (tensor<1x3x4x3xui16>, tensor<1x3x4x3xui16>) -> (tensor<1x3x4x3xui16>)
  return
}
// -----
func.func @f(%o0: tensor<f32>) {
  // expected-error @+1 {{'stablehlo.collective_permute' op requires the same element type for all operands and results}}
  %r:1 = "stablehlo.collective_permute"(%o0) <{source_target_pairs = dense<[[0, 3]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<type = 0, handle = 9>}> : (tensor<f32>) -> (tensor<bf16>)
  return
}
// -----
func.func @f(%o0: tensor<4xui64>) {
  // expected-error @+1 {{expect source_target_pairs attribute to be of rank 2, but got rank 1}}
  %r:1 = "stablehlo.collective_permute"(%o0) <{source_target_pairs = dense<0> : tensor<2xi64>, channel_handle = #stablehlo.channel_handle<handle = 3, type = 0>}> : (tensor<4xui64>) -> (tensor<ui64>)
  return
}
// -----
func.func @f(%o0: tensor<1xi1>) {
  // expected-error @+1 {{'stablehlo.collective_permute' op result #0 must be ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized values, but got 'tensor<1xsi32>'}}
  %r:1 = "stablehlo.collective_permute"(%o0) <{source_target_pairs = dense<[[0, 3], [1, 0], [2, 1]]> : tensor<3x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>}> : (tensor<1xi1>) -> (tensor<1xsi32>)
  return
}
// -----
func.func @f(%o0: tensor<3x5x3xcomplex<f32>>) {
  // expected-error @+1 {{replica ids in source_target_pairs must be >= 0.}}
  %r:1 = "stablehlo.collective_permute"(%o0) <{source_target_pairs = dense<-1> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 8, type = 0>}> : (tensor<3x5x3xcomplex<f32>>) -> (tensor<3x5x3xcomplex<f32>>)
  return
}
// -----
func.func @f(%o0: tensor<4x1x4xf8E5M2FNUZ>) {
  // expected-error @+1 {{expect source_target_pairs attribute of shape (N, 2), but got (0, 0)}}
  %r:1 = "stablehlo.collective_permute"(%o0) <{source_target_pairs = dense<> : tensor<0x0xi64>, channel_handle = #stablehlo.channel_handle<type = 1, handle = 7>}> : (tensor<4x1x4xf8E5M2FNUZ>) -> (tensor<4x1x4xf8E5M2FNUZ>)
  return
}
// -----
func.func @f(%o0: tensor<5x3xi64>) {
  // expected-error @+1 {{'stablehlo.collective_permute' op requires attribute 'source_target_pairs'}}
  %r:1 = "stablehlo.collective_permute"(%o0) : (tensor<5x3xi64>) -> (tensor<5x3xi64>)
  return
}
// -----
func.func @f(%o0: tensor<3xi16>) {
  // expected-error @+1 {{'stablehlo.collective_permute' op attribute 'source_target_pairs' failed to satisfy constraint: 64-bit signless integer elements attribute}}
  %r:1 = "stablehlo.collective_permute"(%o0) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi32>}> : (tensor<3xi16>) -> (tensor<3xi16>)
  return
}
// -----
func.func @f(%o0: tensor<i1>) {
  // expected-error @+1 {{duplicate targets not allowed.}}
  %r:1 = "stablehlo.collective_permute"(%o0) <{source_target_pairs = dense<[[0, 3], [1, 3], [2, 1]]> : tensor<3x2xi64>}> : (tensor<i1>) -> (tensor<i1>)
  return
}
// -----
func.func @f(%o0: tensor<1xf8E8M0FNU>, %o1: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.send' op result #0 must be token, but got 'vector<2xf32>'}}
  %r:1 = "stablehlo.send"(%o0, %o1) <{channel_handle = #stablehlo.channel_handle<type = 1, handle = 6>, is_host_transfer = false}> : (tensor<1xf8E8M0FNU>, !stablehlo.token) -> (vector<2xf32>)
  return
}
// -----
func.func @f(%o0: tensor<5x5x3xi16>, %o1: tensor<4x4x5x4xf4E2M1FN>, %o2: i32) {
  // expected-error @+1 {{'stablehlo.send' op operand #2 must be token, but got 'i32'}}
  %r:1 = "stablehlo.send"(%o0, %o1, %o2) <{channel_handle = #stablehlo.channel_handle<handle = 4, type = 2>, is_host_transfer = true}> : (tensor<5x5x3xi16>, tensor<4x4x5x4xf4E2M1FN>, i32) -> (!stablehlo.token)
  return
}
// -----
func.func @f(%o0: tensor<3xi1>, %o1: tensor<3x1xi64>, %o2: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.send' op requires attribute 'channel_handle'}}
  %r:1 = "stablehlo.send"(%o0, %o1, %o2) <{is_host_transfer = true}> : (tensor<3xi1>, tensor<3x1xi64>, !stablehlo.token) -> (!stablehlo.token)
  return
}
// -----
func.func @f(%o0: !stablehlo.token, %o1: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.send' op operand #0 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got '!stablehlo.token'}}
  %r:1 = "stablehlo.send"(%o0, %o1) <{channel_handle = #stablehlo.channel_handle<handle = 9, type = 2>, is_host_transfer = true}> : (!stablehlo.token, !stablehlo.token) -> (!stablehlo.token)
  return
}
// -----
func.func @f(%o0: tensor<4xcomplex<f64>>, %o1: !stablehlo.token) {
  // expected-error @+2 {{channel_type should be DEVICE_TO_HOST when is_host_transfer is true}}
  // expected-error @+1 {{'stablehlo.send' op failed to infer returned types}}
  %r:1 = "stablehlo.send"(%o0, %o1) <{channel_handle = #stablehlo.channel_handle<type = 1, handle = 5>, is_host_transfer = true}> : (tensor<4xcomplex<f64>>, !stablehlo.token) -> (!stablehlo.token)
  return
}
// -----
func.func @f(%o0: !stablehlo.token) {
  // expected-error @+2 {{channel_type should be DEVICE_TO_DEVICE when is_host_transfer is false}}
  // expected-error @+1 {{'stablehlo.send' op failed to infer returned types}}
  %r:1 = "stablehlo.send"(%o0) <{channel_handle = #stablehlo.channel_handle<type = 0, handle = 9>, is_host_transfer = false, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> (!stablehlo.token)
  return
}
// -----
func.func @f(%o0: tensor<complex<f32>>, %o1: tensor<f6E3M2FN>, %o2: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.send' op requires one result}}
  %r:2 = "stablehlo.send"(%o0, %o1, %o2) <{channel_handle = #stablehlo.channel_handle<type = 2, handle = 8>, is_host_transfer = true}> : (tensor<complex<f32>>, tensor<f6E3M2FN>, !stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.send' op expected 1 or more operands, but found 0}}
  %r:1 = "stablehlo.send"() <{channel_handle = #stablehlo.channel_handle<type = 2, handle = 2>, is_host_transfer = true}> : () -> (!stablehlo.token)
  return
}
// -----
func.func @f(%o0: i32) {
  // expected-error @+1 {{'stablehlo.recv' op operand #0 must be token, but got 'i32'}}
  %r:1 = "stablehlo.recv"(%o0) <{channel_handle = #stablehlo.channel_handle<type = 1, handle = 8>}> : (i32) -> (!stablehlo.token)
  return
}
// -----
func.func @f(%o0: !stablehlo.token) {
  // expected-error @+1 {{channel_type should be DEVICE_TO_DEVICE when is_host_transfer is false}}
  %r:3 = "stablehlo.recv"(%o0) <{channel_handle = #stablehlo.channel_handle<handle = 4, type = 3>, is_host_transfer = false, source_target_pairs = dense<[[0, 2], [1, 1], [2, 0]]> : tensor<3x2xi64>}> : (!stablehlo.token) -> (tensor<5x4x4x4xi1>, tensor<2x1x2x1xi1>, !stablehlo.token)
  return
}
// -----
func.func @f(%o0: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.recv' op result #0 must be variadic of statically shaped tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or comple}}
  %r:1 = "stablehlo.recv"(%o0) <{channel_handle = #stablehlo.channel_handle<handle = 7, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tuple<tensor<f32>>)
  return
}
// -----
func.func @f(%o0: !stablehlo.token) {
  // expected-error @+1 {{everything but the last element of result types is expected to be of tensor type, but got '!stablehlo.token'}}
  %r:3 = "stablehlo.recv"(%o0) <{channel_handle = #stablehlo.channel_handle<type = 1, handle = 9>}> : (!stablehlo.token) -> (tensor<1x1x3xi64>, !stablehlo.token, !stablehlo.token)
  return
}
// -----
func.func @f(%o0: !stablehlo.token, %o1: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.recv' op requires a single operand}}
  %r:3 = "stablehlo.recv"(%o0, %o1) <{channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>}> : (!stablehlo.token, !stablehlo.token) -> (tensor<1x2x2xcomplex<f32>>, tensor<5x1x2xi1>, !stablehlo.token)
  return
}
// -----
func.func @f(%o0: !stablehlo.token) {
  // expected-error @+1 {{channel_type should be HOST_TO_DEVICE when is_host_transfer is true}}
  %r:3 = "stablehlo.recv"(%o0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<4xf8E5M2>, tensor<3xui32>, !stablehlo.token)
  return
}
// -----
func.func @f(%o0: !stablehlo.token) {
  // expected-error @+1 {{last element of result types is expected to be of token type, but got 'tensor<2xf32>'}}
  %r:2 = "stablehlo.recv"(%o0) <{channel_handle = #stablehlo.channel_handle<type = 1, handle = 8>}> : (!stablehlo.token) -> (tensor<5x5xf8E4M3>, tensor<2xf32>)
  return
}
// -----
func.func @f(%o0: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.recv' op requires attribute 'channel_handle'}}
  %r:1 = "stablehlo.recv"(%o0) <{is_host_transfer = true}> : (!stablehlo.token) -> (!stablehlo.token)
  return
}
// -----
func.func @f(%o0: !stablehlo.token) {
  // expected-error @+1 {{result is expected to be at least of size 1, but got 0}}
  "stablehlo.recv"(%o0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 1>}> : (!stablehlo.token) -> ()
  return
}
// -----
func.func @f(%o0: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.recv' op attribute 'source_target_pairs' failed to satisfy constraint: 64-bit signless integer elements attribute}}
  %r:1 = "stablehlo.recv"(%o0) <{channel_handle = #stablehlo.channel_handle<type = 1, handle = 6>, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi32>}> : (!stablehlo.token) -> (!stablehlo.token)
  return
}
// -----
func.func @f(%o0: tensor<*xf32>) {
  // expected-error @+1 {{'stablehlo.infeed' op operand #0 must be token, but got 'tensor<*xf32>'}}
  %r:3 = "stablehlo.infeed"(%o0) : (tensor<*xf32>) -> (tensor<3x5xcomplex<f32>>, tensor<1xcomplex<f64>>, !stablehlo.token)
  return
}
// -----
func.func @f(%o0: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.infeed' op result #1 must be variadic of statically shaped tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or comp}}
  %r:2 = "stablehlo.infeed"(%o0) : (!stablehlo.token) -> (tensor<5xui64>, vector<2xf32>)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.infeed' op requires a single operand}}
  %r:2 = "stablehlo.infeed"() <{infeed_config = "{}"}> : () -> (tensor<4xf6E3M2FN>, !stablehlo.token)
  return
}
// -----
func.func @f(%o0: !stablehlo.token) {
  // expected-error @+1 {{layout-attribute size must be 0 (which is the number of op-results - 1 (for token result)), but got 1}}
  %r:1 = "stablehlo.infeed"(%o0) <{layout = [[1, 0]]}> : (!stablehlo.token) -> (!stablehlo.token)
  return
}
// -----
func.func @f(%o0: !stablehlo.token) {
  // expected-error @+1 {{last element of result types is expected to be of token type, but got 'tensor<2xf32>'}}
  %r:2 = "stablehlo.infeed"(%o0) <{layout = [[0]]}> : (!stablehlo.token) -> (tensor<3xf8E4M3>, tensor<2xf32>)
  return
}
// -----
func.func @f(%o0: !stablehlo.token) {
  // expected-error @+1 {{all elements of result types, except the last element, are expected to be of tensor type, but got '!stablehlo.token'}}
  %r:3 = "stablehlo.infeed"(%o0) <{layout = [[0, 1]]}> : (!stablehlo.token) -> (tensor<4x4xf8E5M2FNUZ>, !stablehlo.token, !stablehlo.token)
  return
}
// -----
func.func @f(%o0: tensor<3x2x2x1xi1>, %o1: tensor<f8E4M3FNUZ>, %o2: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.outfeed' op result #0 must be token, but got 'tensor<2xf32>'}}
  %r:1 = "stablehlo.outfeed"(%o0, %o1, %o2) <{outfeed_config = "%0 = #x"}> : (tensor<3x2x2x1xi1>, tensor<f8E4M3FNUZ>, !stablehlo.token) -> (tensor<2xf32>)
  return
}
// -----
func.func @f(%o0: tensor<4x1x5xui2>, %o1: tensor<ui4>, %o2: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.outfeed' op requires one result}}
  %r:2 = "stablehlo.outfeed"(%o0, %o1, %o2) <{outfeed_config = "// no comment"}> : (tensor<4x1x5xui2>, tensor<ui4>, !stablehlo.token) -> (!stablehlo.token, !stablehlo.token)
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{'stablehlo.outfeed' op expected 1 or more operands, but found 0}}
  %r:1 = "stablehlo.outfeed"() <{outfeed_config = "// no comment"}> : () -> (!stablehlo.token)
  return
}
// -----
func.func @f(%o0: tensor<4x1xcomplex<f32>>, %o1: tuple<>) {
  // expected-error @+1 {{'stablehlo.outfeed' op operand #1 must be token, but got 'tuple<>'}}
  %r:1 = "stablehlo.outfeed"(%o0, %o1) : (tensor<4x1xcomplex<f32>>, tuple<>) -> (!stablehlo.token)
  return
}
// -----
func.func @f(%o0: tensor<1x5xindex>, %o1: tensor<5xf6E2M3FN>, %o2: !stablehlo.token) {
  // expected-error @+1 {{'stablehlo.outfeed' op operand #0 must be variadic of ranked tensor of 4/6/8/16/32/64-bit float or bool or 2/4/8/16/32/64-bit integer or complex type with 32/64-bit float elements or per-tensor integer quantized or per-axis integer quantized values, but got 'tensor<1x5xindex>'}}
  %r:1 = "stablehlo.outfeed"(%o0, %o1, %o2) : (tensor<1x5xindex>, tensor<5xf6E2M3FN>, !stablehlo.token) -> (!stablehlo.token)
  return
}
