import type { ResourceKind } from "../discovery/urns.ts";

/** One e-mail address of a user. */
export interface Email {
  value?: string;
  display?: string;
  type?: string;
  primary?: boolean;
  /** The login address, which stands for an e-mail address until the provider adds some. */
  implied?: true;
}

/** What a provider can write of a user, under the names of SCIM. */
export interface UserState {
  userName: string;
  displayName?: string;
  name?: { formatted?: string; givenName?: string; familyName?: string };
  emails?: Email[];
  active: boolean;
  externalId?: string;
}

/** One member of a group; `value` is the id of an account. */
export interface Member {
  value: string;
  display?: string;
}

/** What a provider can write of a group. */
export interface GroupState {
  displayName: string;
  externalId?: string;
  members: Member[];
}

export type StateOf<K extends ResourceKind> = K extends "User" ? UserState : GroupState;

/** A state of either kind, by attribute. */
export type State = Record<string, unknown>;
