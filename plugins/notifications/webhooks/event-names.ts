import { systemEventNames } from "#kernel/system-event-names.ts";

/** One entry of the catalogue. */
export interface CatalogueEntry {
  readonly event: string;
  readonly resource: string;
  readonly operation: string;
}

/** Every system event that the platform announces, in the order of appendix A10. */
export const eventCatalogue: readonly CatalogueEntry[] = systemEventNames.map((event) => {
  const dot = event.lastIndexOf(".");
  return { event, resource: event.slice(0, dot), operation: event.slice(dot + 1) };
});

/** Names of the appendix that never come here, with the reason. */
const absent: readonly { readonly names: readonly string[]; readonly why: string }[] = [
  {
    names: ["created", "updated", "deleted"].map((operation) => `knowledge.external_connection.${operation}`),
    why: "this server reads knowledge from files alone and has no connections to external sources",
  },
];

/** True when a pattern (`*`, a name, or a name's beginning with `.*`) takes an event. */
export function matchesPattern(pattern: string, event: string): boolean {
  return (
    pattern === "*" || pattern === event || (pattern.endsWith(".*") && event.startsWith(pattern.slice(0, -1)))
  );
}

/**
 * Why no event would ever fit a pattern, such as a typing mistake, in words for who wrote it; undefined for a pattern that
 * takes at least one (contract D.37).
 */
export function findPatternProblem(pattern: string): string | undefined {
  const fits = (name: string) => matchesPattern(pattern, name);
  if (systemEventNames.some(fits)) {
    return undefined;
  }
  const known = absent.find(({ names }) => names.some(fits));
  return known === undefined
    ? `No event of the catalogue fits ${pattern}.`
    : `No event would fit ${pattern}: ${known.why}.`;
}
