import { SvelteSet } from "svelte/reactivity";

/** The chats that are chosen for an action on all of them. While it is on, a click on a row chooses. */
class Selection {
  isOn = $state(false);
  readonly ids = new SvelteSet<string>();
  #anchor: string | undefined;

  has(id: string): boolean {
    return this.ids.has(id);
  }

  begin(id?: string): void {
    this.isOn = true;
    if (id !== undefined) {
      this.ids.add(id);
      this.#anchor = id;
    }
  }

  toggle(id: string): void {
    this.isOn = true;
    this.#anchor = id;
    if (!this.ids.delete(id)) {
      this.ids.add(id);
    }
  }

  /** Chooses all from the one that was chosen last to this one, in the order in which they are shown. */
  extendTo(id: string, shown: readonly string[]): void {
    const from = shown.indexOf(this.#anchor ?? id);
    const to = shown.indexOf(id);
    if (from < 0 || to < 0) {
      this.toggle(id);
      return;
    }
    this.isOn = true;
    shown.slice(Math.min(from, to), Math.max(from, to) + 1).forEach((one) => this.ids.add(one));
  }

  end(): void {
    this.isOn = false;
    this.ids.clear();
    this.#anchor = undefined;
  }
}

export const selection = new Selection();
