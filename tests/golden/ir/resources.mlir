// flags:
module attributes {a.b = dense_resource<"odd name"> : tensor<2xi8>} {
  func.func @f() {
    %0 = stablehlo.constant dense_resource<blob> : tensor<1xi32>
    %1 = stablehlo.constant dense_resource<missing> : tensor<1xi32>
    %2 = stablehlo.constant dense_resource<blob> : tensor<1xi32>
    return
  }
}
{-#
  external_resources: { tool: { a: true, "b": "text" } },
  dialect_resources: { builtin: {
    unused: "0x0400000001020304", blob: "0x04000000aabbccdd",
    "odd name": "0x010000000102" } }
#-}
