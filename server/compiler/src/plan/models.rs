//! Arguments that refer to a model of the registry (`format: model`).

use cubeloom_domain::model::{Usable, Wanted, Which};
use cubeloom_domain::{Code, Problem};
use serde_json::Value;

use super::Planner;
use super::arguments::Arguments;
use crate::arguments::properties;
use crate::nearest::{hint, listing};
use crate::path::Path;

impl Planner<'_> {
    /// Replaces the name of a model by the path of the selected version, below the workspace: a run keeps the
    /// version from its planning. Late arguments and paths stay unchanged.
    pub fn models(&mut self, schema: &Value, arguments: &mut Arguments<'_>, path: &mut Path) {
        let Some(models) = self.facts.models.as_ref() else { return };
        for (name, property) in properties(schema) {
            if property.get("format").and_then(Value::as_str) != Some("model") {
                continue;
            }
            let Some(Value::String(text)) = arguments.known.get_mut(name) else { continue };
            let Some(wanted) = Wanted::read(text) else { continue };
            let found = models
                .get(wanted.model)
                .ok_or_else(|| no_model(wanted.model, models.keys().map(String::as_str)))
                .and_then(|model| place(model, &wanted));
            match found {
                Ok(place) => *text = place.to_owned(),
                Err(message) => {
                    path.push_key(name);
                    self.problems.push(Problem::error(Code::UnknownModel, path.pointer(), message));
                    path.pop();
                    arguments.wrong = true;
                }
            }
        }
    }
}

fn no_model<'m>(name: &str, known: impl Iterator<Item = &'m str> + Clone) -> String {
    let mut hint = hint(name, known.clone());
    if hint.is_empty() && known.clone().next().is_some() {
        hint = format!("; known are: {}", listing(known));
    }
    format!("the project has no model `{name}`{hint} (a folder is written `./{name}`)")
}

fn place<'m>(model: &'m Usable, wanted: &Wanted<'_>) -> Result<&'m str, String> {
    let name = wanted.model;
    let newest = model.paths.last_key_value();
    let version = match wanted.which {
        Which::Version(version) => version,
        Which::Newest => *newest.ok_or_else(|| format!("the model `{name}` has no versions"))?.0,
        Which::Alias(alias) => *model.aliases.get(alias).ok_or_else(|| {
            let hint = hint(alias, model.aliases.keys().map(String::as_str));
            format!("no version of the model `{name}` has the alias `{alias}`{hint}")
        })?,
    };
    let place = model.paths.get(&version).map(String::as_str);
    place.ok_or_else(|| format!("the model `{name}` has no version {version}"))
}
