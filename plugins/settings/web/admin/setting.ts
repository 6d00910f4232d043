import { server } from "#plugins/web/kit/server.ts";

export { toLabel } from "#plugins/web/kit/setting-label.ts";

/** Every variable of the installation, as the server lists them. */
export const readSettings = () => server.call("GET /api/v1/configs/settings");

export type Setting = Awaited<ReturnType<typeof readSettings>>[number];

/** Whether a value was changed while the server runs and is not stored: ENABLE_PERSISTENT_CONFIG is off then. */
export const isPassing = ({ source, changed_at: changedAt }: Setting): boolean =>
  source !== "stored" && changedAt !== null;

/** The plugins that declare settings, those with something to change first. */
export function toOwners(settings: readonly Setting[]) {
  const owners = new Map<
    string,
    { id: string; title: string; count: number; changeable: number; drifts: number }
  >();
  for (const { owner, owner_title: title, read_only: isLocked, environment_differs: drifts } of settings) {
    // The kernel's own variables have several owners and one title.
    const known = owners.get(title) ?? { id: owner, title, count: 0, changeable: 0, drifts: 0 };
    known.count += 1;
    known.changeable += isLocked ? 0 : 1;
    known.drifts += drifts ? 1 : 0;
    owners.set(title, known);
  }
  const all = [...owners.values()].toSorted((a, b) => a.title.localeCompare(b.title));
  return [
    ...all.filter(({ changeable }) => changeable > 0),
    ...all.filter(({ changeable }) => changeable === 0),
  ];
}

/** The settings of one plugin under their headings, in the order in which the plugin declares them. */
export function toGroups(settings: readonly Setting[]): { title: string; settings: Setting[] }[] {
  const groups = Map.groupBy(settings, ({ group }) => group ?? "");
  return [...groups].map(([title, those]) => ({ title, settings: those }));
}

/** A value in one line, for marks and differences. */
export function toShown(value: unknown): string {
  if (value === null || value === undefined || value === "") {
    return "";
  }
  return typeof value === "string" ? value : JSON.stringify(value);
}
