import ts from "typescript";

/** An expression that tells the time of the machine, in each of the ways to write it. */
export function isMachineClock(node: ts.Node): boolean {
  if (ts.isNewExpression(node)) {
    return isNamed(node.expression, "Date") && (node.arguments?.length ?? 0) === 0;
  }
  if (ts.isCallExpression(node)) {
    return isNamed(node.expression, "Date");
  }
  if (ts.isVariableDeclaration(node)) {
    // `const { now } = Date` and `const Clock = Date` give the clock another name.
    return node.initializer !== undefined && isNamed(node.initializer, "Date");
  }
  return (
    isMember(node, "Date", "now") ||
    isMember(node, "Temporal", "Now") ||
    isMember(node, "performance", "timeOrigin")
  );
}

function isMember(node: ts.Node, owner: string, member: string): boolean {
  if (ts.isPropertyAccessExpression(node)) {
    return node.name.text === member && isNamed(node.expression, owner);
  }
  return (
    ts.isElementAccessExpression(node) &&
    ts.isStringLiteralLike(node.argumentExpression) &&
    node.argumentExpression.text === member &&
    isNamed(node.expression, owner)
  );
}

/** `Date` and `globalThis.Date`. */
function isNamed(node: ts.Node, name: string): boolean {
  return ts.isIdentifier(node)
    ? node.text === name
    : ts.isPropertyAccessExpression(node) &&
        node.name.text === name &&
        isNamed(node.expression, "globalThis");
}

type Wanted<T extends ts.Node> = (node: ts.Node) => node is T;
type Test = (node: ts.Node) => boolean;

/** The nodes below this one that are wanted, and itself; those below `leftOut` are not seen. */
export function findAll<T extends ts.Node>(node: ts.Node, wanted: Wanted<T>, leftOut?: Test): T[];
export function findAll(node: ts.Node, wanted: Test, leftOut?: Test): ts.Node[];
export function findAll(node: ts.Node, wanted: Test, leftOut: Test = () => false): ts.Node[] {
  const found: ts.Node[] = [];
  const visit = (each: ts.Node) => {
    if (wanted(each)) {
      found.push(each);
    }
    each.forEachChild((child) => void (leftOut(child) || visit(child)));
  };
  visit(node);
  return found;
}
