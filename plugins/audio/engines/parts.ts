import type { Egress } from "#kernel/egress/egress.ts";
import type { Named } from "../service.ts";
import type { AudioSettings } from "../config.ts";

export interface EngineParts {
  readonly egress: Pick<Egress, "fetch">;
  readonly settings: AudioSettings;
}

/** True for the vendor's own host, which has no lists of models that speak and of voices. */
export function isOfficial(url: string): boolean {
  return URL.parse(url)?.hostname === "api.openai.com";
}

/** A list of an answer as ids with names, whatever of the common shapes it has: texts, or objects with an id or a name. */
export function toNames(value: unknown): Named[] {
  const items = Array.isArray(value) ? (value as unknown[]) : [];
  return items.flatMap((item) => {
    if (typeof item === "string") {
      return [{ id: item, name: item }];
    }
    const { id, name } = (item ?? {}) as Readonly<Record<string, unknown>>;
    const found = [id, name].filter((each) => typeof each === "string" && each !== "") as string[];
    return found.length === 0 ? [] : [{ id: found[0]!, name: found.at(-1)! }];
  });
}

/** "" for the model and the voice that the settings name by default, which the common format alone knows. */
export function unlessCommon(value: string): string {
  return value === "tts-1" || value === "alloy" ? "" : value;
}
