import createPurifier from "dompurify";
import { t } from "../i18n/index.svelte.ts";
import { session } from "../stores/session.svelte.ts";

const tags =
  "p br hr h1 h2 h3 h4 h5 h6 strong em del ins b i u s mark small sub sup kbd code pre blockquote ul ol li dl dt dd " +
  "table thead tbody tr th td a img span div details summary abbr cite q input";
const attributes =
  "href src alt title colspan rowspan align start open class data-note data-footnote data-cited data-alt data-tex data-display " +
  "type disabled checked";
/** Classes that the renderer itself gives; those of a text could dress it up as a part of the page. */
const classes = new Set(["footnote", "citations", "tex", "maths", "task"]);
/** Links that stand for pictures of other hosts and name the host; a link of a text could not be trusted to. */
const pictureLinks = new WeakSet<Node>();

const purifier = createPurifier(window);
purifier.addHook("uponSanitizeAttribute", (node, data) => {
  if (data.attrName === "class") {
    data.attrValue = data.attrValue
      .split(/\s+/)
      .filter((name) => classes.has(name) || (name === "remote" && pictureLinks.has(node)))
      .join(" ");
    data.keepAttr = data.attrValue !== "";
  }
});
purifier.addHook("afterSanitizeAttributes", (node) => {
  if (node.tagName === "A") {
    guardLink(node);
  } else if (node.tagName === "IMG") {
    guardImage(node);
  } else if (node.tagName === "INPUT") {
    guardBox(node);
  }
});

// Set once: making the sets of names takes longer than a block of text does.
purifier.setConfig({
  ALLOWED_TAGS: tags.split(" "),
  ALLOWED_ATTR: attributes.split(" "),
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  ALLOWED_URI_REGEXP: /^(?:(?:https?|mailto|tel):|data:image\/|blob:|\/(?!\/)|#)/i,
  // Without this every attribute that the purifier does not know has to look like an address.
  ADD_URI_SAFE_ATTR: attributes.split(" ").filter((name) => name !== "href" && name !== "src"),
  ADD_DATA_URI_TAGS: [],
});

/** HTML that a model or another person wrote, without anything that acts, dresses up or calls another host. */
export const sanitize = (html: string): string => purifier.sanitize(html);

function guardLink(link: Element): void {
  const href = link.getAttribute("href") ?? "";
  if (/^(data|blob):/i.test(href)) {
    link.removeAttribute("href");
  } else if (/^https?:/i.test(href)) {
    link.setAttribute("target", "_blank");
    link.setAttribute("rel", "noopener noreferrer nofollow");
    link.setAttribute("title", href);
  }
}

/** The box of a task shows whether it is done; no other field can stand in a text. */
function guardBox(field: Element): void {
  if (field.getAttribute("type") === "checkbox" && field.hasAttribute("disabled")) {
    field.setAttribute("aria-label", t("Done"));
  } else {
    field.remove();
  }
}

/** Pictures of this platform and those inside the text are shown; those of other hosts become a link that names the host. */
function guardImage(image: Element): void {
  const src = image.getAttribute("src") ?? "";
  if (/^(data:image\/|blob:|\/api\/v1\/files\/)/i.test(src)) {
    image.setAttribute("loading", "lazy");
    return;
  }
  const alt = image.getAttribute("alt") ?? "";
  const address = URL.canParse(src, location.origin) ? new URL(src, location.origin) : undefined;
  const link = document.createElement("a");
  if (address && /^https?:$/.test(address.protocol)) {
    link.href = address.href;
    link.target = "_blank";
    link.rel = "noopener noreferrer nofollow";
    link.className = "remote";
    pictureLinks.add(link);
    link.textContent = t("Picture from {host}: {name}", {
      host: address.host,
      name: alt || (session.current ? t("show it") : t("open it there")),
    });
    link.dataset["alt"] = alt;
  } else {
    link.textContent = alt;
  }
  image.replaceWith(link);
}
