-- The phased workflow. Times are texts, answers and checks are JSON.
CREATE TABLE plans (
    task_id TEXT PRIMARY KEY,
    yaml    TEXT NOT NULL,
    edited  INTEGER NOT NULL
) WITHOUT ROWID;
-- current_phase, current_iteration: of the newest iteration. only_phase: the one that is executed alone. over_budget: a person
-- lets it go on although a budget is spent. rewinding: what a rewind has still to do to the branch.
CREATE TABLE executions (
    task_id           TEXT PRIMARY KEY,
    current_phase     TEXT,
    current_iteration INTEGER,
    only_phase        TEXT,
    only_phase_over   INTEGER NOT NULL,
    over_budget       INTEGER NOT NULL,
    retry_context     TEXT NOT NULL,
    error             TEXT,
    rewinding         TEXT
) WITHOUT ROWID;
CREATE TABLE phases (
    task_id      TEXT NOT NULL,
    name         TEXT NOT NULL,
    position     INTEGER NOT NULL,
    status       TEXT NOT NULL,
    attempt      INTEGER NOT NULL,
    retries      INTEGER NOT NULL,
    started_at   TEXT,
    completed_at TEXT,
    commit_sha   TEXT,
    session_id   TEXT,
    error        TEXT,
    summary      TEXT,
    PRIMARY KEY (task_id, name)
) WITHOUT ROWID;
-- In the order in which they began. What a phase or a task used is the sum over these.
CREATE TABLE iterations (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id       TEXT NOT NULL,
    phase         TEXT NOT NULL,
    iteration     INTEGER NOT NULL,
    attempt       INTEGER NOT NULL,
    kind          TEXT NOT NULL,
    run           TEXT NOT NULL,
    harness       TEXT NOT NULL,
    model         TEXT,
    session       TEXT,
    started_at    TEXT NOT NULL,
    ended_at      TEXT,
    outcome       TEXT,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cache_creation_input_tokens INTEGER NOT NULL,
    cache_read_input_tokens     INTEGER NOT NULL,
    cost          REAL,
    cost_partial  INTEGER NOT NULL,
    head          TEXT,
    answer        TEXT,
    checked       INTEGER NOT NULL,
    checks        TEXT NOT NULL,
    error         TEXT,
    advanced      INTEGER NOT NULL,
    transcript    TEXT,
    again_at      TEXT,
    base          TEXT,
    rescue        TEXT,
    UNIQUE (task_id, phase, iteration)
);
-- What was spent since a moment is asked before every turn.
CREATE INDEX iterations_by_end ON iterations (coalesce(ended_at, started_at));
CREATE TABLE gate_decisions (
    id        INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id   TEXT NOT NULL,
    phase     TEXT NOT NULL,
    gate_type TEXT NOT NULL,
    attempt   INTEGER NOT NULL,
    approved  INTEGER NOT NULL,
    reason    TEXT,
    decided_by TEXT NOT NULL,
    decided_at TEXT NOT NULL
);
CREATE INDEX gate_decisions_of_tasks ON gate_decisions (task_id);
-- The specification of a task, as Markdown. source: a word of SpecSource.
CREATE TABLE specs (
    task_id    TEXT PRIMARY KEY,
    content    TEXT NOT NULL,
    source     TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
);
-- Who executes a task, and when that was last heard of.
CREATE TABLE claims (
    task_id      TEXT PRIMARY KEY,
    run          TEXT NOT NULL,
    pid          INTEGER NOT NULL,
    hostname     TEXT NOT NULL,
    started_at   TEXT NOT NULL,
    heartbeat_at TEXT NOT NULL
) WITHOUT ROWID;
-- Rows that the journals of their tasks do not tell of as they are. A row that changes again gets a new mark: the id
-- counts the changes. number: of an iteration, or the id of a decision.
CREATE TABLE unjournalled (
    mark    INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id TEXT NOT NULL,
    kind    TEXT NOT NULL,
    phase   TEXT NOT NULL,
    number  INTEGER NOT NULL,
    UNIQUE (task_id, kind, phase, number)
);
-- The newest test results of a task, and the newest report that could not be imported. figures, owned: JSON. seen: the
-- digest of the report that was looked at last. owned: the files that the import brought.
CREATE TABLE test_results (
    task_id     TEXT PRIMARY KEY,
    import      TEXT NOT NULL,
    imported_at TEXT NOT NULL,
    imported_by TEXT NOT NULL,
    source      TEXT NOT NULL,
    seen        TEXT NOT NULL,
    figures     TEXT,
    owned       TEXT NOT NULL,
    problem     TEXT
) WITHOUT ROWID;
