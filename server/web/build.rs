//! The pages' scripts and styles are embedded; without them the program builds, and `serve` says that they are missing.

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=../../frontend/dist");
    println!("cargo::rerun-if-changed=../../templates");
    println!("cargo::rerun-if-changed=../../texts");
    std::fs::create_dir_all("../../frontend/dist")
}
