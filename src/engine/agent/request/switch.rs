//! Which model an agent asks: it can change between two of its requests.

use crate::engine::agent::request::active_model::ActiveModel;
use crate::engine::agent::{Agent, Desk};
use crate::engine::model::config::ModelConfig;
use crate::engine::model::error::{ConfigError, Failure};
use crate::engine::model::event::EventKind;

impl Agent {
    /// Asks this model from now on; the transcript is encoded again for it. No request may be open.
    ///
    /// # Errors
    /// An unknown vendor or protocol, a missing URL, an option that the protocol cannot express. Nothing has changed then.
    pub fn set_model(&mut self, desk: &mut Desk<'_>, model: ModelConfig) -> Result<(), ConfigError> {
        self.switch_model(desk, model, None)
    }

    /// The same, because the model so far has failed.
    ///
    /// # Errors
    /// As [`Agent::set_model`].
    pub(crate) fn switch_model(
        &mut self,
        desk: &mut Desk<'_>,
        model: ModelConfig,
        error: Option<Failure>,
    ) -> Result<(), ConfigError> {
        self.asked = ActiveModel::checked(model, desk.config)?;
        self.transcript.forget_body();
        self.keep_tuned_model();
        let kind = EventKind::ModelChange {
            model: self.asked.config.model.clone(),
            vendor: self.asked.config.vendor.clone(),
            error,
        };
        desk.ledger.emit(self.place(), kind);
        Ok(())
    }

    /// What the host has asked for since the last request.
    pub(crate) fn take_next_model(&mut self, desk: &mut Desk<'_>) {
        let Some(model) = self.next_model.take() else {
            return;
        };
        if let Err(error) = self.set_model(desk, *model) {
            self.warn(desk, "model_refused", error.to_text());
        }
    }
}
