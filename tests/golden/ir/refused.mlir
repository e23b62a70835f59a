// flags: -split-input-file -verify-diagnostics
// expected-error @+1 {{expected 'output_tuple_indices'}}
module attributes {a.b = #stablehlo.output_operand_alias<operand_index = 0, output_tuple_indices = [], operand_tuple_indices = []>} {}
// -----
// expected-error @+1 {{unbalanced '[' character in pretty dialect name}}
module attributes {a.b = #sdy.mesh<["x"=2)>} {}
// -----
// expected-error @+1 {{axis 'x' not found in mesh definition}}
module attributes {a.b = #stablehlo.replica_group_mesh_axes<mesh = #stablehlo.mesh<axes=[<name = "y", size = 4>]>, axes = [#stablehlo.axis_ref<name = "x">]>} {}
// -----
// expected-error @+1 {{Invalid tolerances for ResultAccuracyAttr with mode DEFAULT, must be all zero.}}
module attributes {a.b = #stablehlo.result_accuracy<ulps = 1, mode = #stablehlo.result_accuracy_mode<DEFAULT>>} {}
// -----
// expected-error @+1 {{axis size must be at least 1, got: -1}}
module attributes {a.b = #sdy<mesh_axis"x"=-1>} {}
// -----
// expected-error @+1 {{expected 'true' or 'false' values for i1 type}}
module attributes {a.b = array<i1: 1>} {}
// -----
// expected-error @+1 {{`dense_resource` expected a shaped type}}
module attributes {a.b = dense_resource<x> : index} {}
// -----
// expected-error @+1 {{Bounds length is 2, expected to be equal to rank(1) of the tensor}}
module attributes {a.b = tensor<?xf32, #stablehlo.bounds<1, 2>>} {}
// -----
// expected-error @+1 {{dialect 'tensor' provides no attribute parsing hook}}
module attributes {a.b = #tensor.foo} {}
// -----
// expected-error @+1 {{can only contain attributes with dialect-prefixed names, found: 'foo'}}
module attributes {foo = 1} {}
// -----
// expected-error @+1 {{visibility expected to be one of ["public", "private", "nested"], but got "hidden"}}
"func.func"() <{function_type = () -> (), sym_name = "f", sym_visibility = "hidden"}> ({}) : () -> ()
// -----
func.func @f() {
  // expected-error @+1 {{symbol's parent must have the SymbolTable trait}}
  func.func private @g()
  return
}
// -----
func.func @f(%a: tensor<f32>) {
  // expected-error @+1 {{invalid properties {foo = 1 : i64} for op stablehlo.add: this operation has empty properties}}
  %0 = "stablehlo.add"(%a, %a) <{foo = 1}> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return
}
// -----
func.func @f(%a: tensor<f32>) {
  // expected-error @+1 {{result number not allowed in argument list}}
  %0 = sdy.named_computation<"n">(%a) (%b#0: tensor<f32>) {
    sdy.return %b : tensor<f32>
  } : (tensor<f32>) -> tensor<f32>
  return
}
// -----
func.func @f(%a: tensor<f32>) {
  // expected-error @+1 {{undefined symbol alias id 'late'}}
  return loc(callsite("n" at #late))
}
#late = loc("l")
// -----
func.func @f(%a: tensor<f32>) {
  // expected-error @+1 {{expected '->' in function type}}
  %0 = chlo.broadcast_add %a, %a : (tensor<f32>, tensor<f32>) -> (tensor<f32>)
  return
}
// -----
// expected-error @+1 {{dialect 'nothing' is unknown}}
{-# dialect_resources: { nothing: {} } #-}
// -----
// expected-error @+1 {{expected hex string blob for key 'a' to encode alignment in first 4 bytes}}
{-# dialect_resources: { builtin: {a: "0x0102"} } #-}
// -----
module {
  module @inner {
    // expected-note @+1 {{see existing symbol definition here}}
    func.func private @g()
    // expected-error @+1 {{redefinition of symbol named 'g'}}
    func.func private @g()
  }
}
// -----
func.func @f(%a: tensor<f32>) {
  %0 = "stablehlo.case"(%i) ({
    // expected-error @+1 {{number of operands and types do not match: got 1 operands and 0 types}}
    stablehlo.return %a
  }) : (tensor<i32>) -> tensor<f32>
  return
}
// -----
func.func @f(%a: tensor<i32>) {
  // expected-error @+1 {{region #1 ('branches') failed to verify constraint: region with 1 blocks}}
  "stablehlo.case"(%a) ({ stablehlo.return }, {}) : (tensor<i32>) -> ()
  return
}
// -----
// expected-error @+1 {{future element type must be a ranked tensor, but got 'i32'}}
module attributes {a.b = !stablehlo.future<i32>} {}
// -----
// expected-error @+1 {{expects argument attribute array to have the same number of elements as the number of function arguments, got 1, but expected 0}}
"func.func"() <{function_type = () -> (), sym_name = "f", sym_visibility = "private", arg_attrs = [{}]}> ({}) : () -> ()
// -----
func.func @f(%a: tensor<f32>) {
  // expected-error @+1 {{replica_groups: mesh symbol 'missing' not found}}
  %0 = "stablehlo.collective_broadcast"(%a) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @missing, axes = [#stablehlo.axis_ref<name = "y">]>}> : (tensor<f32>) -> tensor<f32>
  return
}
// -----
func.func @f(%v: tensor<2xf32>, %x: tensor<f32>) {
  // expected-note @+1 {{required by region isolation constraints}}
  %0:2 = chlo.scan(%v) inits (%x) dimension=0 {
  ^bb0(%in: tensor<f32>, %carry: tensor<f32>):
    // expected-error @+1 {{using value defined outside the region}}
    %1 = stablehlo.add %in, %x : tensor<f32>
    stablehlo.return %1, %carry : tensor<f32>, tensor<f32>
  } : (tensor<2xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>)
  return
}
// -----
func.func private @g(tensor<f32>) -> tensor<f32>
func.func @f(%a: tensor<f32>) {
  // expected-error @+1 {{attribute 'composite_attributes' failed to satisfy constraint: dictionary of named attribute values}}
  %0 = "stablehlo.composite"(%a) <{name = "a.b", decomposition = @g, composite_attributes = [1, 2]}> : (tensor<f32>) -> tensor<f32>
  return
}
// -----
sdy.mesh @m = <["x"=2]>
func.func @f(%a: tensor<2xf32> {sdy.sharding = #sdy.sharding<@m, [{}], unreduced={"x"}>}) {
  // expected-error @+1 {{attribute 'reduction_op' failed to satisfy constraint: enum attribute}}
  %0 = "sdy.all_reduce"(%a) <{reduction_axes = #sdy<axis_ref_list{"x"}>, out_sharding = #sdy.sharding<@m, [{}]>, reduction_op = 99 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
func.func @f(%a: tensor<2xf32>) {
  // expected-error @+1 {{attribute 'allowed_direction' failed to satisfy constraint: enum attribute}}
  %0 = "sdy.propagation_barrier"(%a) <{allowed_direction = -1 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
  return
}
// -----
// expected-error @+1 {{expected a pair of numbers for a complex element}}
module attributes {a.b = dense<[1.0, 2.0]> : tensor<2xcomplex<f32>>} {}
// -----
// expected-error @+1 {{expected a pair of numbers for a complex element}}
module attributes {a.b = dense<[(1.0, 2.0), 3.0]> : tensor<2xcomplex<f32>>} {}
// -----
// expected-error @+1 {{expected a number, but parsed a pair of them}}
module attributes {a.b = dense<[(1.0, 2.0)]> : tensor<1xf32>} {}
// -----
module {
  // expected-error @+2 {{expected input of sdy.data_flow_edge to not be defined by an SdyDialect op}}
  // expected-note @+2 {{sdy op defining the input of the sdy.data_flow_edge}}
  %0 = "sdy.data_flow_edge"(%1) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "sdy.data_flow_edge"(%0) : (tensor<2xf32>) -> tensor<2xf32>
}
// -----
sdy.mesh @m = <["x"=2]>
module {
  %0 = "sdy.propagation_barrier"(%1) <{allowed_direction = 0 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "sdy.propagation_barrier"(%0) <{allowed_direction = 0 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error @+1 {{unknown mesh: @n}}
  %2 = sdy.sharding_constraint %1 <@n, [{}]> : tensor<2xf32>
}
// -----
// expected-error @+1 {{undefined symbol alias id 'nothing'}}
module attributes {a.b = loc(#nothing)} {}
// -----
// expected-error @+1 {{undefined symbol alias id 'late'}}
module attributes {a.b = loc(#late)} {}
#late = loc("l")
// -----
// expected-error @+1 {{undefined symbol alias id 'nothing'}}
module {} loc(fused<loc(#nothing)>["a"])
// -----
#a = 1 : i8
// expected-error @+1 {{expected location, but found '1 : i8'}}
module {} loc(#a)
// -----
#a = "a"
// expected-error @+1 {{expected location attribute, but got"a"}}
module {} loc("n"(#a))
// -----
// expected-error @unknown {{expected location, but found 'unit'}}
module {} loc(#late)
#late = unit
// -----
#a = loc("a")
// expected-error @+1 {{redefinition of attribute alias id 'a'}}
#a = 1
// -----
func.func @f(%a: tensor<f32>) {
  // expected-error @+1 {{expected exponent mantissa in format e#m#, saw e4294967301m2}}
  %0 = stablehlo.reduce_precision %a, format = e4294967301m2 : tensor<f32>
  return
}
// -----
func.func @f(%a: tensor<f32>) {
  // expected-error @+1 {{expected exponent mantissa in format e#m#, saw e5m4294967298}}
  %0 = stablehlo.reduce_precision %a, format = e5m4294967298 : tensor<f32>
  return
}
// -----
func.func @f(%a: tensor<f32>) {
  // expected-error @+1 {{expected exponent mantissa in format e#m#, saw em2}}
  %0 = stablehlo.reduce_precision %a, format = em2 : tensor<f32>
  return
}
// -----
func.func @f(%a: tensor<f32>) {
  // expected-error @+1 {{expected exponent mantissa in format e#m#, saw e0x5m2}}
  %0 = stablehlo.reduce_precision %a, format = e0x5m2 : tensor<f32>
  return
}
// -----
func.func @f(%a: tensor<f32>) {
  // expected-error @+1 {{expected exponent mantissa in format e#m#, saw e5m2x}}
  %0 = stablehlo.reduce_precision %a, format = e5m2x : tensor<f32>
  return
}
// -----
func.func @f() {
  // expected-error @+1 {{custom op 'a_name_that_is_longer_than_32_bytes' is unknown (tried 'func.a_name_that_is_longer_than_32_bytes' as well)}}
  a_name_that_is_longer_than_32_bytes
}
