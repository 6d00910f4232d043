import { SettingsChanged } from "#config/registry.ts";
import { AppError } from "#kernel/errors.ts";
import type { SettingRecord } from "./schema.ts";

/** Names, for each setting that somebody else changed meanwhile, that change; other errors stay what they are. */
export async function explainConflict(
  error: unknown,
  list: () => Promise<SettingRecord[]>,
): Promise<unknown> {
  if (!(error instanceof SettingsChanged)) {
    return error;
  }
  const settings = (await list()).filter(({ key }) => key !== null && error.keys.includes(key));
  const problems = settings.map(({ name, value, version, changed_by_name: by, changed_at: at }) => ({
    type: "changed",
    loc: ["body", name],
    msg: `${name} was changed ${by === null ? "" : `by ${by} `}since you read it.`,
    input: null,
    current: { value, version, changed_by_name: by, changed_at: at },
  }));
  return new AppError("conflict", problems, { cause: error });
}
