/** Section → key → allowed, e.g. `features.notes`, and `settings.interface`. */
export type PermissionTree = Readonly<Record<string, Readonly<Record<string, boolean>>>>;

/** A tree that may leave out sections and keys, as groups store it. */
export type PartialPermissionTree = Partial<Record<string, Partial<Record<string, boolean>>>>;

/** One permission a plugin declares: its path `section.key`, and what a fresh installation allows. */
export interface Permission {
  readonly path: `${string}.${string}`;
  readonly default: boolean;
}

/** The part of a principal that decides about permissions. */
export interface PermissionHolder {
  readonly role: string;
  readonly permissions: PermissionTree;
}

/** True when the caller holds `path`; admins hold every permission. */
export function hasPermission(caller: PermissionHolder, path: string): boolean {
  return caller.role === "admin" || isAllowed(caller.permissions, path);
}

/** Looks `path` (`section.key`) up in a tree; a missing one is not allowed. */
export function isAllowed(tree: PartialPermissionTree, path: string): boolean {
  const dot = path.indexOf(".");
  const [section, key] = [path.slice(0, dot), path.slice(dot + 1)];
  return Object.hasOwn(tree, section) && tree[section]?.[key] === true;
}

/** The built-in tree that the declared permissions make. */
export function toDefaultTree(permissions: readonly Permission[]): PermissionTree {
  const tree = emptyTree();
  for (const { path, default: allowed } of permissions) {
    const dot = path.indexOf(".");
    (tree[path.slice(0, dot)] ??= {})[path.slice(dot + 1)] = allowed;
  }
  return { ...tree };
}

/** Fills what `partial` leaves out from `base`; keys unknown to `base` are kept. */
export function fillTree(base: PermissionTree, partial: PartialPermissionTree): PermissionTree {
  return combine(base, partial, (_base, own) => own);
}

/** OR-s group trees onto the defaults: true wins, nothing denies. */
export function mergeGroups(base: PermissionTree, groups: readonly PartialPermissionTree[]): PermissionTree {
  return groups.reduce<PermissionTree>((tree, group) => combine(tree, group, (a, b) => a || b), base);
}

function combine(
  base: PermissionTree,
  other: PartialPermissionTree,
  merge: (base: boolean, other: boolean) => boolean,
): PermissionTree {
  const tree = emptyTree();
  for (const [section, keys] of Object.entries(base)) {
    tree[section] = { ...keys };
  }
  for (const [section, keys] of Object.entries(other)) {
    const target = (tree[section] ??= {});
    for (const [key, allowed] of Object.entries(keys ?? {})) {
      if (typeof allowed === "boolean") {
        target[key] = merge(Object.hasOwn(target, key) ? target[key] === true : false, allowed);
      }
    }
  }
  return { ...tree };
}

/** Words come from administrators and files: `constructor` has to be a section like any other, not what all objects inherit. */
function emptyTree(): Record<string, Record<string, boolean>> {
  return Object.create(null) as Record<string, Record<string, boolean>>;
}
