import type { PluginDatabase } from "#kernel/plugin.ts";

/** An account as an identity provider wants it. */
export interface ProvisionedAccount {
  /** A valid address in lower case. */
  readonly email: string;
  readonly name: string;
  /** False switches the account off: role pending, nothing it holds is accepted. */
  readonly active: boolean;
  /** The provider's own names of the account, kept as its `scim`; null without any. */
  readonly scim: Record<string, unknown> | null;
}

/** A group as an identity provider wants it. */
export interface ProvisionedGroup {
  readonly name: string;
  /** The provider's own names of the group, kept as `scim` in its `meta`; null without any. */
  readonly scim: Record<string, unknown> | null;
}

/**
 * Changes of one transaction (contract D.26, D.27). Every change is kept in the audit record in the name of the
 * provider. Call `announce` once the transaction has committed, and never after a rollback.
 */
export interface ProvisioningWork {
  /** Creates an account with the role user, or pending; resolves to its id. Throws `conflict` for a taken address. */
  createAccount(account: ProvisionedAccount): Promise<string>;
  /** Brings an account to this state. Throws `conflict` for a taken address, `invalid` (mutability) for the last active administrator, `forbidden` for the primary one. */
  updateAccount(id: string, account: ProvisionedAccount): Promise<void>;
  /**
   * Switches an account off, takes it out of its groups and forgets its key; chats and files stay. `scim` is what is kept
   * about it. Throws `invalid` (mutability) for the last active administrator, `forbidden` for the primary one.
   */
  removeAccount(id: string, scim: Record<string, unknown>): Promise<void>;
  /** Resolves to the id of the new group. Throws `conflict` for a taken name. */
  createGroup(group: ProvisionedGroup): Promise<string>;
  /** Throws `conflict` for a taken name. */
  updateGroup(id: string, group: ProvisionedGroup): Promise<void>;
  /** Adds and takes out accounts, each in one statement; accounts that do not exist are the caller's to refuse. */
  changeMembers(id: string, change: { add: readonly string[]; remove: readonly string[] }): Promise<void>;
  /** Deletes a group with its grants; its members stay. */
  removeGroup(id: string): Promise<void>;
  /** Tells every replica and the listeners of system events; resolves when this process has forgotten the old state. */
  announce(): Promise<void>;
}

/** Accounts and groups in the hands of an identity provider. */
export interface Provisioning {
  /** A hash that no password fits. Ask for it before the transaction. */
  unusablePassword(): Promise<string>;
  /** `passwordHash` is that of accounts that are created, `actor` the author's name in the audit record. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the transaction of any plugin will do
  within(tx: PluginDatabase<any>, how: { passwordHash: string; actor: string }): ProvisioningWork;
}
