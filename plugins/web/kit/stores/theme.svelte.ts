import { MediaQuery } from "svelte/reactivity";

export type Theme = "light" | "dark" | "system";

const dark = new MediaQuery("prefers-color-scheme: dark");

/** Light, dark or as the system has it. `shell/theme.ts` applies it before the first paint. */
class ThemeStore {
  #choice = $state<Theme>((localStorage.getItem("theme") as Theme | null) ?? "system");

  get choice(): Theme {
    return this.#choice;
  }

  set choice(next: Theme) {
    this.#choice = next;
    localStorage.setItem("theme", next);
  }

  /** What is shown now. */
  get shown(): "light" | "dark" {
    return this.#choice === "system" ? (dark.current ? "dark" : "light") : this.#choice;
  }
}

export const theme = new ThemeStore();
