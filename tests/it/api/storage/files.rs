//! Files of a volume: upload, listing, preview, download and deletion, all confined to the volume.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::{MetadataExt, symlink};
use std::time::{Duration, SystemTime};

use reqwest::Method;
use serde_json::json;

use crate::api::support::client::{Answer, send};
use crate::api::support::{Client, Server, Who};
use crate::support::wait_for;

const VOLUME: &str = "/projects/default/volumes/workspace";

#[track_caller]
fn put(client: &Client, path: &str, content: impl Into<reqwest::blocking::Body>) -> Answer {
    send(client.request(Method::PUT, &format!("{VOLUME}/file?path={path}")).body(content))
}

#[test]
fn a_file_comes_back_as_it_was_brought_whole_and_in_ranges() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let content: Vec<u8> = (0..300_000_u32).map(|at| (at % 251) as u8).collect();
    put(&editor, "a/b/data.bin", content.clone()).expect(204);
    let file = format!("{VOLUME}/file?path=a/b/data.bin");
    let whole = editor.get(&file).expect(200);
    assert!(whole.body == content);
    assert_eq!(
        whole.header("content-disposition"),
        "attachment; filename=\"data.bin\"; filename*=UTF-8''data%2Ebin"
    );
    assert!(whole.header("content-security-policy").contains("sandbox"), "{:?}", whole.headers);
    let part = send(editor.request(Method::GET, &file).header("range", "bytes=1000-1999")).expect(206);
    assert!(part.body == content[1000..2000]);
    assert_eq!(part.header("content-range"), "bytes 1000-1999/300000");
    send(editor.request(Method::GET, &file).header("range", "bytes=300000-")).expect(416);
    send(editor.request(Method::GET, &file).header("if-none-match", whole.etag())).expect(304);
    let listed = editor.get(&format!("{VOLUME}/files?path=a/b")).expect(200).json();
    assert_eq!(
        (&listed["items"][0]["name"], &listed["items"][0]["size"]),
        (&json!("data.bin"), &json!(300_000))
    );
}

#[test]
fn a_file_is_replaced_and_deleted_only_as_it_was_read_where_somebody_says_so() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    let file = format!("{VOLUME}/file?path=shared.txt");
    let with = |method: Method, name: &str, tag: &str, content: &'static str| {
        send(editor.request(method, &file).header(name, tag).body(content))
    };
    let read = || editor.get(&file).expect(200);
    with(Method::PUT, "if-match", "*", "one").expect(412).problem("stale");
    put(&editor, "shared.txt", "one").expect(204);
    let first = read().etag();
    with(Method::PUT, "if-match", &first, "another").expect(204);
    let second = read().etag();
    assert_ne!(first, second);
    let refused = with(Method::PUT, "if-match", &first, "late").expect(412);
    assert_eq!(refused.header("etag"), second, "the present one is told");
    refused.problem("stale");
    with(Method::DELETE, "if-match", &first, "").expect(412).problem("stale");
    assert_eq!(read().text(), "another");
    with(Method::PUT, "if-none-match", "*", "new").expect(409).problem("conflict");
    // A weak tag never matches.
    with(Method::PUT, "if-match", &format!("W/{second}"), "late").expect(412).problem("stale");
    // One of several tags matches, and so does `*`.
    for tag in [format!("{first}, {second}"), "*".to_owned()] {
        with(Method::PUT, "if-match", &tag, "another").expect(204);
        let path = server.data().join("workspace/default/shared.txt");
        let at = second.trim_matches('"').split_once('-').unwrap().1;
        let at = Duration::from_micros(u64::from_str_radix(at, 16).unwrap());
        fs::File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(SystemTime::UNIX_EPOCH + at)
            .unwrap();
    }
    with(Method::DELETE, "if-match", &second, "").expect(204);
    editor.get(&file).expect(404);
    with(Method::DELETE, "if-match", &second, "").expect(412).problem("stale");
}

#[test]
fn a_file_that_changes_while_another_is_being_sent_is_not_lost() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    put(&editor, "slow.txt", "one").expect(204);
    let read = editor.get(&format!("{VOLUME}/file?path=slow.txt")).expect(200).etag();
    let mut slow = TcpStream::connect(server.url().replace("http://", "")).unwrap();
    let token = editor.token().unwrap();
    write!(
        slow,
        "PUT /api/v1{VOLUME}/file?path=slow.txt HTTP/1.1\r\nhost: here\r\nauthorization: Bearer {token}\r\n\
         if-match: {read}\r\ncontent-length: 4\r\nexpect: 100-continue\r\nconnection: close\r\n\r\n"
    )
    .unwrap();
    // The server asks for the body (100 Continue) after it has checked the precondition.
    let mut asked = [0; 25];
    slow.read_exact(&mut asked).unwrap();
    assert_eq!(&asked, b"HTTP/1.1 100 Continue\r\n\r\n");
    slow.write_all(b"la").unwrap();
    put(&editor, "slow.txt", "faster").expect(204);
    slow.write_all(b"te").unwrap();
    let mut answer = String::new();
    slow.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 412"), "{answer}");
    assert_eq!(editor.get(&format!("{VOLUME}/file?path=slow.txt")).expect(200).text(), "faster");
}

#[test]
fn workers_can_use_what_people_bring() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    put(&editor, "in/data.txt", "from a person").expect(204);
    let line = "cat $CUBELOOM_WORKSPACE/in/data.txt > $CUBELOOM_WORKSPACE/in/copy.txt";
    let document = crate::api::runs::help::document(
        "copies",
        &format!("tasks:\n{}", crate::api::runs::help::task("copy", line, "")),
    );
    let run = crate::api::runs::help::start(&editor, &document);
    crate::api::runs::help::until(&editor, &run, "succeeded");
    assert_eq!(editor.get(&format!("{VOLUME}/file?path=in/copy.txt")).expect(200).text(), "from a person");
    let folder = server.data().join("workspace/default/in");
    let owner = |name: &str| fs::metadata(folder.join(name)).unwrap().uid();
    assert_eq!(owner("data.txt"), owner("copy.txt"));
}

#[test]
fn folders_come_first_and_pages_hold_everything_once() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    for folder in ["z", "y"] {
        editor.post(&format!("{VOLUME}/folders"), &json!({"path": format!("list/{folder}")})).expect(201);
    }
    for at in 0..25 {
        put(&editor, &format!("list/f{at:02}"), "x").expect(204);
    }
    let mut names = Vec::new();
    let mut cursor = String::new();
    loop {
        let page =
            editor.get(&format!("{VOLUME}/files?path=list&limit=10&cursor={cursor}")).expect(200).json();
        names.extend(
            page["items"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap().to_owned()),
        );
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = next.to_owned();
    }
    let wanted: Vec<String> =
        ["y".into(), "z".into()].into_iter().chain((0..25).map(|at| format!("f{at:02}"))).collect();
    assert_eq!(names, wanted);
    let archive = editor.get(&format!("{VOLUME}/archive?path=list")).expect(200);
    assert_eq!(&archive.body[..2], [0x1f, 0x8b]);
    let packed = server.path("list.tar.gz");
    fs::write(&packed, &archive.body).unwrap();
    let told = std::process::Command::new("tar").arg("tzf").arg(&packed).output().unwrap();
    assert_eq!(String::from_utf8(told.stdout).unwrap().lines().count(), 27);
}

#[test]
fn no_path_leads_out() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    put(&editor, "kept.txt", "kept").expect(204);
    let root = server.data().join("workspace/default");
    fs::write(server.data().join("outside"), "outside").unwrap();
    symlink("../../outside", root.join("leaves")).unwrap();
    symlink("/etc", root.join("etc")).unwrap();
    symlink("kept.txt", root.join("stays")).unwrap();
    std::process::Command::new("mkfifo").arg(root.join("pipe")).status().unwrap();
    for path in [
        "../outside",
        "leaves",
        "etc/passwd",
        "/etc/passwd",
        "a/../../outside",
        "pipe",
        "a%00b",
        "%2e%2e/outside",
    ] {
        for what in ["file", "preview", "files", "archive"] {
            let answer = editor.get(&format!("{VOLUME}/{what}?path={path}"));
            assert!(
                matches!(answer.status, 404 | 409 | 422),
                "{what} {path}: {} {}",
                answer.status,
                answer.text()
            );
            assert!(!answer.text().contains("root:"), "{what} {path}");
        }
        let written = put(&editor, path, "x");
        assert!(matches!(written.status, 403..=422), "{path}: {} {}", written.status, written.text());
    }
    assert_eq!(fs::read_to_string(server.data().join("outside")).unwrap(), "outside");
    assert_eq!(editor.get(&format!("{VOLUME}/file?path=stays")).expect(200).text(), "kept");
    // Deleting a link deletes only the link; deleting a folder with a link does not follow it.
    editor.delete(&format!("{VOLUME}/file?path=leaves"), "").expect(204);
    fs::create_dir(root.join("folder")).unwrap();
    symlink(server.data(), root.join("folder/data")).unwrap();
    editor.delete(&format!("{VOLUME}/file?path=folder"), "").expect(204);
    assert!(server.data().join("outside").exists() && server.data().join("db").exists());
}

#[test]
fn an_upload_that_is_cut_leaves_nothing_and_replaces_nothing() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    put(&editor, "big.bin", "before").expect(204);
    let address = server.url().replace("http://", "");
    let mut cut = TcpStream::connect(&address).unwrap();
    let token = editor.token().unwrap();
    write!(
        cut,
        "PUT /api/v1{VOLUME}/file?path=big.bin HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\ncontent-length: 1000000\r\n\r\n"
    )
    .unwrap();
    cut.write_all(&[7; 100_000]).unwrap();
    let root = server.data().join("workspace/default");
    let names = || -> Vec<String> {
        let entries = fs::read_dir(&root).unwrap().flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    };
    wait_for("the upload to begin", || writes_below(server.pid(), &root));
    assert!(!editor.get(&format!("{VOLUME}/files")).text().contains("cubeloom-part"));
    // A server killed now leaves nothing of it either.
    assert_eq!(names(), ["big.bin"]);
    drop(cut);
    wait_for("the upload to be given up", || !writes_below(server.pid(), &root));
    assert_eq!(names(), ["big.bin"]);
    assert_eq!(fs::read_to_string(root.join("big.bin")).unwrap(), "before");
}

/// Whether a process has an unnamed file open in a folder.
fn writes_below(pid: u32, folder: &std::path::Path) -> bool {
    let folder = folder.canonicalize().unwrap();
    let open = fs::read_dir(format!("/proc/{pid}/fd")).unwrap().flatten();
    let targets = open.filter_map(|entry| fs::read_link(entry.path()).ok());
    targets
        .into_iter()
        .any(|target| target.starts_with(&folder) && target.to_string_lossy().ends_with("(deleted)"))
}

#[test]
fn a_file_is_replaced_only_when_that_is_meant_and_not_without_the_role() {
    let server = Server::start();
    let (editor, viewer) = (server.as_(Who::Editor), server.as_(Who::Viewer));
    let file = format!("{VOLUME}/file?path=a.txt");
    let careful =
        |text: &'static str| send(editor.request(Method::PUT, &file).header("if-none-match", "*").body(text));
    careful("one").expect(204);
    careful("two").expect(409).problem("conflict");
    assert_eq!(viewer.get(&file).expect(200).text(), "one");
    send(viewer.request(Method::PUT, &file).body("three")).expect(403).problem("forbidden");
    viewer.delete(&file, "").expect(403).problem("forbidden");
    viewer.post(&format!("{VOLUME}/folders"), &json!({"path": "x"})).expect(403);
    put(&editor, "a.txt", "two").expect(204);
    assert_eq!(viewer.get(&file).expect(200).text(), "two");
    editor.delete(&file, "").expect(204);
    viewer.get(&file).expect(404).problem("not-found");
}

#[test]
fn a_file_that_is_too_large_is_refused() {
    let mut app = crate::support::TestApp::new();
    app.set("CUBELOOM_SERVER_UPLOAD", "64Ki");
    let server = Server::start_in(app);
    let editor = server.as_(Who::Editor);
    put(&editor, "fits", vec![1; 65_536]).expect(204);
    put(&editor, "large", vec![1; 65_537]).expect(413).problem("too-large");
    // Without a declared length, the server reads the excess, so that the client gets the response.
    for length in [65_537, 1 << 20, 6 << 20] {
        let endless = reqwest::blocking::Body::new(std::io::repeat(1).take(length));
        put(&editor, "large", endless).expect(413).problem("too-large");
    }
    // With `Expect: 100-continue`, the client need not send anything.
    let (address, token) = (server.url().replace("http://", ""), editor.token().unwrap());
    let mut asks = TcpStream::connect(&address).unwrap();
    let head = format!(
        "PUT /api/v1{VOLUME}/file?path=large HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}"
    );
    write!(asks, "{head}\r\ncontent-length: 1000000000\r\nexpect: 100-continue\r\n\r\n").unwrap();
    let mut answer = [0; 12];
    asks.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 413");
    assert_eq!(fs::read_dir(server.data().join("workspace/default")).unwrap().count(), 1);
}

#[test]
fn previews_show_tables_json_text_and_say_when_they_cannot() {
    let server = Server::start();
    let editor = server.as_(Who::Editor);
    for (name, text, shown) in [
        ("a.csv", "x,y\n1,2\n", "table"),
        ("a.json", "{\"a\": 1}", "json"),
        ("a.log", "plain", "text"),
        ("a.png", "\u{1}", "image"),
        ("a.html", "<script>alert(1)</script>", "page"),
        ("a.bin", "a\u{0}b", "nothing"),
    ] {
        put(&editor, name, text).expect(204);
        let preview = editor.get(&format!("{VOLUME}/preview?path={name}")).expect(200).json();
        assert_eq!(preview["shown_as"], shown, "{preview}");
    }
    let page = editor.get(&format!("{VOLUME}/file?path=a.html&inline=true")).expect(200);
    let policy = page.header("content-security-policy");
    assert!(
        policy.starts_with("sandbox allow-scripts;") && policy.contains("default-src 'none'"),
        "{policy}"
    );
    assert!(!policy.contains("allow-same-origin"));
}
