//! The model that an agent asks, with its protocol, URL and headers.
//!
//! It is a part of the agent's state, because it can change within a run: by a fallback, by `prepareIteration`
//! (`tuning.rs`), by [`crate::engine::model::input::Input::SetModel`], or when another agent takes the conversation
//! over. Nothing here sends a request or knows a key.

use looplet_scan::reader::Object;

use crate::engine::model::config::context::{PruneBy, Pruning};
use crate::engine::model::config::{Config, ModelConfig, ToolChoice};
use crate::engine::model::error::{ConfigError, Failure};
use crate::engine::model::message::Origin;
use crate::engine::model::usage::AssumedLimits;
use crate::engine::policy::bound::has_own_length;
use crate::engine::policy::models::options::{Asked, default_output_tokens, takes_effort};
use crate::engine::policy::models::{Row, row};
use crate::engine::protocol::anthropic::clearing::{self, clears};
use crate::engine::protocol::anthropic::thread;
use crate::engine::protocol::request::address::{address, shown};
use crate::engine::protocol::request::claude_thinking::{
    BETA, FIELD, TOKEN_COUNT_BETA, counts_thinking, shown_thinking, thinking_with_drops,
};
use crate::engine::protocol::request::prefix::append::{AppendForm, Appended, append_form};
use crate::engine::protocol::request::prefix::summary::{SummaryForm, is_excluded, summary_form};
use crate::engine::protocol::request::vendor_tools::{add_header, remove_value};
use crate::engine::protocol::vertex::is_vertex;
use crate::engine::protocol::{self, Clearing, Protocol, RequestSpec, Vendor};

/// A model, and the data that derives from its configuration. Only the configuration is saved.
#[derive(Clone)]
pub struct ActiveModel {
    pub config: ModelConfig,
    /// The configuration of its requests, if it differs.
    asked: Option<Box<ModelConfig>>,
    /// The model would reject the effort, so it is left out.
    refuses_effort: bool,
    /// The options that are not sent as they are, each with what is sent instead.
    changed: Vec<String>,
    /// Claude is asked to drop reasoning that is not valid.
    lets_drop: bool,
    /// The agent has tools.
    has_tools: bool,
    /// What is known of the model.
    pub row: &'static Row,
    pub protocol: &'static Protocol,
    pub vendor: &'static Vendor,
    pub url: String,
    pub headers: Vec<(String, String)>,
    /// How it takes changes at the end.
    append: Option<AppendForm>,
    /// Its vendor can hide old calls from it.
    clears: bool,
    /// The headers of its requests allow that.
    allows_clearing: bool,
}

impl ActiveModel {
    /// Adds the facts of this model to a failure of its call.
    pub fn describe(&self, mut failure: Failure) -> Failure {
        failure.vendor = Some(self.config.vendor.clone());
        failure.model = Some(self.config.model.clone());
        failure.url = shown(&self.url);
        failure
    }

    /// The author of the messages that this model writes.
    pub fn origin(&self) -> Origin {
        Origin {
            protocol: self.protocol.name.to_owned(),
            model: self.config.model.clone(),
            prefix: None,
            thread: None,
        }
    }

    /// # Errors
    /// An unknown vendor or protocol, a missing base URL.
    pub fn new(config: ModelConfig) -> Result<ActiveModel, ConfigError> {
        ActiveModel::of(config, false, true)
    }

    fn of(config: ModelConfig, has_tools: bool, may_let_drop: bool) -> Result<ActiveModel, ConfigError> {
        let (vendor, protocol) = protocol::find(&config)?;
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        let fixed = protocol
            .headers
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let own = |name: &str| {
            config
                .headers
                .iter()
                .any(|(other, _)| other.eq_ignore_ascii_case(name))
        };
        headers.extend(fixed);
        headers.retain(|(name, _)| !own(name));
        headers.extend(config.headers.iter().cloned());
        check_threads(protocol, &config)?;
        if config.server_state == Some(true) {
            add_header(&mut headers, "anthropic-beta", thread::BETA);
        }
        let mut asked = config.clone();
        let row = row(protocol.name, &config.vendor, &config.model);
        let refuses_effort = config.effort.is_some() && !takes_effort(row);
        if refuses_effort {
            asked.effort = None;
        }
        let options = Asked {
            row,
            protocol: protocol.name,
            has_tools,
        };
        let changed = options.fit(&mut asked);
        asked.thinking = shown_thinking(protocol, row, &asked).or(asked.thinking);
        let is_shown = asked.thinking != config.thinking;
        let thinking = thinking_with_drops(protocol, row, &asked).filter(|_| may_let_drop);
        let lets_drop = thinking.is_some();
        if lets_drop && protocol.name == "anthropic" {
            add_header(&mut headers, "anthropic-beta", BETA);
        }
        if counts_thinking(protocol, row, &asked) {
            add_header(&mut headers, "anthropic-beta", TOKEN_COUNT_BETA);
        }
        asked.thinking = thinking.or(asked.thinking);
        let asked = (refuses_effort || lets_drop || is_shown || !changed.is_empty()).then(|| Box::new(asked));
        Ok(ActiveModel {
            append: append_form(protocol, asked.as_deref().unwrap_or(&config)),
            // Anthropic does not hide calls in a conversation that it stores.
            clears: clears(protocol, row, &config) && config.server_state != Some(true),
            allows_clearing: false,
            asked,
            refuses_effort,
            changed,
            lets_drop,
            has_tools,
            row,
            protocol,
            vendor,
            url: address(&config, vendor, protocol),
            headers,
            config,
        })
    }

    /// Makes the model after a check that this configuration can ask it.
    ///
    /// # Errors
    /// An unknown vendor or protocol, a missing base URL, or an option that the protocol cannot express.
    pub fn checked(mut model: ModelConfig, config: &Config) -> Result<ActiveModel, ConfigError> {
        config.hold_to_output(&mut model);
        let model = ActiveModel::of(model, !config.tools.is_empty(), true)?;
        (model.protocol.encode_head)(&model.spec(config), &mut Vec::new())?;
        Ok(model)
    }

    /// The configuration of its requests: its own, as the model takes it.
    pub fn asked(&self) -> &ModelConfig {
        self.asked.as_deref().unwrap_or(&self.config)
    }

    /// True if the vendor is asked to store the conversation.
    pub fn has_threads(&self) -> bool {
        self.asked().server_state == Some(true)
    }

    /// Stops asking the server to store the conversation. Returns false if it was not asked.
    pub fn leave_out_threads(&mut self) -> bool {
        let had = self.has_threads();
        if had {
            let asked = self.asked.get_or_insert_with(|| Box::new(self.config.clone()));
            asked.server_state = None;
            remove_value(&mut self.headers, "anthropic-beta", thread::BETA);
        }
        had
    }

    /// True if the caller wants requests with invalid reasoning to fail.
    pub fn wants_refusals(&self) -> bool {
        let thinking = self.config.thinking.as_ref();
        thinking.is_some_and(|json| json.as_str().contains(FIELD) && json.as_str().contains("\"error\""))
    }

    /// Leaves out the field that drops reasoning, because the server does not know it. Returns false if it was not
    /// sent.
    pub fn leave_refusals_to_vendor(&mut self) -> bool {
        let was_sent = self.lets_drop;
        if was_sent {
            self.renew(false, self.append, self.clears);
        }
        was_sent
    }

    /// The server does not take changes at the end. Returns false if it was not asked to.
    pub fn leave_out_appended(&mut self) -> bool {
        let was_asked = self.append.is_some();
        if was_asked {
            self.renew(self.lets_drop, None, self.clears);
        }
        was_asked
    }

    /// The server does not hide old calls. Returns false if it was not asked to.
    pub fn leave_out_clearing(&mut self) -> bool {
        let was_asked = self.allows_clearing;
        if was_asked {
            self.renew(self.lets_drop, self.append, false);
        }
        was_asked
    }

    /// Makes the requests ones that the server takes. Their headers may have the values that something left out
    /// needs.
    fn renew(&mut self, may_let_drop: bool, append: Option<AppendForm>, clears: bool) {
        let had_threads = self.has_threads();
        if let Ok(asked) = ActiveModel::of(self.config.clone(), self.has_tools, may_let_drop) {
            *self = ActiveModel {
                append,
                clears,
                ..asked
            };
        }
        if !had_threads {
            self.leave_out_threads();
        }
    }

    /// How its vendor hides old calls from it; `None` if it does not.
    pub fn pruning<'a>(&self, config: &'a Config) -> Option<&'a Pruning> {
        let policy = config.context.pruning.as_ref();
        policy.filter(|policy| self.clears && policy.by == PruneBy::Vendor)
    }

    /// True if looplet does not shorten old answers: the vendor hides their calls, or `body` decides it.
    pub fn leaves_pruning_to_vendor(&self, policy: &Pruning) -> bool {
        policy.by == PruneBy::Vendor && (self.clears || clearing::is_decided(&self.config))
    }

    /// Adds the value of `anthropic-beta` for a request in which the vendor hides old calls.
    pub fn allow_clearing(&mut self, config: &Config) {
        if self.pruning(config).is_some() {
            add_header(&mut self.headers, "anthropic-beta", clearing::BETA);
            self.allows_clearing = true;
        }
    }

    /// How the vendor summarises a conversation. `None` if it does not, or if the caller chose another way to shorten
    /// it.
    pub fn summary_form(&self) -> Option<&'static SummaryForm> {
        summary_form(self.protocol, &self.config).filter(|form| !is_excluded(form, &self.config))
    }

    /// Adds the value of `anthropic-beta` that requests with a summary of the vendor need.
    pub fn allow_summary(&mut self, form: &SummaryForm) {
        if !form.beta.is_empty() {
            add_header(&mut self.headers, "anthropic-beta", form.beta);
        }
    }

    /// Adds the values of `anthropic-beta` that changes of tools and of the effort need.
    pub fn allow_changes(&mut self, has_tools: bool, has_effort: bool) {
        let Some(form) = self.append else { return };
        let tools = Some(form.beta).filter(|_| has_tools);
        let effort = form.effort.filter(|_| has_effort).map(|form| form.beta);
        for beta in tools.into_iter().chain(effort).filter(|beta| !beta.is_empty()) {
            add_header(&mut self.headers, "anthropic-beta", beta);
        }
    }

    /// The tokens that the model is known to read. A header can ask the models before Claude 4.6 to read more.
    pub fn window(&self) -> Option<u32> {
        let asks_for_more = |(_, value): &(String, String)| value.contains("context-1m");
        self.row
            .window
            .filter(|_| !self.config.headers.iter().any(asks_for_more))
    }

    /// What is known of the length of a request and of an answer. Without the option an answer is as long as the
    /// request asks for where the protocol demands a number, else as long as the model can write.
    pub fn known_limits(&self) -> AssumedLimits {
        let asks = self.protocol.name == "anthropic" && !has_own_length(&self.config);
        let asked = asks.then(|| default_output_tokens(self.row, self.asked()));
        AssumedLimits {
            vendor: self.config.vendor.clone(),
            model: self.config.model.clone(),
            window: self.window().map(u64::from),
            max_output_tokens: asked.or(self.row.output.map(u64::from)),
        }
    }

    /// The tool choice as a sentence of the system prompt, if the model refuses to be forced.
    pub fn call_in_words(&self) -> Option<String> {
        let is_forced = |model: &ModelConfig| match &model.tool_choice {
            Some(ToolChoice::Required) => Some("Each of your answers must call a tool.".to_owned()),
            Some(ToolChoice::Tool(name)) => Some(format!("Each of your answers must call the tool {name}.")),
            _ => None,
        };
        let wanted = is_forced(&self.config)?;
        is_forced(self.asked()).is_none().then_some(wanted)
    }

    /// The text of the warning about a model that its vendor ends within [`DAYS_BEFORE_END`], or has ended.
    pub fn end_warning(&self, now_ms: u64) -> Option<String> {
        let ActiveModel { row, config, .. } = self;
        let date = row.ends.filter(|_| row.home == config.vendor)?;
        let is_near = date.ms().saturating_sub(now_ms) <= DAYS_BEFORE_END * 86_400_000;
        is_near.then(|| {
            let model = &config.model;
            format!("The vendor retires {model} on {date}. After that date its requests fail, or another model answers them. Choose another model.")
        })
    }

    /// The text of the warning about an effort that is not sent.
    pub fn effort_warning(&self) -> Option<String> {
        let model = self.refuses_effort.then_some(&self.config.model)?;
        let why = " does not support it, and its vendor would reject the request or ignore the field. Leave the option out for this model. Some models accept thinking: { budgetTokens } instead.";
        Some(format!("effort is not sent: the model {model}{why}"))
    }

    /// The text of the warning about options that are not sent as they are.
    pub fn options_warning(&self) -> Option<String> {
        let model = &self.config.model;
        (!self.changed.is_empty()).then(|| {
            format!(
                "The vendor refuses options for {model}. Not sent as they are: {}.",
                self.changed.join(", ")
            )
        })
    }

    /// The parts of a request of an agent with this configuration.
    pub fn spec<'a>(&'a self, config: &'a Config) -> RequestSpec<'a> {
        RequestSpec {
            model: self.asked(),
            system: config.system.as_deref(),
            tools: &config.tools,
            before: None,
            is_digested: false,
            appended: Appended {
                form: self.append.as_ref(),
                ..Appended::default()
            },
            clearing: Clearing {
                policy: self.pruning(config),
                keep: None,
            },
        }
    }
}

/// Rejects `serverState` if the protocol does not have it.
fn check_threads(protocol: &Protocol, config: &ModelConfig) -> Result<(), ConfigError> {
    let body = config.body.as_ref().and_then(|body| Object::parse(body.as_str()));
    let problem = if config.server_state != Some(true) {
        return Ok(());
    } else if protocol.name != "anthropic" || is_vertex(config) {
        "is available only in Anthropic's Messages, and not on Amazon Bedrock or Vertex AI: leave it out"
    } else if body.is_some_and(|body| body.has("thread")) {
        "writes body.thread itself: leave one of them out"
    } else {
        return Ok(());
    };
    Err(ConfigError::new("model.serverState", problem))
}

/// How many days before a model's retirement a run starts to warn of it.
const DAYS_BEFORE_END: u64 = 30;

/// The model without the options for tools and answers, which belong to the agent that uses it.
pub fn inherited(model: &ModelConfig) -> ModelConfig {
    ModelConfig {
        tool_choice: None,
        response_format: None,
        ..model.clone()
    }
}
