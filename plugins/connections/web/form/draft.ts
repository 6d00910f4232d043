import {
  findHeaderProblem,
  type HeaderProblem,
  type HeaderRow,
  toHeaders,
  toRow,
} from "#plugins/web/kit/upstream/header-rows.ts";

/** What an upstream speaks, as the form offers it. */
export type Kind = "common" | "message" | "runtime";

/** The settings of one connection on the wire; unknown keys are kept. */
export type Config = Readonly<Record<string, unknown>>;

/** One connection as the server shows it: its key is masked. */
export interface Stored {
  readonly kind: Kind;
  readonly index: number;
  readonly url: string;
  readonly key: string;
  readonly config: Config;
}

/** A connection while it is being written. */
export interface Draft {
  kind: Kind;
  url: string;
  /** What was typed; empty keeps the stored one. */
  key: string;
  isKeyRemoved: boolean;
  prefix: string;
  tags: string;
  modelIds: string;
  access: "admins" | "everyone" | "groups";
  groups: string[];
  headers: HeaderRow[];
  authType: string;
  apiType: string;
  provider: string;
  apiVersion: string;
  passthrough: string;
  extra: string;
}

const text = (value: unknown): string => (typeof value === "string" ? value : "");
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];

/** The vendor of the message format, by its `provider` setting. */
export const messageProvider = "anthropic";

/** What the form begins with: a stored connection, or a new one of a kind. */
export function toDraft(stored?: Stored, kind: Kind = "common"): Draft {
  const config = stored?.config ?? {};
  const {
    headers,
    tags,
    extra_params: extra,
  } = config as {
    headers?: Readonly<Record<string, string>> | "";
    tags?: readonly { readonly name: string }[];
    extra_params?: object;
  };
  return {
    kind: stored?.kind ?? kind,
    url: stored?.url ?? "",
    key: "",
    isKeyRemoved: false,
    prefix: text(config["prefix_id"]),
    tags: (tags ?? []).map(({ name }) => name).join(", "),
    modelIds: texts(config["model_ids"]).join("\n"),
    access: (text(config["access"]) || "admins") as Draft["access"],
    groups: texts(config["access_groups"]),
    headers: Object.entries(headers || {}).map(([name, value]) => toRow(name, value)),
    authType: text(config["auth_type"]) || "bearer",
    apiType: text(config["api_type"]) || "auto",
    provider: config["azure"] === true ? "azure" : text(config["provider"]),
    apiVersion: text(config["api_version"]),
    passthrough: text(config["passthrough_params"]),
    extra: extra && Object.keys(extra).length > 0 ? JSON.stringify(extra, null, 2) : "",
  };
}

/** The settings that the draft means, over those that are stored; keys are no part of it but for the runtime. */
export function toConfig(draft: Draft, stored?: Stored): Config {
  const { azure: _azure, ...before } = stored?.config ?? {};
  const list = (value: string, separator: RegExp) =>
    value
      .split(separator)
      .map((one) => one.trim())
      .filter((one) => one !== "");
  const common = {
    prefix_id: draft.prefix.trim(),
    tags: list(draft.tags, /,/).map((name) => ({ name })),
    model_ids: list(draft.modelIds, /[\n,]/),
    access: draft.access,
    access_groups: draft.access === "groups" ? draft.groups : [],
  };
  if (draft.kind === "runtime") {
    return { ...before, ...common, key: keyOf(draft, stored) };
  }
  return {
    ...before,
    ...common,
    headers: toHeaders(draft.headers),
    auth_type: draft.authType,
    api_type: draft.kind === "message" || draft.apiType === "auto" ? "" : draft.apiType,
    provider: draft.kind === "message" ? messageProvider : draft.provider,
    api_version: draft.apiVersion.trim(),
    passthrough_params: draft.passthrough.trim(),
    extra_params: draft.extra.trim() === "" ? {} : (JSON.parse(draft.extra) as object),
  };
}

/** What was typed, else what is stored: its mask stands for it. */
export function keyOf({ key, isKeyRemoved }: Draft, stored?: Stored): string {
  return key.trim() || (isKeyRemoved ? "" : (stored?.key ?? ""));
}

export type Problems = Partial<Record<"url" | "key" | "extra" | "headers" | "groups" | "prefix", Problem>>;
export type Problem =
  | HeaderProblem
  | "address"
  | "addressTaken"
  | "prefixTaken"
  | "keyAgain"
  | "noObject"
  | "noGroup";

/** What is wrong with the draft, by field; what only the server can know is not among it. */
export function findProblems(draft: Draft, stored?: Stored): Problems {
  const problems: Problems = {};
  if (!/^https?:$/.test(URL.parse(draft.url.trim())?.protocol ?? "")) {
    problems.url = "address";
  }
  const isMoved =
    stored !== undefined && draft.url.trim().replace(/\/$/, "") !== stored.url.replace(/\/$/, "");
  if (isMoved && stored.key !== "" && draft.key.trim() === "" && !draft.isKeyRemoved) {
    problems.key = "keyAgain";
  }
  if (draft.kind !== "runtime") {
    if (draft.extra.trim() !== "" && !isJsonObject(draft.extra)) {
      problems.extra = "noObject";
    }
    const headers = findHeaderProblem(draft.headers, isMoved);
    if (headers !== undefined) {
      problems.headers = headers;
    }
  }
  if (draft.access === "groups" && draft.groups.length === 0) {
    problems.groups = "noGroup";
  }
  return problems;
}

function isJsonObject(source: string): boolean {
  try {
    const value: unknown = JSON.parse(source);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
