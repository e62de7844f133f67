//! Tells the binary where to find the Z3 library when it is started by hand.

use std::path::Path;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    // First the installed layout (bin/hardbop beside lib/hardbop/libz3.so.5.4), then the build tree.
    println!("cargo:rustc-link-arg-bins=-Wl,-rpath,$ORIGIN/../lib/hardbop");
    let built = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../third_party/z3/lib");
    let built = built.canonicalize().unwrap_or(built);
    println!("cargo:rustc-link-arg-bins=-Wl,-rpath,{}", built.display());
}
