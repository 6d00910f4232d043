import { hasPermission } from "#kernel/access/permissions.ts";
import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";

/** A change of the `ui` settings: fields to write, and fields that fall back to the instance's default. */
export interface SettingsPatch {
  readonly set: Readonly<Record<string, unknown>>;
  readonly clear: readonly string[];
}

/** Fields that only matter to holders of a permission; from others they are ignored. */
const permissionOf: ReadonlyMap<string, string> = new Map([
  ["toolServers", "features.direct_tool_servers"],
  ["notifications", "features.webhooks"],
]);

/**
 * Splits the sent fields (Core API, users: each one sent is applied, null clears, others keep their value). Throws
 * `forbidden` for members without `settings.interface`.
 */
export function toSettingsPatch(caller: Principal, ui: Readonly<Record<string, unknown>>): SettingsPatch {
  if (!hasPermission(caller, "settings.interface")) {
    throw new AppError("forbidden", "You may not change the interface settings.");
  }
  const set: Record<string, unknown> = {};
  const clear: string[] = [];
  for (const [field, value] of Object.entries(ui)) {
    const permission = permissionOf.get(field);
    if (value === null) {
      clear.push(field);
    } else if (permission === undefined || hasPermission(caller, permission)) {
      set[field] = value;
    }
  }
  return { set, clear };
}

/** The settings as clients see them: the instance's defaults under the person's own choices, and which those are. */
export function withDefaults(
  stored: unknown,
  defaults: Readonly<Record<string, unknown>>,
): { ui: Record<string, unknown>; own: string[] } {
  const own = toUi(stored);
  return { ui: { ...defaults, ...own }, own: Object.keys(own) };
}

/** Those of `fields` that the settings lack. */
export function toMissing(stored: unknown, fields: Readonly<Record<string, unknown>>): [string, unknown][] {
  const ui = toUi(stored);
  return Object.entries(fields).filter(([name]) => !Object.hasOwn(ui, name));
}

function toUi(stored: unknown): Record<string, unknown> {
  return isObject(stored) && isObject(stored["ui"]) ? stored["ui"] : {};
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
