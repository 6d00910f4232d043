import type { SettingChange } from "#config/registry.ts";
import type { AuditEntry } from "./entry.ts";

/** The record of a changed variable, whose history it is as well: both values stand in it with their sources. */
export function toSettingEntry({ name, before, after }: SettingChange, by: string | null): AuditEntry {
  return { action: "setting.updated", object: { type: "setting", id: name }, before, after, whole: true, by };
}
