import { untrack } from "svelte";

/**
 * Makes a store that outlives the component that asks for it first: derived values belong to the effect in which they
 * are made, and never change again once that effect is gone.
 */
export function lasting<Store>(make: () => Store): Store {
  let made!: Store;
  $effect.root(() => {
    made = untrack(make);
  });
  return made;
}
