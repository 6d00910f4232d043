/**
 * The document that xterm gets. It styles itself by style elements, which the policy of the interface forbids; here their
 * text goes into style sheets that scripts build, which it allows.
 */
export function createStyledDocument(): Document {
  return new Proxy(document, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name === "createElement") {
        return (tag: string) => (tag === "style" ? createStyle() : target.createElement(tag));
      }
      return typeof value === "function" ? (value as () => unknown).bind(target) : value;
    },
  });
}

function createStyle(): HTMLElement {
  const sheet = new CSSStyleSheet();
  const element = document.createElement("span");
  element.hidden = true;
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  Object.defineProperty(element, "textContent", {
    set: (text: string) => sheet.replaceSync(text),
    get: () => "",
  });
  const remove = element.remove.bind(element);
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    remove();
  };
  return element;
}
