//! The catalogue of task templates.

use serde_json::json;

use super::super::support::{Server, Who};

#[test]
fn templates_are_found_and_explained() {
    let server = Server::start();
    let stranger = server.as_(Who::Stranger);
    let all = stranger.get("/templates").expect(200).json();
    let names = |list: &serde_json::Value| -> Vec<String> {
        let items = list["items"].as_array().unwrap();
        items.iter().map(|item| item["name"].as_str().unwrap().to_owned()).collect()
    };
    assert!(names(&all).contains(&"pytorch".to_owned()) && names(&all).is_sorted(), "{all}");
    let group = stranger.get("/templates?group=training&q=distributed").expect(200).json();
    assert!(
        names(&group).contains(&"pytorch".to_owned()) && !names(&group).contains(&"python".to_owned()),
        "{group}"
    );
    let first = stranger.get("/templates?limit=1").expect(200).json();
    let next = first["next_cursor"].as_str().unwrap();
    let second = stranger.get(&format!("/templates?limit=1&cursor={next}")).expect(200).json();
    assert_eq!([names(&first), names(&second)].concat(), names(&all)[..2]);

    let one = stranger.get("/templates/pytorch").expect(200).json();
    assert_eq!(one["parameters"]["oneOf"][0]["required"], json!(["script"]));
    assert!(one["help_html"]["zh"].as_str().unwrap().contains("<code>torchrun</code>"), "{one}");
    assert!(one["readme_html"].as_str().unwrap().contains("<table>"), "{one}");
    assert!(one["example"]["document"].as_str().unwrap().contains("template: pytorch"));
    assert_eq!(one["example"]["program"]["name"], "allreduce.py");
    assert!(one["before_after"]["after"].as_str().unwrap().contains("DistributedDataParallel"));
    assert!(!one["before_after"]["before"].as_str().unwrap().contains("DistributedDataParallel"));
    let version = one["version"].as_str().unwrap();
    assert_eq!(
        stranger.get(&format!("/templates/pytorch/versions/{version}")).expect(200).json()["digest"],
        one["digest"]
    );
    stranger.get("/templates/pytorch/versions/9.9.9").expect(404).problem("not-found");
    stranger.get("/templates/none").expect(404).problem("not-found");
    server.as_(Who::Anonymous).get("/templates").expect(401).problem("not-signed-in");
}

#[test]
fn what_stands_in_backquotes_is_code_on_a_templates_page() {
    let server = Server::start();
    let page = server.as_(Who::Stranger).get("page:/templates/approval").expect(200).text();
    assert!(
        page.contains("or later tasks look at <code>approved</code> in their <code>when</code>"),
        "{page}"
    );
    let helps = page.split("class=\"field-help\">").skip(1).map(|rest| rest.split("</p>").next().unwrap());
    let raw: Vec<&str> = helps.filter(|help| help.contains('`')).collect();
    assert!(raw.is_empty(), "{raw:?}");
}
