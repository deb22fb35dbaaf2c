//! What tokens cost, for harnesses that tell tokens and no cost: `prices.MODEL` in the settings.

use crate::usage::Usage;
use std::collections::{BTreeMap, BTreeSet};

/// So many tokens are what a price is for.
const TOKENS: f64 = 1_000_000.0;

/// US dollars per million tokens of one model. A price that is not said leaves the cost of its tokens unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Price {
    pub input: Option<f64>,
    pub output: Option<f64>,
    pub cache_read: Option<f64>,
    pub cache_write: Option<f64>,
}

/// The prices of models by their names.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prices(pub BTreeMap<String, Price>);

/// Tokens of a model whose cost is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unpriced {
    pub tokens: u64,
    /// The fields that its price lacks; empty where the model has no price at all.
    pub fields: BTreeSet<&'static str>,
}

/// What a turn or a run used, with its cost as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub struct Priced {
    pub usage: Usage,
    pub unpriced: Unpriced,
}

/// Without any prices: what a harness told is all that is known.
impl From<Usage> for Priced {
    fn from(usage: Usage) -> Priced {
        let unpriced = match usage.cost {
            Some(_) => Unpriced::default(),
            None => Unpriced {
                tokens: usage.tokens(),
                ..Unpriced::default()
            },
        };
        Priced { usage, unpriced }
    }
}

impl Unpriced {
    pub fn add(&mut self, other: Unpriced) {
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.fields.extend(other.fields);
    }
}

impl Prices {
    /// The same usage with its cost, where its harness told none, or only a part, and the model has a price.
    pub fn priced(&self, model: Option<&str>, usage: Usage) -> Priced {
        let price = model.and_then(|model| self.0.get(model));
        let is_whole = usage.cost.is_some() && !usage.cost_partial;
        match price {
            Some(price) if !is_whole && usage.tokens() > 0 => price.priced(usage),
            _ => usage.into(),
        }
    }
}

impl Price {
    fn priced(&self, usage: Usage) -> Priced {
        let parts = [
            ("input", usage.input, self.input),
            ("output", usage.output, self.output),
            ("cache_read", usage.cache_read, self.cache_read),
            ("cache_write", usage.cache_write, self.cache_write),
        ];
        let used = parts.into_iter().filter(|(_, tokens, _)| *tokens > 0);
        let (mut sum, mut is_known) = (0.0, usage.cost.is_some());
        let mut unpriced = Unpriced::default();
        for (field, tokens, price) in used {
            match price {
                Some(price) => {
                    #[expect(clippy::cast_precision_loss, reason = "a cost in cents")]
                    let tokens = tokens as f64;
                    sum += tokens * price / TOKENS;
                    is_known = true;
                }
                None => unpriced.add(Unpriced {
                    tokens,
                    fields: BTreeSet::from([field]),
                }),
            }
        }
        // A part that was told before, or priced when less of the price was set, is a lower bound.
        let cost = usage.cost.unwrap_or(0.0).max(sum);
        let is_partial = unpriced.tokens > 0;
        let usage = Usage {
            cost: is_known.then_some(cost),
            cost_partial: is_known && is_partial,
            ..usage
        };
        Priced { usage, unpriced }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices(price: Price) -> Prices {
        Prices(BTreeMap::from([("m".to_owned(), price)]))
    }

    const USAGE: Usage = Usage {
        input: 2_000_000,
        output: 500_000,
        cache_read: 10_000_000,
        cache_write: 0,
        cost: None,
        cost_partial: false,
    };

    #[test]
    fn tokens_cost_what_the_settings_say() {
        let all = Price {
            input: Some(3.0),
            output: Some(15.0),
            cache_read: Some(0.3),
            cache_write: None,
        };
        let priced = prices(all).priced(Some("m"), USAGE).usage;
        assert_eq!(
            (priced.cost_in_words().as_deref(), priced.tokens()),
            (Some("$16.50"), USAGE.tokens())
        );
        let some = Price {
            cache_read: None,
            ..all
        };
        let part = prices(some).priced(Some("m"), USAGE);
        assert_eq!(part.usage.cost_in_words().as_deref(), Some("≥ $13.50"));
        let missing = Unpriced {
            tokens: 10_000_000,
            fields: BTreeSet::from(["cache_read"]),
        };
        assert_eq!(part.unpriced, missing);
        // Of what was stored with a part of its cost, the rest is still missing, until its price is set.
        assert_eq!(prices(some).priced(Some("m"), part.usage), part);
        let whole = prices(all).priced(Some("m"), part.usage);
        assert_eq!(whole.usage.cost_in_words().as_deref(), Some("$16.50"));
        assert_eq!(whole.unpriced, Unpriced::default());
    }

    #[test]
    fn what_a_harness_tells_stays() {
        let price = Price {
            output: Some(1.0),
            ..Price::default()
        };
        let told = Usage {
            cost: Some(0.5),
            ..USAGE
        };
        let usage = |model, usage| prices(price).priced(model, usage).usage;
        assert_eq!(usage(Some("m"), told), told);
        assert_eq!(usage(Some("other"), USAGE), USAGE);
        assert_eq!(usage(None, USAGE), USAGE);
        assert_eq!(usage(Some("m"), Usage::default()), Usage::default());
        let unknown = prices(Price::default()).priced(Some("m"), USAGE).usage;
        assert_eq!((unknown.cost, unknown.cost_partial), (None, false));
    }
}
