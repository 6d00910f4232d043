import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";

export const readState = () => server.call("GET /api/v1/scim/state");
export type State = Awaited<ReturnType<typeof readState>>;

export const readCalls = () => server.call("GET /api/v1/scim/calls", { query: { limit: 20 } });
export type Call = Awaited<ReturnType<typeof readCalls>>[number];

export const providers = [
  { value: "okta", label: "Okta" },
  { value: "entra", label: "Entra ID" },
  { value: "onelogin", label: "OneLogin" },
  { value: "google", label: "Google" },
  { value: "jumpcloud", label: "JumpCloud" },
  { value: "authentik", label: "authentik" },
] as const;
export type Provider = (typeof providers)[number]["value"];

/** Nothing of what it does stays. */
export const tryProvider = (provider: Provider) =>
  server.call("POST /api/v1/scim/trial", { body: { provider } });
export type Result = Awaited<ReturnType<typeof tryProvider>>[number];

/** The title of a call of a trial, as the server names it. */
export function titleOf(title: string): string {
  const titles: Record<string, string> = {
    "Look for the person": t("Look for the person"),
    "Create the person": t("Create the person"),
    "Create the person twice": t("Create the person twice"),
    "Find the person": t("Find the person"),
    "Change the name": t("Change the name"),
    "Switch the person off": t("Switch the person off"),
    "Switch the person on": t("Switch the person on"),
    "Create a group": t("Create a group"),
    "Add the member": t("Add the member"),
    "Take the member out": t("Take the member out"),
    "Delete the group": t("Delete the group"),
    "Delete the person": t("Delete the person"),
    "Look for the deleted person": t("Look for the deleted person"),
  };
  return titles[title] ?? title;
}

/** The place of an attribute, as the server names it. */
export function placeOf(place: string): string {
  const places: Record<string, string> = {
    "E-mail address for signing in": t("E-mail address for signing in"),
    Name: t("Name"),
    "Role: user or pending": t("Role: user or pending"),
    "Name of the group": t("Name of the group"),
    "Members of the group": t("Members of the group"),
    "Kept for the identity provider": t("Kept for the identity provider"),
  };
  return places[place] ?? place;
}
