//! The program from the outside: real commands on real repositories, files and databases.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on says so by panicking"
)]

mod actors;
mod adoption;
mod agent_cancel;
mod agent_crash_points;
mod agent_delegation;
mod agent_exit;
mod agent_failures;
mod agent_faults;
mod agent_fence;
mod agent_flows;
mod agent_harness;
mod agent_hazards;
mod agent_hooks;
mod agent_kills;
mod agent_merge;
mod agent_misdeeds;
mod agent_notify;
mod agent_permissions;
mod agent_processes;
mod agent_queue;
mod agent_respawn;
mod agent_screen;
mod agent_talk;
mod agents;
mod bad_input;
mod create_from;
mod create_refused;
mod damage;
mod databases;
mod demo;
mod doctor;
mod doctor_harnesses;
mod doctor_workspaces;
mod env;
mod everyday;
mod examples;
mod gates;
mod hand_edits;
mod lifecycle;
mod merge_checkouts;
mod merge_conflicts;
mod merge_consent;
mod merge_faults;
mod merge_kills;
mod merge_races;
mod merge_remotes;
mod merge_strategies;
mod merges;
mod output;
mod pool;
mod project;
mod project_trust;
mod prompt;
mod prompt_override;
mod run;
mod sim;
mod stray_task_files;
mod surface;
mod task_create;
mod task_diff;
mod task_diff_stat;
mod task_end;
mod task_link;
mod task_list;
mod task_place;
mod task_rescue;
mod task_resolve;
mod task_show_workspace;
mod task_update;
mod task_view;
mod verify;
mod verify_by_hand;
mod verify_kills;
mod whereabouts;
mod words;
mod workspace_branches;
mod workspace_faults;
mod workspace_hazards;
mod workspace_repositories;
mod workspace_setup;
mod workspaces;
