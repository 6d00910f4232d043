import type { AnyPlugin } from "./plugin.ts";

/** A plugin that was found and is not set up. */
export interface Omission {
  /** The plugin's id, or the name of its folder when it could not be loaded. */
  readonly id: string;
  /** Undefined when it could not be loaded. */
  readonly plugin?: AnyPlugin;
  /** `disabled`: PLUGINS_DISABLED names it; `broken`: it could not be loaded, does not fit, or failed. */
  readonly cause: "disabled" | "broken";
  /** For administrators; empty where the cause says it all. */
  readonly reason: string;
}
