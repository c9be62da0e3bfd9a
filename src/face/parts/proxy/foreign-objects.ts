/**
 * What a request names that is not in it: files, answers, containers and caches at the vendor, and objects in
 * buckets. All of them belong to the operator's key, so a page could read what another user has left there.
 */
import { folded } from "./fields.js";
import type { Body } from "./protocols.js";

/** Fields that name an object at the vendor or in a bucket, wherever they are. */
const NAMING = new Set(
  [
    ["file_id", "file_ids", "uploaded_file", "upload_id", "asset_id", "media_id"],
    ["previous_response_id", "response_id", "conversation", "conversation_id", "thread_id"],
    [
      "container",
      "container_id",
      "container_upload",
      "vector_store_id",
      "vector_store_ids",
      "item_reference",
    ],
    ["cached_content", "cache_id", "prompt_id", "prompt_variables", "batch_id", "input_file_id", "skill_id"],
    ["s3_location", "s3_uri", "gcs_uri", "gcs_source", "bucket", "bucket_owner", "blob_uri", "rag_corpus"],
    ["rag_resources", "datastore", "knowledge_base_id", "previous_interaction_id"],
  ]
    .flat()
    .map(folded),
);

/** Types of blocks and of sources that stand for an object at the vendor. */
const NAMING_TYPES = new Set(
  ["item_reference", "container_upload", "file_id", "file_reference", "s3_location", "gcs"].map(folded),
);

/** Addresses that vendors read with the operator's rights: buckets, and the files of a vendor's own API. */
const OWN_ADDRESS =
  /^\s*(?:(?!https?:|data:)[a-z][a-z0-9+.-]*:|files\/|cachedcontents\/|projects\/|arn:|https?:\/\/(?:[^/?#]*@)?(?:[^/?#@]*\.)?(?:googleapis\.com|storage\.cloud\.google\.com|amazonaws\.com|api\.openai\.com|api\.anthropic\.com|blob\.core\.windows\.net)\.?(?:[:/?#]|$))/i;

/** Fields whose text is an address. */
const ADDRESSES = new Set(["url", "uri", "fileuri", "fileurl", "imageurl", "videourl", "audiourl"]);

/** The items of the Responses API that carry their own content. */
const RESPONSES_ITEMS = new Set(
  ["message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"].concat(
    "reasoning",
    "compaction",
  ),
);

/** The sources that carry their own content, or whose address is checked. */
const OPEN_SOURCES = new Set(["base64", "text", "url", "content"]);

/**
 * The first field that names an object which is not in the request; undefined if there is none. Texts that the model
 * reads as text are left out: inputs and results of calls, and the schemas of tools and answers.
 */
export function foreignObject(body: Body, protocol: string): string | undefined {
  for (const [name, value] of Object.entries(body)) {
    const own = folded(name);
    if (SCHEMAS.has(own)) continue;
    // The one field of this name that Responses has is its list of items.
    if (own === "input" && protocol === "openai_responses") {
      const found = foreignItem(value);
      if (found !== undefined) return found;
    }
    const found = within(value, name, protocol, 0);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Fields at the top with names that developers choose. */
const SCHEMAS = new Set(["tools", "toolconfig", "metadata", "requestmetadata", "labels", "responseformat"]);

/** Deeper bodies are refused: no request of a model has them. */
const MAX_DEPTH = 200;

function within(value: unknown, name: string, protocol: string, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return name;
  if (typeof value === "string")
    return ADDRESSES.has(folded(name)) && OWN_ADDRESS.test(value) ? name : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) {
    for (const one of value) {
      const found = within(one, name, protocol, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const object = value as Body;
  if (folded(name) === "source" && protocol === "anthropic" && !hasOpenSource(object)) return name;
  // The sound of an earlier answer of Chat Completions, by its id.
  if (folded(name) === "audio" && "id" in object) return `${name}.id`;
  for (const [field, inner] of Object.entries(object)) {
    const own = folded(field);
    if (NAMING.has(own) && inner !== null && inner !== undefined) return field;
    if (own === "type" && typeof inner === "string" && NAMING_TYPES.has(folded(inner))) return inner;
    if (isReadAsText(object, name, field, protocol)) continue;
    const found = within(inner, field, protocol, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

function hasOpenSource(source: Body): boolean {
  return typeof source["type"] === "string" && OPEN_SOURCES.has(source["type"]);
}

/** Inputs and results of calls, and schemas: their fields have the names that developers choose. */
function isReadAsText(object: Body, name: string, field: string, protocol: string): boolean {
  if (protocol === "anthropic") return field === "input" && object["type"] === "tool_use";
  if (protocol === "gemini")
    return (
      (field === "args" && /^function_?call$/i.test(name)) ||
      (field === "response" && /^function_?response$/i.test(name)) ||
      /^response_?(json_?)?schema$/i.test(field)
    );
  if (protocol === "bedrock_converse")
    return (field === "input" && name === "toolUse") || (field === "json" && name === "content");
  return field === "schema";
}

/** An item of Responses that stands for a stored one: by its type, or by an id without content. */
function foreignItem(input: unknown): string | undefined {
  if (!Array.isArray(input)) return undefined;
  for (const one of input) {
    if (typeof one !== "object" || one === null) continue;
    const { type, role, content, encrypted_content } = one as Body;
    const isEmpty = !Array.isArray(content) || content.length === 0;
    if (type === undefined || type === null) {
      if (typeof role !== "string" || content === undefined) return "input without a type";
    } else if (typeof type !== "string" || !RESPONSES_ITEMS.has(type)) return `input of type ${String(type)}`;
    // Without its content the vendor looks the thoughts up by their id.
    if ((type === "reasoning" || type === "compaction") && typeof encrypted_content !== "string" && isEmpty)
      return `input of type ${type} without encrypted_content`;
  }
  return undefined;
}
