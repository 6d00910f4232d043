import type { Egress } from "#kernel/egress/egress.ts";
import type { Logger } from "#kernel/log.ts";
import { type BuiltFile, type BuiltInterface, toEtag } from "./built-interface.ts";

export interface BrandOptions {
  /** Name of the service, as people see it. */
  readonly name: string;
  /** WEBUI_FAVICON_URL; "" for the built-in icon. */
  iconUrl(): string;
  readonly egress: Pick<Egress, "fetch">;
  readonly log: Pick<Logger, "warn">;
  readonly signal: AbortSignal;
}

export interface Icon {
  readonly bytes: Buffer;
  readonly type: string;
}

/** Name and icon of this installation. */
export interface Brand {
  /** The operator's icon; undefined for the built-in one, and while theirs cannot be had. */
  icon(): Promise<Icon | undefined>;
  /** The build with the name in its document, and a mark that tells the interface to show the operator's icon. */
  name(built: BuiltInterface): BuiltInterface;
}

const keepMs = 60 * 60_000;
/** After a failure the address is asked again sooner. */
const retryMs = 60_000;
const timeoutMs = 10_000;
const maxBytes = 1024 * 1024;

/** Creates the brand; the icon is read by the server, so that browsers tell no third host who is here. */
export function createBrand({ name, iconUrl, egress, log, signal }: BrandOptions): Brand {
  let kept:
    | { readonly url: string; readonly until: number; readonly icon: Promise<Icon | undefined> }
    | undefined;

  async function read(url: string, last: Promise<Icon | undefined> | undefined): Promise<Icon | undefined> {
    try {
      const answer = await egress.fetch(url, { trust: "operator", signal, timeoutMs, maxBytes });
      const type = (answer.headers.get("content-type") ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
      if (!answer.ok || !/^image\/[\w.+-]+$/.test(type)) {
        await answer.body?.cancel();
        throw new Error(`the address answered ${answer.status} with the type "${type}", no picture`);
      }
      return { bytes: Buffer.from(await answer.arrayBuffer()), type };
    } catch (error) {
      log.warn({ err: error }, "the icon of WEBUI_FAVICON_URL cannot be read");
      if (kept?.url === url) {
        kept = { ...kept, until: Date.now() + retryMs };
      }
      return await last;
    }
  }

  return {
    icon() {
      const url = iconUrl();
      if (!URL.canParse(url)) {
        return Promise.resolve(undefined);
      }
      if (kept?.url !== url || Date.now() >= kept.until) {
        const last = kept?.url === url ? kept.icon : undefined;
        kept = { url, until: Date.now() + keepMs, icon: Promise.resolve(last) };
        kept = { ...kept, icon: read(url, last) };
      }
      return kept.icon;
    },
    name: (built) => ({
      ...built,
      document: async () => {
        const file = await built.document();
        return file && withBrand(file, { name, hasIcon: URL.canParse(iconUrl()) });
      },
    }),
  };
}

/** What link previews and browsers show before a script has run. */
function withBrand(file: BuiltFile, { name, hasIcon }: { name: string; hasIcon: boolean }): BuiltFile {
  const safe = toHtmlText(name);
  const more = [
    `<meta name="application-name" content="${safe}" />`,
    `<meta name="apple-mobile-web-app-title" content="${safe}" />`,
    ...(hasIcon ? ['<meta name="brand-icon" content="/favicon.svg" />'] : []),
  ];
  const text = file.bytes
    .toString("utf8")
    .replace(/<title>[^<]*<\/title>/, () => [`<title>${safe}</title>`, ...more].join("\n    "))
    .replace(/(<link rel="icon"[^>]*?) type="image\/svg\+xml"/, (all, link: string) =>
      hasIcon ? link : all,
    );
  const bytes = Buffer.from(text);
  return { bytes, etag: toEtag(bytes) };
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const toHtmlText = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => entities[sign] ?? sign);
