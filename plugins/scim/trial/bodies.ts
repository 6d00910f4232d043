import { urns } from "../discovery/urns.ts";

export const groupSchema = urns.group;

/** The body of a person as providers create one. */
export function userBody(userName: string, externalId: string) {
  return {
    schemas: [urns.user],
    userName,
    externalId,
    displayName: "Trial Person",
    name: { givenName: "Trial", familyName: "Person" },
    emails: [{ value: userName, type: "work", primary: true }],
    active: true,
  };
}

export function patchBody(...operations: object[]) {
  return { schemas: [urns.patchOp], Operations: operations };
}
