//! What a person can do next. Each front end spells an action in its own way: as a command, a key or a button.

use crate::task::Status;
use crate::workflow::Role;
use serde::Serialize;

/// The variants, and for each a function that makes one.
macro_rules! actions {
    ($($(#[$about:meta])* $variant:ident $new:ident($($field:ident: $kind:ty),*),)*) => {
        /// One thing to do. Tasks are named as people name them.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
        #[serde(tag = "action", rename_all = "snake_case")]
        pub enum Action {
            $($(#[$about])* $variant { $($field: $kind),* },)*
        }

        impl Action {
            $($(#[$about])* pub fn $new($($field: impl Into<$kind>),*) -> Action {
                Action::$variant { $($field: $field.into()),* }
            })*
        }
    };
}

actions! {
    AddProject add_project(path: Option<String>, name: Option<String>),
    AnswerQuestion answer_question(task: String),
    Attach attach(task: String),
    BranchAt branch_at(repository: String, branch: String),
    Cancel cancel(task: String, children: bool),
    Check check(),
    CleanPools clean_pools(),
    CleanUp clean_up(),
    CommitEmpty commit_empty(repository: String),
    Complete complete(task: String),
    CreateChild create_child(),
    CreateFrom create_from(task: String, work: bool, text: Option<String>),
    Delete delete(task: String),
    Diff diff(task: String),
    EditSettings edit_settings(),
    EditTaskFile edit_task_file(task: String),
    EnlargePool enlarge_pool(project: String, size: Option<u32>),
    Explain explain(task: String),
    ExplainFields explain_fields(),
    ExplainSearch explain_search(),
    FetchAll fetch_all(),
    KillSession kill_session(session: String),
    ListDeleted list_deleted(),
    ListHarnesses list_harnesses(),
    ListRescues list_rescues(task: String),
    ListSettings list_settings(),
    ListTasks list_tasks(),
    Log log(),
    /// As it was asked for; None: as the settings say.
    Merge merge(task: String, force: bool, strategy: Option<String>, push: Option<bool>, message: Option<String>),
    MergeBranch merge_branch(branch: String),
    MoveProject move_project(project: String),
    MoveTo move_to(task: String, status: Status),
    NameBranch name_branch(task: String),
    Pull pull(),
    /// None: one of several.
    RemoveBlocker remove_blocker(task: Option<String>, blocker: Option<String>),
    RemoveBranch remove_branch(),
    RemoveProject remove_project(project: String),
    Repair repair(),
    ReplaceBlocker replace_blocker(task: String, blocker: String, by: String),
    /// None: the person writes what is to be changed.
    RequestChanges request_changes(task: String, text: Option<String>),
    Resolve resolve(task: String),
    Respawn respawn(task: String, message: bool),
    RespawnWith respawn_with(task: String, text: String),
    Restore restore(task: String),
    RetryHooks retry_hooks(task: String),
    /// None: the person writes it.
    Send send(task: String, role: Option<Role>, text: Option<String>),
    SetDefaultBranch set_default_branch(project: String),
    SetHarness set_harness(task: String),
    SetPermissions set_permissions(project: String, mode: Option<String>),
    SetSetting set_setting(key: String, value: String),
    SetSummary set_summary(task: String),
    SetTarget set_target(task: String),
    Shell shell(task: String),
    Show show(task: String, history: bool),
    ShowRescue show_rescue(task: String, rescue: String),
    ShowSetting show_setting(key: String),
    Spawn spawn(task: String, force: bool),
    StartReady start_ready(),
    StashFile stash_file(worktree: String, path: String),
    /// `anew`: the branch begins where the worktree is, whatever it was.
    Switch switch(branch: String, anew: bool),
    /// Makes the branch that is checked out the task's.
    TakeBranch take_branch(task: String),
    TaskFolder task_folder(task: String),
    Trust trust(project: String, at: Option<String>),
    UnsetSetting unset_setting(key: Option<String>),
    Untrack untrack(task: String, path: String),
    Verify verify(task: String),
    Watch watch(),
}
