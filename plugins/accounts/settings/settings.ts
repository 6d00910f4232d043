import type { Principal } from "#kernel/access/principal.ts";
import { AppError } from "#kernel/errors.ts";
import { requireRow } from "../require-row.ts";
import { toMissing, toSettingsPatch, withDefaults } from "./settings-patch.ts";
import type { AccountsDatabase } from "../tables.ts";
import { requireUserVariables } from "./user-variables.ts";
import {
  findKept,
  giveUiSettings,
  keptLimits,
  mergeInfo,
  patchUiSettings,
} from "../users/users-directory.ts";
import { updateUser } from "../users/users-store.ts";

export interface UserSettingsOptions {
  readonly db: AccountsDatabase;
  /** DEFAULT_INTERFACE_SETTINGS. */
  defaults(): Readonly<Record<string, unknown>>;
  /** Fields that an account without them is given once. */
  first(): Readonly<Record<string, unknown>>;
  emit(event: string, data: Record<string, unknown>): void;
}

export interface InterfaceSettings {
  ui: Record<string, unknown>;
  /** Names of the fields of `ui` that the account has itself. */
  own: string[];
}

/** An account's interface settings, free-form info and template variables. */
export interface UserSettings {
  /** The person's choices over the instance's defaults. */
  read(userId: string): Promise<InterfaceSettings>;
  /**
   * Applies a patch (Core API, users); resolves to the whole. Throws `forbidden` without `settings.interface`, and
   * `too_large` beyond 1 MiB in all.
   */
  update(caller: Principal, ui: Readonly<Record<string, unknown>>): Promise<InterfaceSettings>;
  info(userId: string): Promise<Record<string, unknown>>;
  /** Merges keys; what is left out keeps its value. Throws `too_large` beyond 256 KiB in all. */
  updateInfo(userId: string, info: Record<string, unknown>): Promise<Record<string, unknown>>;
  variables(userId: string): Promise<Record<string, string>>;
  /** Replaces all of them. Throws `invalid` for a bad name. */
  updateVariables(userId: string, variables: Record<string, string>): Promise<Record<string, string>>;
}

/** Creates the logic behind `/users/user/settings`, `/info` and `/variables`. */
export function createUserSettings({ db, defaults, first, emit }: UserSettingsOptions): UserSettings {
  const requireKept = async (userId: string, column: "settings" | "info" | "variables") =>
    requireRow(await findKept(db, userId, column)).kept;
  /** The written settings; throws when the account is gone or has no room for them. */
  async function requireWritten<T>(written: T, userId: string, part: "ui" | "info"): Promise<NonNullable<T>> {
    if (written === undefined || written === null) {
      await requireKept(userId, "info");
      const what = part === "ui" ? "interface settings" : "info";
      throw new AppError(
        "too_large",
        `The ${what} of an account may take at most ${keptLimits[part]} bytes.`,
      );
    }
    return written;
  }
  /** The settings with what the account lacked of the first ones, which are its own from now on. */
  async function withFirst(userId: string, settings: unknown): Promise<unknown> {
    const missing = toMissing(settings, first());
    return missing.length === 0 ? settings : await giveUiSettings(db, userId, Object.fromEntries(missing));
  }
  return {
    async read(userId) {
      return withDefaults(await withFirst(userId, await requireKept(userId, "settings")), defaults());
    },
    async update(caller, ui) {
      const patch = toSettingsPatch(caller, ui);
      const patched = await requireWritten(
        await patchUiSettings(db, caller.userId, patch),
        caller.userId,
        "ui",
      );
      const stored = await withFirst(caller.userId, patched);
      emit("user.settings_updated", {
        user_id: caller.userId,
        fields: [...Object.keys(patch.set), ...patch.clear],
      });
      return withDefaults(stored, defaults());
    },
    info: async (userId) => toObject(await requireKept(userId, "info")),
    updateInfo: async (userId, info) =>
      toObject(await requireWritten(await mergeInfo(db, userId, info), userId, "info")),
    variables: async (userId) => toVariables(await requireKept(userId, "variables")),
    async updateVariables(userId, variables) {
      const checked = requireUserVariables(variables);
      requireRow(await updateUser(db, userId, { variables: checked }));
      return checked;
    },
  };
}

function toVariables(kept: unknown): Record<string, string> {
  return toObject(kept) as Record<string, string>;
}

function toObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
