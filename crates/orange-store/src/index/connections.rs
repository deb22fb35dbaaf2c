//! The connections to index.db that a process has. Each question uses one of its own, so that threads do not wait for each
//! other, and a question may be asked while another one is answered.

use super::{BUSY_TIMEOUT, open_anyhow, open_file};
use orange_sys::error::Result;
use rusqlite::{Connection, OpenFlags};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// More than any command needs at once. What is given back beyond that is closed.
const MOST_IDLE: usize = 8;

/// Connections to one database, which may be replaced by another one.
pub(super) struct Connections {
    path: PathBuf,
    state: Mutex<ConnectionState>,
}

struct ConnectionState {
    database: IndexDatabase,
    /// How often the database was replaced: connections to an earlier one are not used again.
    generation: u32,
    idle: Vec<Connection>,
}

/// What the connections lead to.
pub(super) enum IndexDatabase {
    File,
    /// A database in memory lives as long as one connection to it does.
    Memory {
        name: String,
        _keeper: Connection,
    },
}

/// A database, a first connection to it, and whether its tables are still empty.
pub(super) struct Opened {
    pub(super) database: IndexDatabase,
    pub(super) connection: Connection,
    pub(super) empty: bool,
}

impl Connections {
    /// Opens the database, whatever state it is in. Returns whether its tables are empty too.
    pub(super) fn open(path: PathBuf) -> Result<(Connections, bool)> {
        let opened = open_anyhow(&path)?;
        let state = ConnectionState {
            database: opened.database,
            generation: 0,
            idle: vec![opened.connection],
        };
        let connections = Connections {
            path,
            state: Mutex::new(state),
        };
        Ok((connections, opened.empty))
    }

    /// Goes on with another database.
    pub(super) fn replace(&self, opened: Opened) {
        let mut state = self.state();
        state.database = opened.database;
        state.generation += 1;
        state.idle = vec![opened.connection];
    }

    /// Uses a connection that nobody else uses meanwhile.
    pub(super) fn with<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let (generation, mut connection) = self.take()?;
        let outcome = work(&mut connection);
        let mut state = self.state();
        if state.generation == generation && state.idle.len() < MOST_IDLE {
            state.idle.push(connection);
        }
        outcome
    }

    fn take(&self) -> rusqlite::Result<(u32, Connection)> {
        let mut state = self.state();
        let connection = match (state.idle.pop(), &state.database) {
            (Some(connection), _) => connection,
            (None, IndexDatabase::File) => open_file(&self.path)?.connection,
            (None, IndexDatabase::Memory { name, .. }) => connect_to_memory(name)?,
        };
        Ok((state.generation, connection))
    }

    fn state(&self) -> MutexGuard<'_, ConnectionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A new database in memory, with a connection to it.
pub(super) fn new_in_memory() -> rusqlite::Result<(IndexDatabase, Connection)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = format!("file:orange-index-{number}?mode=memory&cache=shared");
    let connection = connect_to_memory(&name)?;
    let keeper = connect_to_memory(&name)?;
    let database = IndexDatabase::Memory {
        name,
        _keeper: keeper,
    };
    Ok((database, connection))
}

fn connect_to_memory(name: &str) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(name, flags)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Connections of one cache lock its tables for each other; nobody waits for a reader this way.
    connection.pragma_update(None, "read_uncommitted", true)?;
    Ok(connection)
}
