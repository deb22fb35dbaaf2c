//! What tokens cost, for harnesses that tell tokens and no cost: `prices.MODEL` in the settings.

use crate::usage::Usage;
use std::collections::BTreeMap;

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

impl Prices {
    /// The same usage with its cost, where its harness told none and the model has a price.
    #[must_use]
    pub fn priced(&self, model: Option<&str>, usage: Usage) -> Usage {
        let price = model.and_then(|model| self.0.get(model));
        match price {
            Some(price) if usage.cost.is_none() && usage.tokens() > 0 => price.priced(usage),
            _ => usage,
        }
    }
}

impl Price {
    fn priced(&self, usage: Usage) -> Usage {
        let parts = [
            (usage.input, self.input),
            (usage.output, self.output),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
        ];
        let used = parts.into_iter().filter(|(tokens, _)| *tokens > 0);
        let (mut cost, mut is_known, mut is_partial) = (0.0, false, false);
        for (tokens, price) in used {
            match price {
                Some(price) => {
                    #[expect(clippy::cast_precision_loss, reason = "a cost in cents")]
                    let tokens = tokens as f64;
                    cost += tokens * price / TOKENS;
                    is_known = true;
                }
                None => is_partial = true,
            }
        }
        Usage {
            cost: is_known.then_some(cost),
            cost_partial: is_known && is_partial,
            ..usage
        }
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
        let priced = prices(all).priced(Some("m"), USAGE);
        assert_eq!(
            (priced.cost_in_words().as_deref(), priced.tokens()),
            (Some("$16.50"), USAGE.tokens())
        );
        let some = Price {
            cache_read: None,
            ..all
        };
        let priced = prices(some).priced(Some("m"), USAGE);
        assert_eq!(priced.cost_in_words().as_deref(), Some("≥ $13.50"));
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
        assert_eq!(prices(price).priced(Some("m"), told), told);
        assert_eq!(prices(price).priced(Some("other"), USAGE), USAGE);
        assert_eq!(prices(price).priced(None, USAGE), USAGE);
        assert_eq!(
            prices(price).priced(Some("m"), Usage::default()),
            Usage::default()
        );
        let unknown = prices(Price::default()).priced(Some("m"), USAGE);
        assert_eq!((unknown.cost, unknown.cost_partial), (None, false));
    }
}
