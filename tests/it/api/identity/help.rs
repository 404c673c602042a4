//! Browsers with a cookie, and access to a running server's database.

use std::cell::RefCell;
use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::identity::Session;
use cubeloom_store::{Options, Store};
use reqwest::Method;
use reqwest::blocking::RequestBuilder;
use serde_json::{Value, json};

use crate::api::support::client::send;
use crate::api::support::{Answer, Client, PASSWORD, Server, Who};

/// How long a server may cache answers of the database.
pub const MOMENT: Duration = Duration::from_millis(2_200);

/// A browser with a signed-in person. It keeps its cookie, and accepts new ones.
pub struct Browser {
    client: Client,
    cookie: RefCell<String>,
}

impl Browser {
    /// Signs in a person who has [`PASSWORD`].
    #[track_caller]
    pub fn new(server: &Server, name: &str) -> Self {
        let client = server.as_(Who::Anonymous);
        let answer = sign_in(&client, name, PASSWORD).expect(201);
        let browser = Self { client, cookie: RefCell::default() };
        browser.take(&answer);
        browser
    }

    pub fn cookie(&self) -> String {
        self.cookie.borrow().clone()
    }

    /// A request as this server's own pages send it.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.bare(method, path).header("sec-fetch-site", "same-origin")
    }

    /// A request without headers about its origin.
    pub fn bare(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, path).header("cookie", self.cookie())
    }

    /// Sends the request, and keeps the response's cookie.
    #[track_caller]
    pub fn send(&self, request: RequestBuilder) -> Answer {
        let answer = send(request);
        self.take(&answer);
        answer
    }

    #[track_caller]
    pub fn get(&self, path: &str) -> Answer {
        self.send(self.request(Method::GET, path))
    }

    fn take(&self, answer: &Answer) {
        if let Some(cookie) = set_cookie(answer) {
            *self.cookie.borrow_mut() = cookie;
        }
    }
}

/// The `name=value` of the session cookie that a response sets.
pub fn set_cookie(answer: &Answer) -> Option<String> {
    let all = answer.headers.get_all("set-cookie").iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.filter_map(|text| text.split(';').next());
    pairs.find(|pair| pair.starts_with("session=") || pair.starts_with("__Host-session=")).map(Into::into)
}

/// Tries to sign in.
#[track_caller]
pub fn sign_in(client: &Client, name: &str, password: &str) -> Answer {
    client.post("/session", &json!({"name": name, "password": password}))
}

/// Accesses the database of a running server, as another server on it would.
pub fn with_store<T>(server: &Server, work: impl AsyncFnOnce(&Store) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let url = format!("sqlite:{}", server.data().join("db/cubeloom.sqlite").display());
    runtime.block_on(async {
        let store = Store::open(&Options::new(url)).await.expect("the database opens");
        let result = work(&store).await;
        store.close().await;
        result
    })
}

/// The session of a browser, as stored in the database.
pub fn session_of(server: &Server, browser: &Browser) -> Session {
    let list = browser.get("/me/sessions").expect(200).json();
    let mine = list["items"].as_array().unwrap().iter().find(|one| one["current"] == true);
    let id = mine.unwrap()["id"].as_str().unwrap().to_owned();
    with_store(server, async |store| store.session(&id).await.unwrap().unwrap())
}

/// Ages a session: its current key is this old, and the previous key was valid until then.
pub fn age(server: &Server, session: &Session, by: Duration) {
    let renewed = Timestamp(session.renewed_at.0 - by.as_micros() as i64);
    let done = with_store(server, async |store| {
        let (id, key) = (&session.id, &session.key);
        store.rotate_session(id, key, key, Timestamp(0), renewed).await.unwrap()
    });
    assert!(done, "the session had another key");
    std::thread::sleep(MOMENT);
}

/// The audit entries of one action, newest first.
pub fn audited(admin: &Client, action: &str) -> Vec<Value> {
    let log = admin.get(&format!("/audit?action={action}&limit=200")).expect(200).json();
    log["items"].as_array().unwrap().clone()
}
