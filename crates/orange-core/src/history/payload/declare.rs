//! The macro `events!`: what follows from the table of events.

/// Declares the types of events. A row is a struct, the types that carry it, and its fields in the order in which they are
/// written. A type has its word in the journal, the component of the log that tells of it, and its weight. A field's name
/// is its key.
macro_rules! events {
    (
        plain { $($plain:ident = $plain_word:literal $plain_component:ident $plain_weight:ident),+ $(,)? }
        $(
            $(#[$about:meta])*
            $name:ident: $($kind:ident = $word:literal $component:ident $weight:ident),+ {
                $($(#[$field_about:meta])* $field:ident: $type:ty),+ $(,)?
            }
        )+
    ) => {
        /// What happened. Words we do not know are kept as they are.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
        pub enum EventType {
            $(#[serde(rename = $plain_word)] $plain,)+
            $($(#[serde(rename = $word)] $kind,)+)+
            #[serde(untagged)]
            Other(String),
        }

        /// An event's type with what it carries.
        #[derive(Debug, Clone, PartialEq)]
        pub enum Payload<'e> {
            $($plain,)+
            $($($kind($name<'e>),)+)+
            Other(&'e str),
        }

        impl EventType {
            /// Every type that has a word of its own.
            pub const KNOWN: &[EventType] = &[$(EventType::$plain,)+ $($(EventType::$kind,)+)+];

            fn columns(&self) -> (&str, &'static str, EventWeight) {
                match self {
                    $(EventType::$plain => ($plain_word, stringify!($plain_component), EventWeight::$plain_weight),)+
                    $($(EventType::$kind => ($word, stringify!($component), EventWeight::$weight),)+)+
                    EventType::Other(word) => (word, "task", EventWeight::Story),
                }
            }

            /// The keys that this version knows of such an event.
            pub fn keys(&self) -> &'static [&'static str] {
                match self {
                    $($(EventType::$kind)|+ => &[$(stringify!($field)),+],)+
                    $(EventType::$plain)|+ | EventType::Other(_) => &[],
                }
            }
        }

        impl Event {
            pub fn payload(&self) -> Payload<'_> {
                match &self.kind {
                    $(EventType::$plain => Payload::$plain,)+
                    $($(EventType::$kind => Payload::$kind($name::read(self)),)+)+
                    EventType::Other(word) => Payload::Other(word),
                }
            }

            pub fn of(payload: Payload<'_>, now: Timestamp) -> Event {
                match payload {
                    $(Payload::$plain => Event::new(EventType::$plain, now),)+
                    $($(Payload::$kind(details) => Event::new(EventType::$kind, now).with(details),)+)+
                    Payload::Other(word) => Event::new(EventType::Other(word.to_owned()), now),
                }
            }
        }

        $(
            $(#[$about])*
            #[derive(Debug, Clone, Default, PartialEq)]
            pub struct $name<'e> {
                $($(#[$field_about])* pub $field: Option<$type>,)+
            }

            impl<'e> $name<'e> {
                fn read(event: &'e Event) -> Self {
                    let mut found = Self::default();
                    for (name, value) in &event.details {
                        match name.as_str() {
                            $(stringify!($field) => found.$field = Deserialize::deserialize(value).ok(),)+
                            _ => {}
                        }
                    }
                    found
                }

                /// None for an event of another type.
                pub fn of(event: &'e Event) -> Option<Self> {
                    matches!(event.kind, $(EventType::$kind)|+).then(|| Self::read(event))
                }
            }

            impl Details for $name<'_> {
                fn write(self, event: &mut Event) {
                    $(event.put(stringify!($field), self.$field);)+
                }
            }
        )+
    };
}

pub(super) use events;
