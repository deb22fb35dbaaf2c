//! The listening socket and the life of its connections: all of them end with the server.

use super::connection;
use super::request::Request;
use super::script::Scripts;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

pub(super) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

/// What all connections see.
#[derive(Default)]
pub(super) struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) scripts: Scripts,
    pub(super) requests: Vec<Request>,
    pub(super) strays: Vec<String>,
    connections: Vec<Connection>,
    pub(super) closing: bool,
}

struct Connection {
    stream: TcpStream,
    thread: JoinHandle<()>,
}

impl Shared {
    /// A thread that panicked while it held this has failed the test already; the others go on.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sleeps until something changes, or for so long.
    pub(super) fn wait<'a>(
        &self,
        state: MutexGuard<'a, State>,
        longest: Duration,
    ) -> MutexGuard<'a, State> {
        let woken = self.changed.wait_timeout(state, longest);
        woken.unwrap_or_else(PoisonError::into_inner).0
    }

    pub(super) fn notify(&self) {
        self.changed.notify_all();
    }
}

impl Server {
    pub(super) fn start() -> Server {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared::default());
        let for_thread = Arc::clone(&shared);
        Server {
            address,
            shared,
            accepting: Some(std::thread::spawn(move || accept(&listener, &for_thread))),
        }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state()
    }

    pub(super) fn wait<'a>(
        &self,
        state: MutexGuard<'a, State>,
        longest: Duration,
    ) -> MutexGuard<'a, State> {
        self.shared.wait(state, longest)
    }
}

/// Gives every connection a thread, until the server is to end.
fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    loop {
        let accepted = listener.accept();
        let mut state = shared.state();
        if state.closing {
            return;
        }
        // Who gave up before it was accepted is no concern of ours.
        let Ok((stream, _)) = accepted else { continue };
        let ours = stream.try_clone().unwrap();
        let for_thread = Arc::clone(shared);
        let thread = std::thread::spawn(move || connection::serve(stream, &for_thread));
        state.connections.push(Connection {
            stream: ours,
            thread,
        });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.state().closing = true;
        self.shared.notify();
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
        let mut ended = vec![self.accepting.take().map(JoinHandle::join)];
        let connections = std::mem::take(&mut self.state().connections);
        for connection in connections {
            // Whatever waits for the agent, or for nothing at all, reads an end.
            let _ = connection.stream.shutdown(Shutdown::Both);
            ended.push(Some(connection.thread.join()));
        }
        let panicked = ended.into_iter().flatten().any(|thread| thread.is_err());
        if panicked && !std::thread::panicking() {
            panic!("a thread of the model panicked; see above");
        }
    }
}
