//! The embedded scripts, styles and images: all are served, compressed if the client accepts that.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;

use flate2::read::GzDecoder;
use reqwest::Method;
use serde_json::Value;

use super::support::client::send;
use super::support::{Server, Who};

const BUILT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../frontend/dist");

/// Smaller assets gain little from compression.
const WORTH_IT: usize = 1024;

#[test]
fn every_file_of_the_front_end_is_in_the_program_and_comes_compressed() {
    let server = Server::start();
    let nobody = server.as_(Who::Anonymous);
    let text =
        fs::read_to_string(format!("{BUILT}/.vite/manifest.json")).expect("`make` builds the front end");
    let manifest: Value = serde_json::from_str(&text).unwrap();
    let of_entry = |entry: &Value| {
        let lists = ["css", "assets"].map(|list| entry[list].as_array().cloned().unwrap_or_default());
        let names = lists.concat().into_iter().chain([entry["file"].clone()]);
        names.map(|name| name.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let files: BTreeSet<String> = manifest.as_object().unwrap().values().flat_map(of_entry).collect();
    assert!(files.len() > 20, "{files:?}");
    let mut compressed = 0;
    for file in &files {
        let path = format!("page:/assets/{file}");
        let plain = nobody.get(&path).expect(200);
        let built = fs::read(format!("{BUILT}/{file}")).unwrap();
        assert!(plain.body == built && plain.header("content-encoding").is_empty(), "{file}");
        assert_eq!(plain.header("cache-control"), "public, max-age=31536000, immutable", "{file}");
        let packed = send(nobody.request(Method::GET, &path).header("accept-encoding", "gzip")).expect(200);
        // Images and fonts are already compressed.
        let kind = plain.header("content-type").to_owned();
        let text = kind.starts_with("text/") || kind.contains("javascript") || kind.contains("json");
        assert!(text || kind.starts_with("image/") || kind.starts_with("font/"), "{file} is {kind}");
        if !text || built.len() <= WORTH_IT {
            continue;
        }
        assert_eq!(packed.header("content-encoding"), "gzip", "{file}: {:?}", packed.headers);
        assert!(packed.header("vary").contains("accept-encoding"), "{file}: {:?}", packed.headers);
        let mut whole = Vec::new();
        GzDecoder::new(packed.body.as_slice()).read_to_end(&mut whole).unwrap();
        assert!(whole == built && packed.body.len() < built.len(), "{file}");
        compressed += 1;
    }
    assert!(compressed > 15, "{compressed} of {}", files.len());
}
