//! The program under test: the one that cargo builds beside this test.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// The `cubeloom` program, built from the current sources.
pub fn cubeloom() -> PathBuf {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(build).clone()
}

#[allow(clippy::disallowed_methods, reason = "a test may be told which program it tests")]
fn build() -> PathBuf {
    if let Some(told) = std::env::var_os("CUBELOOM_TEST_PROGRAM") {
        return told.into();
    }
    // There is no `CARGO_BIN_EXE_` for a binary of another package. It is built at most once, into the same
    // target folder: this test is in <target>/<profile>/deps.
    let own = std::env::current_exe().expect("this program's path");
    let folder = own.ancestors().nth(2).expect("the profile's folder").to_path_buf();
    let mut cargo = Command::new(env!("CARGO"));
    // The same features as the tests, so that one build of every dependency serves both.
    cargo.args(["build", "--quiet", "--locked", "--workspace", "--bins"]);
    cargo.args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml")]);
    if folder.ends_with("release") {
        cargo.arg("--release");
    }
    let status = cargo.arg("--target-dir").arg(folder.parent().expect("the target folder")).status();
    assert!(status.expect("cargo starts").success(), "cubeloom does not build");
    folder.join("cubeloom")
}
