import { AppError } from "#kernel/errors.ts";
import { parseJson } from "#kernel/http/json.ts";

/** One model as an upstream lists it; all its keys are kept. */
export interface UpstreamModel {
  readonly id: string;
  readonly [key: string]: unknown;
}

/** What an upstream answers when it is asked for its models. */
export interface UpstreamList {
  readonly models: readonly UpstreamModel[];
  /** True for servers of remote filters, whose answer says `pipelines` (contract §4.4). */
  readonly runsPipelines: boolean;
}

const mostModels = 20_000;
const longestId = 1024;

/** What ids on the vendor's default host hold when the model does not chat. Contract §2.3. */
const notChatting = /babbage|dall-e|davinci|embedding|tts|whisper/;

/**
 * Reads a list of models in the forms servers use: `{data: […]}`, `{models: […]}` or a bare array, of objects or of
 * ids. Entries without an id are left out. Throws AppError `upstream` for anything else.
 */
export function parseModels(text: string): UpstreamList {
  const answer = parse(text);
  const entries = findList(answer);
  if (entries === undefined) {
    throw new AppError("upstream", "The provider's list of models is not one.");
  }
  const models = new Map<string, UpstreamModel>();
  for (const entry of entries.slice(0, mostModels)) {
    const model = toModel(entry);
    if (model) {
      models.set(model.id, model);
    }
  }
  return { models: [...models.values()], runsPipelines: isTold(answer, "pipelines") };
}

/** True for ids that the vendor's default host lists although they do not chat. */
export function isNoChatModel(id: string): boolean {
  return notChatting.test(id.toLowerCase());
}

function isTold(answer: unknown, key: string): boolean {
  const value = Array.isArray(answer) ? undefined : (answer as Record<string, unknown> | null)?.[key];
  return value !== undefined && value !== null && value !== false;
}

function findList(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) {
    return value;
  }
  const { data, models } = (value ?? {}) as { data?: unknown; models?: unknown };
  return [data, models].find((list) => Array.isArray(list));
}

function toModel(entry: unknown): UpstreamModel | undefined {
  const item = typeof entry === "string" ? { id: entry } : entry;
  if (typeof item !== "object" || item === null) {
    return undefined;
  }
  const { id, model, name } = item as Record<string, unknown>;
  const found = [id, model, name].find((text) => typeof text === "string" && text !== "");
  return typeof found === "string" && found.length <= longestId ? { ...item, id: found } : undefined;
}

function parse(text: string): unknown {
  try {
    // As strict as with clients: what nests too deep could not be written into any answer.
    return parseJson(text);
  } catch {
    return undefined;
  }
}
