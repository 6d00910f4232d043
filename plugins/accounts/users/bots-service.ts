import type { PluginDatabase } from "#kernel/plugin.ts";
import { defineSlot } from "#kernel/service.ts";

/** Accounts of programs: with a name and a picture, without a sign-in, and in no list of people. */
export interface Bots {
  /** Resolves to the account's id. */
  create(tx: PluginDatabase<unknown>, bot: { name: string; picture: string | null }): Promise<string>;
  update(
    tx: PluginDatabase<unknown>,
    userId: string,
    bot: { name?: string; picture?: string | null },
  ): Promise<void>;
  /** The bot's messages stay; its memberships and reactions go with it. */
  remove(tx: PluginDatabase<unknown>, userId: string): Promise<void>;
  /** Call it after the transaction: no replica lets the old key, name or scopes in any more. */
  changed(userId: string): Promise<void>;
}

/** An app that a key belongs to. */
export interface AppIdentity {
  readonly id: string;
  /** The account of its bot. */
  readonly userId: string;
  readonly name: string;
  readonly scopes: readonly string[];
}

/** Keys of apps, which the one authenticator asks for (`sk-app-` and 64 hex digits). */
export interface AppKeys {
  /** Undefined for an unknown or revoked key. */
  find(key: string): Promise<AppIdentity | undefined>;
  /** Throws `forbidden` for a request beyond the scopes, and while the app or all apps are switched off. */
  require(scopes: readonly string[], request: { readonly method: string; readonly path: string }): void;
}
export const appKeys = defineSlot<AppKeys>("accounts.app-keys");
