import { ApiError } from "../client.ts";
import { t } from "../i18n/index.svelte.ts";
import { server } from "../server.ts";
import {
  type SettingKey,
  type SettingLayers,
  type Settings,
  type SettingSource,
  sourceOf,
  toOwn,
  valueOf,
} from "../setting-values.ts";
import { remembered } from "./remembered.svelte.ts";
import { session } from "./session.svelte.ts";
import { toasts } from "./toasts.svelte.ts";

// Keys, types, built-in values and meanings; `setting-values.ts` declares them.
//
// theme                   "system" | "light" | "dark" = "system"   colours
// language                string = ""         BCP 47 tag; "" is the instance's or the browser's
// textScale               number = 1          factor of all text
// widescreenMode          boolean = false     the column of messages takes the width there is
// ctrlEnterToSend         boolean = false     Ctrl/Cmd-Enter sends, Enter begins a line
// largeTextAsFile         boolean = false     a pasted text of over 2,000 characters becomes a file
// insertFollowUps         boolean = false     follow-ups and suggestions go into the composer instead of out
// temporaryChatByDefault  boolean = false     new chats are temporary
// models                  string[] = []       models of a new chat; [] is the last used, else the instance's
// pinnedModels            string[] = []       models on top of the picker
// autoScroll              boolean = true      the page follows a reply that is being written
// codeWrap                boolean = false     code wraps long lines
// expandDetails           boolean = false     reasoning and tool calls stand open
// showTimestamps          boolean = false     times of messages always in sight
// showUsage               boolean = false     tokens and speed always in sight
// autoTitle               boolean = true      `background_tasks.title_generation`
// autoTags                boolean = true      `background_tasks.tags_generation`
// autoFollowUps           boolean = true      `background_tasks.follow_up_generation`
// notificationEnabled     boolean = false     notification when a reply ends in a hidden tab
// notificationSound       boolean = false     sound then
// speechAutoSend          boolean = false     dictated texts go out at once
// responseAutoPlayback    boolean = false     new replies are read aloud
// voiceInterruption       boolean = true      in calls, speaking over a reply stops its speech
// speechRate              number = 1          factor of the speed of speech
// speechEngine            "" | "browser" = "" who speaks: the instance's engine or the browser
// speechVoice             string = ""         voice of the instance's engine
// speechBrowserVoice      string = ""         voice of this browser
// dictationEngine         "" | "browser" | "server" = ""  where speech becomes text
// dictationLanguage       string = ""         language that is spoken; "" is the interface's
// system                  string = ""         `params.system` of requests, unless the chat has one of its own
// memory                  boolean = false     `features.memory` of requests

/** What this browser remembers, so that the first paint has the settings already. */
interface Remembered {
  readonly userId: string;
  readonly own: Readonly<Record<string, unknown>>;
}

const storageKey = "settings";
const kept = remembered<Remembered | null>(storageKey, null);

/** The interface settings of the account that is signed in. */
class SettingsStore {
  /** False until the server has told them; what this browser remembers counts until then. */
  isLoaded = $state(false);
  #own = $state.raw<Readonly<Record<string, unknown>>>({});
  #userId: string | undefined;
  /** Changes reach the server one after the other, so that the last one wins there as well. */
  #writing: Promise<unknown> = Promise.resolve();

  constructor() {
    // Another tab of this account changed something.
    addEventListener("storage", ({ key, newValue }) => {
      if (key === storageKey) {
        this.#adopt(newValue === null ? null : (JSON.parse(newValue) as Remembered));
      }
    });
  }

  get<K extends SettingKey>(key: K): Settings[K] {
    return valueOf(this.#layers, key);
  }

  sourceOf(key: SettingKey): SettingSource {
    return sourceOf(this.#layers, key);
  }

  /** What counts once the person's own choice is given up. */
  fallback<K extends SettingKey>(key: K): Settings[K] {
    return valueOf({ ...this.#layers, own: {} }, key);
  }

  /** False for members without the permission `settings.interface`. */
  get mayChange(): boolean {
    return session.may("settings.interface");
  }

  /**
   * Chooses a value; null gives the choice up. It counts at once, and is taken back with a notice when the server
   * refuses. Resolves to whether the server has it.
   */
  async set<K extends SettingKey>(key: K, value: Settings[K] | null): Promise<boolean> {
    const before = this.#own;
    this.#put(key, value);
    const written = this.#writing.then(() =>
      server.call("POST /api/v1/users/user/settings/update", { body: { ui: { [key]: value } } }),
    );
    this.#writing = written.catch(() => undefined);
    try {
      await written;
      this.#remember();
      return true;
    } catch (error) {
      // A later choice of the same setting stays.
      if ((this.#own[key] ?? null) === value) {
        this.#put(key, Object.hasOwn(before, key) ? (before[key] as Settings[K]) : null);
      }
      toasts.fail(toReason(error), t("This setting was not saved."));
      return false;
    }
  }

  /** Reads the settings of whoever is signed in; the shell calls it when the session stands. */
  async load(): Promise<void> {
    const userId = session.current?.id;
    if (userId === undefined || session.isPending) {
      return;
    }
    this.#userId = userId;
    this.#adopt(kept.value);
    this.#own = toOwn(await server.call("GET /api/v1/users/user/settings"));
    this.#remember();
    this.isLoaded = true;
  }

  get #layers(): SettingLayers {
    return { own: this.#own, instance: session.config?.ui?.default_interface_settings ?? {} };
  }

  #put(key: SettingKey, value: unknown): void {
    const { [key]: _old, ...others } = this.#own;
    this.#own = value === null ? others : { ...others, [key]: value };
  }

  #remember(): void {
    if (this.#userId !== undefined) {
      kept.value = { userId: this.#userId, own: this.#own };
    }
  }

  #adopt(from: Remembered | null): void {
    if (from !== null && from.userId === this.#userId) {
      this.#own = from.own;
    }
  }
}

export const settings = new SettingsStore();

function toReason(error: unknown): unknown {
  return error instanceof ApiError && error.status === 403
    ? t("Your account may not change the interface: it needs the permission “settings.interface”.")
    : error;
}
