import { z } from "zod";
import { checkAddress } from "#config/parse.ts";
import { bool, json, text, type Values } from "#config/variable.ts";
import { Banner, Suggestion } from "./schema.ts";

/** What the web interface shows and offers to everybody (configuration document, features and runtime tables). */
export const config = {
  banners: json("WEBUI_BANNERS", [], {
    schema: z.array(Banner).max(100),
    key: "ui.banners",
    persisted: true,
    text: "Banners shown to users.",
  }),
  suggestions: json("DEFAULT_PROMPT_SUGGESTIONS", null, {
    schema: z.array(Suggestion).max(100).nullable(),
    key: "ui.prompt_suggestions",
    persisted: true,
    text: "Prompts offered on an empty chat; not set, the built-in ones are, and [] turns them off.",
  }),
  locale: text("DEFAULT_LOCALE", "", {
    key: "ui.default_locale",
    persisted: true,
    check: checkLocale,
    text: "Initial language of a browser; empty means the browser's own, with en-US to fall back on.",
  }),
  watermark: text("RESPONSE_WATERMARK", "", {
    key: "ui.watermark",
    persisted: true,
    whenEmpty: "",
    text: "Text added to replies that are copied.",
  }),
  communitySharing: bool("ENABLE_COMMUNITY_SHARING", true, {
    key: "ui.enable_community_sharing",
    persisted: true,
    text: "Offers to share with the community.",
  }),
  messageRating: bool("ENABLE_MESSAGE_RATING", true, {
    key: "ui.enable_message_rating",
    persisted: true,
    text: "Lets people rate replies.",
  }),
  easterEggs: bool("ENABLE_EASTER_EGGS", true, {
    text: "Novelties of the web interface, such as the wheel on the page About.",
  }),
  updateCheck: bool("ENABLE_VERSION_UPDATE_CHECK", true, {
    text: "Looks for newer releases at VERSION_UPDATE_URL; never while OFFLINE_MODE is on.",
  }),
  updateUrl: text("VERSION_UPDATE_URL", "", {
    text: "Address that answers a JSON object with the latest release as version or tag_name; empty asks nobody.",
  }),
  publicActiveUsers: bool("ENABLE_PUBLIC_ACTIVE_USERS_COUNT", true, {
    text: "Shows everybody how many people are there at the moment; off, only admins.",
  }),
  manifestUrl: text("EXTERNAL_PWA_MANIFEST_URL", "", {
    check: checkAddress,
    ignoreInvalid: true,
    text: "When a full URL, /manifest.json answers the manifest found there.",
  }),
  adminExport: bool("ENABLE_ADMIN_EXPORT", true, { text: "Lets admins export settings and data." }),
};

export type SettingsConfig = Values<typeof config>;

const languageNames = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" });

/** A tag whose language nobody knows would leave every browser at English in silence. */
function checkLocale(tag: string): string | undefined {
  try {
    return tag === "" || languageNames.of(new Intl.Locale(tag).language) !== undefined
      ? undefined
      : "must name a language, such as de or pt-BR";
  } catch {
    return "must be a language tag such as de-DE";
  }
}
