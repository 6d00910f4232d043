import type { AccountsDeps } from "../deps.ts";
import type { AccountsDatabase } from "../tables.ts";
import type { ShareRule } from "../users/user-schema.ts";
import type { Announcements } from "./announcements.ts";

export interface ProvisioningOptions extends Pick<
  AccountsDeps,
  "changes" | "emit" | "record" | "passwords" | "config"
> {
  /** DEFAULT_GROUP_SHARE_PERMISSION. */
  defaultShare(): ShareRule;
  /** Removes what grants give to a group, in the transaction that deletes it. */
  forgetGrants(tx: AccountsDatabase, groupId: string): Promise<void>;
}

/** The facts that the steps of one transaction share. */
export interface ProvisioningStep {
  readonly tx: AccountsDatabase;
  readonly options: ProvisioningOptions;
  readonly passwordHash: string;
  /** Appends to the audit record in the name of the provider. */
  record(entry: Parameters<ProvisioningOptions["record"]>[0]): Promise<void>;
  readonly announcements: Announcements;
}
