import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { PartialTree } from "../access/permission-rows.ts";

export type ShareRule = "true" | "members" | "false";

/** A group as administrators get it. */
export interface Group {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly member_count: number;
  readonly permissions: PartialTree | null;
  readonly data: unknown;
}

/** A group's rule of sharing: the accounts that may share things with it, its members where it has none. */
export function shareRuleOf({ data }: Pick<Group, "data">): ShareRule {
  const share = (data as { config?: { share?: unknown } } | null)?.config?.share;
  return share === true ? "true" : share === false ? "false" : "members";
}

/** The rule as it is sent. */
export const toData = (rule: ShareRule) => ({
  config: { share: rule === "members" ? ("members" as const) : rule === "true" },
});

export const shareChoices = (): { value: ShareRule; label: string; description: string }[] => [
  {
    value: "members",
    label: t("Its members"),
    description: t("Members share with the group, others do not see it."),
  },
  { value: "true", label: t("Everybody"), description: t("Everybody sees the group and may share with it.") },
  { value: "false", label: t("Nobody"), description: t("Administrators alone share with it.") },
];
