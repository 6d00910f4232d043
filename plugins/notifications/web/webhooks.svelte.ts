import type { Api } from "#plugins/catalogue.ts";
import { Meanwhile } from "#plugins/web/kit/meanwhile.ts";
import { server } from "#plugins/web/kit/server.ts";
import { toFailing } from "./failing.ts";

export type Webhook = Api["GET /api/events/webhooks"]["answer"][number];
export type Delivery = Api["GET /api/events/webhooks/:id/deliveries"]["answer"][number];
export type Form = Webhook["form"];
export type Party = Webhook["targets"][number];

/** The part of a webhook that an administrator writes. */
export interface WrittenWebhook {
  readonly name: string;
  readonly url: string;
  readonly form: Form;
  readonly events: string[];
  readonly targets: Party[];
}

const toWritten = ({ name, url, form, events, targets }: Webhook): WrittenWebhook => ({
  name,
  url,
  form,
  events: [...events],
  targets: [...targets],
});

/** Event webhooks of the instance. */
export class WebhookList {
  all = $state.raw<readonly Webhook[]>();
  /** Names of all events. */
  events = $state.raw<readonly string[]>([]);
  failure = $state<string>();
  /** The last deliveries that failed, by webhook; none for one whose latest delivery arrived. */
  failing = $state.raw<Readonly<Record<string, readonly Delivery[]>>>({});
  /** A signing secret that was just made; it is shown once. */
  secret = $state<{ readonly name: string; readonly text: string }>();

  async load(): Promise<void> {
    try {
      const [all, catalogue] = await Promise.all([
        server.call("GET /api/events/webhooks"),
        this.events.length > 0 ? undefined : server.call("GET /api/events"),
      ]);
      this.all = all;
      this.events = catalogue?.map(({ event }) => event) ?? this.events;
      this.failure = undefined;
      void this.#findFailing(all);
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  /** The list is shown without waiting for this. */
  async #findFailing(all: readonly Webhook[]): Promise<void> {
    const found = await Promise.all(
      all.map(async ({ id }) => [id, await this.deliveries(id).then(toFailing, () => [])] as const),
    );
    this.failing = Object.fromEntries(found);
  }

  /** Knows what others store of a webhook while a dialog changes it. */
  follow(webhook: Webhook): Meanwhile<WrittenWebhook> {
    return new Meanwhile(toWritten(webhook), async () => {
      const all = await server.call("GET /api/events/webhooks");
      return toWritten(all.find(({ id }) => id === webhook.id) ?? webhook);
    });
  }

  async write(written: WrittenWebhook, meanwhile?: Meanwhile<WrittenWebhook>, id?: string): Promise<void> {
    const body = (await meanwhile?.join(written)) ?? written;
    if (id === undefined) {
      this.#show(await server.call("POST /api/events/webhooks", { body }));
    } else {
      await server.call("PUT /api/events/webhooks/:id", { params: { id }, body });
    }
    await this.load();
  }

  async enable(id: string, enabled: boolean): Promise<void> {
    await server.call("PUT /api/events/webhooks/:id", { params: { id }, body: { enabled } });
    await this.load();
  }

  async renewSecret(id: string): Promise<void> {
    this.#show(await server.call("POST /api/events/webhooks/:id/secret", { params: { id } }));
  }

  async remove(id: string): Promise<void> {
    await server.call("DELETE /api/events/webhooks/:id", { params: { id } });
    await this.load();
  }

  test(id: string) {
    return server.call("POST /api/events/webhooks/:id/test", { params: { id } });
  }

  deliveries(id: string): Promise<readonly Delivery[]> {
    return server.call("GET /api/events/webhooks/:id/deliveries", { params: { id } });
  }

  async retry(id: string, deliveryId: string): Promise<void> {
    await server.call("POST /api/events/webhooks/:id/deliveries/:delivery_id/retry", {
      params: { id, delivery_id: deliveryId },
    });
  }

  #show({ name, secret }: Webhook): void {
    this.secret = secret ? { name, text: secret } : undefined;
  }
}
