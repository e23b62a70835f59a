// flags: -split-input-file -verify-diagnostics
// Symbols and meshes are those of the nearest module.
module {
  sdy.mesh @m = <["x"=2]>
  func.func private @g(tensor<2xf32>) -> tensor<2xf32>
  module @inner {
    sdy.mesh @m = <["y"=4]>
    func.func private @g(tensor<4xf32>) -> tensor<4xf32>
    func.func @f(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}]>}) -> tensor<4xf32> {
      %0 = func.call @g(%a) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
  }
  func.func @f(%a: tensor<2xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> tensor<2xf32> {
    %0 = func.call @g(%a) : (tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
// -----
module {
  sdy.mesh @m = <["x"=2]>
  module @inner {
    // expected-error @+1 {{unknown mesh: @m}}
    func.func private @f(tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>})
  }
}
// -----
module {
  func.func private @g(tensor<2xf32>)
  module @inner {
    func.func @f(%a: tensor<2xf32>) {
      // expected-error @+1 {{'g' does not reference a valid function}}
      func.call @g(%a) : (tensor<2xf32>) -> ()
      return
    }
  }
}
// -----
// One sharding in two modules is resolved against the mesh of each.
module {
  module @a {
    sdy.mesh @m = <["x"=2]>
    func.func private @f(tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>})
  }
  module @b {
    sdy.mesh @m = <["y"=2]>
    // expected-error @+1 {{unknown axis name: "x"}}
    func.func private @f(tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>})
  }
}
