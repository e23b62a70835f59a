#!/usr/bin/env bash
# shellcheck disable=SC1091
# `tessera eval`: arrays in and out in three formats, how inputs are assigned, and what is refused.
source "$(dirname "${BASH_SOURCE[0]}")/helpers.bash"
cat > "$work/p.mlir" << 'PROGRAM'
func.func @main(%arg0: tensor<2x3xf32> loc("x"), %arg1: tensor<3xi32> loc("y"))
    -> (tensor<3x2xf32> {jax.result_info = "result['t']"}, tensor<3xi32> {jax.result_info = "result['d']"}) {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %1 = stablehlo.add %arg1, %arg1 : tensor<3xi32>
  return %0, %1 : tensor<3x2xf32>, tensor<3xi32>
}
PROGRAM
# Files by a writer that others wrote, where there is one: Python's zipfile and struct are enough.
python3 - "$work" << 'PYTHON'
import json, struct, sys, zipfile
folder = sys.argv[1]
def npy(descr, shape, data, fortran=False):
    head = "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }" % (descr, fortran, shape)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + data
x = npy("<f4", "(2, 3)", struct.pack("<6f", 1, 2, 3, 4, 5, 6.5))
f = npy("<f4", "(2, 3)", struct.pack("<6f", 1, 4, 2, 5, 3, 6.5), True)
y = npy("<i4", "(3,)", struct.pack("<3i", 7, -8, 9))
open(folder + "/x.npy", "wb").write(x)
open(folder + "/f.npy", "wb").write(f)
open(folder + "/y.npy", "wb").write(y)
open(folder + "/in_0.npy", "wb").write(x)
open(folder + "/in_1.npy", "wb").write(y)
for name, method in (("stored", zipfile.ZIP_STORED), ("deflated", zipfile.ZIP_DEFLATED)):
    with zipfile.ZipFile("%s/%s.npz" % (folder, name), "w", method) as z:
        z.writestr("y.npy", y)
        z.writestr("x.npy", x)
head = json.dumps({"y": {"dtype": "I32", "shape": [3], "data_offsets": [0, 12]},
                   "x": {"dtype": "F32", "shape": [2, 3], "data_offsets": [12, 36]}}).encode()
open(folder + "/a.safetensors", "wb").write(
    struct.pack("<Q", len(head)) + head + struct.pack("<3i6f", 7, -8, 9, 1, 2, 3, 4, 5, 6.5))
open(folder + "/cut.npz", "wb").write(open(folder + "/deflated.npz", "rb").read()[:-30])
open(folder + "/wild.safetensors", "wb").write(struct.pack("<Q", 1 << 60) + b"{}")
head = b'{"x":{"dtype":"F32","shape":[4611686018427387904,8],"data_offsets":[0,0]}}'
open(folder + "/huge.safetensors", "wb").write(struct.pack("<Q", len(head)) + head)
PYTHON
cd "$work"
transposed='1, 4, 2, 5, 3, 6.5'
for inputs in 'x.npy y.npy' 'f.npy y.npy' 'y.npy x.npy' 'in_1.npy in_0.npy' stored.npz deflated.npz a.safetensors; do
    # shellcheck disable=SC2086
    run "$TESSERA" eval p.mlir --input $inputs
    expect_fine
    expect_in_out "tensor<3x2xf32>  $transposed"
    expect_in_out "tensor<3xi32>  14, -16, 18"
done
run "$TESSERA" eval --input x.npy y.npy p.mlir --json
expect_fine
expect_in_out "{\"name\": \"result['d']\", \"type\": \"tensor<3xi32>\", \"first\": [14, -16, 18]}"

# Results written and read again, by this command and by Python.
for output in folder r.npz r.safetensors; do
    run "$TESSERA" eval p.mlir -i x.npy -i y.npy --output $output --stats
    expect_code 0
    expect_no_out
    expect_in_err '2 ops, at most'
done
echo 'func.func @main(%a: tensor<3x2xf32> loc("result['"'t'"']"), %b: tensor<3xi32> loc("result['"'d'"']")) -> (tensor<3x2xf32>, tensor<3xi32>) { return %a, %b : tensor<3x2xf32>, tensor<3xi32> }' > again.mlir
for input in 'folder/out_0.npy folder/out_1.npy' r.npz r.safetensors; do
    # shellcheck disable=SC2086
    run "$TESSERA" eval again.mlir --input $input
    expect_fine
    expect_in_out "$transposed"
    expect_in_out '14, -16, 18'
done
python3 - << 'PYTHON' || fail 'what was written is not what others read'
import json, struct, zipfile
with zipfile.ZipFile("r.npz") as z:
    assert z.testzip() is None
    assert z.read("result['d'].npy")[-12:] == struct.pack("<3i", 14, -16, 18)
data = open("r.safetensors", "rb").read()
size = struct.unpack("<Q", data[:8])[0]
head = json.loads(data[8:8 + size])
begin, end = head["result['d']"]["data_offsets"]
assert data[8 + size + begin:8 + size + end] == struct.pack("<3i", 14, -16, 18)
PYTHON

# Results compared with a file: equal, within rounding, off, of another type.
run "$TESSERA" eval p.mlir -i x.npy y.npy --expect r.npz
expect_fine
expect_in_out "result['t']              tensor<3x2xf32>  equal"
python3 - << 'PYTHON'
import struct, zipfile
with zipfile.ZipFile("r.npz") as z:
    t, d = z.read("result['t'].npy"), z.read("result['d'].npy")
def write(name, t, d):
    with zipfile.ZipFile(name, "w") as z:
        z.writestr("out_0.npy", t)
        z.writestr("out_1.npy", d)
write("near.npz", t[:-4] + struct.pack("<f", 6.50002), d)
write("far.npz", t[:-4] + struct.pack("<f", 6.6), d)
write("other.npz", t, d[:-4] + struct.pack("<i", 19))
write("swapped.npz", d, t)
by_columns = t[:-24].replace(b"'fortran_order': False", b"'fortran_order': True ") + struct.pack("<6f", 1, 2, 3, 4, 5, 6.5)
write("columns.npz", by_columns, d)
PYTHON
run "$TESSERA" eval p.mlir -i x.npy y.npy --expect columns.npz
expect_fine
run "$TESSERA" eval p.mlir -i x.npy y.npy --expect near.npz
expect_fine
expect_in_out 'within rounding, by 3.'
run "$TESSERA" eval p.mlir -i x.npy y.npy --expect far.npz
expect_code 1
expect_in_out 'differs by 1.5e-02 of the largest element'
run "$TESSERA" eval p.mlir -i x.npy y.npy --expect other.npz
expect_code 1
run "$TESSERA" eval p.mlir -i x.npy y.npy --expect swapped.npz
expect_code 1
expect_in_out 'differs: another type is expected, tensor<3xi32>'
run "$TESSERA" eval p.mlir -i x.npy y.npy --expect x.npy
expect_error 2 'x.npy has 1 arrays, the program gives 2 results'

run "$TESSERA" eval p.mlir --random 3
expect_fine
first=$out
run "$TESSERA" eval p.mlir --random 3
expect_out "$first"
run "$TESSERA" eval p.mlir --random 4
[ "$out" != "$first" ] || fail 'another seed should give other numbers'

run "$TESSERA" eval p.mlir
expect_error 2 'takes 2 inputs, got 0; give --input, or --random SEED'
run "$TESSERA" eval p.mlir -i x.npy
expect_error 2 'takes 2 inputs, got 1'
run "$TESSERA" eval p.mlir -i x.npy x.npy
expect_error 2 'input 1'
run "$TESSERA" eval p.mlir -i none.npy y.npy
expect_error 2 'cannot read none.npy'
run "$TESSERA" eval p.mlir -i cut.npz
expect_error 2 'cut.npz is no .npz file'
run "$TESSERA" eval p.mlir -i wild.safetensors
expect_error 2 'wild.safetensors is no .safetensors file'
run "$TESSERA" eval p.mlir -i huge.safetensors
expect_error 2 'the entry x is wrong'
run "$TESSERA" eval p.mlir -i p.mlir
expect_error 2 'needs a .npy, .npz or .safetensors file'
run "$TESSERA" eval p.mlir -i x.npy --random 1
expect_error 2 'not both'
run "$TESSERA" eval
expect_error 2 'which file'
echo 'func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { %b = stablehlo.custom_call @unheard_of(%a) : (tensor<2xf32>) -> tensor<2xf32> return %b : tensor<2xf32> }' > strange.mlir
run "$TESSERA" eval strange.mlir --random 1
expect_error 3 'unheard_of'
finish
