//! Attacks by alice on entry points and outgoing connections: used links, others' streams, addresses in the
//! server's network, mail headers, and terminal escape sequences.

use std::net::TcpListener;
use std::process::Command;

use reqwest::Method;
use serde_json::{Value, json};

use super::{Line, Scene, ended, judge, log, run};
use crate::api::alerts::{FINE, receiver, sink};
use crate::api::identity::help::Browser;
use crate::api::support::client::send;
use crate::api::support::{Answer, PASSWORD, Who};
use crate::support::{TestApp, wait_for};

/// A response whose status must be one of these.
fn one_of(what: impl Into<String>, answer: &Answer, statuses: &[u16]) -> Line {
    let by = match statuses.contains(&answer.status) {
        true => {
            Ok(format!("HTTP {}: {}", answer.status, answer.text().chars().take(200).collect::<String>()))
        }
        false => Err(format!("{} {}", answer.status, answer.text())),
    };
    (what.into(), by)
}

/// Makes alice an owner of her project, so that she may create channels and volumes.
fn as_owner(scene: &Scene) {
    let ada = scene.server.as_(Who::Administrator);
    ada.put("/projects/alice/members/alice", "*", &json!({"role": "owner"})).expect(200);
}

#[test]
fn a_link_is_used_once_and_by_whom_it_is_for() {
    let scene = Scene::in_(TestApp::new());
    let (ada, nobody) = (scene.server.as_(Who::Administrator), scene.server.as_(Who::Anonymous));
    let make = |wanted: &Value| {
        let made = ada.post("/links", wanted).expect(201).json();
        made["url"].as_str().unwrap().split_once("?token=").unwrap().1.to_owned()
    };
    let with = |token: &str, name: &str, password: &str| {
        let mut body = json!({"token": token, "password": password});
        if !name.is_empty() {
            body["name"] = name.into();
        }
        nobody.post("/links/use", &body)
    };
    let mut lines = Vec::new();
    let invitation = make(&json!({"kind": "invite", "project": "bob", "role": "viewer"}));
    let takes_over =
        nobody.post("/links/use", &json!({"token": invitation, "name": "bob", "password": PASSWORD}));
    lines.push(one_of("take an invitation in the name of bob", &takes_over, &[409, 422]));
    with(&invitation, "eve", PASSWORD).expect(201);
    lines.push(one_of("use an invitation twice", &with(&invitation, "mallory", PASSWORD), &[410]));
    lines.push(one_of(
        "set bob's password with an invitation",
        &with(&invitation, "", "a password of alice's"),
        &[410, 422],
    ));
    let page = send(nobody.request(Method::GET, &format!("page:/link?token={invitation}")));
    lines.push(one_of("open the page of an invitation that was used", &page, &[410]));
    let (first, second) =
        (make(&json!({"kind": "reset", "user": "bob"})), make(&json!({"kind": "reset", "user": "bob"})));
    with(&first, "", "four new words here").expect(201);
    lines.push(one_of("use a password link twice", &with(&first, "", "a password of alice's"), &[410]));
    lines.push(one_of("use an older password link", &with(&second, "", "a password of alice's"), &[410]));
    let shorter = &first[..first.len() - 1];
    for (what, token) in
        [("a shorter secret", shorter), ("an empty secret", ""), ("a secret with a wildcard", "%")]
    {
        lines.push(one_of(format!("use {what}"), &with(token, "mallory", PASSWORD), &[410, 422]));
    }
    lines.push(one_of(
        "make a link as an editor",
        &scene.alice.post("/links", &json!({"kind": "reset", "user": "bob"})),
        &[403, 404],
    ));
    lines.push(one_of("list the links as an editor", &scene.alice.get("/links"), &[403, 404]));
    let sign_in = nobody.post("/session", &json!({"name": "bob", "password": "a password of alice's"}));
    lines.push(one_of("sign in as bob with what she tried to set", &sign_in, &[401]));
    judge(&lines, 12);
    nobody.post("/session", &json!({"name": "bob", "password": "four new words here"})).expect(201);
}

#[test]
fn a_device_code_gets_one_token_of_the_user_who_allows_it() {
    let scene = Scene::in_(TestApp::new());
    let nobody = scene.server.as_(Who::Anonymous);
    let (alice, bob) = (Browser::new(&scene.server, "alice"), Browser::new(&scene.server, "bob"));
    let begin = || nobody.post("/device/code", &json!({"client": "cubeloom of bob"})).expect(200).json();
    let fetch = |secret: &Value| nobody.post("/device/token", &json!({"device_code": secret}));
    let allow = |user_code: &Value, more: Value| {
        let mut body = json!({"user_code": user_code, "approve": true});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let decide =
        |who: &Browser, body: &Value| who.send(who.request(Method::POST, "/device/decision").json(body));
    let code = begin();
    let (user_code, secret) = (&code["user_code"], &code["device_code"]);
    let mut lines = vec![
        one_of("fetch the token by the user code", &fetch(user_code), &[400]),
        one_of("fetch the token before bob decides", &fetch(secret), &[400]),
        one_of("fetch the token of any code", &fetch(&json!("%")), &[400]),
        one_of(
            "allow it with a token",
            &scene.alice.post("/device/decision", &allow(user_code, json!({}))),
            &[403],
        ),
        one_of("allow any code", &decide(&alice, &allow(&json!("%%%%-%%%%"), json!({}))), &[422]),
        one_of(
            "allow it for bob's project",
            &decide(&alice, &allow(user_code, json!({"project": "bob"}))),
            &[422],
        ),
        one_of("allow everything", &decide(&alice, &allow(user_code, json!({"scope": "admin"}))), &[422]),
    ];
    let page = format!("page:/device?user_code={}", user_code.as_str().unwrap());
    let elsewhere = bob.bare(Method::POST, &page).header("sec-fetch-site", "cross-site");
    let form = elsewhere.header("content-type", "application/x-www-form-urlencoded");
    let by_bob = send(form.body("answer=allow&scope=write"));
    lines.push(one_of("let a page of hers allow it in bob's browser", &by_bob, &[403]));
    decide(&bob, &allow(user_code, json!({"project": "bob"}))).expect(204);
    let late = decide(&alice, &allow(user_code, json!({})));
    lines.push(one_of("allow what bob has allowed", &late, &[422]));
    fetch(secret).expect(201);
    lines.push(one_of("fetch the token a second time", &fetch(secret), &[400]));
    // Bob mistypes: his command line gets a token of alice, which opens nothing of his.
    let stray = begin();
    decide(&alice, &allow(&stray["user_code"], json!({}))).expect(204);
    let token = fetch(&stray["device_code"]).expect(201).json()["token"].as_str().unwrap().to_owned();
    let of_alice = scene.server.with_token(Some(token)).get("/projects/bob");
    lines.push(one_of("see bob's project by a code of bob's", &of_alice, &[404]));
    judge(&lines, 11);
}

#[test]
fn a_stream_of_events_is_for_members() {
    let scene = Scene::in_(TestApp::new());
    let victim = run(&scene.bob, "bob", &["sh", "-c", "echo from bob"], &json!({}));
    assert_eq!(ended(&scene.bob, &victim), "succeeded");
    let nobody = scene.server.as_(Who::Anonymous);
    let mut lines = Vec::new();
    for path in [
        format!("/runs/{victim}/events"),
        format!("/runs/{victim}/logs/events?task=one"),
        format!("/runs/{victim}/events?after=0"),
        "/projects/bob/events".into(),
        "/projects/alice%2F..%2Fbob/events".into(),
        format!("/projects/alice/events?run={victim}"),
        format!("/events?topics=run:{victim}"),
        "/events?topics=project:bob".into(),
    ] {
        for (who, client) in [("alice", &scene.alice), ("nobody", &nobody)] {
            let what = format!("{who} listens to {path}");
            let request = client.request(Method::GET, &path).header("last-event-id", "0");
            let answer = request.timeout(std::time::Duration::from_secs(2)).send();
            let by = match answer {
                Ok(answer) if answer.status().is_success() => {
                    // An accepted stream has only her events, and none of bob's.
                    let heard = answer.text().unwrap_or_default();
                    let of_bob = heard.contains(&victim) || heard.contains("from bob");
                    if of_bob { Err(heard) } else { Ok("it says nothing of bob's".into()) }
                }
                Ok(answer) => Ok(format!("HTTP {}", answer.status())),
                Err(error) => Err(error.to_string()),
            };
            lines.push((what, by));
        }
    }
    judge(&lines, 16);
}

/// Notations of addresses in the server's own machine or network.
const INNER: [&str; 34] = [
    "127.0.0.1",
    "127.1",
    "127.255.255.254",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "0177.1",
    "017700000001",
    "0",
    "0.0.0.0",
    "%31%32%37.0.0.1",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "[::1]",
    "[::]",
    "[0:0:0:0:0:0:0:1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[fe80::1]",
    "[fd00:ec2::254]",
    "169.254.169.254",
    "0xa9fea9fe",
    "2852039166",
    "[::ffff:169.254.169.254]",
    "100.100.100.200",
    "10.0.0.1",
    "192.168.0.1",
    "localhost",
    "LocalHost",
    "localhost.",
];

#[test]
fn no_message_goes_to_the_servers_own_network() {
    let scene = Scene::in_(TestApp::new());
    as_owner(&scene);
    let (url, heard) = receiver(FINE);
    let port = url.split(':').nth(2).unwrap().split('/').next().unwrap().to_owned();
    let channels = "/projects/alice/alerts";
    let mut lines = Vec::new();
    for host in INNER {
        let address = format!("http://{host}:{port}/in");
        let body = json!({"name": "inner", "kind": "webhook", "address": address, "rules": {"events": ["run_failed"]}});
        let made = scene.alice.post(channels, &body);
        if made.status != 201 {
            lines.push(one_of(format!("have messages sent to {host}"), &made, &[422]));
            continue;
        }
        let id = made.json()["id"].as_str().unwrap().to_owned();
        let answer = scene.alice.post(&format!("{channels}/{id}/test"), &json!({})).expect(200).json();
        let said = answer["answer"].as_str().unwrap();
        let refused = answer["sent"] == false
            && ["private_addresses", "has no address"].iter().any(|why| said.contains(*why));
        let by = if refused { Ok(answer["answer"].to_string()) } else { Err(answer.to_string()) };
        lines.push((format!("have messages sent to {host}"), by));
        scene.alice.delete(&format!("{channels}/{id}"), "*").expect(204);
    }
    for address in [
        "file:///etc/passwd",
        "gopher://127.0.0.1:25/x",
        "ftp://127.0.0.1/",
        "unix:///run/x",
        "//127.0.0.1",
        "http://a:b@127.0.0.1/",
    ] {
        let body = json!({"name": "inner", "kind": "webhook", "address": address, "rules": {"events": ["run_failed"]}});
        lines.push(one_of(
            format!("have messages sent to {address}"),
            &scene.alice.post(channels, &body),
            &[422],
        ));
    }
    for host in INNER.iter().filter(|host| !host.starts_with("10.") && !host.starts_with("192.168.")) {
        let place = json!({"kind": "object_store", "scheme": "s3", "bucket": "b", "endpoint": format!("http://{host}:{port}")});
        let made = scene.alice.post("/projects/alice/volumes", &json!({"name": "inner", "place": place}));
        if made.status == 422 {
            lines.push(one_of(format!("have a bucket at {host}"), &made, &[422]));
            continue;
        }
        made.expect(201);
        // A host that is no address when stored is checked again when it is called.
        let answer = scene.alice.get("/projects/alice/volumes/inner/files");
        let by = if answer.status >= 400 { Ok(answer.text()) } else { Err(answer.text()) };
        lines.push((format!("have a bucket at {host}"), by));
        scene.alice.delete("/projects/alice/volumes/inner", "*").expect(204);
    }
    judge(&lines, 70);
    assert!(heard.lock().unwrap().is_empty(), "{:?}", heard.lock().unwrap());
}

/// An administrator has allowed addresses of this network; a receiver there redirects to another address.
#[test]
fn nobody_is_followed_elsewhere() {
    let (inner, heard) = receiver(FINE);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let to = inner.clone();
    std::thread::spawn(move || {
        use std::io::{Read, Write};
        for (mut stream, status) in
            listener.incoming().flatten().zip(["301", "302", "303", "307", "308"].into_iter().cycle())
        {
            assert!(stream.read(&mut [0; 4096]).is_ok_and(|read| read > 0));
            let _ = write!(
                stream,
                "HTTP/1.1 {status} x\r\nlocation: {to}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
            );
        }
    });
    let mut app = TestApp::new();
    app.set("CUBELOOM_ALERTS_PRIVATE_ADDRESSES", "true");
    let scene = Scene::in_(app);
    as_owner(&scene);
    let body =
        json!({"name": "on", "kind": "webhook", "address": address, "rules": {"events": ["run_failed"]}});
    let channel = scene.alice.post("/projects/alice/alerts", &body).expect(201).json();
    let path = format!("/projects/alice/alerts/{}/test", channel["id"].as_str().unwrap());
    let mut lines = Vec::new();
    for status in ["301", "302", "303", "307", "308"] {
        let answer = scene.alice.post(&path, &json!({})).expect(200).json();
        let by =
            if answer["sent"] == false { Ok(answer["answer"].to_string()) } else { Err(answer.to_string()) };
        lines.push((format!("send on with {status}"), by));
    }
    judge(&lines, 5);
    assert!(heard.lock().unwrap().is_empty(), "{:?}", heard.lock().unwrap());
}

#[test]
fn a_text_is_no_header_of_a_mail() {
    let (port, heard) = sink();
    let port = port.to_string();
    let mut app = TestApp::new();
    for (name, value) in [
        ("CUBELOOM_SMTP_HOST", "127.0.0.1"),
        ("CUBELOOM_SMTP_PORT", port.as_str()),
        ("CUBELOOM_SMTP_TLS", "never"),
        ("CUBELOOM_SMTP_FROM", "Cubeloom <cubeloom@example.org>"),
    ] {
        app.set(name, value);
    }
    let scene = Scene::in_(app);
    as_owner(&scene);
    let evil = "alice@example.org\r\nBcc: eve@example.org";
    let mut lines = Vec::new();
    let channel = |name: &str, address: &str| json!({"name": name, "kind": "email", "address": address, "rules": {"events": ["run_failed"]}});
    for address in [
        evil,
        "alice@example.org\nBcc: eve@example.org",
        "alice@example.org%0aBcc: eve@example.org",
        "Alice <alice@example.org>",
        "alice@example.org> RCPT TO:<eve@example.org",
        "\"a\r\nRCPT TO:<eve@example.org>\"@example.org",
        "alice@example.org\u{85}Bcc: eve@example.org",
        "alice@[127.0.0.1]",
        "-oQ/tmp@example.org\u{0}",
    ] {
        let made = scene.alice.post("/projects/alice/alerts", &channel("mine", address));
        lines.push(one_of(format!("have mail sent to {address:?}"), &made, &[422]));
        // An address accepted here is checked again when mail is sent: an account need not have a working
        // one.
        let changed = scene.alice.patch("/me", "*", &json!({"email": address}));
        if address.chars().any(char::is_control) {
            lines.push(one_of(format!("have the address {address:?}"), &changed, &[422]));
        }
    }
    let named = scene
        .alice
        .post("/projects/alice/alerts", &channel("x\r\nBcc: eve@example.org", "alice@example.org"));
    lines.push(one_of("a channel's name with a header", &named, &[422]));
    let named = scene.alice.patch("/me", "*", &json!({"display_name": "x\r\nBcc: eve@example.org"}));
    lines.push(one_of("a person's name with a header", &named, &[422]));
    scene.alice.post("/projects/alice/alerts", &channel("mine", "alice@example.org")).expect(201);
    let line =
        "printf 'x\\r\\nBcc: eve@example.org\\r\\n\\r\\n.\\r\\nRCPT TO:<eve@example.org>\\r\\n' >&2; exit 1";
    let failing = run(&scene.alice, "alice", &["sh", "-c", line], &json!({"description": evil}));
    assert_eq!(ended(&scene.alice, &failing), "failed");
    wait_for("the mail", || !heard.lock().unwrap().is_empty());
    let (receivers, mail) = heard.lock().unwrap()[0].clone();
    let head = mail.split("\r\n\r\n").next().unwrap();
    let names: Vec<&str> = head
        .lines()
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split(':').next())
        .collect();
    let known = [
        "From",
        "To",
        "Subject",
        "Date",
        "Message-ID",
        "Auto-Submitted",
        "MIME-Version",
        "Content-Type",
        "Content-Transfer-Encoding",
    ];
    let by = if names == known { Ok(format!("it has these: {names:?}")) } else { Err(head.to_owned()) };
    lines.push(("add a header by what a task says at its end".into(), by));
    let one = receivers.lines().count() == 1 && !receivers.contains("eve");
    lines.push((
        "add a receiver by what a task says at its end".into(),
        if one { Ok(receivers) } else { Err(receivers) },
    ));
    judge(&lines, 16);
}

/// Terminal escape sequences: a title, the clipboard, a query that the terminal answers, a link, a cleared
/// screen.
const STEERS: &str = "\x1b]0;alice\x07\x1b]52;c;cm0gLXJmIC8K\x07\x1b[6n\x1b[c\x1bP$q\"p\x1b\\\x1b]8;;https://example.org\x1b\\here\x1b]8;;\x1b\\\x1b[2J\x1bc";

#[test]
fn what_a_worker_writes_steers_no_terminal() {
    let scene = Scene::in_(TestApp::new());
    let page = "<script>alert(1)</script>";
    let program = format!(
        "import os, sys; evil = sys.argv[1]\n\
         print('before' + evil + 'after'); print(evil, file=sys.stderr)\n\
         folder = os.environ['CUBELOOM_WORKSPACE']\n\
         [open(folder + '/' + name, 'w').write(evil + {page:?}) for name in ('a.txt', 'a.html', 'a.svg', 'a.csv', 'a.md')]\n\
         sys.exit(evil)"
    );
    let attack = run(&scene.alice, "alice", &["python3", "-c", &program, STEERS], &json!({}));
    assert_eq!(ended(&scene.alice, &attack), "failed");
    assert!(log(&scene.alice, &attack).contains("before"));
    let mut lines = Vec::new();
    let raw = |bytes: &[u8]| bytes.contains(&0x1b) || bytes.contains(&0x07);
    for path in [
        format!("/runs/{attack}/logs/text?task=one"),
        format!("/runs/{attack}/tasks/one"),
        format!("/runs/{attack}/attempts"),
        "/projects/alice/volumes/workspace/preview?path=a.txt".into(),
        "/projects/alice/volumes/workspace/preview?path=a.csv".into(),
        format!("page:/runs/{attack}"),
        format!("page:/runs/{attack}?task=one"),
    ] {
        let answer = scene.alice.get(&path).expect(200);
        let kind = answer.header("content-type").to_owned();
        let text = answer.text();
        let harmless = !text.contains(page) || !kind.starts_with("text/html");
        let by = match kind.starts_with("application/json") {
            true if raw(&answer.body) => Err(text),
            _ if harmless && answer.header("x-content-type-options") == "nosniff" => {
                Ok(format!("it is {kind}"))
            }
            _ => Err(format!("{:?} {text}", answer.headers)),
        };
        lines.push((format!("steer who reads {path}"), by));
    }
    for name in ["a.txt", "a.html", "a.svg", "a.csv", "a.md"] {
        let answer =
            scene.alice.get(&format!("/projects/alice/volumes/workspace/file?path={name}")).expect(200);
        lines.push(is_download(name, &answer));
    }
    lines.push(on_terminal(&scene, "the log", &["logs", &attack]));
    lines.push(on_terminal(&scene, "the last lines of the log", &["logs", &attack, "--tail", "5"]));
    lines.push(on_terminal(&scene, "why the run failed", &["runs", "show", &attack]));
    judge(&lines, 15);
}

/// A file that a browser neither executes nor renders as a page of this server.
fn is_download(name: &str, answer: &Answer) -> Line {
    let header = |name: &str| answer.header(name).to_owned();
    let apart = header("content-disposition").starts_with("attachment")
        || header("content-security-policy").contains("sandbox");
    let by = match apart && header("x-content-type-options") == "nosniff" {
        true => Ok(format!("{}; {}", header("content-disposition"), header("content-security-policy"))),
        false => Err(format!("{:?}", answer.headers)),
    };
    (format!("have a browser run {name}"), by)
}

/// Runs a command on an administrator's terminal.
fn on_terminal(scene: &Scene, what: &str, words: &[&str]) -> Line {
    let own = scene.server.command(words);
    let quoted = |word: &std::ffi::OsStr| format!("'{}'", word.to_string_lossy());
    let line: Vec<String> = std::iter::once(own.get_program()).chain(own.get_args()).map(quoted).collect();
    let mut script = Command::new("script");
    script.args(["-qec", &line.join(" "), "/dev/null"]).env_clear();
    script.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?)))).env("TERM", "xterm");
    let shown =
        script.stdin(std::process::Stdio::null()).output().expect("script, of Debian's bsdutils").stdout;
    let shown = String::from_utf8_lossy(&shown).into_owned();
    let steers = ["\x1b]", "\x1bP", "\x1b[6n", "\x1b[c", "\x1b[2J", "\x1bc", "\x07"];
    let found: Vec<&str> = steers.into_iter().filter(|part| shown.contains(part)).collect();
    let by = match found.is_empty() && (shown.contains("before") || shown.contains("one")) {
        true => Ok("it is left out".into()),
        false => Err(format!("{found:?} in {shown:?}")),
    };
    (format!("steer the terminal of who reads {what}"), by)
}
