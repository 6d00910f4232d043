import type { Api } from "#plugins/catalogue.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";

export type Role = "admin" | "user" | "pending";
export type Account = Api["GET /api/v1/users/:id"]["answer"];
export type ListedAccount = Api["GET /api/v1/users"]["answer"]["users"][number];
export type Sort = NonNullable<NonNullable<Api["GET /api/v1/users"]["query"]>["order_by"]>;

/** Whether the person was here since the account was made. */
export const hasSignedIn = ({ last_active_at: lastActive }: Pick<Account, "last_active_at">): boolean =>
  lastActive > 0;

/** Administrators look with the eyes of others, not of one another. */
export const mayBeViewed = (role: string): boolean =>
  role !== "admin" && session.has("enable_admin_chat_access");

/** The choices of a role, each with what it means. */
export function roleChoices(): { value: Role; label: string; description: string }[] {
  return [
    {
      value: "user",
      label: t("User"),
      description: t("May do what the default permissions and the groups allow."),
    },
    {
      value: "admin",
      label: t("Administrator"),
      description: t("May do everything and sees this administration."),
    },
    { value: "pending", label: t("Pending"), description: t("Can sign in, but has to wait for activation.") },
  ];
}

export const roleLabel = (role: string): string =>
  roleChoices().find(({ value }) => value === role)?.label ?? role;
