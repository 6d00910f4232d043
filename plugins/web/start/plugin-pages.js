import { client } from "./client.js";
import { createSocket } from "./socket.js";

const links = document.getElementById("pages");
const title = document.getElementById("page-title");
const frame = document.getElementById("page-frame");

let pages = [];
let context;
let shown;

/**
 * Links the pages of plugins that the session may open. Pages get the session and `navigate(path)` in their context.
 */
export async function openPages({ session, navigate }) {
  closePages();
  const { id, name, email, role, permissions } = session;
  context = {
    client,
    session: { id, name, email, role, permissions },
    socket: createSocket(),
    navigate,
    theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
    // The start page has no language files: a key stands for itself.
    t: (key) => key,
  };
  // Pages without a module come with the built interface.
  pages = (await client.call("GET /api/v1/pages")).filter(({ module }) => module !== null);
  const linked = pages.filter(({ place }) => place !== "hidden");
  links.replaceChildren(...[{ path: "/", title: "Start" }, ...linked].map(toLink));
  links.hidden = linked.length === 0;
}

/** Takes the shown page and all links away. */
export function closePages() {
  hidePage();
  context?.socket.close();
  pages = [];
  links.replaceChildren();
  links.hidden = true;
}

/** Shows the page with this path in a frame of its own; false when there is none that the session may open, as for "/". */
export function showPage(path) {
  hidePage();
  const page = pages.find((one) => one.path === path);
  for (const link of links.children) {
    link.setAttribute("aria-current", link.pathname === path ? "page" : "false");
  }
  if (page === undefined) {
    return false;
  }
  title.textContent = context.t(page.title);
  const element = document.createElement("div");
  frame.replaceChildren(element);
  shown = { element };
  // mountPage shows its own errors and never rejects.
  void mountPage(page, shown);
  return true;
}

/** Lets the shown page clean up and empties its frame. */
export function hidePage() {
  const { cleanUp } = shown ?? {};
  shown = undefined;
  frame.replaceChildren();
  attempt(cleanUp);
}

async function mountPage(page, view) {
  try {
    const { mount } = await import(page.module);
    if (shown === view) {
      view.cleanUp = await mount(view.element, context);
    }
  } catch (error) {
    view.element.replaceChildren(toProblem(page, error));
  }
  if (shown !== view) {
    // The person went on while the page was loading.
    attempt(view.cleanUp);
  }
}

function attempt(cleanUp) {
  try {
    cleanUp?.();
  } catch (error) {
    reportError(error);
  }
}

function toLink({ path, title: key }) {
  const link = Object.assign(document.createElement("a"), { href: path, textContent: context.t(key) });
  link.addEventListener("click", (event) => {
    if (event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      context.navigate(path);
    }
  });
  return link;
}

function toProblem({ title: key }, error) {
  const text = `The page “${context.t(key)}” could not be shown: ${error?.message ?? error}`;
  return Object.assign(document.createElement("p"), { className: "bad", role: "alert", textContent: text });
}
