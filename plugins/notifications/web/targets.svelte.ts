import type { Api } from "#plugins/catalogue.ts";
import { server } from "#plugins/web/kit/server.ts";

export type Target = Api["GET /api/v1/notifications/targets"]["answer"][number];
export type TargetEvent = Target["events"][number];

/** The part of a target that a person writes. */
export interface WrittenTarget {
  readonly url: string;
  readonly events: TargetEvent[];
  readonly delivery: Target["delivery"];
}

/** The addresses of the person. */
export class TargetList {
  all = $state.raw<readonly Target[]>();
  failure = $state<string>();

  async load(): Promise<void> {
    try {
      this.all = await server.call("GET /api/v1/notifications/targets");
      this.failure = undefined;
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  async write({ url, ...rest }: WrittenTarget, id?: string): Promise<void> {
    const body = { ...rest, config: { url } };
    await (id === undefined
      ? server.call("POST /api/v1/notifications/targets", { body })
      : server.call("PUT /api/v1/notifications/targets/:id", { params: { id }, body }));
    await this.load();
  }

  async enable(id: string, enabled: boolean): Promise<void> {
    await server.call("PUT /api/v1/notifications/targets/:id", { params: { id }, body: { enabled } });
    await this.load();
  }

  async makeDefault(id: string): Promise<void> {
    await server.call("PUT /api/v1/notifications/targets/:id/default", { params: { id } });
    await this.load();
  }

  async remove(id: string): Promise<void> {
    await server.call("DELETE /api/v1/notifications/targets/:id", { params: { id } });
    await this.load();
  }

  test(id: string) {
    return server.call("POST /api/v1/notifications/targets/:id/test", { params: { id } });
  }
}
