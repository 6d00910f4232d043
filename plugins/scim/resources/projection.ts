import { isObject } from "#config/json-values.ts";
import { urns } from "../discovery/urns.ts";
import { refusal } from "../errors.ts";
import type { State } from "./state.ts";

/** Which attributes an answer holds (RFC 7644, 3.9). */
export interface Projection {
  /** Whether a top-level attribute is in the answer, whole or in part. */
  shows(name: string): boolean;
  /** The resource without what was not asked for; `id` and `schemas` always stay. */
  apply(resource: State): State;
}

const always = new Set(["id", "schemas"]);

/** Everything. */
export const whole: Projection = { shows: () => true, apply: (resource) => resource };

/** Reads `attributes` and `excludedAttributes`, by their names in lower case; the first wins. Throws `invalid`. */
export function readProjection(parameters: ReadonlyMap<string, unknown>): Projection {
  const included = toNames(parameters.get("attributes"), "attributes");
  const excluded = toNames(parameters.get("excludedattributes"), "excludedAttributes");
  if (included.length > 0) {
    return toProjection((path) => included.some((name) => covers(name, path) || covers(path, name)), {
      isPartial: (path) => !included.some((name) => covers(name, path)),
    });
  }
  return excluded.length === 0
    ? whole
    : toProjection((path) => !excluded.some((name) => covers(name, path)), {
        isPartial: (path) => excluded.some((name) => covers(path, name)),
      });
}

/** A name of an attribute covers its parts. */
function covers(name: string, path: string): boolean {
  return path === name || path.startsWith(`${name}.`);
}

function toProjection(
  isShown: (path: string) => boolean,
  { isPartial }: { isPartial: (path: string) => boolean },
): Projection {
  const shows = (name: string) => always.has(name.toLowerCase()) || isShown(name.toLowerCase());
  const pick = (value: unknown, path: string): unknown => {
    if (Array.isArray(value)) {
      return value.map((each) => pick(each, path));
    }
    return isObject(value)
      ? Object.fromEntries(Object.entries(value).filter(([part]) => isShown(`${path}.${part.toLowerCase()}`)))
      : value;
  };
  return {
    shows,
    apply: (resource) =>
      Object.fromEntries(
        Object.entries(resource)
          .filter(([name]) => shows(name))
          .map(([name, value]) => {
            const path = name.toLowerCase();
            return [name, !always.has(path) && isPartial(path) ? pick(value, path) : value];
          }),
      ),
  };
}

const schemaNames = [urns.user, urns.group].map((urn) => `${urn.toLowerCase()}:`);

/** Lists come as one text with commas, or as a list in the body of `.search`. */
function toNames(given: unknown, name: string): string[] {
  if (given === undefined || given === null) {
    return [];
  }
  const texts = Array.isArray(given) ? (given as unknown[]) : [given];
  if (!texts.every((each) => typeof each === "string")) {
    throw refusal("invalidValue", `${name} must be names of attributes.`);
  }
  return texts
    .flatMap((each) => (each as string).split(","))
    .map((each) => withoutSchema(each.trim().toLowerCase()))
    .filter((each) => each !== "");
}

function withoutSchema(name: string): string {
  const schema = schemaNames.find((each) => name.startsWith(each));
  return schema === undefined ? name : name.slice(schema.length);
}
