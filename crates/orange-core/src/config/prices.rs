//! Prices of models, as the settings have them.

use super::values::scalar;
use super::{Config, check_model};
use crate::work::prices::Price;
use crate::yaml::Node;

pub(super) const PRICES_START: &str = "prices.";

/// What a model has prices for.
pub const PRICE_PARTS: [&str; 4] = ["input", "output", "cache_read", "cache_write"];

/// The highest price that is accepted; a higher one is taken for a typing error.
const MOST: f64 = 1_000_000.0;

pub(super) fn say(config: &mut Config, key: &str, node: &Node) -> Result<(), String> {
    let model = key.strip_prefix(PRICES_START).unwrap_or(key);
    check_model(model).map_err(|problem| format!(": {model:?} {problem}"))?;
    let Node::Mapping { entries, .. } = node else {
        return Err("must be a mapping with input, output, cache_read, cache_write".to_owned());
    };
    let mut price = Price::default();
    for entry in entries {
        let field = match entry.key.as_str() {
            "input" => &mut price.input,
            "output" => &mut price.output,
            "cache_read" => &mut price.cache_read,
            "cache_write" => &mut price.cache_write,
            other => {
                return Err(format!(
                    ": `{other}` is not known; allowed: input, output, cache_read, cache_write"
                ));
            }
        };
        let said = scalar(&entry.value).and_then(|text| text.parse::<f64>().ok());
        let said = said.filter(|price| (0.0..=MOST).contains(price));
        *field = Some(said.ok_or_else(|| {
            format!(
                ": `{}` must be US dollars for a million tokens, such as 3 or 0.25",
                entry.key
            )
        })?);
    }
    if entries.is_empty() {
        return Err("must be a mapping with input, output, cache_read, cache_write".to_owned());
    }
    config.prices.0.insert(model.to_owned(), price);
    Ok(())
}
