import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import { defineWeb } from "#plugins/web/kit/web.ts";

const speaks = () => session.may("chat.tts");
const listens = () => session.may("chat.stt");

export const web = defineWeb({
  settings: [async () => (await import("./settings/entries.ts")).settingEntries()],
  pages: {
    "audio.settings": () => import("./settings/AudioSettingsPage.svelte"),
    "audio.voice": () => import("./settings/VoicePage.svelte"),
  },
  replyButtons: [{ id: "audio.read", isAvailable: speaks, load: () => import("./speech/ReadButton.svelte") }],
  composerParts: [
    {
      id: "audio.reading",
      place: "above",
      order: 10,
      isAvailable: speaks,
      load: () => import("./speech/ReadingStrip.svelte"),
    },
    {
      id: "audio.dictation",
      place: "above",
      order: 20,
      isAvailable: listens,
      load: () => import("./listening/DictationStrip.svelte"),
    },
    {
      id: "audio.dictate",
      place: "buttons",
      order: 10,
      isAvailable: listens,
      load: () => import("./listening/DictateButton.svelte"),
    },
    {
      id: "audio.call",
      place: "buttons",
      order: 20,
      isAvailable: () => session.may("chat.call") && listens(),
      load: () => import("./call/CallButton.svelte"),
    },
  ],
});
