//! Kubernetes quantities: a number, and a decimal or binary suffix. Pure.

use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

/// Suffixes and their factors, the longer ones first.
const SUFFIXES: [(&str, f64); 15] = [
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
    ("Ei", 1_152_921_504_606_846_976.0),
    ("n", 1e-9),
    ("u", 1e-6),
    ("m", 1e-3),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
    ("E", 1e18),
];

/// The numeric value; 0 if invalid.
#[must_use]
pub fn number(quantity: &Quantity) -> f64 {
    let text = quantity.0.trim();
    let with = SUFFIXES.iter().find_map(|(suffix, factor)| {
        let number = text.strip_suffix(suffix)?;
        number.parse::<f64>().ok().map(|number| number * factor)
    });
    with.or_else(|| text.parse().ok()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_of_writing_an_amount() {
        for (text, expected) in [
            ("4", 4.0),
            ("3920m", 3.92),
            ("16Gi", 17_179_869_184.0),
            ("16374008Ki", 16_766_984_192.0),
            ("129e6", 129e6),
            ("129M", 129e6),
            ("1E3", 1000.0),
            ("2E", 2e18),
            ("nonsense", 0.0),
        ] {
            assert!((number(&Quantity(text.into())) - expected).abs() < expected.max(1.0) * 1e-12, "{text}");
        }
    }
}
