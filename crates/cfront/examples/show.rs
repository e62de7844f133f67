//! Shows a program as pseudo-C.
#![allow(clippy::print_stdout)]
use hardbop_cfront::load::{Options, load};
use hardbop_cfront::parse::{Files, Input, InputKind, Preprocess};
use hardbop_cfront::types::DataModel;
use std::path::{Path, PathBuf};
struct Disk;
impl Files for Disk {
    fn read(&self, path: &Path) -> std::io::Result<Vec<u8>> { std::fs::read(path) }
    fn identity(&self, path: &Path) -> PathBuf { path.canonicalize().unwrap_or_else(|_| path.to_path_buf()) }
}
fn main() {
    let mut model = DataModel::Lp64;
    let mut options = None;
    let mut inputs = vec![];
    for path in std::env::args().skip(1) {
        if path == "32" { model = DataModel::Ilp32; continue }
        if path == "checks" {
            use hardbop_cfront::program::CheckKind::*;
            let mut o = Options::new(model); o.lower.checks = [DivisionByZero, Overflow, Pointer, Bounds, Free].into(); options = Some(o); continue
        }
        inputs.push(Input { name: path.clone(), bytes: std::fs::read(&path).unwrap(), kind: InputKind::of(&path), preprocess: Preprocess::default() });
    }
    let start = std::time::Instant::now();
    let loaded = load(&inputs, &options.unwrap_or(Options::new(model)), &Disk);
    let time = start.elapsed();
    for d in &loaded.diagnostics { println!("{}", hardbop_diagnostics::render(d, loaded.sources(), hardbop_diagnostics::Style::Plain)); }
    if let Some(p) = loaded.program {
        if std::env::var("QUIET").is_err() { println!("{}", hardbop_cfront::dump::dump(&p.program)); }
        println!("{:?}", hardbop_cfront::verify::verify(&p.program));
        println!("{time:?} {} locations {} edges {} exprs {} unsupported", p.program.locations.len(), p.program.edges.len(), p.program.exprs.len(), p.program.unsupported.len());
    }
}
