//! The catalogue of task templates.

use reqwest::Method;
use serde_json::json;

use super::super::support::client::send;
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
fn a_page_has_a_program_before_and_after_it_became_distributed() {
    let server = Server::start();
    let stranger = server.as_(Who::Stranger);
    for (language, heading, titles) in [
        ("en", "A program before and after", ["For one process", "For this template"]),
        ("zh", "程序改造前后", ["单进程", "用于此模板"]),
    ] {
        let request = stranger.request(Method::GET, "page:/templates/pytorch");
        let page = send(request.header("cookie", format!("lang={language}"))).expect(200).text();
        assert!(page.contains(&format!("<h2 id=\"twice\">{heading}</h2>")), "{page}");
        let card = page.split("id=\"twice\"").nth(1).unwrap().split("</section>").next().unwrap();
        let sides: Vec<&str> = card.split("<h3>").skip(1).collect();
        assert_eq!(sides.len(), 2, "{card}");
        for (side, title) in sides.iter().zip(titles) {
            assert!(side.starts_with(&format!("{title}</h3>")), "{side}");
        }
        let lines = |side: &str, kind: &str| -> Vec<String> {
            let lines = side.split("<div class=\"diff-line").skip(1);
            let of_kind = lines.filter(|line| line.contains(&format!("data-kind=\"{kind}\"")));
            of_kind.map(str::to_owned).collect()
        };
        let [before, after] = [sides[0], sides[1]];
        assert!(lines(after, "added").iter().any(|line| line.contains("DistributedDataParallel")), "{after}");
        assert!(!before.contains("DistributedDataParallel") && lines(before, "added").is_empty(), "{before}");
        let equal = |side| lines(side, "equal").len();
        assert!(equal(before) > 0 && equal(before) == equal(after), "{card}");
    }
}

#[test]
fn what_stands_in_backquotes_is_code_on_a_templates_page() {
    let server = Server::start();
    let page = server.as_(Who::Stranger).get("page:/templates/approval").expect(200).text();
    assert!(page.contains("later tasks check <code>approved</code> in their <code>when</code>"), "{page}");
    let helps = page.split("class=\"field-help\">").skip(1).map(|rest| rest.split("</p>").next().unwrap());
    let raw: Vec<&str> = helps.filter(|help| help.contains('`')).collect();
    assert!(raw.is_empty(), "{raw:?}");
}
