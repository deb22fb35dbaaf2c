//! What a person types or a file says for a task: any text is some reference, and what Orange writes of it is read as
//! the same one.

use orange_core::id::{Key, Prefix, Reference, read_stored, stored_reference};

pub fn reference(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    match Reference::parse(text) {
        Reference::Key(key) => {
            assert_eq!(key.to_string().parse(), Ok(key));
            assert!(text.to_uppercase().starts_with(key.prefix.as_str()));
        }
        Reference::ProjectKey(project, _) | Reference::ProjectNumber(project, _) => {
            let rest = text.strip_prefix(&project);
            assert!(rest.is_some_and(|rest| rest.starts_with(':')));
        }
        Reference::Branch(project, branch) => assert_eq!(format!("{project}/{branch}"), text),
        Reference::IdPrefix(id) => assert_eq!(id, text),
    }
    if let Some(stored) = read_stored("shop", text) {
        assert!(stored.number > 0);
        assert_eq!(
            read_stored("shop", &stored.written_in("shop")),
            Some(stored)
        );
    }
    if let Ok(prefix) = text.parse::<Prefix>() {
        assert_eq!(prefix.as_str(), text.to_uppercase());
        let number = u32::try_from(text.len()).unwrap_or(1);
        let key = Key { number, prefix };
        let written = stored_reference("web", "shop", key);
        assert!(read_stored("web", &written).is_some_and(|read| read.fits(key)));
    }
}
