import { groupSchema, patchBody, userBody } from "./bodies.ts";

/** The forms of identity providers that a trial knows. */
export const providers = ["okta", "entra", "onelogin", "google", "jumpcloud", "authentik"] as const;
export type ProviderName = (typeof providers)[number];

/** The ids that earlier calls of a trial made. */
export interface Made {
  readonly user: string;
  readonly group: string;
}

/** One call of a trial, as the provider would send it. */
export interface TrialCall {
  readonly title: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the base, with its query. */
  path(made: Made): string;
  body?(made: Made): unknown;
  readonly expected: number;
  /** Whether the answer says what the call was for. */
  fits?(body: Record<string, unknown>, made: Made): boolean;
  /** Whose id the answer makes known. */
  readonly makes?: keyof Made;
}

/** The ways in which a provider switches a person off, and takes a member out of a group. */
interface Forms {
  readonly off: object;
  readonly on: object;
  leave(user: string): object;
}

const forms: Readonly<Record<ProviderName, Forms>> = {
  okta: {
    off: { op: "replace", value: { active: false } },
    on: { op: "replace", value: { active: true } },
    leave: (user) => ({ op: "remove", path: `members[value eq "${user}"]` }),
  },
  entra: {
    off: { op: "Replace", path: "active", value: "False" },
    on: { op: "Replace", path: "active", value: "True" },
    leave: (user) => ({ op: "Remove", path: "members", value: [{ value: user }] }),
  },
  onelogin: {
    off: { op: "replace", path: "active", value: false },
    on: { op: "replace", path: "active", value: true },
    leave: (user) => ({ op: "remove", path: `members[value eq "${user}"]` }),
  },
  google: {
    off: { op: "replace", value: { "urn:ietf:params:scim:schemas:core:2.0:User:active": false } },
    on: { op: "replace", value: { "urn:ietf:params:scim:schemas:core:2.0:User:active": true } },
    leave: (user) => ({ op: "remove", path: `members[value eq "${user}"]` }),
  },
  jumpcloud: {
    off: { op: "replace", path: "active", value: false },
    on: { op: "replace", path: "active", value: true },
    leave: (user) => ({ op: "remove", path: `members[value eq "${user}"]` }),
  },
  authentik: {
    off: { op: "replace", path: "active", value: false },
    on: { op: "replace", path: "active", value: true },
    leave: (user) => ({ op: "remove", path: "members", value: [{ value: user }] }),
  },
};

const isListed = (body: Record<string, unknown>) => body["totalResults"] === 1;
const hasMembers = (count: number) => (body: Record<string, unknown>) =>
  (body["members"] as unknown[]).length === count;

/** The calls of a provider's usual day; `mark` tells the rows of this trial from all others. */
export function toTrialCalls(provider: ProviderName, mark: string): readonly TrialCall[] {
  return [...toUserCalls(forms[provider], mark), ...toGroupCalls(forms[provider], mark), ...toEndCalls()];
}

const user = ({ user: id }: Made) => `/Users/${id}`;
const group = ({ group: id }: Made) => `/Groups/${id}`;

function toUserCalls({ off, on }: Forms, mark: string): readonly TrialCall[] {
  const userName = `${mark}@example.invalid`;
  const search = `/Users?filter=${encodeURIComponent(`userName eq "${userName}"`)}`;
  return [
    {
      title: "Look for the person",
      method: "GET",
      path: () => search,
      expected: 200,
      fits: (body) => body["totalResults"] === 0,
    },
    {
      title: "Create the person",
      method: "POST",
      path: () => "/Users",
      body: () => userBody(userName, mark),
      expected: 201,
      makes: "user",
    },
    {
      title: "Create the person twice",
      method: "POST",
      path: () => "/Users",
      body: () => userBody(userName, mark),
      expected: 409,
    },
    { title: "Find the person", method: "GET", path: () => search, expected: 200, fits: isListed },
    {
      title: "Change the name",
      method: "PATCH",
      path: user,
      body: () =>
        patchBody(
          { op: "replace", path: "name.familyName", value: "Changed" },
          { op: "replace", path: "displayName", value: "Trial Changed" },
        ),
      expected: 200,
      fits: (body) => body["displayName"] === "Trial Changed",
    },
    {
      title: "Switch the person off",
      method: "PATCH",
      path: user,
      body: () => patchBody(off),
      expected: 200,
      fits: (body) => body["active"] === false,
    },
    {
      title: "Switch the person on",
      method: "PATCH",
      path: user,
      body: () => patchBody(on),
      expected: 200,
      fits: (body) => body["active"] === true,
    },
  ];
}

function toGroupCalls({ leave }: Forms, mark: string): readonly TrialCall[] {
  return [
    {
      title: "Create a group",
      method: "POST",
      path: () => "/Groups",
      body: () => ({ schemas: [groupSchema], displayName: mark }),
      expected: 201,
      makes: "group",
    },
    {
      title: "Add the member",
      method: "PATCH",
      path: group,
      body: (made) => patchBody({ op: "add", path: "members", value: [{ value: made.user }] }),
      expected: 200,
      fits: hasMembers(1),
    },
    {
      title: "Take the member out",
      method: "PATCH",
      path: group,
      body: (made) => patchBody(leave(made.user)),
      expected: 200,
      fits: hasMembers(0),
    },
  ];
}

function toEndCalls(): readonly TrialCall[] {
  return [
    { title: "Delete the group", method: "DELETE", path: group, expected: 204 },
    { title: "Delete the person", method: "DELETE", path: user, expected: 204 },
    { title: "Look for the deleted person", method: "GET", path: user, expected: 404 },
  ];
}
