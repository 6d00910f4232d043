import { AppError } from "#kernel/errors.ts";
import type { ResolvedModel } from "#plugins/models/service.ts";

type Bag = Readonly<Record<string, unknown>>;

interface Option {
  readonly id: string;
  readonly params: Bag;
  readonly system: string;
}

interface Control {
  readonly id: string;
  readonly label: string;
  readonly default: unknown;
  readonly options: readonly Option[];
}

export interface Picks {
  /** `params.model_controls` of the request: model id → control id → option id. */
  readonly picked: unknown;
  /** Whether the caller may pick: the chat controls and chat params permissions, or an admin. */
  readonly mayPick: boolean;
}

/** What a caller needs to pick options. Core API, chat completion rule 8. */
export const pickPermissions = ["chat.controls", "chat.params"] as const;

/**
 * The model with its saved parameters and system prompt as the chosen options of its controls make them: the option
 * that the request picks, else the default one. Core API, chat completion rule 8; contract D.31. Picks of those who
 * may not pick, and for controls that are gone, are ignored; a pick of an option that is gone is `invalid`.
 */
export function withControls<M extends Pick<ResolvedModel, "id" | "params">>(
  model: M,
  { picked, mayPick }: Picks,
): M {
  const controls = toControls(model.params["model_controls"]);
  if (controls.length === 0) {
    return model;
  }
  const own = mayPick ? toBag(read(toBag(picked), model.id)) : {};
  const chosen = controls
    .map((control) => choose(control, read(own, control.id)))
    .filter((option) => option !== undefined);
  return chosen.length === 0 ? model : { ...model, params: chosen.reduce(addOption, model.params) };
}

function choose({ id, label, default: preset, options }: Control, pick: unknown): Option | undefined {
  const wanted = pick ?? preset;
  const found = options.find((option) => option.id === wanted);
  if (found === undefined && pick !== undefined && pick !== null) {
    const name = typeof pick === "string" ? pick.slice(0, 200) : JSON.stringify(pick).slice(0, 200);
    throw new AppError("invalid", `The control "${label}" (${id}) has no option "${name}" any more.`);
  }
  return found;
}

/** An option goes over what the model saved; what the caller sends goes over both later. */
function addOption(params: Bag, option: Option): Bag {
  const { model_controls: _controls, ...added } = option.params;
  const system = [added["system"] ?? params["system"], option.system].filter(isText).join("\n\n");
  const custom = { ...toBag(params["custom_params"]), ...toBag(added["custom_params"]) };
  return {
    ...params,
    ...Object.fromEntries(Object.entries(added).filter(([, value]) => value !== null)),
    ...(system !== "" && { system }),
    ...(Object.keys(custom).length > 0 && { custom_params: custom }),
  };
}

function toControls(value: unknown): Control[] {
  return toBags(value).map(({ id, label, default: preset, options }) => ({
    id: String(id),
    label: isText(label) ? label : String(id),
    default: preset,
    options: toBags(options).map((option) => ({
      id: String(option["id"]),
      params: toBag(option["params"]),
      system: isText(option["system"]) ? option["system"] : "",
    })),
  }));
}

function toBags(value: unknown): Bag[] {
  return Array.isArray(value) ? value.filter((entry) => typeof entry === "object" && entry !== null) : [];
}

function toBag(value: unknown): Bag {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Bag) : {};
}

/** Ids come from authors and callers: `constructor` has to be one like any other. */
function read(bag: Bag, key: string): unknown {
  return Object.hasOwn(bag, key) ? bag[key] : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
