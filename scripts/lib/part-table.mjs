// The parts of the engine that are loaded when a run needs them: what their functions are called, and which functions
// outside may call into them. `src/face/parts.ts` knows which run needs which.

/** A wire protocol: a decoder is called by what holds it, the rest through the protocol's row. */
const protocol = (folder) => ({
  own: new RegExp(`^<?looplet::engine::provider::${folder}\\b`),
  gates: /provider::Decoder\b|drop_in_place/,
});

export const partTable = {
  anthropic: protocol("anthropic"),
  openai_chat: protocol("openai_chat"),
  openai_responses: protocol("openai_responses"),
  gemini: protocol("gemini"),
  bedrock_converse: protocol("bedrock"),
  ndjson: protocol("ndjson"),
};
