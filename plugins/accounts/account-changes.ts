import { z } from "zod";
import type { Notices } from "#kernel/services.ts";

/** A change that cached callers depend on: of one account, one session, or possibly every account. */
export type AccountChange = { readonly userId: string } | { readonly jti: string } | { readonly all: true };

/** Tells every replica that what it remembers about accounts is out of date. */
export interface AccountChanges {
  /**
   * Call it after the transaction that changed an account, its role, groups, permissions, stamp or key.
   * This process has forgotten the account when the call returns, the others follow within moments.
   */
  announce(change: AccountChange): Promise<void>;
  /** `handler` runs at once for changes made here, and as they arrive for those made elsewhere. */
  onChange(handler: (change: AccountChange) => void): void;
  /** False while changes made elsewhere do not arrive. */
  isHearing(): boolean;
}

/** Channel of the announcements; writers in a transaction announce on it with their commit. */
export const accountsChannel = "accounts";

const Change = z.union([
  z.object({ userId: z.string() }),
  z.object({ jti: z.string() }),
  z.object({ all: z.literal(true) }),
]);

/** Opens the announcements of account changes; everything counts as changed after a gap. */
export async function openAccountChanges(notices: Notices): Promise<AccountChanges> {
  const handlers: ((change: AccountChange) => void)[] = [];
  const tell = (change: AccountChange) => {
    for (const handler of handlers) {
      handler(change);
    }
  };
  await notices.listen(
    accountsChannel,
    (payload) => {
      // An unreadable notice comes from another version: forgetting too much does no harm.
      const parsed = Change.safeParse(payload);
      tell(parsed.success ? parsed.data : { all: true });
    },
    () => tell({ all: true }),
  );
  return {
    async announce(change) {
      tell(change);
      await notices.notify(accountsChannel, change);
    },
    isHearing: () => notices.isHearing(),
    onChange: (handler) => {
      handlers.push(handler);
    },
  };
}
