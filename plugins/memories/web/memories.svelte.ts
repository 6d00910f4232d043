import type { Api } from "#plugins/catalogue.ts";
import { Meanwhile } from "#plugins/web/kit/meanwhile.ts";
import { server } from "#plugins/web/kit/server.ts";

export type Memory = Api["GET /api/v1/memories/"]["answer"][number];
export type Change = Api["GET /api/v1/memories/changes"]["answer"][number];

/** The part of a memory that a person writes. */
export interface Written {
  readonly content: string;
  readonly type: Memory["type"];
  readonly path: string;
}

const toWritten = ({ content, type, path }: Memory): Written => ({ content, type, path: path ?? "" });

/** The memories of the person, and what became of them lately. */
export class MemoryList {
  all = $state.raw<readonly Memory[]>();
  changes = $state.raw<readonly Change[]>([]);
  failure = $state<string>();

  readonly proposed = $derived((this.all ?? []).filter(({ meta }) => meta.proposed === true));
  readonly kept = $derived((this.all ?? []).filter(({ meta }) => meta.proposed !== true));

  async load(): Promise<void> {
    try {
      [this.all, this.changes] = await Promise.all([
        server.call("GET /api/v1/memories/"),
        server.call("GET /api/v1/memories/changes"),
      ]);
      this.failure = undefined;
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  async write(written: Written, meanwhile?: Meanwhile<Written>, id?: string): Promise<void> {
    const typed = { ...written, content: written.content.trim() };
    const body = (await meanwhile?.join(typed)) ?? typed;
    await (id === undefined
      ? server.call("POST /api/v1/memories/add", { body })
      : server.call("POST /api/v1/memories/:id/update", { params: { id }, body }));
    await this.load();
  }

  /** Knows what others store of a memory while a dialog changes it. */
  follow(memory: Memory): Meanwhile<Written> {
    return new Meanwhile(toWritten(memory), async () => {
      const all = await server.call("GET /api/v1/memories/");
      return toWritten(all.find(({ id }) => id === memory.id) ?? memory);
    });
  }

  async keep(id: string): Promise<void> {
    await server.call("POST /api/v1/memories/:id/keep", { params: { id } });
    await this.load();
  }

  async forget(id: string): Promise<void> {
    await server.call("DELETE /api/v1/memories/:id", { params: { id } });
    await this.load();
  }

  async undo(id: string): Promise<void> {
    await server.call("POST /api/v1/memories/changes/:change_id/undo", { params: { change_id: id } });
    await this.load();
  }

  async forgetAll(): Promise<void> {
    await server.call("DELETE /api/v1/memories/delete/user");
    await this.load();
  }
}
