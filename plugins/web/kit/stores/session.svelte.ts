import type { Api } from "#plugins/catalogue.ts";
import { ApiError } from "../client.ts";
import { server } from "../server.ts";

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

  get isAdmin(): boolean {
    return this.current?.role === "admin";
  }

  get isPending(): boolean {
    return this.current?.role === "pending";
  }

  /** Reads everything anew: at the start, after signing in and when settings change. */
  async load(): Promise<void> {
    try {
      const [config, session, pages] = await Promise.all([
        server.call("GET /api/config") as Promise<unknown> as Promise<Config>,
        (server.call("GET /api/v1/auths") as Promise<unknown> as Promise<Session>).catch(nobody),
        server.call("GET /api/v1/pages").catch(() => []),
      ]);
      this.config = config;
      this.pages = pages;
      this.current = session;
      this.failure = undefined;
    } catch (error) {
      this.failure = error as Error;
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
    // Without the mark, a page that leads to a provider by itself would sign in again at once.
    location.assign(address ?? (this.config?.oauth.auto_redirect ? "/auth?signed_out=1" : "/auth"));
  }
}

export const session = new SessionStore();

function nobody(error: unknown): null {
  if (error instanceof ApiError && error.status === 401) {
    return null;
  }
  throw error;
}
