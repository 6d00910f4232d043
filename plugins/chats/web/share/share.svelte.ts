import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import {
  type Audience,
  audienceOf,
  type Grant,
  isSame,
  namedOf,
  toSent,
  withAudience,
} from "#plugins/web/kit/access/grants.ts";
import { type Party, readParties } from "#plugins/web/kit/access/people.ts";

/** What the server tells of a chat's link. */
interface Access {
  readonly chat_id: string;
  readonly share_id: string | null;
  readonly title: string;
  readonly updated_at: number;
  readonly shared_at: number | null;
  readonly access_grants: readonly Grant[];
}

/** The link of one chat: where it leads, what it shows and who may open it. */
export class Share {
  readonly chatId: string;
  title = $state("");
  shareId = $state<string | null>(null);
  /** When what is behind the link was taken; epoch seconds. */
  sharedAt = $state<number | null>(null);
  grants = $state.raw<readonly Grant[]>([]);
  /** The people and groups that the grants name. */
  parties = $state.raw<readonly Party[]>([]);
  isLoading = $state(true);
  busy = $state<"link" | "access" | "remove">();
  failure = $state<string>();
  /** Said after changes, for readers of screens as well. */
  saved = $state("");
  #updatedAt = $state(0);

  constructor(chatId: string) {
    this.chatId = chatId;
  }

  get audience(): Audience {
    return audienceOf(this.grants);
  }

  /** True when the chat went on after what the link shows. */
  get isBehind(): boolean {
    return this.sharedAt !== null && this.#updatedAt > this.sharedAt;
  }

  get address(): string {
    return this.shareId === null ? "" : `${location.origin}/s/${this.shareId}`;
  }

  async load(): Promise<void> {
    await this.#run(undefined, async () => {
      await this.#take(await server.call("GET /api/v1/chats/shared/:id/access", this.#target));
    });
    this.isLoading = false;
  }

  /** Makes the link, or shows what was written since behind the one that is there. */
  async publish(): Promise<boolean> {
    return await this.#run("link", async () => {
      await server.call("POST /api/v1/chats/:id/share", {
        ...this.#target,
        headers: { prefer: "return=minimal" },
      });
      await this.#take(await server.call("GET /api/v1/chats/shared/:id/access", this.#target));
    });
  }

  async setAudience(audience: Audience): Promise<void> {
    await this.setGrants(withAudience(this.grants, audience));
  }

  /** Stores at once; shows it before the server answers. */
  async setGrants(wanted: readonly Grant[]): Promise<void> {
    const before = this.grants;
    this.grants = wanted;
    const isStored = await this.#run("access", async () => {
      const access = await server.call("POST /api/v1/chats/shared/:id/access/update", {
        ...this.#target,
        body: { access_grants: toSent(wanted) },
      });
      await this.#take(access);
      if (isSame(wanted, this.grants)) {
        this.saved = t("Saved");
      } else {
        this.failure = t("A part was not saved: you may not share with all of these.");
      }
    });
    if (!isStored) {
      this.grants = before;
    }
  }

  /** Takes the link away; what it showed is gone with it. */
  async remove(): Promise<void> {
    await server.call("DELETE /api/v1/chats/:id/share", this.#target);
    this.shareId = null;
    this.sharedAt = null;
    this.grants = [];
    this.parties = [];
    this.saved = t("Link removed.");
  }

  get #target() {
    return { params: { id: this.chatId } };
  }

  async #take(answer: unknown): Promise<void> {
    const access = answer as Access;
    this.title = access.title;
    this.shareId = access.share_id;
    this.sharedAt = access.shared_at;
    this.#updatedAt = access.updated_at;
    this.grants = access.access_grants;
    this.parties = await readParties(namedOf(access.access_grants));
  }

  async #run(what: Share["busy"], work: () => Promise<void>): Promise<boolean> {
    this.busy = what;
    this.failure = undefined;
    this.saved = "";
    try {
      await work();
      return true;
    } catch (error) {
      this.failure = (error as Error).message;
      return false;
    } finally {
      this.busy = undefined;
    }
  }
}
