use super::*;

fn immediate(graph: &Successors, root: usize) -> Vec<Option<usize>> {
    let dominators = Dominators::new(graph, root);
    (0..graph.len())
        .map(|node| dominators.immediate(node))
        .collect()
}

fn members(body: &[bool]) -> Vec<usize> {
    (0..body.len()).filter(|&node| body[node]).collect()
}

/// Graphs of up to `n` nodes with random edges, from a fixed seed.
fn random_graphs(count: usize, nodes: usize) -> impl Iterator<Item = Vec<Vec<usize>>> {
    let mut state = 1u64;
    let mut below = move |bound: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % bound
    };
    (0..count).map(move |_| {
        let size = 1 + below(nodes);
        let mut graph = vec![Vec::new(); size];
        for _ in 0..below(2 * size + 1) {
            let (from, to) = (below(size), below(size));
            graph[from].push(to);
        }
        graph
    })
}

/// What the roots reach without passing a node.
fn reachable_without(graph: &Successors, root: usize, without: usize) -> Vec<bool> {
    if root == without {
        return vec![false; graph.len()];
    }
    let mut cut = graph.to_vec();
    for targets in &mut cut {
        targets.retain(|&to| to != without);
    }
    reachable(&cut, [root])
}

#[test]
fn a_diamond_is_dominated_by_its_top() {
    let graph = [vec![1, 2], vec![3], vec![3], vec![]];
    assert_eq!(immediate(&graph, 0), [Some(0), Some(0), Some(0), Some(0)]);
    assert!(depth_first(&graph, [0]).back_edges.is_empty());
}

#[test]
fn a_chain_is_dominated_link_by_link() {
    let graph = [vec![1], vec![2], vec![1, 3], vec![]];
    assert_eq!(immediate(&graph, 0), [Some(0), Some(0), Some(1), Some(2)]);
    assert_eq!(depth_first(&graph, [0]).back_edges, [(2, 1)]);
}

#[test]
fn what_the_root_does_not_reach_has_no_dominator_and_is_none() {
    let graph = [vec![2], vec![2], vec![]];
    assert_eq!(immediate(&graph, 0), [Some(0), None, Some(0)]);
    assert!(!Dominators::new(&graph, 0).dominates(1, 2));
}

#[test]
fn dominators_are_what_no_way_avoids() {
    for graph in random_graphs(500, 9) {
        let dominators = Dominators::new(&graph, 0);
        let reached = reachable(&graph, [0]);
        for (node, &reached) in reached.iter().enumerate() {
            assert_eq!(dominators.reaches(node), reached);
            for above in 0..graph.len() {
                let avoided = node != above && reachable_without(&graph, 0, above)[node];
                let expected = reached && !avoided;
                let found = reached && dominators.dominates(above, node);
                assert_eq!(found, expected, "{above} over {node} in {graph:?}");
            }
        }
    }
}

#[test]
fn postorder_lists_a_node_after_what_it_leads_to() {
    let graph = [vec![1, 2], vec![3], vec![3], vec![]];
    assert_eq!(depth_first(&graph, [0]).postorder, [3, 1, 2, 0]);
    assert_eq!(depth_first(&graph, [2, 0]).postorder, [3, 2, 1, 0]);
}

#[test]
fn targets_of_back_edges_meet_every_cycle() {
    for graph in random_graphs(500, 9) {
        let roots = 0..graph.len();
        let found = depth_first(&graph, roots.clone());
        assert_eq!(found.postorder.len(), graph.len());
        let mut cut = graph.clone();
        for (_, head) in found.back_edges {
            cut[head].clear();
        }
        assert!(cycles(&cut).iter().all(Option::is_none), "{graph:?}");
    }
}

#[test]
fn components_come_after_what_they_lead_to() {
    let graph = [vec![1, 3], vec![2], vec![1], vec![3], vec![0]];
    assert_eq!(components(&graph), [vec![1, 2], vec![3], vec![0], vec![4]]);
    assert_eq!(cycles(&graph), [None, Some(1), Some(1), Some(3), None]);
}

#[test]
fn components_are_nodes_that_reach_each_other() {
    for graph in random_graphs(300, 9) {
        let from: Vec<Vec<bool>> = (0..graph.len())
            .map(|node| reachable(&graph, [node]))
            .collect();
        let mut seen = vec![false; graph.len()];
        for component in components(&graph) {
            for &a in &component {
                assert!(!std::mem::replace(&mut seen[a], true));
                for b in 0..graph.len() {
                    assert_eq!(component.contains(&b), from[a][b] && from[b][a]);
                    // What it leads to came before.
                    assert!(!from[a][b] || seen[b] || component.contains(&b));
                }
            }
        }
        assert!(seen.iter().all(|&seen| seen));
    }
}

#[test]
fn a_nest_of_loops_comes_outer_first() {
    // 0 → 1 (outer head) → 2 (inner head) → 3 → 2, 2 → 1, 1 → 4
    let graph = [vec![1], vec![2, 4], vec![3, 1], vec![2], vec![]];
    let Loops { loops, reducible } = Loops::new(&graph, 0);
    assert!(reducible);
    let found: Vec<_> = loops.iter().map(|l| (l.head, members(&l.body))).collect();
    assert_eq!(found, [(1, vec![1, 2, 3]), (2, vec![2, 3])]);
    let natural = Loops::natural(&reversed(&graph), &Dominators::new(&graph, 0), 2);
    assert_eq!(members(&natural.body), [2, 3]);
}

#[test]
fn a_loop_with_two_entries_is_not_reducible() {
    let graph = [vec![1, 2], vec![2], vec![1]];
    assert!(!Loops::new(&graph, 0).reducible);
}

#[test]
fn long_chains_need_no_stack() {
    let n = 200_000;
    let graph: Vec<Vec<usize>> = (0..n)
        .map(|i| if i + 1 < n { vec![i + 1] } else { vec![0] })
        .collect();
    assert_eq!(components(&graph).len(), 1);
    assert_eq!(depth_first(&graph, [0]).back_edges, [(n - 1, 0)]);
    assert_eq!(Dominators::new(&graph, 0).immediate(n - 1), Some(n - 2));
}
