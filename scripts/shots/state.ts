import type { Page } from "playwright-core";
import type { World } from "./world.ts";

/** One state of the interface; `show` brings the page there. */
export interface State {
  readonly name: string;
  /** Taken on these; without it on a desk in light and on a phone in dark. */
  readonly looks?: readonly Look[];
  show(page: Page, world: World): Promise<unknown>;
}

export type Look = "desk-light" | "desk-dark" | "phone-light" | "phone-dark";
