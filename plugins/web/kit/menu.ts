import type { Component } from "svelte";

/** One line of a menu. */
export interface MenuItem {
  readonly title: string;
  readonly icon?: Component<{ size?: number }>;
  /** A second, quiet line. */
  readonly description?: string;
  readonly shortcut?: string;
  /** Shows a mark in front: on or off. */
  readonly checked?: boolean;
  readonly isDanger?: boolean;
  readonly isDisabled?: boolean;
  /** A line of its own above this item. */
  readonly startsGroup?: boolean;
  /** The name of a group, above this item. */
  readonly heading?: string;
  /** Opens further items instead of running. */
  readonly items?: readonly MenuItem[];
  /** Its action puts the focus elsewhere, such as into a field: it runs once the menu is gone. */
  readonly movesFocus?: boolean;
  run?(): unknown;
}
