// The parts of the engine that are loaded when a run needs them: what their functions are called, and which functions
// outside may call into them. `src/face/parts.ts` knows which run needs which.

/** A wire protocol: a decoder is called by what holds it, the rest through the protocol's row. */
const protocol = (folder) => ({
  own: new RegExp(`^<?looplet::engine::provider::${folder}\\b`),
  gates: /provider::Decoder\b|drop_in_place/,
});

/**
 * Questions to the host and their answers, answers that must fit a schema, rules of permission, histories that are cut
 * short: everything behind an option that `asks` of `src/face/parts.ts` knows. Each gate looks at such an option before
 * it calls: whether there is a hook, a rule, an output format. A question that nothing has opened cannot be answered.
 */
const questions = {
  own: new RegExp(
    [
      "^<looplet::engine::agent::Agent>::(handle_answered|after_hooks|ask_hooks|ask_stop|ask_host|refuse_output|accept_output)$",
      "^<looplet::shell::handle::RunHandle>::answer$",
      "^<looplet::engine::output::Question>::to_json$",
      "^<looplet::engine::input::QuestionAnswer>::from_json",
      "^looplet::engine::input_json::(hook|permission|updates?|rule_of)\\b",
      // `hooks` and `agents` themselves look whether there are any.
      "^looplet::engine::config_json::((permissions|agent_tool|prepared)\\b|(hooks|agents)::{closure)",
      "^looplet::engine::output_format::(output_format|can_enforce|narrowed|is_strict)$",
      "^<looplet::engine::catalog::Catalog>::add_output$",
      "^<looplet::engine::policy::permission::Permissions>::(check|asking|suggestion)$",
      // A mode that looks at what calls are about waits for this part, and rules that do come with it.
      "^<?looplet::engine::policy::(shell|path|address|command|subject|suggestion)\\b",
      "^looplet::engine::policy::rule::(cover|fits)$",
      "^looplet::engine::policy::context::(shorten|cut_to_budget)$",
    ].join("|"),
  ),
  gates: new RegExp(
    [
      "^<looplet::engine::(agent::Agent|run::Run|profile::Profile|policy::rule::Rule|policy::permission::Permissions)>::",
      "^<looplet::engine::config::Config>::(hold_to_output|equip_for_output)$",
      "^<looplet::shell::(handle::RunHandle>::tell|driver::Driver>::(drain|perform))$",
      "::{shim:vtable#\\d+}$",
    ].join("|"),
  ),
};

/** Keywords of JSON Schema that plain schemas do not have: `SELDOM` of `src/face/parts.ts` looks for them. */
const keywords = {
  own: /^<looplet::engine::schema::(compile::Compiler>::seldom_keyword|check::Check>::seldom_rule)$/,
  gates: /looplet::engine::schema::(compile|check)\b/,
};

export const partTable = {
  anthropic: protocol("anthropic"),
  openai_chat: protocol("openai_chat"),
  openai_responses: protocol("openai_responses"),
  gemini: protocol("gemini"),
  bedrock_converse: {
    own: /^<?looplet::engine::(provider::bedrock|eventstream)\b/,
    gates: /provider::Decoder\b|drop_in_place|framing::FramingState>/,
  },
  ndjson: protocol("ndjson"),
  questions,
  keywords,
};
