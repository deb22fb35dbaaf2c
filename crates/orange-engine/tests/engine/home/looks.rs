//! What is shown of a home: tasks, lists, slots, and what the doctor finds.

use super::*;

impl TestHome {
    /// Everything that is shown of a task.
    pub(crate) fn look(&self, task: &TestTask) -> Outcome<Value> {
        self.person(|call| {
            let view = task::view(call, task.place.clone())?;
            let detail = detail::detail(call, view, false, false)?;
            let mut value = serde_json::to_value(detail).unwrap();
            Ok(value["task"].take())
        })
    }

    /// How far a phased task is.
    #[track_caller]
    pub(crate) fn phased(&self, task: &TestTask) -> PhasedDetail {
        let detail = self.person(|call| {
            let view = task::view(call, task.place.clone())?;
            phased::phased(call, &view.task)
        });
        detail.value().unwrap()
    }

    /// The same, where nothing is to go wrong.
    #[track_caller]
    pub(crate) fn show(&self, task: &TestTask) -> Value {
        self.look(task).value()
    }

    /// A part of what a task changed.
    pub(crate) fn compare(&self, task: &TestTask, of: DiffOf) -> Outcome<Comparison> {
        self.person(|call| {
            let view = task::view(call, task.place.clone())?;
            diff::comparison(call, &view, of)
        })
    }

    /// Somebody is shown such a part.
    pub(crate) fn note_look(&self, caller: Caller, task: &TestTask, of: DiffOf) {
        let shown = self.compare(task, of).value();
        self.call(caller, |call| {
            seen::note_look(call, &task.place, &shown);
            Ok(())
        })
        .ok();
    }

    pub(crate) fn mark_viewed(&self, task: &TestTask, path: &str, content: Option<&str>) {
        self.person(|call| seen::mark_viewed(call, &task.place, path, content))
            .ok();
    }

    /// Why a task is where it is, with actions as the code has them.
    #[track_caller]
    pub(crate) fn why(&self, task: &TestTask) -> String {
        self.person(|call| {
            let view = task::view_judged(call, task.place.clone())?;
            let answer = why::explanation(call, &view)?;
            Ok(shown(&answer.reason.text(&answer.name)))
        })
        .value()
    }

    /// The rows of a list of all open tasks.
    pub(crate) fn list(&self) -> Vec<Value> {
        let listed = self.person(|call| {
            let filter = TaskFilter {
                with_fields: true,
                with_diff: true,
                ..TaskFilter::default()
            };
            let rows = list::list(call, &filter)?;
            Ok(list_json(&rows, &sessions::live_agents(call)))
        });
        let mut listed: Value = serde_json::from_str(&listed.value()).unwrap();
        serde_json::from_value(listed["tasks"].take()).unwrap()
    }

    /// What is wrong in the home, in words.
    pub(crate) fn problems(&self) -> Vec<String> {
        self.doctor(false)
    }

    /// Has everything repaired that can be; what is left.
    pub(crate) fn repair(&self) -> Vec<String> {
        self.doctor(true)
    }

    fn doctor(&self, repair: bool) -> Vec<String> {
        let report = self
            .person(|call| doctor::doctor(call, repair, false))
            .value();
        let open = report.findings.iter().filter(|finding| !finding.repaired);
        open.map(|finding| format!("{}: {}", finding.subject, finding.problem))
            .collect()
    }

    /// All slots, as a list of them shows it.
    pub(crate) fn slots(&self) -> Vec<Value> {
        let rows = self
            .person(|call| workspaces::slots_of(call, None, false))
            .value();
        rows.iter()
            .map(|row| serde_json::to_value(row).unwrap())
            .collect()
    }

    /// Removes slots that nobody needs.
    pub(crate) fn collect_slots(&self) {
        self.person(|call| maintenance::workspaces::collect_slots(call, None, false))
            .ok();
    }

    /// Removes every slot that nobody has.
    pub(crate) fn collect_all_slots(&self) {
        self.person(|call| maintenance::workspaces::collect_slots(call, None, true))
            .ok();
    }
}
