//! What follows when a model has failed for good: the next one goes on, over whichever protocol it speaks.

use crate::engine::agent::{Agent, Desk};
use crate::engine::model::error::Failure;
use crate::engine::policy::retry::Tries;

impl Agent {
    /// The next model is asked at once, with retries of its own; an agent keeps it. Without one, or with a failure that
    /// another model would have too, the agent ends.
    pub(crate) fn fall_back(&mut self, desk: &mut Desk<'_>, failure: Failure) {
        let next = desk.config.fallback_models.get(self.fallbacks_used as usize);
        let Some(next) = next.filter(|_| failure.retryable).cloned() else {
            return self.end_failed(desk, failure);
        };
        self.fallbacks_used += 1;
        self.take_back(desk);
        self.tries = Tries::after(self.attempt);
        match self.switch_model(desk, next, Some(failure)) {
            Ok(()) => self.handle_backoff_over(desk),
            Err(error) => self.end_failed(desk, error.into()),
        }
    }

    /// What an attempt has told that goes no further is void.
    pub(crate) fn take_back(&mut self, desk: &mut Desk<'_>) {
        self.drop_early(desk);
        let Some(model) = &mut self.model else { return };
        let shown = std::mem::take(&mut model.answer.parts).len();
        if shown > 0 {
            self.withhold(desk, shown as u32);
        }
    }
}
