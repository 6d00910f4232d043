import { permissionWords } from "./permission-words.ts";

export type Tree = Readonly<Record<string, Readonly<Record<string, boolean>>>>;

/** A tree as it arrives of a group: sections and keys may be missing or empty. */
export type PartialTree = Readonly<Record<string, Readonly<Record<string, boolean | null>> | null>>;

/** The values of a partial tree. */
export function toTree(tree: PartialTree | null): Tree {
  const sections = Object.entries(tree ?? {}).map(([section, keys]) => [
    section,
    Object.fromEntries(Object.entries(keys ?? {}).map(([key, value]) => [key, value === true])),
  ]);
  return Object.fromEntries(sections) as Tree;
}

/** One permission of a tree. */
export interface PermissionRow {
  readonly section: string;
  readonly key: string;
  /** `section.key`. */
  readonly path: string;
  readonly title: string;
}

/** A section of a tree with those of its permissions that fit `query`. */
export interface PermissionGroup {
  readonly section: string;
  readonly title: string;
  readonly rows: readonly PermissionRow[];
}

/** The permissions of a tree in words; those that no words are known for, such as of foreign plugins, by their keys. */
export function toGroups(tree: Tree, query = ""): PermissionGroup[] {
  const words = permissionWords();
  const wanted = query.trim().toLowerCase();
  return Object.entries(tree)
    .map(([section, keys]) => {
      const title = words[section]?.title ?? section;
      const rows = Object.keys(keys).map((key) => ({
        section,
        key,
        path: `${section}.${key}`,
        title: words[section]?.keys[key] ?? key.replaceAll("_", " "),
      }));
      const fits = (row: PermissionRow) => `${title} ${row.title} ${row.path}`.toLowerCase().includes(wanted);
      return { section, title, rows: rows.filter(fits) };
    })
    .filter(({ rows }) => rows.length > 0);
}

/** True when a tree allows the permission; one that it does not name is not allowed. */
export const allows = (
  tree: PartialTree | null | undefined,
  { section, key }: Pick<PermissionRow, "section" | "key">,
) => tree?.[section]?.[key] === true;

/** The tree with one value replaced. */
export const withValue = (tree: Tree, { section, key }: PermissionRow, value: boolean): Tree => ({
  ...tree,
  [section]: { ...tree[section], [key]: value },
});

/** How many permissions of `all` two trees differ in. */
export const countChanges = (all: Tree, one: PartialTree | null, other: PartialTree | null): number =>
  toGroups(all)
    .flatMap(({ rows }) => rows)
    .filter((row) => allows(one, row) !== allows(other, row)).length;
