// What looplet/agent-sdk lacks of the types of the Claude Agent SDK, by the checker of TypeScript.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** Levels of fields that are compared. */
const DEPTH = 6;

/** The declarations of other packages, such as those of the Messages API, are not the SDK's. */
const OWN = /(?:claude-agent-sdk[/\\][\w-]+|newer-sdk)\.d\.ts$/;

/** `{ at, what }` of each name that the module `sdk` has and looplet/agent-sdk has not: an export, a field, a literal. */
export function missingNames(folder, sdk) {
  const file = join(folder, "names.ts");
  writeFileSync(file, `import * as S from "${sdk}";\nimport * as L from "looplet/agent-sdk";\nS; L;\n`);
  const program = ts.createProgram([file], {
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    target: ts.ScriptTarget.ES2022,
    lib: ["lib.es2023.d.ts", "lib.dom.d.ts", "lib.esnext.disposable.d.ts"],
    strict: true,
    skipLibCheck: true,
    typeRoots: [join(folder, "node_modules/@types")],
    types: ["node"],
  });
  const source = program.getSourceFile(file);
  const errors = program.getSemanticDiagnostics(source);
  if (errors.length > 0) throw new Error(ts.flattenDiagnosticMessageText(errors[0].messageText, "\n"));
  const checker = program.getTypeChecker();
  const [ofSdk, ofLooplet] = source.statements
    .filter(ts.isImportDeclaration)
    .map(({ moduleSpecifier }) => checker.getExportsOfModule(checker.getSymbolAtLocation(moduleSpecifier)));
  const own = new Map(ofLooplet.map((symbol) => [symbol.name, symbol]));
  const compare = comparison(checker);
  for (const symbol of ofSdk) {
    const its = own.get(symbol.name);
    if (its === undefined) compare.missing.push({ at: symbol.name, what: "" });
    else compare.types([compare.typeOf(symbol)], [compare.typeOf(its)], symbol.name);
  }
  const [theirs, ours] = [ofSdk, ofLooplet].map((symbols) =>
    compare.kinds(compare.typeOf(symbols.find(({ name }) => name === "SDKMessage"))),
  );
  for (const kind of theirs) if (!ours.has(kind)) compare.missing.push({ at: "SDKMessage", what: kind });
  return compare.missing;
}

function comparison(checker) {
  const missing = [];
  const seen = new Set();
  const isObject = (type) => (type.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) !== 0;

  const typeOf = (symbol) => {
    const real = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
    return real.flags & ts.SymbolFlags.Type
      ? checker.getDeclaredTypeOfSymbol(real)
      : checker.getTypeOfSymbol(real);
  };
  /** The members of a union, and those of the elements of an array. */
  const members = (type) => {
    const whole = checker.getNonNullableType(type);
    if (whole.isUnion()) return whole.types.flatMap(members);
    const isList = checker.isArrayType(whole) || checker.isTupleType(whole);
    return isList ? checker.getTypeArguments(whole).flatMap(members) : [whole];
  };
  /** Whether any field would compile. */
  const isOpen = (type) =>
    (type.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0 ||
    (isObject(type) &&
      checker.getIndexInfosOfType(type).some(({ keyType }) => keyType.flags & ts.TypeFlags.String));
  const literals = (types) =>
    new Set(types.filter((type) => type.isStringLiteral()).map(({ value }) => value));
  const isPublic = (symbol) =>
    (symbol.declarations ?? []).every(
      (declaration) => !(ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.Private),
    );
  const fields = (types, isWanted) => {
    const found = new Map();
    for (const symbol of types.filter(isObject).flatMap((type) => checker.getPropertiesOfType(type)))
      if (!symbol.name.startsWith("__@") && isPublic(symbol) && isWanted(symbol))
        found.set(symbol.name, [...(found.get(symbol.name) ?? []), checker.getTypeOfSymbol(symbol)]);
    return found;
  };
  const isOfSdk = ({ declarations = [] }) =>
    declarations.some((declaration) => OWN.test(declaration.getSourceFile().fileName));
  const calls = (types) => types.flatMap((type) => checker.getSignaturesOfType(type, ts.SignatureKind.Call));

  function types(given, has, at, depth = 0) {
    const [theirs, ours] = [given.flatMap(members), has.flatMap(members)];
    const key = [theirs, ours].map((list) => list.map(({ id }) => id).join()).join("|");
    if (seen.has(key) || depth > DEPTH || ours.some(isOpen)) return;
    seen.add(key);
    if (!ours.some(({ flags }) => flags & ts.TypeFlags.String)) {
      const known = literals(ours);
      const unknown = [...literals(theirs)].filter((value) => !known.has(value));
      if (unknown.length > 0) missing.push({ at, what: unknown.join(" ") });
    }
    const known = fields(ours, () => true);
    for (const [name, itsTypes] of fields(theirs, isOfSdk))
      if (!known.has(name)) missing.push({ at: `${at}.${name}`, what: "" });
      else types(itsTypes, known.get(name), `${at}.${name}`, depth + 1);
    callables(calls(theirs), calls(ours), at, depth);
  }

  function callables(theirs, ours, at, depth) {
    if (theirs.length === 0 || ours.length === 0) return;
    const parameter = (all, index) =>
      all.flatMap(({ parameters }) =>
        parameters[index] === undefined ? [] : [checker.getTypeOfSymbol(parameters[index])],
      );
    const most = Math.max(...theirs.map(({ parameters }) => parameters.length));
    for (let index = 0; index < most; index++) {
      const own = parameter(ours, index);
      if (own.length === 0) missing.push({ at: `${at}(${index})`, what: "" });
      else types(parameter(theirs, index), own, `${at}(${index})`, depth + 1);
    }
    const results = (all) => all.map((signature) => signature.getReturnType());
    types(results(theirs), results(ours), `${at}()`, depth + 1);
  }

  /** `type/subtype` of each message. */
  const kinds = (union) => {
    const told = members(union).flatMap((type) => {
      const [types, subtypes] = ["type", "subtype"].map((name) => {
        const symbol = checker.getPropertyOfType(type, name);
        return symbol === undefined ? [""] : [...literals(members(checker.getTypeOfSymbol(symbol)))];
      });
      return types.flatMap((one) => subtypes.map((other) => (other === "" ? one : `${one}/${other}`)));
    });
    return new Set(told);
  };
  return { missing, typeOf, types, kinds };
}
