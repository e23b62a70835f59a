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
    expect_in_err '2 ops, peak'
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
expect_error 2 'x.npy has 1 arrays, but the program has 2 results'

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
expect_error 2 'cut.npz is not an .npz file'
run "$TESSERA" eval p.mlir -i wild.safetensors
expect_error 2 'wild.safetensors is not a .safetensors file'
run "$TESSERA" eval p.mlir -i huge.safetensors
expect_error 2 'the entry x is wrong'
run "$TESSERA" eval p.mlir -i p.mlir
expect_error 2 'needs an .npy, .npz or .safetensors file'
run "$TESSERA" eval p.mlir -i x.npy --random 1
expect_error 2 'exclude each other'
run "$TESSERA" eval
expect_error 2 'a file is missing'

# Inputs by argument, by number or name; what is wrong with them.
run "$TESSERA" eval p.mlir --input y=y.npy 0=f.npy
expect_fine
expect_in_out "tensor<3x2xf32>  $transposed"
run "$TESSERA" eval p.mlir --input 1=y.npy x.npy
expect_fine
run "$TESSERA" eval p.mlir --input 2=y.npy x.npy
expect_error 2 'unknown argument 2; the function has 2'
run "$TESSERA" eval p.mlir --input 0@1=x.npy y.npy
expect_error 2 'device 1 is out of range; the program runs on 1 devices'
run "$TESSERA" eval p.mlir --input 0=x.npy
expect_error 2 'argument 1 has no input for device 0; give --input 1@0=FILE, or --input 1=FILE'
run "$TESSERA" eval p.mlir --input 0=stored.npz y.npy
expect_error 2 'stored.npz has 2 arrays, but argument 0 takes 1'
cp x.npy 'lr=1.npy'
run "$TESSERA" eval p.mlir --input lr=1.npy y.npy
expect_fine

# The devices of a module: one input for all, one a device, and what is refused.
gather() {
    cat << PROGRAM
module attributes {$1} {
  func.func @main(%arg0: tensor<1xi32> loc("x"), %arg1: tensor<i32>) -> (tensor<4xi32>, tensor<ui32>) {
    %0 = "stablehlo.all_gather"(%arg0) {all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, use_global_device_ids} : (tensor<1xi32>) -> tensor<4xi32>
    %1 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<4xi32>
    %2 = stablehlo.add %0, %1 : tensor<4xi32>
    %3 = stablehlo.partition_id : tensor<ui32>
    return %2, %3 : tensor<4xi32>, tensor<ui32>
  }
}
PROGRAM
}
gather 'mhlo.num_partitions = 4 : i32' > four.mlir
gather 'mhlo.num_partitions = 65 : i32' > many.mlir
gather '' > one.mlir
python3 - << 'PYTHON'
import struct
def npy(shape, data):
    head = "{'descr': '<i4', 'fortran_order': False, 'shape': %s, }" % shape
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(head)) + head.encode() + data
for i in range(4):
    open("d%d.npy" % i, "wb").write(npy("(1,)", struct.pack("<i", i + 1)))
open("hundred.npy", "wb").write(npy("()", struct.pack("<i", 100)))
open("thousand.npy", "wb").write(npy("()", struct.pack("<i", 1000)))
PYTHON
run "$TESSERA" eval four.mlir --input 0@3=d3.npy 0@0=d0.npy x@2=d2.npy 0@1=d1.npy 1=hundred.npy 1@2=thousand.npy
expect_fine
expect_in_out 'out_0@0                  tensor<4xi32>  101, 102, 103, 104'
expect_in_out 'out_0@2                  tensor<4xi32>  1001, 1002, 1003, 1004'
expect_in_out 'out_1@3                  tensor<ui32>  3'
run "$TESSERA" eval four.mlir --input d2.npy hundred.npy --output devices
expect_code 0
[ "$(ls devices)" = "$(printf 'out_%s.npy\n' 0@0 0@1 0@2 0@3 1@0 1@1 1@2 1@3)" ] || fail 'a file for each result'
run "$TESSERA" eval four.mlir --input d2.npy hundred.npy --output r4.npz
expect_code 0
run "$TESSERA" eval four.mlir --input d2.npy hundred.npy --expect r4.npz
expect_fine
run "$TESSERA" eval four.mlir --input d3.npy hundred.npy --expect r4.npz
expect_code 1
run "$TESSERA" eval four.mlir --input 0@1=d1.npy 1=hundred.npy
expect_error 2 'argument 0 has no input for device 0'
run "$TESSERA" eval four.mlir --input 0@1=d1.npy 0@1=d2.npy d0.npy hundred.npy
expect_error 2 'argument 0 of device 1 is given twice: d1.npy and d2.npy'
run "$TESSERA" eval four.mlir --input 0@4=d1.npy d0.npy hundred.npy
expect_error 2 'device 4 is out of range; the program runs on 4 devices'
run "$TESSERA" eval four.mlir --random 1
expect_fine
expect_in_out 'out_1@3                  tensor<ui32>  3'
run "$TESSERA" eval one.mlir --random 1
expect_error 2 'it names device 1, but the run has 1'
run "$TESSERA" eval many.mlir --random 1
expect_error 3 '1 x 65; at most 64 are simulated'

# Headers come first: of a sparse file of a terabyte, only what is needed is read.
python3 - << 'PYTHON'
import json, struct
def head(shape):
    text = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (shape,)
    text += " " * (-(len(text) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\0" + struct.pack("<H", len(text)) + text.encode()
with open("big.npy", "wb") as f:
    f.write(head((1 << 38,)))
    f.truncate(f.tell() + (1 << 40))
entries = {"big": {"dtype": "F32", "shape": [1 << 38], "data_offsets": [36, 36 + (1 << 40)]},
           "y": {"dtype": "I32", "shape": [3], "data_offsets": [0, 12]},
           "x": {"dtype": "F32", "shape": [2, 3], "data_offsets": [12, 36]}}
def safetensors(name, size):
    text = json.dumps({k: v for k, v in entries.items() if k != "big" or size == 3}).encode()
    with open(name, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + struct.pack("<3i6f", 7, -8, 9, 1, 2, 3, 4, 5, 6.5))
        f.truncate(8 + len(text) + 36 + (1 << 40))
safetensors("three.safetensors", 3)
safetensors("two.safetensors", 2)
PYTHON
run "$TESSERA" eval p.mlir -i big.npy y.npy
expect_error 2 'input 0 is tensor<274877906944xf32>, but the function takes tensor<2x3xf32>: big in big.npy'
run "$TESSERA" eval p.mlir -i three.safetensors
expect_error 2 'takes 2 inputs, got 3'
run "$TESSERA" eval p.mlir -i two.safetensors
expect_fine
expect_in_out "tensor<3x2xf32>  $transposed"
mkfifo pipe.npy
run "$TESSERA" eval p.mlir -i pipe.npy y.npy
expect_error 2 'cannot read pipe.npy: it is not a regular file'

# Limits.
cat > endless.mlir << 'PROGRAM'
func.func @main(%arg0: tensor<100xf32>) -> tensor<100xf32> {
  %yes = stablehlo.constant dense<true> : tensor<i1>
  %0 = stablehlo.while(%a = %arg0) : tensor<100xf32> cond {
    stablehlo.return %yes : tensor<i1>
  } do {
    %1 = stablehlo.add %a, %a : tensor<100xf32>
    stablehlo.return %1 : tensor<100xf32>
  }
  return %0 : tensor<100xf32>
}
PROGRAM
run "$TESSERA" eval endless.mlir --random 1 --max-ops 1000
expect_error 2 'the program reached the limit of 1001 ops'
run "$TESSERA" eval endless.mlir --random 1 --max-bytes 700
expect_error 2 'the limit is 700'
run "$TESSERA" eval endless.mlir --random 1 --timeout 0.2 --output late
expect_error 2 'the run exceeded --timeout'
[ ! -e late ] || fail 'a run that ended late wrote results'
for bad in max-ops=0 max-ops=x max-bytes=-1 max-bytes=9223372036854775808 timeout=0 timeout=nan timeout=1e99; do
    run "$TESSERA" eval endless.mlir --random 1 --$bad
    expect_error 2 "--${bad%=*} must be"
done
echo 'func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> { %b = stablehlo.custom_call @unheard_of(%a) : (tensor<2xf32>) -> tensor<2xf32> return %b : tensor<2xf32> }' > strange.mlir
run "$TESSERA" eval strange.mlir --random 1
expect_error 3 'unheard_of'
# Numbers: what does not fit is refused. Ranges of random inputs, by number or name.
for seed in 99999999999999999999999 18446744073709551616 -1 +1 ' 1' 0x1 1e3 ''; do
    run "$TESSERA" eval --random="$seed" -
    expect_error 2 'from 0 to 2^64-1'
done
cat >"$work/ranges.mlir" <<'PROGRAM'
func.func @main(%a: tensor<500xi32> loc("ids"), %b: tensor<500xf32>, %c: tensor<500xi8>, %d: tensor<500xf16>, %e: tensor<500xbf16>, %f: tensor<500xi1>) -> (tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<i8>, tensor<i8>, tensor<f16>, tensor<bf16>) {
  %il = stablehlo.constant dense<-2147483648> : tensor<i32>
  %ih = stablehlo.constant dense<2147483647> : tensor<i32>
  %fl = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %fh = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %bl = stablehlo.constant dense<-128> : tensor<i8>
  %bh = stablehlo.constant dense<127> : tensor<i8>
  %hl = stablehlo.constant dense<0xFC00> : tensor<f16>
  %gl = stablehlo.constant dense<0xFF80> : tensor<bf16>
  %0 = stablehlo.reduce(%a init: %ih) applies stablehlo.minimum across dimensions = [0] : (tensor<500xi32>, tensor<i32>) -> tensor<i32>
  %1 = stablehlo.reduce(%a init: %il) applies stablehlo.maximum across dimensions = [0] : (tensor<500xi32>, tensor<i32>) -> tensor<i32>
  %2 = stablehlo.reduce(%b init: %fh) applies stablehlo.minimum across dimensions = [0] : (tensor<500xf32>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.reduce(%b init: %fl) applies stablehlo.maximum across dimensions = [0] : (tensor<500xf32>, tensor<f32>) -> tensor<f32>
  %4 = stablehlo.reduce(%c init: %bh) applies stablehlo.minimum across dimensions = [0] : (tensor<500xi8>, tensor<i8>) -> tensor<i8>
  %5 = stablehlo.reduce(%c init: %bl) applies stablehlo.maximum across dimensions = [0] : (tensor<500xi8>, tensor<i8>) -> tensor<i8>
  %6 = stablehlo.reduce(%d init: %hl) applies stablehlo.maximum across dimensions = [0] : (tensor<500xf16>, tensor<f16>) -> tensor<f16>
  %7 = stablehlo.reduce(%e init: %gl) applies stablehlo.maximum across dimensions = [0] : (tensor<500xbf16>, tensor<bf16>) -> tensor<bf16>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<i8>, tensor<i8>, tensor<f16>, tensor<bf16>
}
PROGRAM
ranges=(--random=3 --random-range 0=5,8 --random-range 1=100,101 --random-range 2=-128,128)
run "$TESSERA" eval "${ranges[@]}" --random-range 3=2,2 --random-range 4=0.5,0.5 "$work/ranges.mlir"
expect_fine
expect_in_out 'out_0                    tensor<i32>  5'
expect_in_out 'out_1                    tensor<i32>  7'
expect_in_out 'tensor<f32>  100.0'
[[ $out =~ out_3\ +tensor\<f32\>\ \ (100\.9|101) ]] || fail 'the largest is near 101'
[[ $out =~ out_4\ +tensor\<i8\>\ \ -12[0-9] ]] || fail 'the least is near -128'
[[ $out =~ out_5\ +tensor\<i8\>\ \ 12[0-7] ]] || fail 'the largest is near 127'
expect_in_out 'tensor<f16>  2'
expect_in_out 'tensor<bf16>  0.5'
run "$TESSERA" eval "${ranges[@]}" --random-range ids=9,10 "$work/ranges.mlir"
expect_in_out 'out_0                    tensor<i32>  9'
refused() {
    run "$TESSERA" eval --random=1 --random-range "$1" "$work/ranges.mlir"
    expect_error 2 "$2"
}
refused 9=0,1 'unknown argument 9; the function has 6 arguments'
refused none=0,1 'unknown argument none'
refused 0=0.5,2 'must be integers up to 2^53'
refused 0=3,3 'LO below HI'
refused 2=0,129 'cannot represent the whole range'
refused 5=0,3 'cannot represent the whole range'
refused 1=2,1 'LO at most HI'
refused 1=0,inf 'finite'
refused 1=0 'write NAME=LO,HI'
refused 1=0,1x 'write NAME=LO,HI'
run "$TESSERA" eval --random-range 0=0,1 "$work/ranges.mlir"
expect_error 2 'needs --random'

# An op of many operands takes time in proportion to them: pairs of them would take minutes.
awk 'BEGIN {
    n = 64000
    printf "func.func @main(%%a: tensor<1xi32>) -> tensor<%dxi32> {\n  %%0 = stablehlo.concatenate ", n
    for (i = 0; i < n; i++) printf "%s%%a", (i ? ", " : "")
    printf ", dim = 0 : ("
    for (i = 0; i < n; i++) printf "%stensor<1xi32>", (i ? ", " : "")
    printf ") -> tensor<%dxi32>\n  return %%0 : tensor<%dxi32>\n}\n", n, n
}' >"$work/joined.mlir"
run "$TESSERA" eval --random=1 "$work/joined.mlir"
expect_fine
expect_in_out 'tensor<64000xi32>'
finish
