import type { Api } from "#plugins/catalogue.ts";
import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";

export type App = Api["GET /api/v1/apps/"]["answer"][number];
export type Manifest = Api["POST /api/v1/apps/manifest"]["answer"]["manifest"];
export type Catalogue = Api["GET /api/v1/apps/catalogue"]["answer"];
type Secrets = Api["POST /api/v1/apps/create"]["answer"];

/** What a scope lets an app do. */
export function scopeWords(scope: string): string {
  const words: Readonly<Record<string, string>> = {
    "messages:read": t("Read the messages of its channels"),
    "messages:write": t("Write messages, and change and delete its own"),
    "reactions:write": t("React to messages"),
    "members:read": t("See who is in its channels"),
  };
  return words[scope] ?? scope;
}

/** Apps of the instance, in the hands of administrators. */
export class AppList {
  all = $state.raw<readonly App[]>();
  catalogue = $state.raw<Catalogue>();
  failure = $state<string>();
  /** What was just made; it is shown once. */
  secrets = $state.raw<{ readonly name: string; readonly key?: string; readonly secret?: string }>();

  async load(): Promise<void> {
    try {
      [this.all, this.catalogue] = await Promise.all([
        server.call("GET /api/v1/apps/"),
        this.catalogue ?? server.call("GET /api/v1/apps/catalogue"),
      ]);
      this.failure = undefined;
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  loadManifest(url: string) {
    return server.call("POST /api/v1/apps/manifest", { body: { url } });
  }

  async register(manifest: Manifest, manifestUrl: string | null): Promise<void> {
    this.#show(
      await server.call("POST /api/v1/apps/create", { body: { manifest, manifest_url: manifestUrl } }),
    );
    await this.load();
  }

  async change(id: string, { name, description, url, scopes, events, avatar }: Manifest): Promise<void> {
    await server.call("POST /api/v1/apps/id/:id/update", {
      params: { id },
      body: { name, description, url: url ?? null, scopes, events, ...(avatar && { avatar }) },
    });
    await this.load();
  }

  async enable(id: string, enabled: boolean): Promise<void> {
    await server.call("POST /api/v1/apps/id/:id/update", { params: { id }, body: { enabled } });
    await this.load();
  }

  async rotateKey(id: string): Promise<void> {
    this.#show(await server.call("POST /api/v1/apps/id/:id/key", { params: { id } }));
    await this.load();
  }

  async revokeKey(id: string): Promise<void> {
    await server.call("DELETE /api/v1/apps/id/:id/key", { params: { id } });
    await this.load();
  }

  async renewSecret(id: string): Promise<void> {
    this.#show(await server.call("POST /api/v1/apps/id/:id/secret", { params: { id } }));
  }

  async remove(id: string): Promise<void> {
    await server.call("DELETE /api/v1/apps/id/:id/delete", { params: { id } });
    await this.load();
  }

  test(id: string) {
    return server.call("POST /api/v1/apps/id/:id/test", { params: { id } });
  }

  deliveries(id: string) {
    return server.call("GET /api/v1/apps/id/:id/deliveries", { params: { id } });
  }

  async retry(id: string, deliveryId: string): Promise<void> {
    await server.call("POST /api/v1/apps/id/:id/deliveries/:delivery_id/retry", {
      params: { id, delivery_id: deliveryId },
    });
  }

  #show({ name, api_key: key, signing_secret: secret }: Secrets): void {
    this.secrets = { name, ...(key && { key }), ...(secret && { secret }) };
  }
}
