//! Code folders, and malicious archives.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use reqwest::Method;
use serde_json::json;
use tar::{Builder, EntryType, Header};

use super::super::support::{Answer, Client, Who, client::send};
use super::{PIPELINES, document, editor};
use crate::support::wait_for;

const CODE: &str = "/projects/default/code";

fn header(name: &[u8], kind: EntryType, size: u64) -> Header {
    let mut header = Header::new_ustar();
    // `set_path` rejects such paths.
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_size(size);
    if matches!(kind, EntryType::Symlink | EntryType::Link) {
        header.set_link_name("/etc/passwd").unwrap();
    }
    header.set_cksum();
    header
}

pub fn archive(entries: &[(&[u8], EntryType, &[u8])]) -> Vec<u8> {
    let mut builder = Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
    for (name, kind, content) in entries {
        builder.append(&header(name, *kind, content.len() as u64), *content).unwrap();
    }
    builder.into_inner().unwrap().finish().unwrap()
}

pub(super) fn upload(client: &Client, body: Vec<u8>) -> Answer {
    send(client.request(Method::PUT, CODE).header("content-type", "application/gzip").body(body))
}

#[test]
fn a_folder_is_uploaded_and_goes_with_a_pipeline() {
    let (server, editor) = editor();
    let files: &[(&[u8], EntryType, &[u8])] = &[
        (b"./lib/", EntryType::Directory, b""),
        (b"./lib/part.py", EntryType::Regular, b"x = 1\n"),
        (b"main.py", EntryType::Regular, b"print('<script>')\n"),
        (b".git/config", EntryType::Regular, b"left out"),
    ];
    let made = upload(&editor, archive(files)).expect(200).json();
    let digest = made["digest"].as_str().unwrap().to_owned();
    assert_eq!(made["files"], 2);
    assert_eq!(
        upload(&editor, archive(files)).expect(200).json()["digest"],
        digest,
        "the same folder, the same digest"
    );

    let viewer = server.as_(Who::Viewer);
    let listed = viewer.get(&format!("{CODE}/{digest}")).expect(200).json();
    let names: Vec<&str> =
        listed["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(names, ["lib/part.py", "main.py"]);
    let file = viewer.get(&format!("{CODE}/{digest}/file?path=main.py")).expect(200);
    assert_eq!(
        (file.text().as_str(), file.header("content-type")),
        ("print('<script>')\n", "text/plain; charset=utf-8")
    );
    for path in ["../keys/signing", "/etc/passwd", "lib/../../x", "lib", "", "%00", ".."] {
        viewer.get(&format!("{CODE}/{digest}/file?path={path}")).expect(404).problem("not-found");
    }

    let text = document("with-code", "hi").replace("command: [echo, hi]", "command: [python3, main.py]");
    let sent = json!({"document": text, "code": digest});
    assert_eq!(editor.post(PIPELINES, &sent).expect(201).json()["code"], digest);
    let changed = json!({"document": text.replace("Says hi", "Says more")});
    let kept = editor.put(&format!("{PIPELINES}/with-code"), "\"1\"", &changed).expect(200).json();
    assert_eq!(kept["code"], digest, "a change without a folder keeps the one that is there");
    let without = json!({"document": text.replace("Says hi", "Says more"), "code": ""});
    let bare = editor.put(&format!("{PIPELINES}/with-code"), "\"2\"", &without).expect(200).json();
    assert_eq!((&bare["version"], bare.get("code")), (&json!(3), None), "an empty one takes it away: {bare}");
    let started = editor.post("/projects/default/runs", &json!({"pipeline": "with-code"})).expect(201).json();
    assert!(started["run"].get("code").is_none(), "{started}");

    let admin = server.as_(Who::Administrator);
    admin.post("/projects", &json!({"name": "other"})).expect(201);
    admin.get(&format!("/projects/other/code/{digest}")).expect(404).problem("not-found");
    let sent = json!({"document": text, "code": digest});
    admin.post("/projects/other/pipelines", &sent).expect(422).problem("invalid");
}

#[test]
fn code_is_counted_and_goes_when_nothing_names_it_any_more() {
    let (server, editor) = editor();
    let sent = |name: &str, text: &str| {
        let files: [(&[u8], EntryType, &[u8]); 1] = [(name.as_bytes(), EntryType::Regular, text.as_bytes())];
        upload(&editor, archive(&files)).expect(200).json()["digest"].as_str().unwrap().to_owned()
    };
    let [unused, of_version, of_run, young] =
        [("a.py", "12345"), ("b.py", "1"), ("c.py", "1"), ("d.py", "1")].map(|(name, text)| sent(name, text));
    let text = document("with-code", "hi");
    editor.post(PIPELINES, &json!({"document": text, "code": of_version})).expect(201);
    editor.post("/projects/default/runs", &json!({"document": text, "code": of_run})).expect(201);
    let listed = server.as_(Who::Viewer).get(&format!("{CODE}?limit=3")).expect(200).json();
    assert_eq!((&listed["folders"], &listed["bytes"]), (&json!(4), &json!(8)));
    assert_eq!(listed["items"].as_array().unwrap().len(), 3);
    let next = listed["next_cursor"].as_str().unwrap();
    let rest = editor.get(&format!("{CODE}?limit=3&cursor={next}")).expect(200).json();
    let all: Vec<_> =
        listed["items"].as_array().unwrap().iter().chain(rest["items"].as_array().unwrap()).collect();
    for one in &all {
        let named = [&of_version, &of_run].iter().any(|digest| one["digest"] == digest.as_str());
        assert_eq!(one["removed_at"].is_string(), !named, "{one}");
    }

    server.stop();
    let now = server.data().metadata().unwrap().modified().unwrap();
    let past = now - std::time::Duration::from_secs(31 * 86_400);
    for digest in [&unused, &of_version, &of_run] {
        for path in
            [server.data().join("code-of/default").join(digest), server.data().join("code").join(digest)]
        {
            std::fs::File::open(path).unwrap().set_modified(past).unwrap();
        }
    }
    server.run();
    let here = |digest: &str| server.data().join("code").join(digest).is_dir();
    wait_for("what nothing names to go", || !here(&unused));
    assert!([&of_version, &of_run, &young].iter().all(|digest| here(digest)));
    let editor = server.as_(Who::Editor);
    editor.get(&format!("{CODE}/{unused}")).expect(404).problem("not-found");
    assert_eq!(editor.get(CODE).expect(200).json()["folders"], 3);
}

#[test]
fn archives_cannot_leave_their_folder() {
    let (server, editor) = editor();
    let before = std::fs::read_dir(server.data().join("code")).unwrap().count();
    let tricks: &[(&[u8], EntryType, &str)] = &[
        (b"../evil", EntryType::Regular, "must stay below"),
        (b"a/../../evil", EntryType::Regular, "must stay below"),
        (b"/tmp/evil", EntryType::Regular, "must stay below"),
        (b"link", EntryType::Symlink, "is a link"),
        (b"link", EntryType::Link, "is a link"),
        (b"device", EntryType::Char, "is a device"),
        (b"pipe", EntryType::Fifo, "is a pipe"),
        (b"bad-\xff", EntryType::Regular, "UTF-8"),
    ];
    for (name, kind, told) in tricks {
        let refused = upload(&editor, archive(&[(name, *kind, b"")])).expect(422).problem("invalid");
        assert!(refused["detail"].as_str().unwrap().contains(told), "{name:?}: {refused}");
    }
    let twice: &[(&[u8], EntryType, &[u8])] =
        &[(b"a", EntryType::Regular, b"1"), (b"a", EntryType::Regular, b"2")];
    upload(&editor, archive(twice)).expect(422);
    upload(&editor, b"no archive".to_vec()).expect(422);
    let mut cut = archive(&[(b"a", EntryType::Regular, &[7; 4096])]);
    cut.truncate(cut.len() / 2);
    upload(&editor, cut).expect(422);
    upload(&server.as_(Who::Viewer), archive(&[])).expect(403).problem("forbidden");
    assert_eq!(
        std::fs::read_dir(server.data().join("code")).unwrap().count(),
        before,
        "nothing is left behind"
    );
}

#[test]
fn bombs_are_stopped_where_the_limit_is() {
    let (server, editor) = editor();
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    let size: u64 = 300 << 20;
    bomb.write_all(header(b"zeros", EntryType::Regular, size).as_bytes()).unwrap();
    let zeros = vec![0; 1 << 20];
    (0..300).for_each(|_| bomb.write_all(&zeros).unwrap());
    let bomb = bomb.finish().unwrap();
    assert!(bomb.len() < 1 << 20);
    upload(&editor, bomb).expect(413).problem("too-large");
    let names: Vec<String> = (0..10_001).map(|n| format!("f{n}")).collect();
    let many: Vec<(&[u8], EntryType, &[u8])> =
        names.iter().map(|name| (name.as_bytes(), EntryType::Regular, &b""[..])).collect();
    upload(&editor, archive(&many)).expect(413).problem("too-large");
    let mut long = GzEncoder::new(Vec::new(), Compression::best());
    long.write_all(header(b"././@LongLink", EntryType::GNULongName, size).as_bytes()).unwrap();
    (0..300).for_each(|_| long.write_all(&zeros).unwrap());
    upload(&editor, long.finish().unwrap()).expect(413).problem("too-large");
    let left = std::fs::read_dir(server.data().join("code")).unwrap().count();
    assert_eq!(left, 0, "nothing is left behind");
}
