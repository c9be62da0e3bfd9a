use std::fs;
use std::path::Path;

use crate::engine::agent::machine::step::{NEXT, Now, Phase};
use crate::engine::model::journal::Step;

/// The lines of the page before and after the table.
const MARKS: [&str; 2] = ["<!-- phases: begin -->", "<!-- phases: end -->"];

/// The step of each phase in the journal.
fn step_of(phase: Phase) -> &'static str {
    match phase {
        Phase::Ready => "`ready`",
        Phase::Restored => "any step",
        Phase::Prompting => "`prompt`",
        Phase::Preparing | Phase::Summarizing | Phase::Sending | Phase::Reading => "`ask`",
        Phase::Judging => "`judge`",
        Phase::Checking | Phase::Running => "`act`",
        Phase::Closing => "`close`",
        Phase::HandingOver => "`handOver`",
        Phase::Completing => "`complete`",
        Phase::Ended => "`ended`",
    }
}

fn drawn() -> String {
    let rows = NEXT.iter().map(|(phase, followers)| {
        let names: Vec<String> = followers.iter().map(|next| format!("{next:?}")).collect();
        format!("| {phase:?} | {} | {} |\n", step_of(*phase), names.join(", "))
    });
    let head = "| phase | step in the journal | phases that may follow |\n| - | - | - |\n";
    head.chars().chain(rows.collect::<String>().chars()).collect()
}

/// The cells of a table, without the spaces that a formatter puts around them.
fn cells(table: &str) -> Vec<Vec<String>> {
    let row = |line: &str| {
        line.split('|')
            .map(|cell| cell.trim().trim_matches('-').to_owned())
            .collect()
    };
    table.trim().lines().map(row).collect()
}

/// `LOOPLET_WRITE=1` writes the table.
#[test]
fn the_page_of_the_architecture_shows_which_phase_may_follow_which() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/architecture/engine.md");
    let text = fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(MARKS[0]).unwrap();
    let (table, after) = rest.split_once(MARKS[1]).unwrap();
    if std::env::var_os("LOOPLET_WRITE").is_some() {
        let [begin, end] = MARKS;
        fs::write(&page, format!("{before}{begin}\n\n{}\n{end}{after}", drawn())).unwrap();
        return;
    }
    assert_eq!(cells(table), cells(&drawn()));
}

#[test]
fn every_phase_has_a_row_and_only_an_agent_that_has_ended_has_no_follower() {
    for (phase, followers) in NEXT {
        assert_eq!(followers.is_empty(), phase == Phase::Ended, "{phase:?}");
        assert_eq!(phase.may_lead_to(Phase::Ended), phase != Phase::Ended);
        for next in followers {
            assert!(NEXT.iter().any(|(row, _)| row == next), "{next:?}");
        }
    }
}

#[test]
fn a_step_that_is_restored_waits_whatever_it_is() {
    for step in [Step::Ready, Step::Ask, Step::Act, Step::Complete] {
        assert_eq!(Phase::of(&step, &Now::Restored), Phase::Restored);
    }
    assert_eq!(Phase::of(&Step::Ask, &Now::Nothing), Phase::Preparing);
}
