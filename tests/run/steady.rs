//! Bodies whose beginning is kept: a body that does not continue what was kept of its agent fails the test.

use std::collections::BTreeMap;

use looplet::engine::model::output::EffectId;
use looplet::engine::run::Run;

/// Code that takes of each body only what it does not have: the beginning that the bodies of an agent have in common,
/// with its name.
#[derive(Default)]
pub struct KeptBodies {
    by_agent: BTreeMap<u32, (EffectId, String)>,
    pub shared: usize,
}

impl KeptBodies {
    /// The text of an open request's body, which is what is kept and what is new.
    pub fn put_together(&mut self, run: &mut Run, request: EffectId, body: &[u8]) -> String {
        let whole = str::from_utf8(body).unwrap();
        let (agent, steady) = run.steady(request).unwrap();
        if steady.name == 0 {
            return whole.to_owned();
        }
        let kept = self.by_agent.entry(agent).or_default();
        if kept.0 != steady.name {
            *kept = (steady.name, String::new());
        }
        self.shared += usize::from(!kept.1.is_empty());
        kept.1 += &whole[kept.1.len()..steady.bytes];
        let text = kept.1.clone() + &whole[steady.bytes..];
        assert_eq!(text, whole, "a body does not begin as an earlier one of its name");
        text
    }
}
