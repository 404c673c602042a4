//! Whatever a server or a manifest names a file, it ends up below the target folder or is refused.

use std::path::{Component, Path};

use cubeloom_storage::transfer::{Location, parse_manifest};
use proptest::prelude::{ProptestConfig, proptest};
use proptest::{prop_assert, prop_assume};

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_name_never_leaves_its_folder(name in "(\\.{0,3}|[a-z%/\\\\ \u{0}?*#é数-]{0,6}|/){0,6}") {
        let folder = Location::Local("/base/folder".into());
        if let Ok(Location::Local(path)) = folder.join(&name) {
            prop_assert!(path.starts_with("/base/folder") && path != Path::new("/base/folder"));
            prop_assert!(path.components().all(|part| part != Component::ParentDir));
        }
        let web = Location::parse("http://127.0.0.1/base/", "/".as_ref())?;
        if let Ok(Location::Http(url)) = web.join(&name) {
            prop_assert!(url.path().starts_with("/base/") && url.query().is_none() && url.fragment().is_none());
        }
    }

    #[test]
    fn the_name_in_an_address_is_one_name(tail in "[a-z%0-9A-F/.\\\\ ?#é-]{0,12}") {
        for scheme in ["http://127.0.0.1/", "s3://bucket/", "/"] {
            let Ok(location) = Location::parse(&format!("{scheme}{tail}"), "/".as_ref()) else { continue };
            if let Ok(name) = location.file_name() {
                prop_assert!(!name.contains('/') && !matches!(name.as_str(), "" | "." | ".."), "{name:?}");
            }
        }
    }

    #[test]
    fn any_text_is_read_or_refused_as_a_manifest(text in "([a-f0-9]{64}|[ \t\n:,{}\\[\\]\"'*&#-]|sha256|url|path|\\PC){0,40}") {
        let _ = parse_manifest(&text);
    }

    #[test]
    fn any_text_is_read_or_refused_as_an_address(text in "(s3|http|file|hdfs|[a-z]{0,3})?(://)?\\PC{0,20}") {
        prop_assume!(!text.is_empty());
        if let Ok(location) = Location::parse(&text, "/base".as_ref()) {
            prop_assert!(!location.to_string().is_empty());
        }
    }
}
