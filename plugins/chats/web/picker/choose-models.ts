import type { Model } from "./model.ts";

/** Replies side by side stay readable up to here. */
export const mostSideBySide = 4;

export interface ModelWishes {
  /** Named by the address of the page. */
  readonly asked: readonly string[];
  /** The person's own default. */
  readonly own: readonly string[];
  /** One at most: a comparison belongs to its chat. */
  readonly lastUsed: readonly string[];
  /** The instance's default. */
  readonly instance: readonly string[];
  readonly pinned: readonly string[];
}

/**
 * The models of a new chat: the first wish of which at least one model is there, else a real model, else the guide;
 * an empty list when there is none at all. A model whose last call failed is taken where a person wishes for it, and
 * where there is no other.
 */
export function chooseModels(all: readonly Model[], wishes: ModelWishes): readonly string[] {
  const known = new Set(all.map(({ id }) => id));
  const { asked, own, lastUsed, instance, pinned } = wishes;
  const failing = new Set(all.filter(({ isFailing }) => isFailing).map(({ id }) => id));
  const sound = (ids: readonly string[]) => ids.filter((id) => !failing.has(id));
  for (const wish of [asked, own, sound(lastUsed), sound(instance), sound(pinned).slice(0, 1)]) {
    const there = [...new Set(wish)].filter((id) => known.has(id)).slice(0, mostSideBySide);
    if (there.length > 0) {
      return there;
    }
  }
  const open = all.filter(({ isHidden }) => !isHidden);
  const answering = open.filter(({ isFailing }) => !isFailing);
  const shown = answering.some(({ id }) => id !== "guide") ? answering : open;
  // The guide knows the documentation alone; it answers where nothing else is connected.
  const first = shown.find(({ id, isArena }) => id !== "guide" && !isArena) ?? shown[0];
  return first ? [first.id] : [];
}

/** Models in which every word of the query occurs, those whose name begins with it first. */
export function findModels(all: readonly Model[], query: string, tag = ""): readonly Model[] {
  const wanted = fold(query).trim();
  const words = wanted.split(/\s+/).filter(Boolean);
  const found = all.filter((model) => {
    const text = fold(`${model.name} ${model.id} ${model.description} ${model.tags.join(" ")}`);
    return (
      !model.isHidden &&
      (tag === "" || model.tags.includes(tag)) &&
      words.every((word) => text.includes(word))
    );
  });
  const rank = ({ name, id }: Model) =>
    fold(name).startsWith(wanted) || fold(id).startsWith(wanted)
      ? 0
      : words.every((word) => fold(`${name} ${id}`).includes(word))
        ? 1
        : 2;
  return words.length === 0 ? found : found.toSorted((a, b) => rank(a) - rank(b));
}

const fold = (text: string): string => text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
