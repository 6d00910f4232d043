import ts from "typescript";
import { findAll, isMachineClock } from "./machine-clock.ts";

/** A name of a test that stands for the time at which the test runs. */
export interface ClockName {
  readonly name: string;
  /** Where the name is known. */
  readonly scope: ts.Node;
  /** The expressions of which the value is made. */
  readonly made: readonly ts.Node[];
  readonly isFunction: boolean;
}

interface Surroundings {
  /** Arguments of expectations. */
  readonly expectations: readonly ts.Node[];
  /** Functions of other files that return the time, as `<file>:<name>`. */
  readonly helpers: ReadonlySet<string>;
}

/**
 * The names that nothing but expectations use, also those made of other names. One that the test hands to the product is
 * an input, and so is a value that is made of inputs alone.
 */
export function findClockNames(file: ts.SourceFile, { expectations, helpers }: Surroundings): ClockName[] {
  const all = [...findValues(file), ...findFunctions(file)];
  const imported = findImports(file, helpers);
  let clocks: ClockName[] = imported;
  for (let known = -1; known !== clocks.length;) {
    known = clocks.length;
    clocks = [...imported, ...all.filter((each) => readsClock(each, clocks))];
  }
  for (let known = -1; known !== clocks.length;) {
    known = clocks.length;
    const without = clocks.filter((clock) => !isInput(clock, clocks, expectations));
    clocks = without.filter((clock) => imported.includes(clock) || readsClock(clock, without));
  }
  return clocks;
}

/** A use of one of these names, where the name is known. */
export function isClockName(node: ts.Node, clocks: readonly ClockName[]): boolean {
  return ts.isIdentifier(node) && isValue(node) && clocks.some((clock) => isUse(node, clock));
}

/** Answers of the product hold its own time; objects and functions that it is given are inputs. */
function readsClock({ made, isFunction: isCalled }: ClockName, clocks: readonly ClockName[]): boolean {
  const tells = (node: ts.Node) => isMachineClock(node) || isClockName(node, clocks);
  const isOther = (node: ts.Node) => isFunction(node) && (isCalled || ts.isCallExpression(node.parent));
  return made.some((value) => {
    const isAnswer = findAll(value, ts.isAwaitExpression).length > 0;
    return !isAnswer && findAll(value, tells, (node) => isGiven(node) || isOther(node)).length > 0;
  });
}

function isGiven({ kind, parent }: ts.Node): boolean {
  const isHandedOver = ts.isCallExpression(parent) || ts.isNewExpression(parent);
  return kind === ts.SyntaxKind.ObjectLiteralExpression && isHandedOver;
}

function isUse(node: ts.Identifier, { name, scope }: ClockName): boolean {
  return node.text === name && contains(scope, node);
}

/** Whether this identifier is read, and not the name of a member or of a declaration. */
function isValue(node: ts.Identifier): boolean {
  const { parent } = node;
  const isMember = ts.isPropertyAccessExpression(parent) && parent.name === node;
  const isKey = ts.isPropertyAssignment(parent) && parent.name === node;
  const isVariable = ts.isVariableDeclaration(parent) || ts.isBindingElement(parent);
  const isDeclared = isVariable ? parent.initializer !== node : ts.isFunctionDeclaration(parent);
  return !isMember && !isKey && !isDeclared && !ts.isImportSpecifier(parent);
}

/** A moment that the test hands on outside of expectations, and outside of what is made only for them. */
function isInput(clock: ClockName, clocks: readonly ClockName[], expectations: readonly ts.Node[]): boolean {
  if (clock.isFunction) {
    return false;
  }
  const idle = [...expectations, ...clocks.flatMap(({ made }) => made)];
  return findAll(clock.scope, (node) => ts.isIdentifier(node) && isValue(node) && isUse(node, clock)).some(
    (node) => !isIdle(node) && !isAssigned(node) && !idle.some((each) => contains(each, node)),
  );
}

/** `void now;` and `now;` use nothing. */
function isIdle({ parent }: ts.Node): boolean {
  return ts.isVoidExpression(parent) || ts.isExpressionStatement(parent);
}

function isAssigned(node: ts.Node): boolean {
  return ts.isBinaryExpression(node.parent) && isAssignment(node.parent) && node.parent.left === node;
}

function isAssignment({ operatorToken }: ts.BinaryExpression): boolean {
  return operatorToken.kind === ts.SyntaxKind.EqualsToken;
}

/** Variables and what is assigned to them. */
function findValues(file: ts.SourceFile): ClockName[] {
  const assigned = findAll(file, ts.isBinaryExpression).filter(isAssignment);
  return findAll(file, ts.isVariableDeclaration).flatMap((node) => {
    const { initializer } = node;
    const scope = scopeOf(node);
    // An alias of the clock itself is seen at the declaration.
    const made = initializer === undefined || isFunction(initializer) ? [] : [node];
    return namesOf(node.name).map((name) => {
      const later = assigned.filter(({ left }) => left.getText() === name && contains(scope, left));
      return { name, scope, made: [...made, ...later.map(({ right }) => right)], isFunction: false };
    });
  });
}

/** Functions by what they return. */
function findFunctions(file: ts.SourceFile): ClockName[] {
  return findAll(file, isFunction).flatMap((node) => {
    const { parent } = node;
    const owner = ts.isVariableDeclaration(parent) ? parent : node;
    if (owner.name === undefined) {
      return [];
    }
    const made = ts.isBlock(node.body) ? returnedBy(node.body) : [node.body];
    return [{ name: owner.name.getText(), scope: scopeOf(owner), made, isFunction: true }];
  });
}

type NamedFunction = (ts.ArrowFunction | ts.FunctionExpression | ts.FunctionDeclaration) & {
  readonly body: ts.ConciseBody;
};

function isFunction(node: ts.Node): node is NamedFunction {
  return (
    (ts.isArrowFunction(node) || ts.isFunctionExpression(node) || ts.isFunctionDeclaration(node)) &&
    node.body !== undefined
  );
}

function returnedBy(body: ts.Node): ts.Node[] {
  return findAll(body, ts.isReturnStatement, isFunction).flatMap(({ expression }) => expression ?? []);
}

function findImports(file: ts.SourceFile, helpers: ReadonlySet<string>): ClockName[] {
  return findAll(file, ts.isImportDeclaration).flatMap((node) => {
    const from = node.moduleSpecifier.getText().slice(1, -1).split("/").at(-1);
    return findAll(node, ts.isImportSpecifier)
      .filter(({ name, propertyName }) => helpers.has(`${from}:${(propertyName ?? name).text}`))
      .map(({ name }) => ({ name: name.text, scope: file, made: [], isFunction: true }));
  });
}

function namesOf(name: ts.BindingName): string[] {
  return ts.isIdentifier(name)
    ? [name.text]
    : name.elements.flatMap((each) => (ts.isBindingElement(each) ? namesOf(each.name) : []));
}

/** The block or file of a declaration. */
function scopeOf(node: ts.Node): ts.Node {
  let scope = node.parent;
  while (!ts.isBlock(scope) && !ts.isSourceFile(scope) && !ts.isModuleBlock(scope)) {
    scope = scope.parent;
  }
  return scope;
}

function contains(outer: ts.Node, inner: ts.Node): boolean {
  return outer.pos <= inner.pos && inner.end <= outer.end && outer.getSourceFile() === inner.getSourceFile();
}
