import { describe, expect, it } from "vitest";
import { byOrder, type ListedFolder, reordered } from "./listed.ts";

const folder = (name: string, order?: unknown): ListedFolder => ({
  id: name,
  name,
  meta: order === undefined ? {} : { order },
  parent_id: null,
  is_expanded: false,
  unread_count: 0,
  created_at: 0,
  updated_at: 0,
});
const names = (folders: readonly ListedFolder[]) => folders.toSorted(byOrder).map(({ name }) => name);

describe("the order of folders", () => {
  it("is by name until one is put in its place", () => {
    expect(names([folder("b"), folder("c"), folder("a")])).toEqual(["a", "b", "c"]);
    expect(names([folder("b"), folder("c", 0), folder("a", "first")])).toEqual(["c", "a", "b"]);
  });

  it("changes as few folders as it can", () => {
    const [a, b, c] = [folder("a"), folder("b"), folder("c")];
    expect(Object.fromEntries(reordered([a, b, c], c, "a"))).toEqual({ c: 0, a: 1, b: 2 });
    const placed = [folder("c", 0), folder("a", 1), folder("b", 2)];
    expect(Object.fromEntries(reordered(placed, folder("b", 2), "a"))).toEqual({ b: 1, a: 2 });
    expect(reordered(placed, folder("b", 2), null).size).toBe(0);
    expect(Object.fromEntries(reordered(placed, folder("new"), null))).toEqual({ new: 3 });
  });
});
