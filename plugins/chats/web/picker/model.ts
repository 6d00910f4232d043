import type { PromptSuggestion } from "#plugins/web/kit/stores/session.svelte.ts";
import type { InputVariable } from "#plugins/web/kit/web.ts";
import type { ChosenTools, FunctionAction } from "../data/types.ts";

/** A choice that a model offers for each request, such as how long it thinks. */
export interface ModelControl {
  readonly id: string;
  readonly label: string;
  readonly default?: string;
  readonly options: readonly { readonly id: string; readonly label: string }[];
}

/** A model as the person sees it. */
export interface Model {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  /** What it can do beside text; unsaid ones count as on, except `usage`. */
  readonly capabilities: Readonly<Record<string, boolean>>;
  /** True for models that people made of others. */
  readonly isPreset: boolean;
  readonly isArena: boolean;
  /** True for models that the picker leaves out. */
  readonly isHidden: boolean;
  /** True while its last call failed. */
  readonly isFailing: boolean;
  readonly contextLength: number | undefined;
  readonly suggestions: readonly PromptSuggestion[];
  readonly controls: readonly ModelControl[];
  readonly variables: Readonly<Record<string, InputVariable>>;
  /** Address of the picture behind its chats; one of the platform's own files. */
  readonly background: string | undefined;
  /** Tools and features that are on in a new chat with it. */
  readonly tools: ChosenTools;
  /** Categories of built-in tools that the model is not offered. */
  readonly offCategories: ReadonlySet<string>;
  /** Functions that are offered beside its replies. */
  readonly actions: readonly FunctionAction[];
}

type Bag = Readonly<Record<string, unknown>>;

/** Reads an item of `GET /api/models`. Whatever somebody else wrote into its metadata, the page goes on. */
export function toModel(item: Bag): Model {
  const info = toBag(item["info"]);
  const meta = toBag(info["meta"]);
  const id = String(item["id"]);
  return {
    id,
    name: toText(item["name"]) || id,
    description: toText(meta["description"]).trim(),
    tags: toBags(item["tags"]).flatMap(({ name }) => (typeof name === "string" ? [name] : [])),
    capabilities: toFlags(meta["capabilities"]),
    isPreset: item["preset"] === true,
    isArena: item["arena"] === true,
    isHidden: meta["hidden"] === true,
    isFailing: item["failing"] === true,
    contextLength: typeof meta["context_length"] === "number" ? meta["context_length"] : undefined,
    suggestions: toBags(meta["suggestion_prompts"]).flatMap(toSuggestion),
    controls: toBags(toBag(info["params"])["model_controls"]).map(toControl),
    variables: toVariables(meta["chat_variables_schema"]),
    background: ownFile(meta["background_image_url"]),
    tools: {
      toolIds: toTexts(meta["toolIds"]),
      features: toTexts(meta["defaultFeatureIds"]),
      excluded: [],
      terminalId: toText(meta["terminalId"]) || undefined,
    },
    offCategories: new Set(
      Object.entries(toBag(meta["builtinTools"])).flatMap(([name, on]) => (on === false ? [name] : [])),
    ),
    actions: toBags(item["actions"]).map(toAction),
  };
}

/** Unsaid capabilities are on. */
export const can = (model: Model | undefined, capability: string): boolean =>
  model?.capabilities[capability] ?? capability !== "usage";

function toControl({ id, label, default: preset, options }: Bag): ModelControl {
  return {
    id: String(id),
    label: toText(label) || String(id),
    ...(typeof preset === "string" ? { default: preset } : {}),
    options: toBags(options).map((option) => ({
      id: String(option["id"]),
      label: toText(option["label"]) || String(option["id"]),
    })),
  };
}

function toAction({ id, name, description, icon }: Bag): FunctionAction {
  return {
    id: String(id),
    name: toText(name) || String(id),
    description: toText(description),
    icon: toText(icon),
  };
}

function toSuggestion({ title, content }: Bag): PromptSuggestion[] {
  if (typeof content !== "string" || content === "") {
    return [];
  }
  const [first, second] = Array.isArray(title) ? title : [title];
  return [{ title: [toText(first) || content, toText(second)], content }];
}

function toVariables(schema: unknown): Record<string, InputVariable> {
  return Object.fromEntries(
    Object.entries(toBag(schema)).map(([key, value]) => [key, { type: "text", ...toBag(value) }]),
  );
}

function toFlags(value: unknown): Record<string, boolean> {
  // Records name a list of what is on, or an object of booleans.
  return Array.isArray(value)
    ? Object.fromEntries(value.map((name) => [String(name), true]))
    : Object.fromEntries(Object.entries(toBag(value)).map(([name, on]) => [name, on === true]));
}

const toTexts = (value: unknown): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
const toText = (value: unknown): string => (typeof value === "string" ? value : "");

const toBag = (value: unknown): Bag =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Bag) : {};

const toBags = (value: unknown): readonly Bag[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === "object" && one !== null) : [];

/** Pictures of other hosts are not shown without a click. */
const ownFile = (value: unknown): string | undefined =>
  typeof value === "string" && value.startsWith("/api/v1/files/") ? value : undefined;
