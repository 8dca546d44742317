/** What can be told of Verilog without elaborating it: its modules, what it refers to, which files it reads. */

export interface Module {
  readonly name: string;
  /** Where the word `module` starts, in UTF-16 units from the text's start. */
  readonly offset: number;
}

export interface Scan {
  readonly modules: readonly Module[];
  /** Modules, interfaces, packages, programs and classes that the text declares. */
  readonly declares: ReadonlySet<string>;
  /** Names that may be another file's: `name inst`, `name #(`, `name::`, `name.modport`. */
  readonly uses: ReadonlySet<string>;
  /** What `include and $readmemh name. */
  readonly reads: readonly string[];
}

interface Token {
  readonly kind: "word" | "string" | "directive" | "mark";
  readonly text: string;
  readonly offset: number;
}

// One alternative a kind of token, each linear in its length.
const TOKEN = new RegExp(
  [
    String.raw`(?<blank>\s+|//[^\n]*|/\*[^]*?(?:\*/|$))`,
    String.raw`"(?<string>(?:[^"\\\n]|\\[^])*)(?:"|$|(?=\n))`,
    String.raw`\\(?<escaped>\S+)`,
    "`(?<directive>[A-Za-z_]\\w*)",
    String.raw`(?<word>[A-Za-z_$][\w$]*)`,
    String.raw`(?<number>\d[\w.]*|'[sS]?[bodhBODH][\w?]*)`,
    String.raw`(?<attribute>\(\*(?!\s*\)))`,
    String.raw`(?<mark>::|[^])`,
  ].join("|"),
  "gy",
);
const ATTRIBUTE_PART = /\*\)|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$)|"(?:[^"\\\n]|\\[^])*(?:"|$|(?=\n))|;/g;
const DEFINITION = /(?:\\\r?\n|\/\*[^]*?\*\/|[^\n])*/y;
const ENCRYPTED = /[^]*?(?:`endprotected\b|\bend_protected\b|$)/y;
const PRAGMA = /[^\n]*/y;
const LIFETIMES = new Set(["automatic", "static"]);
const MODULES = new Set(["module", "macromodule"]);
const DECLARING = new Set([...MODULES, "interface", "package", "program", "class", "primitive"]);
const READING = new Set(["$readmemh", "$readmemb"]);
const IDENTIFIER = /^[A-Za-z_]/;

/** Read a text; whatever is in it, broken code included, there is an answer. */
export function scan(text: string): Scan {
  const modules: Module[] = [];
  const declares = new Set<string>();
  const uses = new Set<string>();
  const reads: string[] = [];
  const found = tokens(text);
  for (const [at, token] of found.entries()) {
    const next = found[at + 1];
    if (token.kind === "directive") {
      if (token.text === "include" && next?.kind === "string") reads.push(next.text);
    } else if (token.kind === "word") {
      if (READING.has(token.text)) {
        const name = found[at + 2];
        if (next?.text === "(" && name?.kind === "string") reads.push(name.text);
      } else if (DECLARING.has(token.text)) {
        const name = declaredName(found, at);
        if (name === undefined) continue;
        declares.add(name);
        if (MODULES.has(token.text)) modules.push({ name, offset: token.offset });
      } else if (mayBeForeign(found[at - 1], token, next)) {
        uses.add(token.text);
      }
    }
  }
  return { modules, declares, uses, reads };
}

/** Return the name that follows a declaring word, unless nothing is defined there. */
function declaredName(found: readonly Token[], at: number): string | undefined {
  // `extern module m(...)`, `virtual interface i`, `interface class`: declared elsewhere, or no design unit.
  const before = found[at - 1]?.text;
  if (before === "extern" || (before === "virtual" && found[at]?.text === "interface")) return undefined;
  let next = found[at + 1];
  if (next && LIFETIMES.has(next.text)) next = found[at + 2];
  return next?.kind === "word" && !DECLARING.has(next.text) ? next.text : undefined;
}

function mayBeForeign(before: Token | undefined, token: Token, next: Token | undefined): boolean {
  if (!next || !IDENTIFIER.test(token.text) || before?.text === "." || before?.text === "::") return false;
  return next.kind === "word" ? !next.text.startsWith("$") : ["#", "::", "."].includes(next.text);
}

/** Cut a text into words, strings, directives and marks; comments, attributes and macro bodies are left out. */
function tokens(text: string): Token[] {
  const found: Token[] = [];
  let position = 0;
  let hopeless = 0; // up to here, no attribute that starts ends
  while (position < text.length) {
    TOKEN.lastIndex = position;
    const match = TOKEN.exec(text);
    if (!match) break;
    const groups = match.groups ?? {};
    const offset = position;
    position = TOKEN.lastIndex;
    if (groups["word"] !== undefined) found.push({ kind: "word", text: groups["word"], offset });
    else if (groups["escaped"] !== undefined) found.push({ kind: "word", text: groups["escaped"], offset });
    else if (groups["string"] !== undefined) found.push({ kind: "string", text: groups["string"], offset });
    else if (groups["attribute"] !== undefined) {
      const { end, isClosed } = offset < hopeless ? { end: hopeless, isClosed: false } : attributeEnd(text, position);
      if (!isClosed) {
        hopeless = end;
        found.push({ kind: "mark", text: "(", offset });
      }
      position = isClosed ? end : offset + 1;
    } else if (groups["directive"] !== undefined) {
      found.push({ kind: "directive", text: groups["directive"], offset });
      position = directiveEnd(text, groups["directive"], position);
    } else if (groups["mark"] !== undefined) found.push({ kind: "mark", text: groups["mark"], offset });
  }
  return found;
}

/** Return where `(* ... *)` ends, or where it is seen that it does not; comments and strings in it may hold `*)`. */
function attributeEnd(text: string, from: number): { readonly end: number; readonly isClosed: boolean } {
  ATTRIBUTE_PART.lastIndex = from;
  for (let match = ATTRIBUTE_PART.exec(text); match; match = ATTRIBUTE_PART.exec(text)) {
    if (match[0] === "*)" || match[0] === ";") return { end: ATTRIBUTE_PART.lastIndex, isClosed: match[0] === "*)" };
  }
  return { end: text.length, isClosed: false };
}

/** Return where a directive's own text ends: a macro's body and encrypted text are not code of this file. */
function directiveEnd(text: string, name: string, from: number): number {
  if (name === "define") return lastIndex(DEFINITION, text, from);
  if (name === "protected") return lastIndex(ENCRYPTED, text, from);
  if (name !== "pragma") return from;
  const end = lastIndex(PRAGMA, text, from);
  return /\bbegin_protected\b/.test(text.slice(from, end)) ? lastIndex(ENCRYPTED, text, end) : end;
}

function lastIndex(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  pattern.exec(text);
  return Math.max(pattern.lastIndex, from);
}
