import { language } from "#plugins/web/kit/i18n/index.svelte.ts";

const files = import.meta.glob<Readonly<Record<string, string>>>("./texts/*.json", { import: "default" });
/** As `config/setting.ts` joins them. */
const joint = ". Has no effect: ";
const permission = "Built-in default of the permission";

/** Sentences about settings in the language of now; a file of their own, because only these pages need them. */
class SettingTexts {
  #known = $state.raw<Readonly<Record<string, string>>>({});

  /** Loads them for the language of now; English texts are their own keys. */
  async load(): Promise<void> {
    const load = files[`./texts/${new Intl.Locale(language.locale).language}.json`];
    this.#known = load === undefined ? {} : await load();
  }

  of(text: string): string {
    const known = this.#known[text];
    if (known !== undefined) {
      return known;
    }
    if (text.startsWith(`${permission} `)) {
      return `${this.#word(permission)} ${text.slice(permission.length + 1)}`;
    }
    const [sentence = "", reason] = text.split(joint);
    return reason === undefined ? text : `${this.#word(sentence)}${this.#word(joint)}${this.#word(reason)}`;
  }

  #word(text: string): string {
    return this.#known[text] ?? text;
  }
}

export const settingTexts = new SettingTexts();
