import { grantsOf, type ModelRecord } from "../model-record.ts";
import { type Grant, toSent } from "#plugins/web/kit/access/grants.ts";

type Bag = Readonly<Record<string, unknown>>;

/** An option of a control: what picking it adds to the request. `params` is JSON as it is typed. */
export interface DraftOption {
  readonly id: string;
  readonly label: string;
  readonly system: string;
  readonly params: string;
}

export interface DraftControl {
  readonly id: string;
  readonly label: string;
  readonly default: string;
  readonly options: readonly DraftOption[];
}

/** Prices of a million tokens. */
export interface DraftPrices {
  readonly input: string;
  readonly cached: string;
  readonly output: string;
  readonly currency: string;
}

/** What the editor shows of a model, as it is typed. */
export interface Draft {
  readonly id: string;
  readonly name: string;
  /** Empty for a record that edits a provider's own model. */
  readonly base: string;
  readonly description: string;
  readonly picture: string | undefined;
  /** Address of the picture behind chats; empty where there is none. */
  readonly background: string;
  readonly system: string;
  readonly params: Bag;
  readonly capabilities: Readonly<Record<string, boolean>>;
  readonly tags: readonly string[];
  readonly suggestions: readonly string[];
  readonly controls: readonly DraftControl[];
  readonly filterIds: readonly string[];
  readonly actionIds: readonly string[];
  /** Workspace tools and tool servers that are on in a new chat. */
  readonly toolIds: readonly string[];
  /** Categories of built-in tools that are off: unsaid ones are on. */
  readonly offCategories: readonly string[];
  /** Features that are on in a new chat. */
  readonly featureIds: readonly string[];
  /** Terminal that a new chat works in; empty for none. */
  readonly terminalId: string;
  /** Keys of `meta` that sections of other plugins changed. */
  readonly extraMeta: Bag;
  readonly isHidden: boolean;
  readonly prices: DraftPrices;
  readonly grants: readonly Grant[];
}

export const noPrices: DraftPrices = { input: "", cached: "", output: "", currency: "USD" };

export const emptyDraft = (base: string): Draft => ({
  id: "",
  name: "",
  base,
  description: "",
  picture: undefined,
  background: "",
  system: "",
  params: {},
  capabilities: {},
  tags: [],
  suggestions: [],
  controls: [],
  filterIds: [],
  actionIds: [],
  toolIds: [],
  offCategories: [],
  featureIds: [],
  terminalId: "",
  extraMeta: {},
  isHidden: false,
  prices: noPrices,
  grants: [],
});

export function toDraft(record: ModelRecord): Draft {
  const { system, model_controls: controls, ...params } = record.params;
  const { meta } = record;
  return {
    id: record.id,
    name: record.name,
    base: record.base_model_id ?? "",
    description: text(meta["description"]),
    picture: typeof meta["profile_image_url"] === "string" ? meta["profile_image_url"] : undefined,
    background: text(meta["background_image_url"]),
    system: text(system),
    params,
    capabilities: toFlags(meta["capabilities"]),
    tags: bags(meta["tags"]).flatMap(({ name }) => (typeof name === "string" ? [name] : [])),
    suggestions: bags(meta["suggestion_prompts"]).map(({ content }) => text(content)),
    controls: bags(controls).map((control) => ({
      id: text(control["id"]),
      label: text(control["label"]),
      default: text(control["default"]),
      options: bags(control["options"]).map((option) => ({
        id: text(option["id"]),
        label: text(option["label"]),
        system: text(option["system"]),
        params: isBag(option["params"]) ? JSON.stringify(option["params"], null, 2) : "",
      })),
    })),
    filterIds: texts(meta["filterIds"]),
    actionIds: texts(meta["actionIds"]),
    toolIds: texts(meta["toolIds"]),
    offCategories: Object.entries(toFlags(meta["builtinTools"])).flatMap(([name, isOn]) =>
      isOn ? [] : [name],
    ),
    featureIds: texts(meta["defaultFeatureIds"]),
    terminalId: text(meta["terminalId"]),
    extraMeta: {},
    isHidden: meta["hidden"] === true,
    prices: toPrices(meta["prices"]),
    grants: toSent(grantsOf(record)),
  };
}

/** What a draft cannot be stored for, by the field's name on the wire. */
export function problemsOf({ controls }: Draft): Readonly<Record<string, string>> {
  const problems: Record<string, string> = {};
  for (const [at, { options }] of controls.entries()) {
    for (const [place, { params }] of options.entries()) {
      if (params.trim() !== "" && readParams(params) === undefined) {
        problems[`controls.${at}.${place}`] = "must be a JSON object";
      }
    }
  }
  return problems;
}

/** The body of create and update. Keys of the record that the editor does not show are kept. */
export function toBody(draft: Draft, record: ModelRecord | undefined) {
  const before = record?.meta ?? {};
  const suggestions = draft.suggestions.map((content) => content.trim()).filter(Boolean);
  const known = bags(before["suggestion_prompts"]);
  const prices = fromPrices(draft.prices);
  return {
    id: draft.id.trim(),
    name: draft.name.trim(),
    base_model_id: draft.base === "" ? null : draft.base,
    meta: {
      ...before,
      description: draft.description.trim(),
      profile_image_url: draft.picture ?? null,
      background_image_url: draft.background === "" ? null : draft.background,
      capabilities: draft.capabilities,
      tags: draft.tags.map((name) => ({ name })),
      suggestion_prompts: suggestions.map(
        (content) => known.find((one) => one["content"] === content) ?? { content, title: [content, ""] },
      ),
      filterIds: draft.filterIds,
      actionIds: draft.actionIds,
      toolIds: draft.toolIds,
      builtinTools: toCategories(before["builtinTools"], draft.offCategories),
      defaultFeatureIds: draft.featureIds,
      terminalId: draft.terminalId === "" ? null : draft.terminalId,
      hidden: draft.isHidden,
      prices: prices ?? null,
      ...draft.extraMeta,
    },
    params: {
      ...draft.params,
      ...(draft.system.trim() === "" ? {} : { system: draft.system }),
      ...(draft.controls.length === 0 ? {} : { model_controls: draft.controls.map(toControl) }),
    },
  };
}

/** Categories that were named before stay named; those that are off are named. */
function toCategories(before: unknown, off: readonly string[]): Record<string, boolean> {
  const named = Object.keys(toFlags(before)).map((name) => [name, true] as const);
  return Object.fromEntries([...named, ...off.map((name) => [name, false] as const)]);
}

const toControl = ({ id, label, default: chosen, options }: DraftControl) => ({
  id,
  label,
  ...(chosen === "" ? {} : { default: chosen }),
  options: options.map((option) => ({
    id: option.id,
    label: option.label,
    ...(option.system.trim() === "" ? {} : { system: option.system }),
    ...(option.params.trim() === "" ? {} : { params: readParams(option.params) }),
  })),
});

function readParams(typed: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(typed);
    return isBag(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function toPrices(value: unknown): DraftPrices {
  const prices = isBag(value) ? value : {};
  const shown = (name: string) => (typeof prices[name] === "number" ? String(prices[name]) : "");
  return {
    input: shown("input"),
    cached: shown("cached"),
    output: shown("output"),
    currency: text(prices["currency"]) || noPrices.currency,
  };
}

/** Undefined where no price is given: a model without prices costs nothing that can be told. */
function fromPrices({ currency, ...typed }: DraftPrices): Record<string, unknown> | undefined {
  const given = Object.entries(typed).filter(
    ([, value]) => value.trim() !== "" && Number.isFinite(Number(value)),
  );
  return given.length === 0
    ? undefined
    : {
        ...Object.fromEntries(given.map(([name, value]) => [name, Number(value)])),
        currency: currency.trim(),
      };
}

function toFlags(value: unknown): Record<string, boolean> {
  if (Array.isArray(value)) {
    return Object.fromEntries(value.map((name) => [String(name), true]));
  }
  const entries = isBag(value) ? Object.entries(value) : [];
  return Object.fromEntries(
    entries.filter((entry): entry is [string, boolean] => typeof entry[1] === "boolean"),
  );
}

const isBag = (value: unknown): value is Bag =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const bags = (value: unknown): Bag[] => (Array.isArray(value) ? value.filter(isBag) : []);
const text = (value: unknown): string => (typeof value === "string" ? value : "");
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
