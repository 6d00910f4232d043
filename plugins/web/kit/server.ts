import type { Api } from "#plugins/catalogue.ts";
import { createClient } from "./client.ts";

/** The only way to the server. The session's cookie goes along by itself. */
export const server = createClient<Api>();
