//! Pages' scripts and styles are embedded. The program builds without them: then `serve` reports that they
//! are missing.

#[expect(clippy::disallowed_methods, reason = "where the program is built, nothing is a project's")]
fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=../../frontend/dist");
    println!("cargo::rerun-if-changed=../../templates");
    println!("cargo::rerun-if-changed=../../texts");
    std::fs::create_dir_all("../../frontend/dist")
}
