//! The pages' scripts and styles are embedded; without them the program builds, and `serve` says that they are missing.

#[expect(clippy::disallowed_methods, reason = "where the program is built, nothing is a project's")]
fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=../../frontend/dist");
    println!("cargo::rerun-if-changed=../../templates");
    println!("cargo::rerun-if-changed=../../texts");
    std::fs::create_dir_all("../../frontend/dist")
}
