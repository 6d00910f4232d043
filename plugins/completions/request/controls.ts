import { withOptions } from "#plugins/models/service.ts";
import type { ResolvedModel } from "#plugins/models/service.ts";

type Bag = Readonly<Record<string, unknown>>;

export interface Picks {
  /** `params.model_controls` of the request: model id → control id → option id. */
  readonly picked: unknown;
  /** Whether the caller may pick: the chat controls and chat params permissions, or an admin. */
  readonly mayPick: boolean;
}

/** What a caller needs to pick options. Core API, chat completion rule 8. */
export const pickPermissions = ["chat.controls", "chat.params"] as const;

/**
 * The model as a request makes it that picks options of its controls. Core API, chat completion rule 8: picks of those
 * who may not pick are ignored. Throws `invalid` for a pick of an option that is gone.
 */
export function withControls<M extends Pick<ResolvedModel, "id" | "params">>(
  model: M,
  { picked, mayPick }: Picks,
): M {
  const params = withOptions(model.params, mayPick ? toBag(read(toBag(picked), model.id)) : {});
  return params === model.params ? model : { ...model, params };
}

function toBag(value: unknown): Bag {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Bag) : {};
}

/** Ids come from callers: `constructor` has to be one like any other. */
function read(bag: Bag, key: string): unknown {
  return Object.hasOwn(bag, key) ? bag[key] : undefined;
}
