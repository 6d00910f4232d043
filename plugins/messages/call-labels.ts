import { createHash, randomUUID } from "node:crypto";

/** Ids and names of calls that clients of the format take. */
const allowed = /^[\w-]{1,64}$/;

/** Calls of one conversation under the ids and names that the upstream knows, and under those that the client sees. */
export class CallLabels {
  readonly #long: LongLabels;
  /** The caller's own names by the aliases that the upstream knows. */
  readonly #aliases = new Map<string, string>();

  constructor(long: LongLabels) {
    this.#long = long;
  }

  toClientId(id: string): string {
    return id === ""
      ? `toolu_${randomUUID().replaceAll("-", "").slice(0, 24)}`
      : encode("toolu", id, this.#long);
  }

  toUpstreamId(id: string): string {
    return decode("toolu", id, this.#long);
  }

  /** Names that the caller declared come back as they were declared. */
  toClientName(name: string): string {
    return this.#aliases.get(name) ?? encode("tool", name, this.#long);
  }

  /** Names beyond what upstreams of the common format take get an alias, the same one in every request. */
  toUpstreamName(name: string): string {
    const known = decode("tool", name, this.#long);
    if (known !== name || allowed.test(name)) {
      return known;
    }
    const alias = `${name.replaceAll(/[^\w-]/g, "_").slice(0, 55)}_${digest(name, "hex").slice(0, 8)}`;
    this.#aliases.set(alias, name);
    return alias;
  }
}

/** Remembers labels that are too long to be written in allowed characters, by their digests. */
export interface LongLabels {
  remember(key: string, label: string): void;
  find(key: string): string | undefined;
}

const mostLabels = 2000;
const longestLabel = 8192;

/** Labels of this process; the oldest go first. */
export function createLongLabels(): LongLabels {
  const labels = new Map<string, string>();
  return {
    remember(key, label) {
      if (label.length > longestLabel) {
        return;
      }
      labels.delete(key);
      labels.set(key, label);
      if (labels.size > mostLabels) {
        labels.delete(labels.keys().next().value as string);
      }
    },
    find: (key) => labels.get(key),
  };
}

type Kind = "toolu" | "tool";

/** A label in allowed characters: itself, its bytes in base64url, or its digest where that would be too long. */
function encode(kind: Kind, label: string, long: LongLabels): string {
  if (allowed.test(label)) {
    return label;
  }
  const encoded = `${kind}_e_${Buffer.from(label).toString("base64url")}`;
  if (encoded.length <= 64) {
    return encoded;
  }
  const key = `${kind}_d_${digest(label, "base64url")}`;
  long.remember(key, label);
  return key;
}

/** The label that `encode` was given; any other text is a label itself. */
function decode(kind: Kind, text: string, long: LongLabels): string {
  const prefix = `${kind}_e_`;
  if (!text.startsWith(prefix)) {
    return long.find(text) ?? text;
  }
  const label = Buffer.from(text.slice(prefix.length), "base64url").toString();
  return encode(kind, label, long) === text ? label : text;
}

function digest(text: string, encoding: "hex" | "base64url"): string {
  return createHash("sha256").update(text).digest(encoding);
}
