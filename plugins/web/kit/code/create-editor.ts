import { autocompletion, type CompletionSource, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import {
  bracketMatching,
  foldGutter,
  HighlightStyle,
  indentOnInput,
  indentUnit,
  syntaxHighlighting,
} from "@codemirror/language";
import { type Diagnostic, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { CodeProblem } from "./problems.ts";

export interface EditorOptions {
  /** An element's open shadow root: styles are adopted there, which the policy of the page allows. */
  readonly root: ShadowRoot;
  readonly label: string;
  readonly text: string;
  readonly isReadOnly: boolean;
  readonly complete: CompletionSource | undefined;
  onchange(text: string): void;
  onsave(): void;
  onformat(): void;
}

export interface CodeView {
  setText(text: string): void;
  setProblems(problems: readonly CodeProblem[]): void;
  setReadOnly(isReadOnly: boolean): void;
  /** Puts the cursor at a place, 1-based. */
  goTo(line: number, column: number): void;
  focus(): void;
  destroy(): void;
}

const toKeymap = ({ onsave, onformat }: Pick<EditorOptions, "onsave" | "onformat">) =>
  keymap.of([
    { key: "Mod-s", preventDefault: true, run: () => (onsave(), true) },
    { key: "Shift-Alt-f", preventDefault: true, run: () => (onformat(), true) },
    // Escape, then Tab, leaves the editor (view of the library's own).
    ...completionKeymap,
    ...lintKeymap,
    ...searchKeymap,
    ...historyKeymap,
    ...defaultKeymap,
    indentWithTab,
  ]);

/** Opens an editor for JavaScript and TypeScript. */
export function createEditor({
  root,
  label,
  text,
  isReadOnly,
  complete,
  onchange,
  onsave,
  onformat,
}: EditorOptions): CodeView {
  const readOnly = new Compartment();
  const toReadOnly = (is: boolean) => [EditorState.readOnly.of(is)];
  let isQuiet = false;
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        foldGutter(),
        lintGutter(),
        highlightActiveLineGutter(),
        highlightActiveLine(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        highlightSelectionMatches(),
        indentUnit.of("  "),
        javascript({ typescript: true }),
        syntaxHighlighting(colours),
        autocompletion(complete ? { override: [complete] } : {}),
        toKeymap({ onsave, onformat }),
        EditorView.contentAttributes.of({ "aria-label": label, spellcheck: "false", tabindex: "0" }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !isQuiet) {
            onchange(update.state.doc.toString());
          }
        }),
        readOnly.of(toReadOnly(isReadOnly)),
        theme,
      ],
    }),
  });
  const toOffset = (line: number, column: number): number => {
    const at = view.state.doc.line(Math.min(Math.max(1, line), view.state.doc.lines));
    return Math.min(at.from + Math.max(0, column - 1), at.to);
  };
  return {
    setText(next) {
      if (next !== view.state.doc.toString()) {
        isQuiet = true;
        view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } });
        isQuiet = false;
      }
    },
    setProblems(problems) {
      const found = problems.map(({ line, column, length = 1, severity, message }): Diagnostic => {
        const from = toOffset(line, column);
        return { from, to: Math.min(from + length, view.state.doc.length), severity, message };
      });
      view.dispatch(setDiagnostics(view.state, found));
    },
    setReadOnly: (is) => view.dispatch({ effects: readOnly.reconfigure(toReadOnly(is)) }),
    goTo(line, column) {
      view.dispatch({ selection: { anchor: toOffset(line, column) }, scrollIntoView: true });
      view.focus();
    },
    focus: () => view.focus(),
    destroy: () => view.destroy(),
  };
}

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.bool, tags.null, tags.number, tags.atom], color: "var(--code-keyword)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--code-string)" },
  { tag: [tags.comment, tags.docComment], color: "var(--faint)", fontStyle: "italic" },
  {
    tag: [tags.function(tags.variableName), tags.function(tags.propertyName)],
    color: "var(--code-function)",
  },
  { tag: [tags.typeName, tags.className], color: "var(--warning)" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--ink)", backgroundColor: "var(--raised)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": {
    fontFamily: '"JetBrains Mono Variable", ui-monospace, monospace',
    lineHeight: "1.55",
    fontVariantLigatures: "none",
  },
  ".cm-content": { caretColor: "var(--ink)", paddingBlock: "8px" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--faint)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": {
    backgroundColor: "color-mix(in srgb, var(--hover) 55%, transparent)",
  },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--accent-soft)",
  },
  ".cm-tooltip, .cm-panels": {
    backgroundColor: "var(--raised)",
    color: "var(--ink)",
    border: "1px solid var(--line)",
  },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
  },
  ".cm-completionDetail": { color: "var(--faint)" },
  "li[aria-selected] .cm-completionDetail": { color: "var(--on-accent)" },
  ".cm-textfield, .cm-button": {
    backgroundColor: "var(--raised)",
    backgroundImage: "none",
    color: "var(--ink)",
    border: "1px solid var(--line-strong)",
  },
  ".cm-diagnostic": { borderLeftWidth: "3px" },
  ".cm-selectionMatch": { backgroundColor: "var(--hover)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--hover)", border: "none", color: "var(--soft)" },
});
