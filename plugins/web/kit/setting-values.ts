/**
 * The interface settings of an account that this interface honours. They live in `ui` of the account's settings; each
 * counts as chosen by the person, else as the instance's DEFAULT_INTERFACE_SETTINGS has it, else as `builtIn` below.
 * Read them with `settings.get(key)` of `stores/settings.svelte.ts`.
 */
export interface Settings {
  // Look

  /** Colours: as the system has them, light or dark. */
  readonly theme: "system" | "light" | "dark";
  /** A BCP 47 tag, such as `de-DE`; "" is the instance's language, else the browser's. */
  readonly language: string;
  /** Factor of all text: 0.9, 1, 1.1, 1.25 or 1.5. */
  readonly textScale: number;
  /** The column of messages takes the width there is instead of 720 px. */
  readonly widescreenMode: boolean;

  // Writing

  /** Ctrl/Cmd-Enter sends and Enter begins a line, instead of Enter and Shift-Enter. */
  readonly ctrlEnterToSend: boolean;
  /** Pasted text of more than 2,000 characters becomes an attached file. */
  readonly largeTextAsFile: boolean;
  /** A click on a follow-up or a suggestion writes it into the composer instead of sending it. */
  readonly insertFollowUps: boolean;
  /** New chats are temporary: nothing of them is stored. */
  readonly temporaryChatByDefault: boolean;
  /** Models that a new chat begins with; an empty list is the last used one, else the instance's. */
  readonly models: readonly string[];
  /** Models on top of the picker. */
  readonly pinnedModels: readonly string[];

  // Replies

  /** The page follows the end of a reply while it is being written. */
  readonly autoScroll: boolean;
  /** Long lines of code are wrapped instead of scrolled. */
  readonly codeWrap: boolean;
  /** Reasoning and tool calls stand open instead of folded to one line. */
  readonly expandDetails: boolean;
  /** Each message shows its time always, not on hover alone. */
  readonly showTimestamps: boolean;
  /** Tokens and speed stand below each reply, not on hover alone. */
  readonly showUsage: boolean;

  // After the first reply: `background_tasks` of requests

  /** `title_generation`. */
  readonly autoTitle: boolean;
  /** `tags_generation`. */
  readonly autoTags: boolean;
  /** `follow_up_generation`. */
  readonly autoFollowUps: boolean;

  // Notices, when a reply ends while the tab is hidden

  /** A notification of the desktop; the browser's permission is asked for when it is switched on. */
  readonly notificationEnabled: boolean;
  /** A short sound. */
  readonly notificationSound: boolean;

  // Voice

  /** Dictated texts go out at once instead of being read over first. */
  readonly speechAutoSend: boolean;
  /** New replies are read aloud while they are written. */
  readonly responseAutoPlayback: boolean;
  /** In calls, speaking over a reply stops its speech. */
  readonly voiceInterruption: boolean;
  /** Factor of the speed of speech: 0.5 to 2. */
  readonly speechRate: number;
  /** Speaks with the browser's voices, even where the instance has an engine. */
  readonly speechEngine: "" | "browser";
  /** Id of a voice of the instance's engine; "" is the instance's choice. */
  readonly speechVoice: string;
  /** Address of a voice of this browser; "" is the first one of the language. */
  readonly speechBrowserVoice: string;
  /** Where speech becomes text: as the instance has it, in the browser, or on the server. */
  readonly dictationEngine: "" | "browser" | "server";
  /** Language that is spoken, such as `de`; "" is that of the interface. */
  readonly dictationLanguage: string;

  // Personalisation

  /** The person's own system prompt: `params.system` of requests, unless the chat has one of its own. */
  readonly system: string;
  /** `features.memory` of requests: models are told what they remember. */
  readonly memory: boolean;
}

export type SettingKey = keyof Settings;

type SwitchKey = { [K in SettingKey]: Settings[K] extends boolean ? K : never }[SettingKey];

/** A setting that is on or off, as a page shows it. */
export interface SwitchSetting {
  readonly setting: SwitchKey;
  readonly label: string;
  readonly hint: string;
}

/** Whose value counts. */
export type SettingSource = "own" | "instance" | "built-in";

interface Rule<Value> {
  readonly builtIn: Value;
  /** Values that somebody else wrote there are left out. */
  fits(value: unknown): boolean;
}

const flag = (builtIn: boolean): Rule<boolean> => ({ builtIn, fits: (value) => typeof value === "boolean" });
const text = (maxLength: number): Rule<string> => ({
  builtIn: "",
  fits: (value) => typeof value === "string" && value.length <= maxLength,
});
const names: Rule<readonly string[]> = {
  builtIn: [],
  fits: (value) => Array.isArray(value) && value.every((one) => typeof one === "string"),
};

const rules: { readonly [K in SettingKey]: Rule<Settings[K]> } = {
  theme: { builtIn: "system", fits: (value) => ["system", "light", "dark"].includes(value as string) },
  language: { builtIn: "", fits: isLanguage },
  textScale: { builtIn: 1, fits: (value) => typeof value === "number" && value >= 0.75 && value <= 2 },
  widescreenMode: flag(false),
  ctrlEnterToSend: flag(false),
  largeTextAsFile: flag(false),
  insertFollowUps: flag(false),
  temporaryChatByDefault: flag(false),
  models: names,
  pinnedModels: names,
  autoScroll: flag(true),
  codeWrap: flag(false),
  expandDetails: flag(false),
  showTimestamps: flag(false),
  showUsage: flag(false),
  autoTitle: flag(true),
  autoTags: flag(true),
  autoFollowUps: flag(true),
  notificationEnabled: flag(false),
  notificationSound: flag(false),
  speechAutoSend: flag(false),
  responseAutoPlayback: flag(false),
  voiceInterruption: flag(true),
  speechRate: { builtIn: 1, fits: (value) => typeof value === "number" && value >= 0.5 && value <= 2 },
  speechEngine: { builtIn: "", fits: (value) => value === "" || value === "browser" },
  speechVoice: text(300),
  speechBrowserVoice: text(300),
  dictationEngine: { builtIn: "", fits: (value) => ["", "browser", "server"].includes(value as string) },
  dictationLanguage: { builtIn: "", fits: isLanguage },
  system: text(100_000),
  memory: flag(false),
};

export const settingKeys = Object.keys(rules) as readonly SettingKey[];

/** `ui` objects: what the person chose, and what the instance has for those who chose nothing. */
export interface SettingLayers {
  readonly own: Readonly<Record<string, unknown>>;
  readonly instance: Readonly<Record<string, unknown>>;
}

/** The layer that a setting comes from: the first one with a value that fits. */
export function sourceOf({ own, instance }: SettingLayers, key: SettingKey): SettingSource {
  if (rules[key].fits(own[key])) {
    return "own";
  }
  return rules[key].fits(instance[key]) ? "instance" : "built-in";
}

/** The value that counts. */
export function valueOf<K extends SettingKey>(layers: SettingLayers, key: K): Settings[K] {
  const source = sourceOf(layers, key);
  return (
    source === "built-in" ? rules[key].builtIn : layers[source === "own" ? "own" : "instance"][key]
  ) as Settings[K];
}

/** The own fields of the server's answer, which has the instance's mixed in. */
export function toOwn({
  ui,
  own,
}: {
  readonly ui: Readonly<Record<string, unknown>>;
  readonly own: readonly string[];
}): Record<string, unknown> {
  return Object.fromEntries(own.filter((key) => Object.hasOwn(ui, key)).map((key) => [key, ui[key]]));
}

function isLanguage(value: unknown): boolean {
  try {
    return value === "" || (typeof value === "string" && Boolean(new Intl.Locale(value)));
  } catch {
    return false;
  }
}
