import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { Problem } from "./draft.ts";

/** What is wrong with a field, in the language of now; undefined for nothing. */
export function toWords(problem: Problem | undefined): string | undefined {
  switch (problem) {
    case "address":
      return t("Give an address that begins with http:// or https://.");
    case "addressTaken":
      return t("There is a connection to this address. Change that one, or give this one a prefix.");
    case "prefixTaken":
      return t("Another connection has this prefix. Choose another one.");
    case "keyAgain":
      return t("Give the key again: a stored key never moves to another address.");
    case "noObject":
      return t("Write a JSON object, such as {example}.", { example: '{"seed": 7}' });
    case "headerName":
      return t("A header's name is made of letters, digits and hyphens.");
    case "headerValue":
      return t("Give the hidden values again: they never move to another address.");
    case "noGroup":
      return t("Choose at least one group, or let administrators alone use it.");
    default:
      return undefined;
  }
}
