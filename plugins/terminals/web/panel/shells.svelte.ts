import type { Place } from "../api.ts";
import { Shell } from "./shell.svelte.ts";

const keyOf = ({ terminalId, chatId }: Place): string => `${terminalId} ${chatId ?? ""}`;

/** The shells of this tab, by terminal and chat: they outlive their panel. */
class Shells {
  #all = $state.raw<Readonly<Record<string, readonly Shell[]>>>({});
  #count = 0;

  of(place: Place): readonly Shell[] {
    return this.#all[keyOf(place)] ?? [];
  }

  add(place: Place): Shell {
    this.#count += 1;
    const shell = new Shell(place, this.#count);
    this.#all = { ...this.#all, [keyOf(place)]: [...this.of(place), shell] };
    return shell;
  }

  remove(shell: Shell): void {
    shell.end();
    const key = keyOf(shell.place);
    this.#all = { ...this.#all, [key]: this.of(shell.place).filter((one) => one !== shell) };
  }
}

export const shells = new Shells();
