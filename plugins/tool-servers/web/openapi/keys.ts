import type { Bag } from "./bag.ts";

/** A key that models may write: of the name's letters, and not taken yet. */
export function toFreeKey(name: string, place: string, taken: Bag): string {
  const plain =
    name
      .replaceAll(/[^A-Za-z0-9_.-]+/g, "_")
      .replaceAll(/^_+|_+$/g, "")
      .slice(0, 60) || place;
  let key = Object.hasOwn(taken, plain) ? `${place}_${plain}` : plain;
  for (let count = 2; Object.hasOwn(taken, key); count += 1) {
    key = `${place}_${plain}_${count}`;
  }
  return key;
}
