import type { Card } from "../connections.svelte.ts";
import type { Draft } from "./draft.ts";

/** A model id that another connection offers already: the later connection would take over its requests. */
export interface Clash {
  readonly id: string;
  readonly by: Card;
}

/** The ids that a draft would offer, given the list of its upstream. */
export function toOffered(draft: Draft, listed: readonly string[]): string[] {
  const fixed = toModelIds(draft);
  const prefix = draft.prefix.trim();
  return (fixed.length > 0 ? fixed : listed).map((id) => (prefix === "" ? id : `${prefix}.${id}`));
}

/** True where another connection has the prefix that is new to this one. */
export function hasTakenPrefix(draft: Draft, others: readonly Card[], card?: Card): boolean {
  const prefix = draft.prefix.trim();
  const isNew = prefix !== "" && prefix !== card?.config["prefix_id"];
  return isNew && others.some(({ config }) => config["prefix_id"] === prefix);
}

/** Which of the ids other connections offer now. */
export function findClashes(offered: readonly string[], others: readonly Card[]): Clash[] {
  const ids = new Set(offered);
  return others
    .filter(({ isEnabled }) => isEnabled)
    .flatMap((by) => (by.state?.models ?? []).filter((id) => ids.has(id)).map((id) => ({ id, by })));
}

/** A connection of the same kind to the same address, whose ids are the same as well. */
export function findTwin(draft: Draft, others: readonly Card[]): Card | undefined {
  return others.find(
    ({ kind, url, config }) =>
      (kind === "runtime") === (draft.kind === "runtime") &&
      toComparable(url) === toComparable(draft.url) &&
      ((config["prefix_id"] as string | undefined) ?? "") === draft.prefix.trim(),
  );
}

/** The ids to offer when those of others are left out. */
export function withoutClashes(draft: Draft, listed: readonly string[], clashes: readonly Clash[]): string[] {
  const taken = new Set(clashes.map(({ id }) => id));
  const fixed = toModelIds(draft);
  return (fixed.length > 0 ? fixed : listed).filter(
    (id) => !taken.has(toOffered({ ...draft, modelIds: "" }, [id])[0] ?? id),
  );
}

/** A prefix that no other connection has, after the host's name. */
export function proposePrefix(url: string, others: readonly Card[]): string {
  const labels = (URL.parse(url.trim())?.hostname ?? "").split(".");
  const isName = /[a-z]/i.test(labels.at(-1) ?? "");
  const name = (isName ? (labels.at(-2) ?? labels[0]) : undefined) || "second";
  const taken = new Set(others.map(({ config }) => config["prefix_id"]));
  let prefix = name;
  for (let count = 2; taken.has(prefix); count += 1) {
    prefix = `${name}${count}`;
  }
  return prefix;
}

const toModelIds = ({ modelIds }: Draft): string[] =>
  modelIds
    .split(/[\n,]/)
    .map((id) => id.trim())
    .filter((id) => id !== "");

const toComparable = (url: string): string =>
  url
    .trim()
    .replace(/(?<!\/)\/+$/, "")
    .toLowerCase();
