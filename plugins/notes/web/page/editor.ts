import { baseKeymap, chainCommands, exitCode, setBlockType, toggleMark, wrapIn } from "prosemirror-commands";
import {
  inputRules,
  InputRule,
  textblockTypeInputRule,
  undoInputRule,
  wrappingInputRule,
} from "prosemirror-inputrules";
import { keymap } from "prosemirror-keymap";
import type { MarkType, Node, NodeType } from "prosemirror-model";
import { liftListItem, sinkListItem, splitListItem, wrapInList } from "prosemirror-schema-list";
import { type Command, EditorState, Plugin, type Transaction } from "prosemirror-state";
import { EditorView } from "prosemirror-view";
import { redo, undo, yCursorPlugin, ySyncPlugin, ySyncPluginKey, yUndoPlugin } from "y-prosemirror";
import { tooLongNote } from "../data/too-long-note.ts";
import type { OpenNote } from "../data/open-note.svelte.ts";
import type { Person } from "../data/people.ts";
import { fragmentName, noteSchema } from "../text/schema.ts";

const { nodes, marks } = noteSchema;
const item = nodes.list_item;

/** Marks the items of the selected lists as tasks, or takes the marks away. */
export const toggleTasks: Command = (state, dispatch) => {
  const { $from, $to } = state.selection;
  const found: { at: number; node: Node }[] = [];
  state.doc.nodesBetween($from.pos, $to.pos, (node, at) => {
    found.push(...(node.type === item ? [{ at, node }] : []));
  });
  if (found.length === 0) {
    return wrapInList(nodes.bullet_list)(
      state,
      dispatch &&
        ((transaction) => {
          const $at = transaction.doc.resolve(transaction.selection.from);
          for (let depth = $at.depth; depth > 0; depth -= 1) {
            if ($at.node(depth).type === item) {
              transaction.setNodeMarkup($at.before(depth), undefined, { checked: false });
              break;
            }
          }
          dispatch(transaction);
        }),
    );
  }
  const isOn = found.some(({ node }) => node.attrs["checked"] === null);
  const transaction = state.tr;
  found.forEach(({ at }) => transaction.setNodeMarkup(at, undefined, { checked: isOn ? false : null }));
  dispatch?.(transaction);
  return true;
};

/** Ticks the task that the cursor is in, or unticks it. */
const tick: Command = (state, dispatch) => {
  const { $from } = state.selection;
  for (let depth = $from.depth; depth > 0; depth -= 1) {
    const node = $from.node(depth);
    if (node.type === item && typeof node.attrs["checked"] === "boolean") {
      dispatch?.(state.tr.setNodeMarkup($from.before(depth), undefined, { checked: !node.attrs["checked"] }));
      return true;
    }
  }
  return false;
};

const breakLine: Command = chainCommands(exitCode, (state, dispatch) => {
  dispatch?.(state.tr.replaceSelectionWith(nodes.hard_break.create()).scrollIntoView());
  return true;
});

const keys: Record<string, Command> = {
  "Mod-z": undo as Command,
  "Mod-y": redo as Command,
  "Mod-Shift-z": redo as Command,
  Backspace: undoInputRule,
  "Mod-b": toggleMark(marks.strong),
  "Mod-i": toggleMark(marks.em),
  "Mod-e": toggleMark(marks.code),
  "Mod-Shift-x": toggleMark(marks.strike),
  "Mod-Alt-0": setBlockType(nodes.paragraph),
  "Mod-Alt-1": setBlockType(nodes.heading, { level: 1 }),
  "Mod-Alt-2": setBlockType(nodes.heading, { level: 2 }),
  "Mod-Alt-3": setBlockType(nodes.heading, { level: 3 }),
  "Mod-Shift-7": wrapInList(nodes.ordered_list),
  "Mod-Shift-8": wrapInList(nodes.bullet_list),
  "Mod-Shift-9": toggleTasks,
  "Mod-Enter": chainCommands(tick, breakLine),
  "Shift-Enter": breakLine,
  "Mod-]": sinkListItem(item),
  "Mod-[": liftListItem(item),
};

/** Enter in a task begins another one. */
const splitTask: Command = (state, dispatch) => {
  const { $from } = state.selection;
  const isTask = $from.depth >= 2 && $from.node(-1).type === item && $from.node(-1).attrs["checked"] !== null;
  return splitListItem(item, { checked: isTask ? false : null })(state, dispatch);
};

const rules = inputRules({
  rules: [
    textblockTypeInputRule(/^(#{1,6})\s$/, nodes.heading, ([, signs = ""]) => ({ level: signs.length })),
    textblockTypeInputRule(/^```$/, nodes.code_block),
    wrappingInputRule(/^\s*>\s$/, nodes.blockquote),
    wrappingInputRule(/^\s*([-+*])\s$/, nodes.bullet_list),
    wrappingInputRule(
      /^(\d+)\.\s$/,
      nodes.ordered_list,
      ([, first = "1"]) => ({ order: Number(first) }),
      ([, first], node) => node.childCount + Number(node.attrs["order"]) === Number(first),
    ),
    // `[ ] ` at the start of a list's item.
    new InputRule(/^\[([ x])\]\s$/, (state, [, sign], start, end) => {
      const $at = state.doc.resolve(start);
      return $at.depth >= 2 && $at.node(-1).type === item
        ? state.tr.delete(start, end).setNodeMarkup($at.before(-1), undefined, { checked: sign === "x" })
        : null;
    }),
  ],
});

/** Number of colours for cursors; classes, since the page's policy takes no style attributes. */
const colours = 6;

/** The colour of a person's cursor. */
export const colourOf = ({ id }: Pick<Person, "id">): number =>
  [...id].reduce((sum, sign) => (sum * 31 + sign.charCodeAt(0)) % 9_973, 7) % colours;

function showCursor(user: Person): HTMLElement {
  const caret = document.createElement("span");
  caret.className = `note-caret note-caret-${colourOf(user)}`;
  const name = document.createElement("span");
  name.className = "note-caret-name";
  name.textContent = user.name;
  // Signs without width keep the caret from joining words.
  caret.append("\u2060", name, "\u2060");
  return caret;
}

/** The marks and blocks at the cursor, for the toolbar. */
export interface Place {
  readonly marks: ReadonlySet<string>;
  /** `paragraph`, `heading1`, `code_block`, … */
  readonly block: string;
  readonly around: ReadonlySet<string>;
}

export function toPlace({ selection, storedMarks, doc }: EditorState): Place {
  const { $from, from, to, empty } = selection;
  const isOn = (mark: MarkType) =>
    empty ? mark.isInSet(storedMarks ?? $from.marks()) !== undefined : doc.rangeHasMark(from, to, mark);
  const around = Array.from({ length: $from.depth + 1 }, (_, depth) => $from.node(depth));
  const isTask = around.some((node) => node.type === item && node.attrs["checked"] !== null);
  const { type, attrs } = $from.parent;
  return {
    marks: new Set(
      Object.values(marks)
        .filter(isOn)
        .map(({ name }) => name),
    ),
    block: type === nodes.heading ? `heading${attrs["level"]}` : type.name,
    around: new Set([...around.map((node) => node.type.name), ...(isTask ? ["task"] : [])]),
  };
}

/** Keeps out what would make the note longer than it may be; what makes it shorter passes. */
function keepLength(note: OpenNote): Plugin {
  return new Plugin({
    filterTransaction(transaction: Transaction) {
      const { doc, before } = transaction;
      if (!transaction.docChanged || transaction.getMeta(ySyncPluginKey) !== undefined) {
        return true;
      }
      const problem = tooLongNote(doc.content.size);
      if (problem === undefined || doc.content.size <= before.content.size) {
        return true;
      }
      note.refused = problem;
      return false;
    },
  });
}

export interface EditorOptions {
  readonly note: OpenNote;
  readonly label: string;
  /** Called after every change of text or cursor. */
  onchange(place: Place): void;
}

/** Shows the document of a note in `element`; it follows the document, and the document follows it. */
export function openEditor(element: HTMLElement, { note, label, onchange }: EditorOptions): EditorView {
  const plugins: Plugin[] = [
    ySyncPlugin(note.document.getXmlFragment(fragmentName)),
    yCursorPlugin(note.awareness, {
      cursorBuilder: showCursor,
      selectionBuilder: (user: Person) => ({ class: `note-selected note-selected-${colourOf(user)}` }),
    }),
    yUndoPlugin(),
    keepLength(note),
    rules,
    keymap({ ...keys, Enter: splitTask }),
    keymap(baseKeymap),
  ];
  const view = new EditorView(element, {
    state: EditorState.create({ schema: noteSchema, plugins }),
    editable: () => note.isEditable,
    attributes: () => ({
      role: "textbox",
      "aria-multiline": "true",
      "aria-label": label,
      ...(note.isEditable ? {} : { "aria-readonly": "true", tabindex: "0" }),
    }),
    // Plugins dispatch while the view is being made: it is known as `this` alone by then.
    // Updates that arrive once the page has gone find the view destroyed.
    dispatchTransaction(this: EditorView, transaction) {
      if (this.isDestroyed) {
        return;
      }
      this.updateState(this.state.apply(transaction));
      onchange(toPlace(this.state));
    },
    handleDOMEvents: { mousedown: tickByMouse },
  });
  onchange(toPlace(view.state));
  return view;
}

/** The box of a task stands left of its text. */
function tickByMouse(view: EditorView, event: MouseEvent): boolean {
  const target = event.target as HTMLElement;
  const box = target.closest<HTMLElement>("li[data-checked]");
  if (box === null || !view.editable || event.clientX > box.getBoundingClientRect().left + 4) {
    return false;
  }
  const at = view.posAtDOM(box, 0) - 1;
  const node = view.state.doc.nodeAt(at);
  if (node?.type !== item) {
    return false;
  }
  event.preventDefault();
  view.dispatch(view.state.tr.setNodeMarkup(at, undefined, { checked: !node.attrs["checked"] }));
  return true;
}

export const commands = {
  bold: toggleMark(marks.strong),
  italic: toggleMark(marks.em),
  strike: toggleMark(marks.strike),
  code: toggleMark(marks.code),
  quote: wrapIn(nodes.blockquote),
  block: (type: NodeType, attrs?: Record<string, unknown>): Command => setBlockType(type, attrs),
  list: (type: NodeType): Command => wrapInList(type),
  link: (href: string): Command => toggleMark(marks.link, { href, title: null }),
  unlink: toggleMark(marks.link),
  undo: undo as Command,
  redo: redo as Command,
} as const;
