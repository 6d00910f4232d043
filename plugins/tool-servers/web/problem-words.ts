import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { Problem } from "./draft.ts";

/** What is wrong with a field and what to do; undefined when nothing is. */
export function toWords(problem: Problem | undefined): string | undefined {
  switch (problem) {
    case "address":
      return t("Write an address that begins with http:// or https://.");
    case "keyAgain":
      return t("The address changed. Type the key again, so that it goes nowhere unseen.");
    case "noClient":
      return t("Enter the client id that the authorization server gave you.");
    case "noSpec":
      return t("Paste the document, as JSON or YAML.");
    case "badId":
      return t("Use letters, digits, dots, dashes and underscores.");
    case "headerName":
      return t("A header's name has letters, digits and dashes only.");
    case "headerValue":
      return t("The address changed. Type the masked values again.");
    case "nobody":
      return t("Name somebody, or choose administrators.");
    default:
      return undefined;
  }
}
