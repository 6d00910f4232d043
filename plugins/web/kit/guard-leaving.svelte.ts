import { leaving } from "./stores/leaving.svelte.ts";

/** Asks before a page is left with changes that no draft keeps. Called while a component is set up. */
export function guardLeaving(isChanged: () => boolean): void {
  $effect(() => leaving.guard(isChanged));
}
