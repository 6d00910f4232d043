import type { MenuItem } from "../menu.ts";

/**
 * Runs what was chosen in a menu. As it closes, a menu gives the focus back to its trigger; an item that puts it
 * elsewhere runs after that.
 */
export class MenuChoice {
  #waiting: MenuItem | undefined;

  readonly choose = (item: MenuItem): void => {
    if (item.movesFocus) {
      this.#waiting = item;
    } else {
      void item.run?.();
    }
  };

  readonly close = (event: Event): void => {
    const item = this.#waiting;
    this.#waiting = undefined;
    if (item) {
      event.preventDefault();
      void item.run?.();
    }
  };
}
