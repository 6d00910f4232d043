import type { Api } from "#plugins/catalogue.ts";
import { t } from "../i18n/index.svelte.ts";
import { otherAccount, server, tellAccountWith, unauthorized } from "../server.ts";

/** Who is signed in. */
export interface Session {
  readonly id: string;
  readonly name: string;
  readonly email: string;
  readonly role: "admin" | "user" | "pending";
  readonly profile_image_url: string;
  readonly permissions: PermissionTree;
  readonly expires_at: number | null;
  readonly status_emoji?: string | null;
  readonly status_message?: string | null;
  readonly bio?: string | null;
  readonly timezone?: string | null;
  /** The administrator who looks with this account's eyes; nothing can be changed then. */
  readonly viewer?: { readonly id: string; readonly name: string };
}

export type PageEntry = Api["GET /api/v1/pages"]["answer"][number];

/** What `GET /api/config` tells; parts are missing before sign-in. */
export interface Config {
  readonly name: string;
  readonly version: string;
  readonly default_locale: string;
  readonly onboarding?: boolean;
  /** The administrators' words about new passwords; empty without a rule of theirs. */
  readonly password_hint?: string;
  /** The address to ask for help, where administrators publish one. */
  readonly contact_email?: string;
  readonly features: Readonly<Record<string, unknown>>;
  readonly oauth: { readonly providers: Readonly<Record<string, string>>; readonly auto_redirect?: boolean };
  readonly default_models?: string | null;
  readonly default_pinned_models?: string | null;
  readonly default_prompt_suggestions?: readonly PromptSuggestion[];
  readonly permissions?: PermissionTree;
  readonly file?: {
    readonly max_size: number | null;
    readonly max_count: number | null;
    readonly image_compression: { readonly width: number | null; readonly height: number | null };
  };
  readonly audio?: {
    readonly tts: { readonly engine: string; readonly voice: string; readonly split_on: string };
    readonly stt: { readonly engine: string };
  };
  readonly ui?: {
    readonly pending_user_overlay_title?: string;
    readonly pending_user_overlay_content?: string;
    readonly response_watermark?: string;
    readonly iframe_csp?: string;
    readonly default_interface_settings?: Readonly<Record<string, unknown>>;
  };
}

export interface PromptSuggestion {
  readonly title: readonly [string, string];
  readonly content: string;
}

export type PermissionTree = Readonly<Record<string, Readonly<Record<string, boolean>>>>;

/** Who is signed in, what the instance offers and which pages there are. */
class SessionStore {
  /** undefined until it is known; null while nobody is signed in. */
  current = $state.raw<Session | null>();
  config = $state.raw<Config>();
  pages = $state.raw<readonly PageEntry[]>([]);
  /** Why nothing could be loaded, such as a server that does not answer. */
  failure = $state.raw<Error>();
  /** The session ended while the page was open: it stays as it is, with what is typed in it. */
  hasEnded = $state(false);
  /** Another account is signed in by now, and somebody kept this page for what is typed in it. */
  isOutdated = $state(false);
  #checking: Promise<void> | undefined;
  /** Pages of this browser tell each other who is signed in: they share the cookie. */
  readonly #others = new BroadcastChannel("session");

  constructor() {
    const check = () => this.#checkSession();
    tellAccountWith(() => keyOf(this.current));
    addEventListener(unauthorized, check);
    addEventListener(otherAccount, check);
    // A page that slept has heard nothing.
    addEventListener("focus", check);
    addEventListener("pageshow", ({ persisted }) => persisted && check());
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && check());
    this.#others.addEventListener("message", ({ data }) => {
      if (data !== keyOf(this.current) || this.hasEnded || this.isOutdated) {
        check();
      }
    });
  }

  get isAdmin(): boolean {
    return this.current?.role === "admin";
  }

  /** An administrator looks with this account's eyes: the page changes nothing and follows no events. */
  readonly isView: boolean = $derived(this.current?.viewer !== undefined);

  /** Why nothing can be changed in a view; undefined outside of one. */
  get viewRefusal(): string | undefined {
    return this.isView
      ? t("You are viewing as {name}: nothing can be changed.", { name: this.current?.name ?? "" })
      : undefined;
  }

  get isPending(): boolean {
    return this.current?.role === "pending";
  }

  /** Reads everything anew: at the start, after signing in and when settings change. */
  async load(): Promise<void> {
    try {
      const [config, session, pages] = await Promise.all([
        server.call("GET /api/config") as Promise<unknown> as Promise<Config>,
        this.#ask(),
        server.call("GET /api/v1/pages").catch(() => []),
      ]);
      this.#adopt(session);
      this.#tellOthers(keyOf(session));
      if (!this.hasEnded) {
        this.config = config;
        this.pages = pages;
      }
      this.failure = undefined;
    } catch (error) {
      this.failure = error as Error;
    }
  }

  /** Views the platform as another account, in all tabs of this browser. */
  async view(userId: string): Promise<void> {
    const viewed = (await server.call("POST /api/v1/users/:id/view", { params: { id: userId } })) as Session;
    this.#tellOthers(viewed.id);
    location.assign("/");
  }

  #tellOthers(key: string | undefined): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has no other origin
    this.#others.postMessage(key);
  }

  /** Goes back from a view to the own session. */
  async endView(): Promise<void> {
    const userId = this.current?.id;
    await server.call("POST /api/v1/auths/view/end");
    this.#tellOthers(undefined);
    location.assign(userId === undefined ? "/" : `/admin/users/${userId}`);
  }

  /** Asks again who is signed in: other answers ask for a sign-in as well, such as those about chats of others. */
  #checkSession(): void {
    if (this.current && !this.#checking) {
      this.#checking = this.#ask()
        .then((found) => this.#adopt(found))
        .catch(() => undefined)
        .finally(() => (this.#checking = undefined));
    }
  }

  #ask = (): Promise<Session | null> =>
    server.call("GET /api/v1/auths", {
      headers: { prefer: "anonymous=null" },
    }) as Promise<unknown> as Promise<Session | null>;

  #adopt(found: Session | null): void {
    if (found === null && this.isView) {
      // The view ran out or was ended; the own session waits.
      void this.endView();
      return;
    }
    // An account that waits has typed nothing; it signs in again once it is let in.
    this.hasEnded = found === null && Boolean(this.current) && !this.isPending;
    if (found !== null && this.current && keyOf(found) !== keyOf(this.current)) {
      // Somebody else signed in, who is not shown the page of the one before. The browser asks where words would be lost.
      if (!this.isOutdated) {
        this.isOutdated = true;
        location.reload();
      }
    } else if (!this.hasEnded) {
      // The session is read again whenever the page comes to the front. The same one must not draw its forms again.
      if (JSON.stringify(found) !== JSON.stringify(this.current)) {
        this.current = found;
      }
      this.isOutdated = false;
    }
  }

  /** `may("chat.share")`: what the role and the groups permit; administrators may everything. */
  may(permission: string): boolean {
    const [section = "", key = ""] = permission.split(".");
    return this.isAdmin || this.current?.permissions[section]?.[key] === true;
  }

  /** A switch of the instance, such as `enable_folders`. */
  has(feature: string): boolean {
    return this.config?.features[feature] === true;
  }

  /** A feature such as `folders`: the instance has it switched on, and the account may use it. */
  mayUse(feature: string): boolean {
    return this.has(`enable_${feature}`) && this.may(`features.${feature}`);
  }

  /** Shows at once what the account changed about itself. */
  adopt(changes: Partial<Session>): void {
    if (this.current) {
      this.current = { ...this.current, ...changes };
    }
  }

  async signOut(): Promise<void> {
    const { redirect_url: address } = (await server.call("POST /api/v1/auths/signout")) as {
      redirect_url?: string;
    };
    this.#tellOthers(undefined);
    // Without the mark, a page that leads to a provider by itself would sign in again at once.
    location.assign(address ?? (this.config?.oauth.auto_redirect ? "/auth?signed_out=1" : "/auth"));
  }
}

/** As the server reads it from the header of a page's account. */
function keyOf(account: Pick<Session, "id" | "viewer"> | null | undefined): string | undefined {
  return account?.viewer === undefined ? account?.id : `${account.id} by ${account.viewer.id}`;
}

export const session = new SessionStore();
