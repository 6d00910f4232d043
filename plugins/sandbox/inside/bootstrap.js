// Runs first in every context. Its modules are loaded in this order: natives before they are guarded, guards before what
// they guard is used, primordials before code of an author can change them. That code reaches none of their scopes.
import "../hardening/guarded-lists.js";
import "../hardening/guarded-texts.js";
import "../hardening/guarded-rest.js";
import "./globals.js";
import { answer, end, enter } from "./calls.js";
import { pull } from "./generator.js";
import { adopt } from "./module.js";
import { bindStreamHook } from "./stream-hook.js";
import { tick } from "./timers.js";

/** The functions of the bridge that the host calls (host/bridge-functions.ts). */
export const entries = { __proto__: null, adopt, answer, bindStreamHook, end, enter, pull, tick };
