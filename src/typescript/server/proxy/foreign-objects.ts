/**
 * Finds references in a request to stored objects: files, answers, containers and caches at the vendor, and objects
 * in buckets. All of them belong to the operator's key, so a page could read what another user stored there.
 */
import { isVendorHost } from "../../extras/vendor-hosts.js";
import { folded } from "./fields.js";
import type { Body } from "./protocols.js";

/** Things that vendors and clouds store, with folded names. */
const STORED = [
  ["file", "upload", "uploadedfile", "asset", "media", "attachment", "library", "collection", "dataset"],
  ["response", "conversation", "thread", "interaction", "generation", "completion", "batch", "assistant"],
  ["container", "vectorstore", "datastore", "knowledgebase", "index", "memory", "memorystore", "corpus"],
  ["cache", "cachedcontent", "prompt", "prompttemplate", "skill", "bucket", "blob"],
]
  .flat()
  .join("|");

/** A field that names one of them: `file_id`, `vectorStoreIds`, `input_file_id`, `bucketName`. */
const NAMING_NAME = new RegExp(
  `^(?:input|output|previous|parent|source)?(?:(?:${STORED})(?:ids?|arns?|refs?|references?)` +
    "|(?:bucket|blob|cache|cachedcontent|collection|container|corpus|dataset|index|knowledgebase|library|skill)names?)$",
);

/** Other fields that name such an object, at any depth. */
const NAMING = new Set(
  [
    ["uploaded_file", "conversation", "container", "container_upload", "item_reference", "cached_content"],
    ["prompt_variables", "bucket", "bucket_owner", "rag_corpus", "rag_resources", "datastore"],
    ["data_sources", "gcs_source", "user_profile_id", "previous_message_id", "comparison_response_id"],
  ]
    .flat()
    .map(folded),
);

/** Clouds' own addresses: `s3Location`, `s3_uri`, `gcsUri`, `blob_uri`. */
const CLOUD_NAME = /^(?:s3|gcs|gs|blob|bigquery)(?:location|ur[il]|path|key|object|bucket|prefix)$/;

/** Types of blocks and of sources that refer to an object at the vendor. */
const NAMING_TYPES = new Set(
  [
    "item_reference",
    "container_upload",
    "file_id",
    "file_reference",
    "s3_location",
    "s3",
    "gcs",
    "azure_blob",
  ].map(folded),
);

/** Fields whose text is an address: `url`, `fileUri`, `document_url`, `href`. */
const ADDRESS_NAME = /(?:ur[il]s?|href)$/;

/** Clouds with addresses that vendors may read with the operator's rights, in addition to `isVendorHost`. */
const CLOUD_HOSTS = /(?:^|\.)(?:amazonaws\.com(?:\.cn)?|core\.windows\.net|r2\.cloudflarestorage\.com)\.?$/;

/** Names of objects at a vendor in place of an address: `files/abc`, `v1beta/files/abc`, `arn:aws:s3:::b`. */
const OBJECT_PATH = /^[/\\]*(?:v\d\w*[/\\]+)?(?:files?|cachedcontents|projects|uploads|buckets?)[/\\-]/i;

/** Characters that a parser of addresses drops or trims. */
const DROPPED = /[\u0000-\u0020\u007f-\u00a0\u00ad\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/g;

/** The items of the Responses API that carry their own content. */
const RESPONSES_ITEMS = new Set(
  ["message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output"].concat(
    "reasoning",
    "compaction",
  ),
);

/** Sources that contain their own content, or with an address that is checked. */
const OPEN_SOURCES = new Set(["base64", "text", "url", "content"]);

/** What the names in a request mean. */
export interface Vendor {
  readonly protocolName: string;
  /** The vendor's own address. */
  readonly base: string;
}

/**
 * The first field that names an object outside the request, or undefined. Skips what the model reads as text: inputs
 * and results of calls, and the schemas of tools and answers.
 */
export function foreignObject(body: Body, vendor: Vendor): string | undefined {
  for (const [name, value] of Object.entries(body)) {
    const own = folded(name);
    if (SCHEMAS.has(own)) continue;
    if (isNaming(own) && (value ?? null) !== null) return name;
    // The one field of this name that Responses has is its list of items.
    if (own === "input" && vendor.protocolName === "openai_responses") {
      const found = foreignItem(value);
      if (found !== undefined) return found;
    }
    const found = within(value, name, vendor, 0);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Fields at the top with names that developers choose. */
const SCHEMAS = new Set(["tools", "toolconfig", "metadata", "requestmetadata", "labels", "responseformat"]);

/** Deeper bodies are refused: no request of a model has them. */
const MAX_DEPTH = 200;

function within(value: unknown, name: string, vendor: Vendor, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return name;
  if (typeof value === "string")
    return ADDRESS_NAME.test(folded(name)) && isStored(value, vendor) ? name : undefined;
  if (typeof value !== "object" || value === null) return undefined;
  if (Array.isArray(value)) {
    for (const one of value) {
      const found = within(one, name, vendor, depth + 1);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const object = value as Body;
  if (folded(name) === "source" && vendor.protocolName === "anthropic" && !hasOpenSource(object)) return name;
  for (const [field, inner] of Object.entries(object)) {
    const own = folded(field);
    // The audio, image or file of an earlier answer, by its id.
    if (own === "id" && MEDIA.has(folded(name))) return `${name}.${field}`;
    if (isNaming(own) && inner !== null && inner !== undefined) return field;
    if (own === "type" && typeof inner === "string" && NAMING_TYPES.has(folded(inner))) return inner;
    if (isReadAsText(object, name, field, vendor.protocolName)) continue;
    const found = within(inner, field, vendor, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}

const MEDIA = new Set(["audio", "image", "video", "file", "document", "prompt"]);

function isNaming(own: string): boolean {
  return NAMING.has(own) || NAMING_NAME.test(own) || CLOUD_NAME.test(own);
}

/** Whether vendors read an address with the operator's rights: that of a bucket, or of the vendor's own files. */
function isStored(address: string, { base }: Vendor): boolean {
  const plain = address.normalize("NFKC").replace(DROPPED, "");
  if (!URL.canParse(plain)) return OBJECT_PATH.test(plain) || /^[/\\]{2}/.test(plain);
  const { protocol, hostname } = new URL(plain);
  if (protocol === "data:") return false;
  if (protocol !== "https:" && protocol !== "http:") return true;
  const isOwn = hostname.replace(/\.$/, "") === new URL(base).hostname;
  return isOwn || isVendorHost(hostname) || CLOUD_HOSTS.test(hostname);
}

function hasOpenSource(source: Body): boolean {
  return typeof source["type"] === "string" && OPEN_SOURCES.has(source["type"]);
}

/** Inputs and results of calls, and schemas: their fields have the names that developers choose. */
function isReadAsText(object: Body, name: string, field: string, protocol: string): boolean {
  if (field === "schema" && /^(?:output_)?format$/.test(name)) return true;
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

/** An item of Responses that refers to a stored one: by its type, or by an id without content. */
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
