//! What a person can do next. Each front end spells an action in its own way: as a command, a key or a button.

use crate::task::Status;
use crate::task_name::TaskName;
use crate::workflow::Role;
use serde::Serialize;

/// The variants, and for each a function that makes one.
macro_rules! actions {
    ($($(#[$about:meta])* $variant:ident $new:ident($($field:ident: $kind:ty),*),)*) => {
        /// One thing to do.
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
    AnswerQuestion answer_question(task: TaskName),
    /// The person writes it.
    AnswerInWords answer_in_words(task: TaskName),
    Approve approve(task: TaskName),
    Attach attach(task: TaskName),
    BranchAt branch_at(repository: String, branch: String),
    Cancel cancel(task: TaskName, children: bool),
    Check check(),
    ChooseWeight choose_weight(task: TaskName),
    CleanPools clean_pools(),
    CleanUp clean_up(),
    CommitEmpty commit_empty(repository: String),
    Complete complete(task: TaskName),
    CreateChild create_child(),
    CreateFrom create_from(task: TaskName, work: bool, text: Option<String>),
    Delete delete(task: TaskName),
    Diff diff(task: TaskName),
    EditSettings edit_settings(),
    EditTaskFile edit_task_file(task: TaskName),
    EnlargePool enlarge_pool(project: String, size: Option<u32>),
    Explain explain(task: TaskName),
    ExplainFields explain_fields(),
    ExplainSearch explain_search(),
    FetchAll fetch_all(),
    KillSession kill_session(session: String),
    /// Has a checkout let go of its branch; its files stay.
    LeaveBranch leave_branch(checkout: String),
    ListDeleted list_deleted(),
    ListHarnesses list_harnesses(),
    ListPermissions list_permissions(),
    ListRescues list_rescues(task: TaskName),
    ListSessions list_sessions(),
    ListSettings list_settings(),
    ListTasks list_tasks(),
    Log log(),
    /// As it was asked for; None: as the settings say.
    Merge merge(task: TaskName, force: bool, strategy: Option<String>, push: Option<bool>, message: Option<String>),
    MergeBranch merge_branch(branch: String),
    MoveProject move_project(project: String),
    MoveTo move_to(task: TaskName, status: Status),
    NameBranch name_branch(task: TaskName),
    Pull pull(),
    /// The person writes why.
    Reject reject(task: TaskName),
    RebaseOnto rebase_onto(branch: String),
    /// None: one of several.
    RemoveBlocker remove_blocker(task: Option<TaskName>, blocker: Option<String>),
    RemoveBranch remove_branch(),
    RemoveFile remove_file(path: String),
    RemoveProject remove_project(project: String),
    Repair repair(),
    ReplaceBlocker replace_blocker(task: TaskName, blocker: String, by: String),
    /// None: the person writes what is to be changed.
    RequestChanges request_changes(task: TaskName, text: Option<String>),
    ResetPlan reset_plan(task: TaskName),
    ImportTestResults import_test_results(task: TaskName),
    Pause pause(task: TaskName),
    Resolve resolve(task: TaskName),
    Respawn respawn(task: TaskName, message: bool),
    RespawnWith respawn_with(task: TaskName, text: String),
    Restore restore(task: TaskName),
    /// With force although a budget is spent.
    Resume resume(task: TaskName, force: bool),
    Retry retry(task: TaskName),
    RetryHooks retry_hooks(task: TaskName),
    /// The person chooses the phase.
    Rewind rewind(task: TaskName),
    Run run(task: TaskName, force: bool),
    /// None: the person writes it.
    Send send(task: TaskName, role: Option<Role>, text: Option<String>),
    SetDefaultBranch set_default_branch(project: String),
    SetHarness set_harness(task: TaskName),
    SetPermissions set_permissions(project: String, mode: Option<String>),
    SetPrefix set_prefix(project: String, prefix: Option<String>),
    /// The person names the file.
    SetSpec set_spec(task: TaskName),
    SetSetting set_setting(key: String, value: String),
    SetSummary set_summary(task: TaskName),
    SetTarget set_target(task: TaskName),
    Shell shell(task: TaskName),
    Show show(task: TaskName, history: bool),
    ShowPlan show_plan(task: TaskName),
    ShowRescue show_rescue(task: TaskName, rescue: String),
    ShowSetting show_setting(key: String),
    ShowSpec show_spec(task: TaskName),
    Spawn spawn(task: TaskName, force: bool),
    StartReady start_ready(),
    StashFile stash_file(worktree: String, path: String),
    /// `anew`: the branch begins where the worktree is, whatever it was.
    Switch switch(branch: String, anew: bool),
    /// Makes the branch that is checked out the task's.
    TakeBranch take_branch(task: TaskName),
    TaskFolder task_folder(task: TaskName),
    Transcript transcript(task: TaskName),
    Trust trust(project: String, at: Option<String>),
    UnsetSetting unset_setting(key: Option<String>),
    Untrack untrack(task: TaskName, path: String),
    Verify verify(task: TaskName),
    Watch watch(),
}
