// flags: -mlir-print-debuginfo
#early = loc("e":7:8)
module attributes {a.b = #early, a.c = loc("n"(#early)), a.d = loc(fused<loc(#early)>[#early, #early])} {
  func.func @f(%a: tensor<f32> loc("x":1:2), %b: tensor<f32> loc(fused["y":3:4, unknown])) {
    %0 = stablehlo.add %a, %b : tensor<f32> loc("file":9:2 to 9:16)
    %1 = stablehlo.add %0, %b : tensor<f32> loc("file":9:2 to 10:16)
    %2 = stablehlo.add %1, %b : tensor<f32> loc("file":9:2 to 9:2)
    %3 = stablehlo.add %2, %b : tensor<f32> loc("name"(unknown))
    %4 = stablehlo.add %3, %b : tensor<f32> loc(fused["y":3:4, fused["z":1:1, "y":3:4]])
    %5 = stablehlo.add %4, %b : tensor<f32> loc(fused<"m">[unknown, unknown])
    %6 = stablehlo.add %5, %b : tensor<f32> loc(fused<"m">[fused<"n">["y":3:4], fused<"m">["q"]])
    %7 = stablehlo.add %6, %b : tensor<f32> loc(fused[unknown])
    %8 = stablehlo.add %7, %b : tensor<f32> loc(callsite("name" at #early))
    %9:2 = stablehlo.reduce(%8 init: %8), (%a init: %b) across dimensions = [] : (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
     reducer(%c: tensor<f32> loc("1"), %d: tensor<f32> loc("2")) (%e: tensor<f32> loc("3"), %g: tensor<f32> loc("4")) {
      stablehlo.return %c, %e : tensor<f32>, tensor<f32>
    }
    return loc(#late)
  } loc("f")
}
#late = loc(fused["y":3:4, "w":5:6])
