import { AppError } from "#kernel/errors.ts";

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

/**
 * A model's saved parameters and system prompt as the options of its controls make them: of each control the option
 * that is picked, else the default one; the very same object when there are none. Core API, chat completion rule 8;
 * contract D.31. Throws `invalid` for a pick of an option that is gone; picks for controls that are gone are ignored.
 */
export function withOptions(saved: Bag, picks: Bag = {}): Bag {
  const chosen = toControls(saved["model_controls"])
    .map((control) => choose(control, Object.hasOwn(picks, control.id) ? picks[control.id] : undefined))
    .filter((option) => option !== undefined);
  return chosen.reduce(addOption, saved);
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

function isText(value: unknown): value is string {
  return typeof value === "string" && value !== "";
}
