import type { AnyPlugin } from "#kernel/plugin.ts";
import accounts from "./accounts/plugin.ts";
import completions from "./completions/plugin.ts";
import files from "./files/plugin.ts";
import guide from "./guide/plugin.ts";
import models from "./models/plugin.ts";
import providerCommon from "./provider-common/plugin.ts";
import settings from "./settings/plugin.ts";
import web from "./web/plugin.ts";

/** Every plugin of this program; the host orders them by what they use. */
export const catalogue: readonly AnyPlugin[] = [accounts, completions, files, guide, models, providerCommon, settings, web];
