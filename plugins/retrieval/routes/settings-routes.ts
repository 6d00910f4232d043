import type { ConfigRegistry } from "#config/registry.ts";
import { AppError } from "#kernel/errors.ts";
import { defineRoute } from "#kernel/http/route.ts";
import { Settings } from "../schema.ts";
import { below, type Prefix } from "./prefix.ts";

export interface SettingsRouteParts {
  readonly configuration: ConfigRegistry;
  /** Looks what a change of the embedding means for the vectors there are. */
  embeddingChanged(): Promise<void>;
}

/** Settings of retrieval, partly read and changed at once (contract §6.3); each is a variable by its name. */
export function settingsRoutes(prefix: Prefix, { configuration, embeddingChanged }: SettingsRouteParts) {
  const ofKeys = (start: string) =>
    configuration
      .describe()
      .filter(({ key, persisted }) => persisted && key !== null && key.startsWith(start))
      .map(({ name, value }) => [name, value] as const);
  const isOfEmbedding = (name: string) =>
    name.startsWith("RAG_EMBEDDING_") || /^RAG_(?:OPENAI|OLLAMA|AZURE_OPENAI)_/.test(name);
  const settings = () => ({ ...Object.fromEntries(ofKeys("rag.")), web: Object.fromEntries(ofKeys("web.")) });
  const embedding = () => Object.fromEntries(ofKeys("rag.").filter(([name]) => isOfEmbedding(name)));

  async function change(given: Readonly<Record<string, unknown>>, by: string): Promise<void> {
    const { web, ...rest } = given;
    const known = new Set([...ofKeys("rag."), ...ofKeys("web.")].map(([name]) => name));
    const wishes = Object.entries({ ...rest, ...(web as object | undefined) }).filter(
      ([name]) => name !== "status",
    );
    const unknown = wishes.find(([name]) => !known.has(name));
    if (unknown) {
      throw new AppError("invalid", `${unknown[0]}: there is no such setting of retrieval.`);
    }
    await configuration.set(Object.fromEntries(wishes), by);
    if (wishes.some(([name]) => isOfEmbedding(name))) {
      await embeddingChanged();
    }
  }

  return [
    defineRoute(
      {
        method: "GET",
        path: below(prefix, "/config"),
        summary: "Read the settings of retrieval",
        access: "admin",
        returns: Settings,
      },
      settings,
    ),
    defineRoute(
      {
        method: "POST",
        path: below(prefix, "/config/update"),
        summary: "Change settings of retrieval",
        access: "admin",
        body: Settings,
        returns: Settings,
        fails: [400],
      },
      async ({ body, caller }) => {
        await change(body, caller.userId);
        return settings();
      },
    ),
    defineRoute(
      {
        method: "GET",
        path: below(prefix, "/embedding"),
        summary: "Read the settings of the embedding model",
        access: "admin",
        returns: Settings,
      },
      embedding,
    ),
    defineRoute(
      {
        method: "POST",
        path: below(prefix, "/embedding/update"),
        summary: "Change the embedding model",
        access: "admin",
        body: Settings,
        returns: Settings,
        fails: [400],
      },
      async ({ body, caller }) => {
        await change(body, caller.userId);
        return embedding();
      },
    ),
  ] as const;
}
