import { t } from "#plugins/web/kit/i18n/index.svelte.ts";
import { server } from "#plugins/web/kit/server.ts";
import { session } from "#plugins/web/kit/stores/session.svelte.ts";
import type { Attachment, ComposerTrigger, Suggestion } from "#plugins/web/kit/web.ts";

const most = 8;
/** Of each kind, while nothing is typed: the list is for a glance. */
const mostUnasked = 3;

const countFor = (query: string): number => (query === "" ? mostUnasked : most);

interface Collection {
  readonly id: string;
  readonly name: string;
  readonly description?: string;
}

interface Page {
  readonly collection_name?: string | null;
  readonly filename?: string;
}

/** Routes of plugins that a deployment may have left out stand in no list of routes. */
const call = async <T>(route: string, options: object): Promise<T> =>
  await (server.call as unknown as (route: string, options: object) => Promise<T>)(route, options);

/** An entry whose attachment is ready as it stands. */
function suggest(
  attachment: Attachment,
  { description, icon }: Pick<Suggestion, "description" | "icon">,
): Suggestion {
  return {
    id: `${attachment.type}:${attachment.id}`,
    title: attachment.name,
    ...(description === undefined ? {} : { description }),
    ...(icon === undefined ? {} : { icon }),
    pick(composer) {
      composer.insert("");
      composer.attach(attachment);
    },
  };
}

/** `#`: collections of files. */
export const collectionTrigger: ComposerTrigger = {
  character: "#",
  get title() {
    return t("Collections");
  },
  async list(query, signal) {
    if (isAddress(query)) {
      return [];
    }
    const answer = await call<{ items: readonly Collection[] }>("GET /api/v1/knowledge/search", {
      query: { query },
      signal,
    }).catch(nothing);
    return (answer?.items ?? [])
      .slice(0, countFor(query))
      .map(({ id, name, description }) =>
        suggest(
          { type: "collection", id, name, status: "processed" },
          { description: description || t("Collection"), icon: "library" },
        ),
      );
  },
};

/** `#`: folders, for what they hold. */
export const folderTrigger: ComposerTrigger = {
  character: "#",
  get title() {
    return t("Folders");
  },
  async list(query, signal) {
    if (isAddress(query) || !session.mayUse("folders")) {
      return [];
    }
    const folders = (await server.call("GET /api/v1/folders/", { signal }).catch(nothing)) ?? [];
    const wanted = query.toLowerCase();
    return folders
      .filter(({ name }) => name.toLowerCase().includes(wanted))
      .slice(0, countFor(query))
      .map(({ id, name }) =>
        suggest({ type: "folder", id, name }, { description: t("Folder"), icon: "folder" }),
      );
  },
};

/** `#`: other chats, for what was said in them. */
export const chatTrigger: ComposerTrigger = {
  character: "#",
  get title() {
    return t("Chats");
  },
  async list(query, signal) {
    if (isAddress(query) || query.length < 2) {
      return [];
    }
    const found = (await server
      .call("GET /api/v1/chats/search", { query: { text: query, page: 1 }, signal })
      .catch(nothing)) as readonly { readonly id: string; readonly title: string }[] | undefined;
    return (found ?? [])
      .slice(0, most)
      .map(({ id, title }) =>
        suggest({ type: "chat", id, name: title }, { description: t("Chat"), icon: "chat" }),
      );
  },
};

/** `#` and an address: the text of that page. */
export const addressTrigger: ComposerTrigger = {
  character: "#",
  get title() {
    return t("Pages");
  },
  list(query) {
    if (!isAddress(query) || !URL.canParse(query)) {
      return [];
    }
    const { host, pathname } = new URL(query);
    const name = pathname === "/" ? host : `${host}${pathname}`;
    const page = { type: "url", id: query, url: query, name };
    return [
      {
        id: `url:${query}`,
        title: name,
        description: t("Read this page"),
        icon: "globe",
        pick(composer) {
          composer.insert("");
          composer.attach(page, async (signal) => ({ ...page, ...(await readPage(query, signal)) }));
        },
      },
    ];
  },
};

/** Has the server read a page now, so that a question does not wait for it and a failure is seen before. */
async function readPage(url: string, signal: AbortSignal): Promise<Partial<Attachment>> {
  const { collection_name: name, filename } = await call<Page>("POST /api/v1/retrieval/process/web", {
    body: { url },
    signal,
  });
  return { ...(name ? { collection_name: name } : {}), ...(filename ? { name: filename } : {}) };
}

const isAddress = (query: string): boolean => /^https?:/i.test(query);

/** Kinds that are not offered here leave the others in the list. */
function nothing(error: unknown): undefined {
  if ([401, 403, 404].includes((error as { status?: number }).status ?? 0)) {
    return undefined;
  }
  throw error;
}
