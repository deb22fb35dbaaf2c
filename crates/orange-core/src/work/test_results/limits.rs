//! How much of a report is kept. Every item of a list that is read counts, whatever it holds, so that a report takes a bounded
//! memory; texts are cut.

use crate::naming::cut_at;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

/// More tests than that nobody looks at.
pub(super) const MOST_TESTS: usize = 100_000;

/// Suites, specs, tests, their tries, attachments and errors together.
pub(super) const MOST_ITEMS: usize = 1_000_000;

/// The names of suites and tests together, in MiB: Playwright's report has the title of a spec once, and what is kept of it has it in
/// every test.
pub(super) const MOST_NAMES: usize = 16;

/// So much is kept, in bytes, of an error, of the titles of suites that lead to a test, of a test's title and its whole name.
const LONGEST_ERROR: usize = 4 * 1024;
const LONGEST_SUITE: usize = 500;
const LONGEST_TITLE: usize = 800;
const LONGEST_PROJECT: usize = 190;
const LONGEST_TEST: usize = 1000;

/// The same of what is a word or a time.
const LONGEST_WORD: usize = 200;

const CUT: &str = "…";

/// A text that is cut shows it, and is not cut again.
pub(super) fn cut(mut text: String, longest: usize) -> String {
    if text.len() > longest {
        let kept = cut_at(&text, longest - CUT.len()).len();
        text.truncate(kept);
        text.push_str(CUT);
    }
    text.shrink_to_fit();
    text
}

pub(super) fn error(text: &str) -> String {
    cut_at(text, LONGEST_ERROR).to_owned()
}

pub(super) fn suite(name: String) -> String {
    cut(name, LONGEST_SUITE)
}

pub(super) fn title(title: String) -> String {
    cut(title, LONGEST_TITLE)
}

pub(super) fn project(name: String) -> String {
    cut(name, LONGEST_PROJECT)
}

pub(super) fn test(name: String) -> String {
    cut(name, LONGEST_TEST)
}

pub(super) fn word(text: String) -> String {
    cut(text, LONGEST_WORD)
}

thread_local! {
    /// How many items may still be read; serde hands nothing down to what is read inside.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Reads with as many items as there may be; gives whether there were more as well.
pub(super) fn limited<T>(read: impl FnOnce() -> T) -> (T, bool) {
    LEFT.set(Some(MOST_ITEMS));
    let read = read();
    (read, LEFT.take().is_none())
}

fn count_one<E: Error>() -> Result<(), E> {
    let left = LEFT.get().and_then(|left| left.checked_sub(1));
    LEFT.set(left);
    left.map(|_| ())
        .ok_or_else(|| E::custom("there are too many items"))
}

/// A list whose items count.
pub(super) struct CountedList<T>(pub(super) Vec<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for CountedList<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<CountedList<T>, D::Error> {
        struct Items<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Items<T> {
            type Value = CountedList<T>;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<CountedList<T>, A::Error> {
                let mut items = Vec::new();
                while let Some(item) = list.next_element()? {
                    count_one()?;
                    items.push(item);
                }
                Ok(CountedList(items))
            }
        }
        from.deserialize_seq(Items(PhantomData))
    }
}

/// Any value whose items count.
pub(super) struct Any(pub(super) Value);

impl<'de> Deserialize<'de> for Any {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Any, D::Error> {
        struct AnyValue;
        impl<'de> Visitor<'de> for AnyValue {
            type Value = Any;

            fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
                to.write_str("a value")
            }

            fn visit_unit<E: Error>(self) -> Result<Any, E> {
                Ok(Any(Value::Null))
            }

            fn visit_bool<E: Error>(self, flag: bool) -> Result<Any, E> {
                Ok(Any(flag.into()))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<Any, E> {
                Ok(Any(number.into()))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<Any, E> {
                Ok(Any(number.into()))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Any, E> {
                Ok(Any(number.into()))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Any, E> {
                Ok(Any(text.into()))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Any, A::Error> {
                let mut items = Vec::new();
                while let Some(Any(item)) = list.next_element()? {
                    count_one()?;
                    items.push(item);
                }
                Ok(Any(items.into()))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Any, A::Error> {
                let mut all = Map::new();
                while let Some((name, Any(value))) = fields.next_entry()? {
                    count_one()?;
                    all.insert(name, value);
                }
                Ok(Any(all.into()))
            }
        }
        from.deserialize_any(AnyValue)
    }
}
