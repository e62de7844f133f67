//! Makes sure that Z3 is there before anything is linked, and that `cargo run`, `cargo test` and
//! `cargo bench` find it at run time, wherever the target directory is.

use std::path::Path;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let library = root.join("third_party/z3/lib/libz3.so.5.4");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={}", library.display());
    let Ok(library) = library.canonicalize() else {
        println!(
            "cargo:warning=the Z3 library is not there: run scripts/setup-z3, then build again"
        );
        panic!(
            "\n\n  The Z3 library is missing ({}).\n  Run scripts/setup-z3, then build again.\n\n",
            library.display()
        );
    };

    // Cargo puts search paths that lie in its target directory on the loader's path of every
    // program that it starts. So a link in our output directory serves all crates above this one,
    // and no rpath has to be repeated in each of them.
    let out = std::env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    for name in ["libz3.so.5.4", "libz3.so"] {
        let link = Path::new(&out).join(name);
        let _ = std::fs::remove_file(&link);
        #[cfg(unix)]
        std::os::unix::fs::symlink(&library, &link).expect("cannot link the Z3 library");
        #[cfg(not(unix))]
        std::fs::copy(&library, &link).expect("cannot copy the Z3 library");
    }
    println!("cargo:rustc-link-search=native={out}");
}
