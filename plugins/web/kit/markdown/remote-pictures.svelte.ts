import { SvelteMap } from "svelte/reactivity";
import { t } from "../i18n/index.svelte.ts";
import { server } from "../server.ts";

/** A picture of another host, from the click that asked for it on. */
export type RemotePicture =
  | { readonly state: "loading" }
  | { readonly state: "shown"; readonly src: string }
  | { readonly state: "failed"; readonly reason: string };

/**
 * Pictures of other hosts that were asked for, by their address; until the page goes, each is fetched once. The
 * platform fetches them: the host learns nothing of who looks, and markup alone cannot start it.
 */
const pictures = new SvelteMap<string, RemotePicture>();

async function fetchPicture(url: string): Promise<void> {
  pictures.set(url, { state: "loading" });
  try {
    const response = await server.open("POST /api/v1/previews/picture", { body: { url } });
    if (!response.ok) {
      const { detail } = (await response.json().catch(() => ({}))) as { detail?: unknown };
      throw new Error(
        typeof detail === "string" ? detail : t("The server answered {status}.", { status: response.status }),
      );
    }
    pictures.set(url, { state: "shown", src: URL.createObjectURL(await response.blob()) });
  } catch (error) {
    pictures.set(url, { state: "failed", reason: (error as Error).message });
  }
}

/** True when the click on a picture's link is answered here; a link that failed leads to its host. */
export function askForPicture(link: HTMLAnchorElement): boolean {
  const known = pictures.get(link.href);
  if (known?.state === "failed") {
    return false;
  }
  if (!known) {
    void fetchPicture(link.href);
  }
  return true;
}

/** Puts what was fetched in the place of the links inside `root`, and says at a link how its picture fares. */
export function showPictures(root: Element): void {
  for (const link of root.querySelectorAll<HTMLAnchorElement>("a.remote")) {
    const picture = pictures.get(link.href);
    const { host } = new URL(link.href);
    if (picture?.state === "shown") {
      const image = document.createElement("img");
      image.src = picture.src;
      image.alt = link.dataset["alt"] || t("Picture from {host}", { host });
      image.title = link.href;
      link.replaceWith(image);
    } else if (picture?.state === "loading") {
      link.setAttribute("aria-busy", "true");
      link.textContent = t("The picture comes from {host}…", { host });
    } else if (picture) {
      link.removeAttribute("aria-busy");
      link.textContent = t("The picture from {host} could not be shown: {reason} Open it there", {
        host,
        reason: picture.reason,
      });
    }
  }
}
