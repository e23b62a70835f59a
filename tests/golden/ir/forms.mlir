// flags:
func.func @f(%x: tensor<f32>, %t: !stablehlo.token, %b: tensor<?xf32, #stablehlo.bounds<4>>,
             %v: tensor<2xf32>) {
  %0 = stablehlo.dynamic_slice %x, sizes = [] : (tensor<f32>) -> tensor<f32>
  %1:2 = "stablehlo.infeed"(%t) : (!stablehlo.token) -> (tensor<f32>, !stablehlo.token)
  %2 = "stablehlo.outfeed"(%x, // a comment, then another operand
                           %t) : (tensor<f32>, !stablehlo.token) -> !stablehlo.token
  stablehlo.optimization_barrier()
  stablehlo.optimization_barrier {a = 1} ()
  %3 = stablehlo.complex %b, %b : tensor<?xcomplex<f32>, #stablehlo.bounds<4>>
  %4 = tensor.cast %v : tensor<2xf32> to tensor<?xf32>
  %5 = builtin.unrealized_conversion_cast to index
  %6:2 = builtin.unrealized_conversion_cast %x, %v : tensor<f32>, tensor<2xf32> to i1, i2 {a}
  %7 = chlo.broadcast_add %x, %v : (tensor<f32>, tensor<2xf32>) -> tensor<2xf32>
  %8:2 = chlo.scan(%v) inits (%x) dimension=0 attributes {is_reverse = true} {
  ^bb0(%in: tensor<f32>, %carry: tensor<f32>):
    stablehlo.return %in, %carry : tensor<f32>, tensor<f32>
  } : (tensor<2xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<f32>)
  %9 = stablehlo.reduce(%v init: %x) across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
   reducer(%p: tensor<f32>, %q: tensor<f32>) {
    %10 = stablehlo.add %p, %q {a = 1} : tensor<f32>
    stablehlo.return %10 : tensor<f32>
  }
  return
}
