//! The server itself: its address, its health, and API errors for unknown paths.

use super::support::{Server, Who};

#[test]
fn a_server_says_where_it_is_until_it_ends() {
    let server = Server::start();
    let nobody = server.as_(Who::Anonymous);
    assert_eq!(nobody.get("/health").expect(200).json()["status"], "ok");
    let file = server.data().join("server.json");
    assert!(file.exists());
    server.stop();
    assert!(!file.exists(), "a server that was told to end takes its announcement away");
}

#[test]
fn what_is_not_there_is_refused_in_the_form_of_the_api() {
    let server = Server::start();
    let nobody = server.as_(Who::Anonymous);
    nobody.get("/no-such-thing").expect(404).problem("not-found");
    nobody.post("/health", &serde_json::json!({})).expect(405).problem("method-not-allowed");
    let page = nobody.get("page:/no-such-page").expect(404);
    assert!(page.header("content-type").starts_with("text/html"), "{:?}", page.headers);
    assert!(page.header("content-security-policy").contains("script-src 'self'"), "{:?}", page.headers);
}
