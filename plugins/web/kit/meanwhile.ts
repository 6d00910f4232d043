import { ApiError } from "./client.ts";
import { t } from "./i18n/index.svelte.ts";
import { joinChanges } from "./join-changes.ts";

type Bag = Readonly<Record<string, unknown>>;

/**
 * Keeps two people, or two windows of one, from writing over each other. A form asks it before it saves: what only the
 * other one changed is taken along, and what both changed is refused once, at the field, with the other one's value.
 */
export class Meanwhile<Values extends object> {
  readonly #read: () => Promise<Values>;
  /** The stored values that the person has seen. */
  #seen: Values;

  constructor(seen: Values, read: () => Promise<Values>) {
    this.#seen = seen;
    this.#read = read;
  }

  /** Told what the form shows from now on as stored. */
  sees(values: Values): void {
    this.#seen = values;
  }

  /** Resolves to what is to be stored. Throws what `FormState` shows at the fields that both changed. */
  async join(typed: Values): Promise<Values> {
    const stored = (await this.#read()) as Bag;
    const { joined, clashes, seen } = joinChanges({ seen: this.#seen as Bag, stored, typed: typed as Bag });
    if (clashes.length > 0) {
      // Saving again is meant: the person has read what it replaces.
      this.#seen = seen as Values;
      throw new ApiError(409, {
        detail: clashes.map((name) => ({ loc: ["body", name], msg: toSentence(stored[name]) })),
      });
    }
    return joined as Values;
  }
}

const mostShown = 200;

function toSentence(value: unknown): string {
  if (typeof value !== "string") {
    return t("Somebody changed this meanwhile. Save again to replace it.");
  }
  const shown = value.length > mostShown ? `${value.slice(0, mostShown).toWellFormed()}…` : value;
  return shown.trim() === ""
    ? t("Somebody emptied this meanwhile. Save again to replace it.")
    : t("Somebody changed this to “{value}” meanwhile. Save again to replace it.", { value: shown });
}
