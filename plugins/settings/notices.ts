import type { Setting } from "#config/registry.ts";

const unprotected =
  "WEBUI_SECRET_KEY is not set. A key in the same database would protect nothing, so secrets are stored unencrypted.";

/** Sentences about a variable for administrators. */
export function toNotices({ name, source, encrypted, enterAgain, environmentDiffers }: Setting): string[] {
  const places = enterAgain.filter((place) => place !== "").join(", ");
  const conditions: [applies: boolean, notice: string][] = [
    [encrypted === false || (name === "WEBUI_SECRET_KEY" && source === "default"), unprotected],
    [
      enterAgain.length > 0,
      `The secret was stored with another WEBUI_SECRET_KEY and has to be entered again${places && ` (at ${places})`}.`,
    ],
    [environmentDiffers, "The environment says otherwise; the value shown here is in force."],
  ];
  return conditions.filter(([applies]) => applies).map(([, notice]) => notice);
}
