/**
 * The document that xterm gets. It styles itself by style elements and style attributes, which the policy of the interface
 * forbids; here their text goes into style sheets and declarations that scripts build, which it allows.
 */
export function createStyledDocument(): Document {
  return new Proxy(document, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (name === "createElement") {
        return (tag: string) => (tag === "style" ? createStyle() : createElement(tag));
      }
      return typeof value === "function" ? (value as () => unknown).bind(target) : value;
    },
  });
}

/** Opens a terminal; xterm makes one of its style elements with the page's own document, whatever document it was given. */
export function openStyled(open: () => void): void {
  const styled = createStyledDocument();
  document.createElement = styled.createElement;
  try {
    open();
  } finally {
    Reflect.deleteProperty(document, "createElement");
  }
}

/** An element whose style attribute is set by way of its declarations. */
function createElement(tag: string): HTMLElement {
  const element = Document.prototype.createElement.call(document, tag);
  const setAttribute = element.setAttribute.bind(element);
  element.setAttribute = (name, value) => {
    if (name === "style") {
      element.style.cssText = value;
    } else {
      setAttribute(name, value);
    }
  };
  return element;
}

/** Stands for a style element: it shows nothing, and its text is a sheet of the document. */
function createStyle(): HTMLElement {
  const sheet = new CSSStyleSheet();
  const element = Document.prototype.createElement.call(document, "span");
  element.hidden = true;
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  Object.defineProperty(element, "textContent", {
    set(text: string) {
      sheet.replaceSync(text);
    },
    get: () => "",
  });
  const remove = element.remove.bind(element);
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((one) => one !== sheet);
    remove();
  };
  return element;
}
