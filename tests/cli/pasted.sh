#!/usr/bin/env bash
# shellcheck disable=SC1091,SC2016,SC2034,SC2154
# Layouts as they are pasted out of programs and their output, by every command that takes one.
source "$(dirname "$0")/helpers.bash"

# Each text is this sharding, with and without a mesh that goes with it.
rows='[{"x"}, {}]'
says() {
    expect_fine
    [[ "$out" == *", $1>"* ]] || fail "the sharding should be $1"
}

# Meshes in all their notations.
for text in 'x=2,y=4' ' x = 2 , y = 4 ' '"x"=2,"y"=4' '<["x"=2, "y"=4]>' '@m = x=2,y=4' \
    "Mesh('x': 2, 'y': 4)" "Mesh('x': 2, 'y': 4, axis_types=(Auto, Auto))" \
    "Mesh('x': 2, 'y': 4, axis_types={AxisTypes.Auto: ('x', 'y')})" \
    "jax.sharding.Mesh(axis_sizes=(2, 4), axis_names=('x', 'y'), axis_types=(Explicit, Auto))" \
    "Mesh(device_ids=array([[0, 1, 2, 3],
       [4, 5, 6, 7]]), axis_names=('x', 'y'))" \
    "Mesh(device_ids=[[0 1 2 3] [4 5 6 7]], axis_names=('x', 'y'), axis_types=(Auto, Auto))" \
    "Mesh(array([[CpuDevice(id=0), CpuDevice(id=1), CpuDevice(id=2), CpuDevice(id=3)],
       [CpuDevice(id=4), TpuDevice(id=5, coords=(0,0,0)), CpuDevice(id=6), CpuDevice(id=7)]],
      dtype=object), ('x', 'y'))" \
    "AbstractMesh('x': 2, 'y': 4, axis_types=(Auto, Auto), device_kind=cpu, num_cores=None)" \
    "AbstractMesh((('x', 2), ('y', 4)))" "AbstractMesh((2, 4), ('x', 'y'))" \
    "jax.make_mesh((2, 4), ('x', 'y'))" "jax.make_mesh(axis_shapes=(2, 4), axis_names=('x', 'y'))" \
    "DeviceMesh('cpu', [[0, 1, 2, 3], [4, 5, 6, 7]], mesh_dim_names=('x', 'y'))" \
    "DeviceMesh('cuda', tensor([[0, 1, 2, 3], [4, 5, 6, 7]]), mesh_dim_names=('x', 'y'))" \
    "DeviceMesh((x=2, y=4), device: 'cuda', stride: (4, 1))" \
    "DeviceMesh((x=2, y=4), 'cuda', stride=(4, 1))" \
    "init_device_mesh('cuda', (2, 4), mesh_dim_names=('x', 'y'))"; do
    show --mesh "$text" "$rows"
    says "$rows"
    expect_in_out '= <["x"=2, "y"=4]>'
done
show --mesh "DeviceMesh('cuda', [[0, 2], [1, 3]])" '[{"d1"}]'
expect_in_out '<["d0"=2, "d1"=2], device_ids=[0, 2, 1, 3]>'
show --mesh "DeviceMesh:([0, 1, 2, 3])" '[{"d0"}]'
expect_in_out '<["d0"=4]>'
show --mesh "DeviceMesh((dp=2, tp=4), device: 'cuda', stride: (1, 2))" '[{"dp"}]'
expect_in_out 'device_ids=[0, 2, 4, 6, 1, 3, 5, 7]'

# Meshes that are not.
show --mesh 'x=2,y' '[{"x"}]'
expect_error 2 '<mesh>:1:6'
show --mesh 'x=0' '[{"x"}]'
expect_error 2 'must be at least 1'
show --mesh "Mesh(devices, ('x', 'y'))" '[{"x"}]'
expect_error 2 'neither the sizes nor the devices'
show --mesh "Mesh(device_ids=[[0 1 2 ... 30 31]], axis_names=('x', 'y'))" '[{"x"}]'
expect_error 2 'the printed list of devices is truncated'
show --mesh "Mesh(device_ids=array([[0, 1], [2]]), axis_names=('x', 'y'))" '[{"x"}]'
expect_error 2 'a row of the array of devices has 1 entries, one before it 2'
show --mesh "Mesh(axis_sizes=(2, 4), axis_names=('x',))" '[{"x"}]'
expect_error 2 'the mesh has 2 sizes, but 1 axis names'
show --mesh "DeviceMesh('cuda', [[4, 5], [6, 7]])" '[{"d0"}]'
expect_code 2
expect_in_err 'device'
show --mesh "DeviceMesh((dp=2, tp=4), device: 'cuda', stride: (8, 1))" '[{"dp"}]'
expect_error 2 'axis "dp" has stride 8, expected 4'

# Without a mesh in the text, one is needed; with one of the same axes, all is well.
for text in "$rows" '#sdy.sharding<@mesh, [{"x"}, {}]>' '<@mesh, [{"x"}, {}]>' \
    '%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}' \
    '%arg0: tensor<8x16xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>} ' \
    'tensor<8x16xf32> {jax.result_info = "a, b}", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}' \
    '{sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}' \
    '{array = array<i64: 1, 2>, "sdy.sharding" = #sdy.sharding<@mesh, [{"x"}, {}]>}' \
    'sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>' \
    '#sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>' \
    'sharding_per_value<[<@mesh, [{"x"}, {}]>]>' \
    'sdy.sharding_per_value = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>' \
    'sharding_per_value = <[<@mesh, [{"x"}, {}]>]>' \
    'in_shardings=[<@mesh, [{"x"}, {}]>]' \
    '{mhlo.sharding = "{devices=[2,1,4]<=[8] last_tile_dim_replicate}"}' \
    'frontend_attributes={xla.sdy.sharding="#sdy.sharding<@mesh, [{\"x\"}, {}]>"}' \
    '%1 = stablehlo.add %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x16xf32>' \
    '%1 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : tensor<8x16xf32>' \
    "P('x', None)" "PS('x', None)" "PartitionSpec('x', None)" "jax.sharding.PartitionSpec('x', None)" \
    "NamedSharding(mesh, P('x', None))" '[Shard(0), Replicate()]' '(Shard(dim=0), Replicate())' \
    "DTensor(local_tensor=tensor([[0., 1.]], grad_fn=<A>), device_mesh=mesh, placements=(Shard(dim=0), Replicate()))" \
    'DTensor(..., placements=(Shard(dim=0), Replicate()))' \
    '{devices=[2,1,4]<=[8] last_tile_dim_replicate}' \
    'sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}' \
    'sharding={{devices=[2,1,4]<=[8] last_tile_dim_replicate}}' \
    '%p = f32[8,16]{1,0} parameter(0), sharding={devices=[2,1,4]<=[8] last_tile_dim_replicate}, metadata={op_name="a"}' \
    'GSPMDSharding({devices=[2,1,4]<=[8] last_tile_dim_replicate}, memory_kind=device)'; do
    for given in 'x=2,y=4' '@mesh = <["x"=2, "y"=4]>'; do
        show --mesh "$given" --shape 'f32[8,16]' "$text"
        says "$rows"
        expect_in_out 'local shape   4x16'
    done
done

# Texts with their mesh need none; a mesh of the same axes may be given, another may not.
for text in "NamedSharding(mesh=Mesh('x': 2, 'y': 4), spec=PartitionSpec('x', None))" \
    "NamedSharding(mesh=Mesh('x': 2, 'y': 4, axis_types=(Explicit, Explicit)), spec=P('x', None), memory_kind=device)" \
    "NamedSharding(Mesh(device_ids=array([[0, 1, 2, 3], [4, 5, 6, 7]]), axis_names=('x', 'y')), PartitionSpec('x', None))" \
    "NamedSharding(mesh=AbstractMesh('x': 2, 'y': 4, axis_types=(Auto, Auto)), spec=P('x',))" \
    "ShapeDtypeStruct(shape=(8, 16), dtype=float32, sharding=NamedSharding(mesh=Mesh('x': 2, 'y': 4), spec=P('x',)))" \
    "(NamedSharding(mesh=Mesh('x': 2, 'y': 4), spec=P('x',)),)" \
    "Mesh('x': 2, 'y': 4) P('x', None)" "mesh = Mesh('x': 2, 'y': 4)
P('x', None)" \
    "DTensor(local_tensor=tensor([1.]), device_mesh=DeviceMesh('cpu', [[0, 1, 2, 3], [4, 5, 6, 7]], mesh_dim_names=('x', 'y')), placements=(Shard(dim=0), Replicate()))" \
    "DTensorSpec(mesh=DeviceMesh((x=2, y=4), device: 'cpu', stride: (4, 1)), placements=(Shard(dim=0), Replicate()), tensor_meta=TensorMeta(shape=torch.Size([8, 16]), stride=(16, 1), dtype=torch.float32))" \
    'sdy.mesh @m = <["x"=2, "y"=4]> {stablehlo.mesh = {axes = [{name = "x", size = 2 : i64}]}}
%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}' \
    '<mesh<["x"=2, "y"=4]>, [{"x"}, {}]>'; do
    show --shape 8x16 "$text"
    says "$rows"
    expect_in_out '<["x"=2, "y"=4]>'
    show --shape 8x16 --mesh x=2,y=4 "$text"
    says "$rows"
    show --shape 8x16 --mesh x=4,y=2 "$text"
    expect_error 2 'the text is on the mesh <["x"=2, "y"=4]>, but the mesh that is given is <["x"=4, "y"=2]>'
    expect_in_err 'leave out one of the two'
done
show --mesh '<["x"=2, "y"=2], device_ids=[0, 2, 1, 3]>' "NamedSharding(mesh=Mesh('x': 2, 'y': 2), spec=P('x'))"
expect_in_out 'device_ids=[0, 2, 1, 3]' # JAX prints no devices: those given count
show --mesh x=2,y=2 "NamedSharding(Mesh(device_ids=[[0, 2], [1, 3]], axis_names=('x', 'y')), P('x'))"
expect_error 2 'device_ids=[0, 2, 1, 3]'
show "SingleDeviceSharding(device=CpuDevice(id=3), memory_kind=device)"
expect_in_out 'mesh          <[], device_ids=[3]>'
show '%a: tensor<4xf32> {mhlo.sharding = "{replicated}"}'
expect_fine

# What stands beside gives the shape.
show "ShapeDtypeStruct(shape=(8, 16), dtype=float32, sharding=NamedSharding(mesh=Mesh('x': 2), spec=P('x',)))"
expect_in_out 'bytes/device  256, as f32'
show --mesh x=2 '[{"x"}] : f32[8]'
expect_in_out 'local shape   4'
show --mesh x=2,y=4 '%r = stablehlo.dot_general %a, %b {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {"y"}]>]>} : (tensor<8x2xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>'
expect_in_out 'local shape   4x1'

# Shapes in all their notations.
for shape in 4x8 4,8 '4, 8' '(4, 8)' '[4, 8]' 'torch.Size([4, 8])'; do
    show --mesh x=2 --shape "$shape" "$rows"
    expect_in_out 'local shape   2x8'
done
for shape in 4x8xf32 'tensor<4x8xf32>' 'f32[4,8]' 'float32[4,8]' 'f32[4,8]{1,0}' 'f32[4x8]'; do
    show --mesh x=2 --shape "$shape" "$rows"
    expect_in_out 'bytes/device  64, as f32'
done
show --mesh x=2 --shape 'f32[]' '[]'
expect_in_out 'shape         scalar'
for shape in 'f32[4' 'f32[4,8]x' 'f32[4,8xf32]' '[4' 'f32[-1]'; do
    show --mesh x=2 --shape "$shape" "$rows"
    expect_error 2 "--shape '$shape'"
done
show --mesh x=2 --shape 'f33[4,8]' "$rows"
expect_error 2 "unknown element type 'f33'"

# Strided shards, as FSDP2 with tensor parallelism prints them, read and written.
fsdp="DeviceMesh('cuda', [[0, 1, 2, 3], [4, 5, 6, 7]], mesh_dim_names=('dp', 'tp'))"
for text in '[_StridedShard(dim=0, split_factor=4), Shard(dim=0)]' '(_StridedShard(0, sf=4), S(0))' \
    '[_S(0, 4), S(0)]' 'DTensor(..., placements=(_StridedShard(dim=0, sf=4), Shard(dim=0)))'; do
    show --mesh "$fsdp" --shape 16x8 "$text"
    says '[{"tp", "dp"}, {}]'
    show --mesh "$fsdp" --shape 16x8 --to dtensor "$text"
    expect_out '[_StridedShard(0, split_factor=4), Shard(0)]'
done
show --mesh "$fsdp" --shape 10x8 --to dtensor '[_StridedShard(0, split_factor=4), Shard(0)]'
expect_out '[_StridedShard(0, split_factor=4), Shard(0)]'
show --mesh "$fsdp" --shape 10x8 '[_StridedShard(0, split_factor=4), Shard(0)]'
expect_in_out 'dynamic[2, 1, 2, 1, 2, 1, 1,
              0]'
show --mesh dp=4,tp=2 --shape 9 '[_StridedShard(0, split_factor=2), Shard(0)]'
expect_error 3 'rows out of order'
expect_in_err 'a multiple of 8'
show --mesh "$fsdp" --shape 16x8 '[_StridedShard(0, split_factor=8), Shard(0)]'
expect_error 3 'split_factor 8: the mesh axes after this one cut dim 0 into 4'
show --mesh "$fsdp" --shape 16x8 '[_StridedShard(0), Shard(0)]'
expect_error 2 'needs its split_factor'

# Several: each is shown, or one by its number or name.
main='func.func public @main(%arg0: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}, %arg1: tensor<16x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>}) -> (tensor<8x4xf32> {jax.result_info = "", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})'
show --mesh x=2,y=4 "$main"
expect_fine
for line in 'value         %arg0' 'local shape   4x16' 'value         %arg1' 'local shape   16x1' \
    'value         2' 'local shape   4x1'; do
    expect_in_out "$line"
done
for value in 1 %arg1 arg1; do
    show --mesh x=2,y=4 --value "$value" "$main"
    says '[{}, {"y"}]'
    expect_not_in_out 'value  '
done
show --mesh x=2,y=4 --to jax "$main"
expect_out "P('x', None)
P(None, 'y')
P('x', 'y')"
show --mesh x=2,y=4 --json "$main"
expect_fine
if command -v python3 >/dev/null; then
    python3 -c 'import json, sys
values = [each["value"] for each in json.load(sys.stdin)]
sys.exit(values != ["%arg0", "%arg1", "2"])' <<<"$out" || fail 'JSON of three'
fi
show --mesh x=2,y=4 --value 3 "$main"
expect_error 2 "--value '3': the text has 3 shardings, numbered from 0, or by the names"
show --mesh x=2,y=4 --svg - "$main"
expect_error 2 'the text has 3 shardings, but --svg draws one; choose it, such as --value 0'
show --shape 8 '{{devices=[2]<=[2]}, {replicated}, {maximal device=1}}'
expect_in_out 'value         2'
show --mesh x=2,y=4 '#sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{"y"}]>]>'
expect_in_out 'value         1'
show "((NamedSharding(mesh=Mesh('x': 2), spec=P('x')), NamedSharding(mesh=Mesh('x': 2), spec=P())), {})"
expect_in_out 'value         1'
show --mesh x=2 '[{"x"}] : tensor<4xf32>, [{}] : tensor<6xf32>'
expect_in_out 'shape         6'

# Broken texts.
for text in '%arg0: tensor<8xf32>' '%arg0: tensor<8xf32> {a = 1}' '{sdy.sharding = }' 'NamedSharding(' \
    "NamedSharding(mesh=Mesh('x': 2))" 'sharding=' '{{devices=[2]<=[2]}' '((((((((((((((((((((NamedSharding(' \
    'DTensor(device_mesh=DeviceMesh((x=2)))' '#sdy.sharding_per_value<[]>' 'sdy.mesh @m = <["x"=2]>'; do
    show --mesh x=2 --shape 8 "$text"
    expect_code 2
    expect_no_out
    expect_in_err 'error:'
done

# The other commands read them with the same reader.
named="NamedSharding(mesh=Mesh('x': 2), spec=P('x', None))"
for from in "$named" '{devices=[2,1]<=[2]}'; do
    run "$TESSERA" redistribute --plan --shape 'f32[8,4]' --from "$from" --to '{devices=[1,2]<=[2]}'
    expect_fine
    expect_in_out 'all-to-all'
done
run "$TESSERA" redistribute --plan --mesh x=2 --shape 8x4xf32 --from '[Shard(0)]' --to "P(None, 'x')"
expect_fine
run "$TESSERA" redistribute --plan --shape 8x4xf32 --from "$named" --to "P(None, 'x')"
expect_fine
run "$TESSERA" redistribute --plan --mesh x=4 --shape 8x4xf32 --from "$named" --to "P('x')"
expect_error 2 'but the mesh that is given is'
run "$TESSERA" redistribute --plan --mesh x=2 --shape 8x4xf32 --from '#sdy.sharding_per_value<[<@m, [{"x"}, {}]>, <@m, [{}, {}]>]>' --to "P()"
expect_error 2 '--from: the text has 2 shardings: give one of them'
run "$TESSERA" redistribute --plan --mesh x=2 --shape 8x4xf32 --from '[{"x"}, {}] : tensor<8x5xf32>' --to "P()"
expect_error 2 '--from: the shapes of the type in the text'
run "$TESSERA" rule 'matmul 8x4,4x2' --in "$named" --in '?'
expect_fine
expect_in_out 'result 0   [{"x", ?}, {?}]'
run "$TESSERA" rule 'matmul 8x4,4x2' --mesh x=2 --in '[Shard(0)]' --in '{devices=[1,2]<=[2]}'
expect_fine
cat >"$work/p.mlir" <<'EOF'
func.func @main(%a: tensor<8x4xf32>, %b: tensor<4x2xf32>) -> tensor<8x2xf32> {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
  return %0 : tensor<8x2xf32>
}
EOF
for layout in "$named" "Mesh('x': 2) P('x')" "DTensor(.., device_mesh=DeviceMesh((x=2)), placements=(Shard(0),))"; do
    run "$TESSERA" propagate --table "$work/p.mlir" --arg 0 "$layout"
    expect_fine
    expect_in_out 'tensor<8x2xf32>              [{"x"'
done
run "$TESSERA" propagate "$work/p.mlir" --mesh x=2 --arg 0 'P("x")' --arg 1 "P()" --result 0 '[Shard(0)]'
expect_fine
run "$TESSERA" explain "$work/p.mlir" --mesh x=2 --arg 0 "sharding={devices=[2,1]<=[2]}"
expect_fine
run "$TESSERA" propagate "$work/p.mlir" --arg 0 "P('x')"
expect_error 2 'add --mesh'

# A mark out of place ends the reading.
run "$TESSERA" show 'sdy.mesh @n = <["x"=1]> {)a = 1} [{"x"}] : tensor<8xf32>'
expect_error 2 "expected '}'"

finish
