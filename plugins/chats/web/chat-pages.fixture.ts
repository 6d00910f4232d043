import type { Page } from "playwright-core";
import { plainHost } from "#test/support/browser.ts";
import type { ChatDriver } from "#test/support/chat-driver.ts";
import { type ChatServers, databaseKinds, startChatServers } from "#test/support/chat-servers.ts";
import type { InterfaceSuite } from "#test/support/describe-interface.ts";
import { write } from "#test/support/hands.ts";
import type { OpenOptions, OpenPage } from "#test/support/interface.ts";
import { startTcpProxy, type TcpProxy } from "#test/support/tcp-proxy.ts";
import type { Upstream } from "#test/support/upstream.ts";
import type { UpstreamRequest } from "#test/support/upstream-exchange.ts";
import { text } from "#test/support/upstream-scripts.ts";

/** The platform as a process behind an address that stays, and a scripted upstream. */
export interface ChatPages {
  readonly servers: ChatServers;
  readonly upstream: Upstream;
  /** The address that the browser opens: plain HTTP on another host than localhost. */
  readonly url: string;
  readonly admin: ChatDriver;
  /** Passes bytes between browser and server, or not. */
  readonly wire: TcpProxy;
  open(path: string, options?: Pick<OpenOptions, "size" | "theme">): Promise<OpenPage>;
  /** Ends the server as a crash would, and starts another one at the same address. */
  crash(): Promise<void>;
  restart(): Promise<void>;
  close(): Promise<void>;
}

export async function startChatPages(
  openPage: InterfaceSuite["openPage"],
  env: Record<string, string> = {},
): Promise<ChatPages> {
  const [, database] = databaseKinds[0] as (typeof databaseKinds)[number];
  const servers = await startChatServers({ database, env });
  servers.upstream.models = ["alpha", "beta"];
  servers.upstream.always("/chat/completions", text("The wheel turns."));
  const target = { host: "127.0.0.1", port: portOf(servers) };
  const wire = await startTcpProxy(target);
  const url = `http://${plainHost}:${wire.port}`;
  const admin = servers.admin();
  return {
    servers,
    upstream: servers.upstream,
    url,
    admin,
    wire,
    open: (path, options = {}) => openPage({ url, token: admin.token, path, ...options }),
    crash: async () => await servers.servers[0]?.kill(),
    async restart() {
      await servers.start(0);
      target.port = portOf(servers);
    },
    async close() {
      await wire.close();
      await servers.close();
    },
  };
}

const portOf = ({ servers }: ChatServers): number => Number(new URL(servers[0]?.url ?? "").port);

export const fieldOf = (page: Page) => page.getByRole("textbox", { name: "Message" });

/** Types a message and sends it. */
export async function ask(page: Page, question: string): Promise<void> {
  await write(fieldOf(page), question);
  await fieldOf(page).press("Enter");
}

/** True for the request of a reply, not of a title or another task. */
export const isReply = ({ body, path }: UpstreamRequest): boolean =>
  path.endsWith("/chat/completions") && body?.stream === true;
