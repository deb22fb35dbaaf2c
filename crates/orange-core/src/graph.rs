//! The dependency graph between tasks: cycles, and the tree to print. Walks with explicit stacks,
//! because a chain of blockers may be longer than the call stack is deep.

use std::collections::{HashMap, HashSet, VecDeque};

/// A shortest cycle through `start`, spelled out as `[a, b, c, a]`. `blockers` is asked once per
/// node that can be reached.
pub fn find_cycle(
    start: &str,
    mut blockers: impl FnMut(&str) -> Vec<String>,
) -> Option<Vec<String>> {
    // Which node led to a node first; this also marks the nodes already queued.
    let mut came_from: HashMap<String, String> = HashMap::new();
    let mut queue = VecDeque::from([start.to_owned()]);
    while let Some(node) = queue.pop_front() {
        for blocker in blockers(&node) {
            if blocker == start {
                return Some(path_back(start, node, &came_from));
            }
            if !came_from.contains_key(&blocker) {
                came_from.insert(blocker.clone(), node.clone());
                queue.push_back(blocker);
            }
        }
    }
    None
}

fn path_back(start: &str, last: String, came_from: &HashMap<String, String>) -> Vec<String> {
    let mut path = vec![start.to_owned()];
    let mut node = last;
    while node != start {
        let Some(previous) = came_from.get(&node) else {
            break;
        };
        path.push(std::mem::replace(&mut node, previous.clone()));
    }
    path.push(start.to_owned());
    path.reverse();
    path
}

/// One line of a printed dependency tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeLine {
    /// Zero for the root.
    pub depth: usize,
    pub id: String,
    /// The node stands further up already, so what is below it is not repeated.
    pub seen_before: bool,
}

/// `root` and everything below it, depth first; a node met again is listed but not expanded again,
/// which also ends cycles.
pub fn tree(root: &str, mut blockers: impl FnMut(&str) -> Vec<String>) -> Vec<TreeLine> {
    let mut lines = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    let mut stack = vec![(0, root.to_owned())];
    while let Some((depth, id)) = stack.pop() {
        let seen_before = !seen.insert(id.clone());
        if !seen_before {
            let below = blockers(&id);
            stack.extend(below.into_iter().rev().map(|blocker| (depth + 1, blocker)));
        }
        lines.push(TreeLine {
            depth,
            id,
            seen_before,
        });
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn graph(edges: &[(&str, &str)]) -> impl Fn(&str) -> Vec<String> {
        let edges: Vec<(String, String)> = edges
            .iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
            .collect();
        move |node| {
            edges
                .iter()
                .filter(|(from, _)| from == node)
                .map(|(_, to)| to.clone())
                .collect()
        }
    }

    #[test]
    fn spells_out_the_cycle_through_start() {
        let g = graph(&[("a", "b"), ("b", "c"), ("c", "a"), ("b", "x")]);
        assert_eq!(
            find_cycle("a", &g).unwrap(),
            ["a", "b", "c", "a"].map(String::from)
        );
        assert_eq!(
            find_cycle("b", &g).unwrap(),
            ["b", "c", "a", "b"].map(String::from)
        );
        assert_eq!(find_cycle("x", &g), None);
    }

    #[test]
    fn a_task_blocked_by_itself_is_a_cycle() {
        let g = graph(&[("a", "a")]);
        assert_eq!(find_cycle("a", &g).unwrap(), ["a", "a"].map(String::from));
    }

    #[test]
    fn a_cycle_elsewhere_is_not_one_through_start_and_ends() {
        let g = graph(&[("a", "b"), ("b", "c"), ("c", "b")]);
        assert_eq!(find_cycle("a", &g), None);
    }

    #[test]
    fn finds_the_shortest_of_several() {
        let g = graph(&[("a", "b"), ("b", "c"), ("c", "a"), ("a", "d"), ("d", "a")]);
        assert_eq!(
            find_cycle("a", &g).unwrap(),
            ["a", "d", "a"].map(String::from)
        );
    }

    #[test]
    fn expands_each_node_once() {
        // Layers of two nodes, fully linked: 2^20 paths, 41 nodes.
        let mut asked = HashMap::new();
        let next = |node: &str| -> Vec<String> {
            let layer: u32 = node.trim_end_matches(['l', 'r']).parse().unwrap();
            if layer == 20 {
                return Vec::new();
            }
            vec![format!("{}l", layer + 1), format!("{}r", layer + 1)]
        };
        assert_eq!(
            find_cycle("0", |n| {
                *asked.entry(n.to_owned()).or_insert(0) += 1;
                next(n)
            }),
            None
        );
        assert_eq!(asked.len(), 41);
        assert!(asked.values().all(|count| *count == 1));

        let lines = tree("0", next);
        assert_eq!(lines.iter().filter(|l| !l.seen_before).count(), 41);
        assert!(lines.len() <= 41 * 2);
    }

    const DEEP: usize = 100_000;

    fn deep(node: &str) -> Vec<String> {
        let n: usize = node.parse().unwrap();
        if n < DEEP {
            vec![(n + 1).to_string()]
        } else {
            Vec::new()
        }
    }

    #[test]
    fn deep_chains_do_not_overflow_the_stack() {
        assert_eq!(find_cycle("0", deep), None);
        let closed = |n: &str| {
            let below = deep(n);
            if below.is_empty() {
                vec!["0".to_owned()]
            } else {
                below
            }
        };
        assert_eq!(find_cycle("0", closed).unwrap().len(), DEEP + 2);

        let lines = tree("0", deep);
        assert_eq!(lines.len(), DEEP + 1);
        assert_eq!(lines.last().unwrap().depth, DEEP);
    }

    #[test]
    fn lists_the_tree_depth_first_and_shared_nodes_once() {
        let g = graph(&[
            ("a", "b"),
            ("a", "c"),
            ("b", "d"),
            ("c", "d"),
            ("d", "e"),
            ("e", "a"),
        ]);
        let lines: Vec<(usize, String, bool)> = tree("a", &g)
            .into_iter()
            .map(|l| (l.depth, l.id, l.seen_before))
            .collect();
        let expected = [
            (0, "a", false),
            (1, "b", false),
            (2, "d", false),
            (3, "e", false),
            (4, "a", true),
            (1, "c", false),
            (2, "d", true),
        ];
        assert_eq!(lines, expected.map(|(d, id, s)| (d, id.to_owned(), s)));
    }

    /// Edges that only go from a smaller to a larger number: never a cycle.
    fn dag() -> impl Strategy<Value = Vec<(usize, usize)>> {
        prop::collection::vec((0usize..30, 0usize..30), 0..90).prop_map(|pairs| {
            pairs
                .into_iter()
                .filter(|(a, b)| a != b)
                .map(|(a, b)| (a.min(b), a.max(b)))
                .collect()
        })
    }

    fn named(edges: &[(usize, usize)]) -> Vec<(String, String)> {
        edges
            .iter()
            .map(|(a, b)| (a.to_string(), b.to_string()))
            .collect()
    }

    fn borrowed(edges: &[(String, String)]) -> Vec<(&str, &str)> {
        edges
            .iter()
            .map(|(a, b)| (a.as_str(), b.as_str()))
            .collect()
    }

    fn assert_is_cycle(cycle: &[String], edges: &[(&str, &str)]) {
        assert!(cycle.len() >= 2);
        assert_eq!(cycle.first(), cycle.last());
        for pair in cycle.windows(2) {
            assert!(edges.contains(&(pair[0].as_str(), pair[1].as_str())));
        }
        let inner: HashSet<&String> = cycle.iter().skip(1).collect();
        assert_eq!(inner.len(), cycle.len() - 1, "a node twice in {cycle:?}");
    }

    proptest! {
        #[test]
        fn no_false_cycles(edges in dag()) {
            let edges = named(&edges);
            let edges = borrowed(&edges);
            for node in 0..30 {
                prop_assert_eq!(find_cycle(&node.to_string(), graph(&edges)), None);
            }
        }

        #[test]
        fn an_edge_back_is_always_found(edges in dag(), pick in any::<prop::sample::Index>()) {
            prop_assume!(!edges.is_empty());
            // Walk forward from some edge as far as it goes, then close the loop.
            let (start, mut end) = edges[pick.index(edges.len())];
            while let Some((_, next)) = edges.iter().find(|(from, _)| *from == end) {
                end = *next;
            }
            let mut edges = named(&edges);
            edges.push((end.to_string(), start.to_string()));
            let edges = borrowed(&edges);
            let start = start.to_string();
            let cycle = find_cycle(&start, graph(&edges)).unwrap();
            prop_assert_eq!(&cycle[0], &start);
            assert_is_cycle(&cycle, &edges);
        }

        #[test]
        fn the_tree_holds_exactly_what_can_be_reached(
            edges in prop::collection::vec((0usize..12, 0usize..12), 0..40)
        ) {
            let edges = named(&edges);
            let edges = borrowed(&edges);
            let lines = tree("0", graph(&edges));
            let mut reached = HashSet::from(["0"]);
            loop {
                let before = reached.len();
                for (from, to) in &edges {
                    if reached.contains(from) {
                        reached.insert(to);
                    }
                }
                if reached.len() == before {
                    break;
                }
            }
            let listed: HashSet<&str> = lines.iter().map(|l| l.id.as_str()).collect();
            prop_assert_eq!(&listed, &reached);
            prop_assert_eq!(lines.iter().filter(|l| !l.seen_before).count(), reached.len());
            for pair in lines.windows(2) {
                prop_assert!(pair[1].depth <= pair[0].depth + 1);
            }
        }
    }
}
