import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import type { SwitchSetting } from "#plugins/web/kit/setting-values.ts";

/** Own settings of voice that are on or off, in the language of now. */
export const switches = {
  speech: (): readonly SwitchSetting[] => [
    {
      setting: "responseAutoPlayback",
      label: t("Read new replies aloud"),
      hint: t("As soon as their first sentence is written."),
    },
  ],
  dictation: (): readonly SwitchSetting[] => [
    {
      setting: "speechAutoSend",
      label: t("Send dictations at once"),
      hint: t("Off, the text stands in the field first, to be read over."),
    },
  ],
  calls: (): readonly SwitchSetting[] => [
    {
      setting: "voiceInterruption",
      label: t("Interrupt by speaking"),
      hint: t(
        "In a call, speaking over a reply stops its speech. Off, a tap does. Switch it off where loudspeakers are loud.",
      ),
    },
  ],
};
