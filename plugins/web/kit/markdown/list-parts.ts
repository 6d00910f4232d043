import type { Token, Tokens } from "marked";

/** A piece of an item of a list: code, a list with code in it, or anything else as markup. */
export type ItemPart =
  | { readonly kind: "code"; readonly token: Tokens.Code }
  | { readonly kind: "list"; readonly token: Tokens.List }
  | { readonly kind: "markup"; readonly tokens: readonly Token[] };

export const isList = (token: Token | undefined): token is Tokens.List => token?.type === "list";

/** True for a list with code in one of its items, or in a list inside them. */
export const hasCode = (list: Tokens.List): boolean =>
  list.items.some(({ tokens }) =>
    tokens.some((token) => token.type === "code" || (isList(token) && hasCode(token))),
  );

export function toItemParts({ tokens }: Pick<Tokens.ListItem, "tokens">): readonly ItemPart[] {
  const parts: ItemPart[] = [];
  let markup: Token[] = [];
  const flush = () => {
    if (markup.length > 0) {
      parts.push({ kind: "markup", tokens: markup });
      markup = [];
    }
  };
  for (const token of tokens) {
    if (token.type === "code") {
      flush();
      parts.push({ kind: "code", token: token as Tokens.Code });
    } else if (isList(token) && hasCode(token)) {
      flush();
      parts.push({ kind: "list", token });
    } else {
      markup.push(token);
    }
  }
  flush();
  return parts;
}
