//! Attacks between a browser and the OpenID Connect provider: responses to other sign-ins, and tokens for
//! other sign-ins.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

use jsonwebtoken::{Algorithm, EncodingKey, Header, encode};
use reqwest::Method;
use serde_json::{Value, json};

use super::{Line, judge};
use crate::api::identity::help::set_cookie;
use crate::api::support::client::send;
use crate::api::support::{Answer, Client, Server, Who};
use crate::support::TestApp;

const SECRET: &str = "a secret of the client's, which signs";
/// `{"alg":"none","typ":"JWT"}`
const UNSIGNED: &str = "eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0";

/// A provider that returns the test's token once.
struct Provider {
    issuer: String,
    token: Arc<Mutex<Option<String>>>,
}

impl Provider {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let provider = Self { issuer, token: Arc::default() };
        let (issuer, token) = (provider.issuer.clone(), Arc::clone(&provider.token));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                answer(stream, &issuer, &token);
            }
        });
        provider
    }

    /// The claims about a person, for a sign-in with this nonce.
    fn claims(&self, nonce: &str) -> Value {
        json!({
            "iss": self.issuer, "aud": "cubeloom", "sub": "subject-1", "preferred_username": "erin", "nonce": nonce,
            "iat": 1_700_000_000, "exp": 4_000_000_000_u64,
        })
    }
}

fn answer(stream: TcpStream, issuer: &str, token: &Mutex<Option<String>>) {
    let mut reader = BufReader::new(&stream);
    let (mut first, mut length) = (String::new(), 0);
    let _ = reader.read_line(&mut first);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) < 3 {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let _ = reader.read_exact(&mut vec![0; length]);
    let path = first.split(' ').nth(1).unwrap_or_default();
    let (status, body) = match path {
        "/.well-known/openid-configuration" => (
            "200 OK",
            json!({
                "issuer": issuer, "authorization_endpoint": format!("{issuer}/auth"), "token_endpoint": format!("{issuer}/token"),
                "jwks_uri": format!("{issuer}/keys"), "response_types_supported": ["code"], "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["HS256"],
            }),
        ),
        "/keys" => ("200 OK", json!({"keys": []})),
        // A code is valid once.
        "/token" => match token.lock().unwrap().take() {
            Some(token) => {
                ("200 OK", json!({"access_token": "a", "token_type": "bearer", "id_token": token}))
            }
            None => ("400 Bad Request", json!({"error": "invalid_grant"})),
        },
        _ => ("404 Not Found", json!({})),
    };
    let body = body.to_string();
    let _ = write!(
        &stream,
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    );
}

fn signed(claims: &Value, key: &str) -> String {
    encode(&Header::new(Algorithm::HS256), claims, &EncodingKey::from_secret(key.as_bytes())).unwrap()
}

/// A browser that was redirected to the provider.
struct Gone {
    client: Client,
    cookie: String,
    state: String,
    nonce: String,
}

impl Gone {
    fn from(server: &Server) -> Self {
        let client = server.as_(Who::Anonymous);
        let answer = send(client.request(Method::GET, "page:/sign-in/oidc?next=https://example.org/"));
        let location = answer.header("location").to_owned();
        let of = |name: &str| {
            let (_, rest) = location.split_once(&format!("{name}=")).unwrap_or_else(|| panic!("{location}"));
            rest.split('&').next().unwrap().to_owned()
        };
        let cookie = answer.header("set-cookie").split(';').next().unwrap().to_owned();
        Self { client, cookie, state: of("&state"), nonce: of("nonce") }
    }

    fn back(&self, state: &str, cookie: &str) -> Answer {
        let path = format!("page:/sign-in/oidc/callback?code=c&state={state}");
        let request = self.client.request(Method::GET, &path);
        send(if cookie.is_empty() { request } else { request.header("cookie", cookie) })
    }
}

/// The response signs in no one.
fn refused(what: &str, answer: &Answer) -> Line {
    let by = match set_cookie(answer) {
        None if answer.status >= 400 => Ok(format!("HTTP {}", answer.status)),
        _ => Err(format!("{} {:?}", answer.status, answer.headers)),
    };
    (what.into(), by)
}

#[test]
fn an_answer_of_the_provider_is_for_one_sign_in() {
    let provider = Provider::start();
    let mut app = TestApp::new();
    for (name, value) in [
        ("ISSUER", provider.issuer.as_str()),
        ("CLIENT_ID", "cubeloom"),
        ("CLIENT_SECRET", SECRET),
        ("AUTO_CREATE", "true"),
    ] {
        app.set(&format!("CUBELOOM_OIDC_{name}"), value);
    }
    let server = Server::start_in(app);
    server.as_(Who::Administrator);
    let mut lines = Vec::new();
    let says = |token: String| *provider.token.lock().unwrap() = Some(token);
    let well = |gone: &Gone| says(signed(&provider.claims(&gone.nonce), SECRET));

    let (alice, bob) = (Gone::from(&server), Gone::from(&server));
    for (what, state, cookie) in [
        ("come back with the state of another sign-in", &alice.state, &bob.cookie),
        ("come back with a cookie of another sign-in", &bob.state, &alice.cookie),
        ("come back without a cookie", &bob.state, &String::new()),
        ("come back without a state", &String::new(), &bob.cookie),
        ("come back with a cookie that was changed", &bob.state, &format!("{}x", bob.cookie)),
        ("come back with a cookie of nobody's", &bob.state, &format!("oidc={UNSIGNED}.e30.")),
    ] {
        well(&bob);
        lines.push(refused(what, &bob.back(state, cookie)));
    }
    for (what, claims) in [
        ("a nonce of another sign-in", provider.claims(&alice.nonce)),
        (
            "no nonce",
            json!({"iss": provider.issuer, "aud": "cubeloom", "sub": "subject-1", "iat": 1, "exp": 4_000_000_000_u64}),
        ),
    ] {
        says(signed(&claims, SECRET));
        lines.push(refused(&format!("bring a token with {what}"), &bob.back(&bob.state, &bob.cookie)));
    }
    for (what, field, value) in [
        ("that is for another site", "aud", json!("elsewhere")),
        ("of another provider", "iss", json!("https://example.org")),
        ("of last year", "exp", json!(1_700_000_001)),
        ("for two sites, handed to the other", "aud", json!(["elsewhere", "others"])),
    ] {
        let mut claims = provider.claims(&bob.nonce);
        claims[field] = value;
        says(signed(&claims, SECRET));
        lines.push(refused(&format!("bring a token {what}"), &bob.back(&bob.state, &bob.cookie)));
    }
    let good = signed(&provider.claims(&bob.nonce), SECRET);
    let payload = good.split('.').nth(1).unwrap();
    for (what, token) in [
        (
            "that somebody else has signed",
            signed(&provider.claims(&bob.nonce), "another key, of the same length"),
        ),
        ("that nobody has signed", format!("{UNSIGNED}.{payload}.")),
        ("without its signature", good.rsplit_once('.').unwrap().0.to_owned() + "."),
        ("that is none", "a.b.c".into()),
    ] {
        says(token);
        lines.push(refused(&format!("bring a token {what}"), &bob.back(&bob.state, &bob.cookie)));
    }

    // A correct sign-in works, so the failures above had the stated causes.
    says(good);
    let answer = bob.back(&bob.state, &bob.cookie);
    assert!(set_cookie(&answer).is_some(), "{} {:?}", answer.status, answer.headers);
    let to = answer.header("location");
    let local = to.starts_with('/') && !to.starts_with("//");
    lines.push((
        "be sent to another site after signing in".into(),
        if local { Ok(to.into()) } else { Err(to.into()) },
    ));
    lines.push(refused("come back twice", &bob.back(&bob.state, &bob.cookie)));
    judge(&lines, 17);
}
