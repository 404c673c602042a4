use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn take(folder: &tempfile::TempDir) -> Result<Snapshot, SnapshotError> {
    Snapshot::take(folder.path(), Limits { bytes: 1000, files: 10 })
}

#[test]
fn a_copy_holds_what_counts_and_can_be_read_by_everybody() {
    let source = folder(&[
        ("pipeline.yaml", "x"),
        ("lib/part.py", "y"),
        (".git/config", "z"),
        ("__pycache__/part.pyc", "z"),
        ("lib/target/out", "z"),
    ]);
    fs::set_permissions(source.path().join("lib/part.py"), PermissionsExt::from_mode(0o700)).unwrap();
    let parent = tempfile::tempdir().unwrap();
    let copy = take(&source).unwrap().keep(parent.path()).unwrap();
    assert_eq!(fs::read_to_string(copy.join("lib/part.py")).unwrap(), "y");
    assert!(
        !copy.join(".git").exists()
            && !copy.join("__pycache__").exists()
            && !copy.join("lib/target").exists()
    );
    let mode = |name: &str| fs::metadata(copy.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("pipeline.yaml"), mode("lib/part.py"), mode("lib")), (0o644, 0o755, 0o755));
    assert_eq!(take(&source).unwrap().keep(parent.path()).unwrap(), copy);
    assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
}

#[test]
fn the_digest_is_that_of_names_and_content() {
    let digest = |files: &[(&str, &str)]| take(&folder(files)).unwrap().digest;
    let one = digest(&[("a", "1"), ("b", "2")]);
    assert_eq!(one, digest(&[("b", "2"), ("a", "1")]));
    assert_ne!(one, digest(&[("a", "2"), ("b", "1")]));
    assert_ne!(one, digest(&[("a", "1"), ("c", "2")]));
}

#[test]
fn too_much_is_refused_with_what_to_do() {
    let large = folder(&[("data.bin", &"x".repeat(1001))]);
    assert!(take(&large).unwrap_err().to_string().contains("transfer"));
    let names: Vec<String> = (0..11).map(|n| n.to_string()).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    assert!(take(&folder(&many)).is_err());
}

#[test]
fn links_stay_inside() {
    let source = folder(&[("a", "1")]);
    symlink("a", source.path().join("b")).unwrap();
    assert_eq!(take(&source).unwrap().entries.len(), 2);
    symlink("/etc/passwd", source.path().join("c")).unwrap();
    assert!(take(&source).unwrap_err().to_string().contains("is a link to /etc/passwd"));
}

#[test]
fn copies_of_one_folder_that_are_made_at_once_are_whole() {
    let files: Vec<(String, String)> =
        (0..40).map(|n| (format!("f{n}"), n.to_string().repeat(2000))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let source = folder(&files);
    let limits = Limits { bytes: 1 << 20, files: 100 };
    for _ in 0..20 {
        let parent = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            let copies: Vec<_> = (0..4)
                .map(|_| {
                    scope
                        .spawn(|| Snapshot::take(source.path(), limits).unwrap().keep(parent.path()).unwrap())
                })
                .collect();
            for copy in copies {
                let copy = copy.join().unwrap();
                assert_eq!(fs::read_dir(&copy).unwrap().count(), files.len());
            }
        });
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1, "nothing is left beside the copy");
    }
}
