//! When a change of the system prompt, the tools, the effort or the format of answers is sent at the end of a
//! request, so that its prefix does not change.
//!
//! A model that compares what precedes its reasoning loses that reasoning if the prefix of a request changes. So the
//! agent saves the [`Head`] of its requests and sends each change in a message at the end. A request gets a new head
//! if there is nothing to preserve: before the first reasoning, after a summary, for a model that does not accept
//! such messages, and if the changes are longer than half of the request.
//!
//! The transcript calls [`Heads::change_to`] before each request. Nothing fails.

use crate::engine::model::config::ToolConfig;
use crate::engine::model::journal::Fact;
use crate::engine::model::journal::head::{Head, HeadChange, called, declared, is_same_declaration};
use crate::engine::model::message::Json;
use crate::engine::protocol::request::prefix::append::{AppendForm, Appended, EffortForm, format_json};
use crate::engine::protocol::{Protocol, RequestSpec};

/// The head of an agent's requests, while the asked model needs it.
#[derive(Clone, Debug, Default)]
pub struct Heads {
    head: Option<Head>,
    /// A digest of what the last request began with, if requests are compared.
    sent: Option<String>,
    /// The journal does not have them yet.
    is_new: bool,
    /// The last request offers fewer tools than are declared.
    is_restricted: bool,
}

/// What a request needs in order to have the current head.
pub enum Needed {
    Nothing,
    /// A new prefix.
    Beginning,
    /// A message at the end. `at` is not set.
    Change(HeadChange),
}

impl Heads {
    /// The head of a journal or of an earlier run.
    pub fn restored(mut head: Option<Head>) -> Heads {
        Heads {
            is_new: head.is_some(),
            sent: head.as_mut().and_then(|head| head.sent.take()),
            head: head.filter(|head| !head.is_digest),
            is_restricted: false,
        }
    }

    /// The head with the digest of the last request, as a journal and the next run need them.
    pub fn to_keep(&self) -> Option<Head> {
        if self.sent.is_none() {
            return self.head.clone();
        }
        Some(Head {
            sent: self.sent.clone(),
            is_digest: self.head.is_none(),
            ..self.head.clone().unwrap_or_default()
        })
    }

    /// The digest of what the last request began with, of this run or of an earlier one.
    pub fn sent(&self) -> Option<&str> {
        self.sent.as_deref()
    }

    pub fn note_sent(&mut self, digest: String) {
        if self.sent.as_ref() != Some(&digest) {
            self.is_new = true;
            self.sent = Some(digest);
        }
    }

    pub fn head(&self) -> Option<&Head> {
        self.head.as_ref()
    }

    /// The journal has this head already.
    pub fn note_kept(&mut self) {
        self.is_new = false;
    }

    /// The head for the journal, if it has changed.
    pub fn take_new(&mut self) -> Option<Fact> {
        std::mem::take(&mut self.is_new).then(|| Fact::Head(self.to_keep().map(Box::new)))
    }

    /// Makes the next request begin with its current head.
    pub fn forget(&mut self) {
        self.is_new |= self.head.take().is_some();
    }

    /// Updates the changes after a summary replaced the first `cut` messages. Changes within them are sent again, and
    /// the indexes of the others shift by `moved`.
    pub fn cut(&mut self, cut: usize, moved: usize) {
        let Some(head) = self.head.as_mut().filter(|head| !head.changes.is_empty()) else {
            return;
        };
        head.changes.retain(|change| change.at >= cut);
        for change in &mut head.changes {
            change.at -= moved;
        }
        self.is_new = true;
    }

    /// Sets the head with which requests begin from now on.
    pub fn begin(&mut self, protocol: &Protocol, spec: &RequestSpec<'_>) {
        self.is_new = true;
        self.is_restricted = false;
        self.head = Some(Head {
            system: spec.system.map(str::to_owned),
            tools: spec
                .declared(protocol.name)
                .map(|(tool, _)| declared(tool))
                .collect(),
            effort: spec.model.effort.clone(),
            edits_effort: self.head.as_ref().is_some_and(|head| head.edits_effort),
            format: format_of(spec),
            ..Head::default()
        });
    }

    /// The head of a request with other messages, of which the first `same` are those of the transcript.
    pub fn for_others(&self, same: usize) -> Heads {
        let changes = self.head.iter().flat_map(|head| &head.changes);
        let is_whole = changes.map(|change| change.at).all(|at| at < same);
        Heads {
            head: self.head.clone().filter(|_| is_whole),
            ..Heads::default()
        }
    }

    /// The change after the last message of a request, at this index, for an answer with the format of `spec`.
    pub fn format_change(&self, spec: &RequestSpec<'_>, at: usize) -> Option<HeadChange> {
        let form = spec.appended.form?.effort.as_ref()?;
        let format = self.head.as_ref()?.format_to(form, spec)?;
        Some(HeadChange {
            at,
            format: Some(format),
            ..HeadChange::default()
        })
    }

    pub fn push(&mut self, change: HeadChange) {
        self.is_new = true;
        if let Some(head) = &mut self.head {
            head.changes.push(change);
        }
    }

    /// The request with the saved head and the changes since.
    pub fn spec<'a>(&'a self, spec: RequestSpec<'a>) -> RequestSpec<'a> {
        let (Some(form), Some(head)) = (spec.appended.form, &self.head) else {
            return spec;
        };
        RequestSpec {
            system: if form.has_system {
                head.system.as_deref()
            } else {
                spec.system
            },
            tools: &head.tools,
            appended: Appended {
                form: Some(form),
                head: Some(head),
                last: None,
                offered: self.is_restricted.then_some(spec.tools),
            },
            ..spec
        }
    }

    /// Adds the current deferred tools to the head, if the vendor ignores them until a message refers to them.
    /// `is_found` says whether one does. Returns true if the head has changed.
    pub fn declare_waiting(
        &mut self,
        protocol: &Protocol,
        spec: &RequestSpec<'_>,
        is_found: impl Fn(&ToolConfig) -> bool,
    ) -> bool {
        let (Some(head), Some(form)) = (&mut self.head, spec.appended.form) else {
            return false;
        };
        if !protocol.bound.is_some_and(|bound| bound.skips_deferred) {
            return false;
        }
        let waiting = |tool: &&ToolConfig| tool.defer_loading;
        let now: Vec<&ToolConfig> = spec.declared(protocol.name).map(|(tool, _)| tool).collect();
        let now_waiting: Vec<&ToolConfig> = now.iter().copied().filter(waiting).collect();
        // The vendor's search is one of the head's tools.
        if now_waiting.is_empty() || !head.tools.iter().any(|tool| tool.defer_loading) {
            return false;
        }
        let before = head.tools.len();
        let stays = |known: &ToolConfig| {
            let mut same = now.iter().filter(|tool| tool.name == known.name);
            !known.defer_loading || same.any(|tool| is_same_declaration(known, tool)) || is_found(known)
        };
        head.tools.retain(stays);
        let known = known_tools(head, form);
        let is_new = |tool: &&&ToolConfig| !known.iter().any(|(known, _)| known.name == tool.name);
        let new: Vec<ToolConfig> = now_waiting
            .iter()
            .filter(is_new)
            .map(|tool| declared(tool))
            .collect();
        let has_changed = before != head.tools.len() || !new.is_empty();
        head.tools.extend(new);
        self.is_new |= has_changed;
        has_changed
    }

    /// The change that a request of an agent with these options needs. `own` are all tools of the agent. `is_input`
    /// means that the request ends with a message of the user that has more than results.
    pub fn change_to(
        &mut self,
        protocol: &Protocol,
        spec: &RequestSpec<'_>,
        own: &[ToolConfig],
        is_input: bool,
    ) -> Needed {
        let (Some(form), Some(head)) = (spec.appended.form, &mut self.head) else {
            return Needed::Beginning;
        };
        if !head.complete(own) {
            return Needed::Beginning;
        }
        let now: Vec<&ToolConfig> = spec.declared(protocol.name).map(|(tool, _)| tool).collect();
        // The vendor's search is present if there are deferred tools.
        let waits = |tool: &ToolConfig| tool.defer_loading;
        let searched = head.tools.iter().any(waits);
        let searches = now.iter().any(|tool| waits(tool));
        if protocol.bound.is_some_and(|bound| bound.skips_deferred) && searched != searches && !now.is_empty()
        {
            return Needed::Beginning;
        }
        let mut change = HeadChange::default();
        if form.has_system {
            let changed = head
                .changes
                .iter()
                .rev()
                .find_map(|change| change.system.as_deref());
            let before = changed.or(head.system.as_deref()).unwrap_or_default();
            let now = spec.system.unwrap_or_default();
            change.system = (before.trim() != now.trim()).then(|| now.to_owned());
        }
        if let Some(form) = &form.effort {
            change.format = head.format_to(form, spec);
            let effort = spec.model.effort.as_deref();
            match head.effort_to(form, effort, is_input) {
                EffortTo::Stays => {}
                EffortTo::Edited => self.is_new = true,
                EffortTo::Appended(effort) => change.effort = Some(effort),
                EffortTo::Beginning => return Needed::Beginning,
            }
        }
        let tools = known_tools(head, form);
        for tool in &now {
            match tools.iter().find(|(known, _)| known.name == tool.name) {
                Some((known, is_left)) if is_shown_alike(known, tool) => match called(tool) {
                    _ if *is_left => {}
                    Some(name) => change.restored.push(name.into_owned()),
                    None => return Needed::Beginning,
                },
                Some((known, _)) if !form.removes_tools || called(known) != called(tool) => {
                    return Needed::Beginning;
                }
                _ if tool.vendor.is_some() && !form.removes_tools => return Needed::Beginning,
                _ => change.added.push(ToolConfig {
                    defer_loading: false,
                    ..declared(tool)
                }),
            }
        }
        let is_gone = |tool: &ToolConfig| !now.iter().any(|other| other.name == tool.name);
        let gone = tools.iter().filter(|(tool, is_left)| *is_left && is_gone(tool));
        let gone: Vec<&ToolConfig> = gone.map(|(tool, _)| *tool).collect();
        self.is_restricted = !gone.is_empty();
        // In a request without tools, the tool choice forbids them.
        if form.removes_tools && !now.is_empty() {
            for tool in gone {
                let Some(name) = called(tool) else {
                    return Needed::Beginning;
                };
                change.removed.push(name.into_owned());
            }
        }
        match change.is_empty() {
            true => Needed::Nothing,
            false => Needed::Change(change),
        }
    }

    /// The approximate length of the changes, with one more.
    pub fn bytes_with(&self, change: &HeadChange) -> usize {
        let changes = self.head.iter().flat_map(|head| &head.changes);
        changes.chain([change]).map(HeadChange::bytes).sum()
    }

    pub fn is_restricted(&self) -> bool {
        self.is_restricted
    }

    /// True if a request with the saved head ends with changes.
    pub fn has_changes(&self) -> bool {
        self.head.as_ref().is_some_and(|head| !head.changes.is_empty())
    }

    /// True if requests have entries of vendors' tools, now or later than now.
    pub fn has_entries(&self) -> bool {
        let added = |head: &'_ Head| {
            head.changes
                .iter()
                .any(|change| change.added.iter().any(is_entry))
        };
        let mut head = self.head.iter();
        head.any(|head| head.tools.iter().any(is_entry) || added(head))
    }

    /// True if one of those is such a change.
    pub fn changes(&self, is_such: fn(&HeadChange) -> bool) -> bool {
        let mut changes = self.head.iter().flat_map(|head| &head.changes);
        changes.any(is_such)
    }
}

/// What a request with this effort needs.
enum EffortTo {
    Stays,
    /// The field of the request has it now.
    Edited,
    Appended(String),
    /// A message in the conversation would override the field.
    Beginning,
}

impl Head {
    /// The format that a request needs, if it changes.
    fn format_to(&self, form: &EffortForm, spec: &RequestSpec<'_>) -> Option<Json> {
        let write = form.format?;
        let mut changes = self.changes.iter().rev();
        let changed = changes.find_map(|change| change.format.as_ref());
        let before = changed.or(self.format.as_ref());
        let now = format_json(write, spec.model.response_format.as_ref());
        let is_same = before.map_or_else(|| now == format_json(write, None), |before| *before == now);
        (!is_same).then_some(now)
    }

    /// A changed field restarts the cache but preserves the reasoning. It is changed if a message would be too late,
    /// or if the previous effort has no known name.
    fn effort_to(&mut self, form: &EffortForm, now: Option<&str>, is_input: bool) -> EffortTo {
        let mut changes = self.changes.iter().rev();
        let changed = changes.find_map(|change| change.effort.as_deref());
        let before = changed.or(self.effort.as_deref()).unwrap_or(form.default);
        let next = now.unwrap_or(form.default);
        if before == next {
            return EffortTo::Stays;
        }
        let (is_field, has_no_name) = (changed.is_none(), before.is_empty() || next.is_empty());
        self.edits_effort |= form.needs_input && !is_input;
        if !self.edits_effort && !has_no_name {
            return EffortTo::Appended(next.to_owned());
        }
        if !is_field {
            return EffortTo::Beginning;
        }
        self.effort = now.map(str::to_owned);
        EffortTo::Edited
    }
}

/// The current format of answers, if it is part of the prefix.
fn format_of(spec: &RequestSpec<'_>) -> Option<Json> {
    let write = spec.appended.form?.effort?.format?;
    let format = spec.model.response_format.as_ref()?;
    Some(format_json(write, Some(format)))
}

fn is_entry(tool: &ToolConfig) -> bool {
    tool.vendor.is_some()
}

/// True if the model sees both tools identically and does not have to search for a tool that it already sees.
fn is_shown_alike(known: &ToolConfig, tool: &ToolConfig) -> bool {
    is_same_declaration(known, tool) && (tool.defer_loading || !known.defer_loading)
}

/// Each declared tool, as it was declared last, and whether the model may still call it.
fn known_tools<'a>(head: &'a Head, form: &AppendForm) -> Vec<(&'a ToolConfig, bool)> {
    let mut tools: Vec<(&ToolConfig, bool)> = head.tools.iter().map(|tool| (tool, true)).collect();
    for change in &head.changes {
        for tool in &change.added {
            tools.retain(|(other, _)| other.name != tool.name);
            tools.push((tool, true));
        }
        for (tool, is_left) in &mut tools {
            let name = called(tool).unwrap_or_default();
            let is_named = |names: &[String]| names.iter().any(|other| **other == *name);
            *is_left = (*is_left || is_named(&change.restored))
                && !(form.removes_tools && is_named(&change.removed));
        }
    }
    tools
}
