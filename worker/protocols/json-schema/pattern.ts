/**
 * Regular expressions in linear time. The engine's own matcher backtracks, so one hostile pattern would stall every request of an isolate.
 * Supports the syntax of ECMA-262 with the `u` flag, without lookarounds and back references. Pure.
 * @module
 */

/** Counts steps of work on untrusted input, so that it ends. */
export interface StepBudget {
  left: number;
}
export class BudgetExceeded extends Error {}

export function spend(budget: StepBudget, steps: number): void {
  budget.left -= steps;
  if (budget.left < 0) throw new BudgetExceeded();
}

type Step =
  | { kind: 'char'; matches: (char: string) => boolean }
  | { kind: 'assert'; holds: (text: readonly string[], at: number) => boolean }
  /** Continues at both targets, relative to this step. */
  | { kind: 'split'; to: [number, number] }
  | { kind: 'match' };

const STEPS_MAX = 1_000;
/** Characters that are split in the time of a step. */
const CHARS_PER_STEP = 8;
const ATOM =
  /\\(?:u\{[^}]*\}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[a-zA-Z]|[pP]\{[^}]*\}|[\s\S])|\[(?:\\[\s\S]|[^\]\\])*\]|[\s\S]/uy;
const QUANTIFIER = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/uy;
const GROUP = /\((?:\?(?::|<[^=!>][^>]*>))?/uy;

class Unsupported extends Error {}

/** Compiled pattern, or null if it is invalid, too large, or uses a lookaround or back reference. */
export function compilePattern(pattern: string): Step[] | null {
  try {
    new RegExp(pattern, 'u');
    return [...new Parser(pattern).parse(), { kind: 'match' }];
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof Unsupported) return null;
    throw error;
  }
}

/** Reads a pattern that the engine accepts, so syntax errors do not occur here. */
class Parser {
  private at = 0;
  private readonly pattern: string;
  constructor(pattern: string) {
    this.pattern = pattern;
  }

  parse(): Step[] {
    let steps = this.sequence();
    while (this.next('|')) {
      const other = this.sequence();
      const skip: Step = { kind: 'split', to: [other.length + 1, other.length + 1] };
      steps = limited([{ kind: 'split', to: [1, steps.length + 2] }, ...steps, skip, ...other]);
    }
    return steps;
  }

  private sequence(): Step[] {
    const steps: Step[] = [];
    while (this.at < this.pattern.length && !'|)'.includes(this.pattern[this.at]!)) steps.push(...this.repeated(this.atom()));
    return limited(steps);
  }

  private atom(): Step[] {
    if (this.pattern[this.at] === '(') {
      const opening = this.read(GROUP)!;
      if (opening[0] === '(' && this.pattern[this.at] === '?') throw new Unsupported();
      const steps = this.parse();
      this.next(')');
      return steps;
    }
    const [text] = this.read(ATOM)!;
    if (/^\\[1-9k]/.test(text)) throw new Unsupported();
    const holds = ASSERTIONS[text];
    return holds ? [{ kind: 'assert', holds }] : [{ kind: 'char', matches: matcherOf(text) }];
  }

  private repeated(steps: Step[]): Step[] {
    const found = this.read(QUANTIFIER);
    if (!found) return steps;
    const [, sign, from, comma, to] = found;
    const min = sign === undefined ? Number(from) : sign === '+' ? 1 : 0;
    const max = sign === undefined ? (comma === '' ? min : to === '' ? null : Number(to)) : sign === '?' ? 1 : null;
    if (Math.max(min, max ?? 0) > STEPS_MAX) throw new Unsupported();
    if (steps.length === 0) return steps;
    const optional: Step[] = [{ kind: 'split', to: [1, steps.length + 1] }, ...steps];
    const loop: Step[] = [
      { kind: 'split', to: [1, steps.length + 2] },
      ...steps,
      { kind: 'split', to: [-steps.length - 1, -steps.length - 1] },
    ];
    const copies = (part: Step[], count: number) => {
      if (part.length * count > STEPS_MAX) throw new Unsupported();
      const all: Step[] = [];
      for (let copy = 0; copy < count; copy++) all.push(...part);
      return all;
    };
    return limited([...copies(steps, min), ...(max === null ? loop : copies(optional, max - min))]);
  }

  private next(char: string): boolean {
    const isNext = this.pattern[this.at] === char;
    if (isNext) this.at += 1;
    return isNext;
  }

  private read(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.at;
    const found = expression.exec(this.pattern);
    if (found) this.at = expression.lastIndex;
    return found;
  }
}

function limited(steps: Step[]): Step[] {
  if (steps.length > STEPS_MAX) throw new Unsupported();
  return steps;
}

const isWord = (char: string | undefined): boolean => char !== undefined && /^\w$/.test(char);
const isBoundary = (text: readonly string[], at: number): boolean => isWord(text[at - 1]) !== isWord(text[at]);
const ASSERTIONS: Partial<Record<string, (text: readonly string[], at: number) => boolean>> = {
  '^': (_, at) => at === 0,
  $: (text, at) => at === text.length,
  '\\b': isBoundary,
  '\\B': (text, at) => !isBoundary(text, at),
};

/** The engine decides about one character, where it cannot backtrack. */
function matcherOf(atom: string): (char: string) => boolean {
  const expression = new RegExp(`^(?:${atom})$`, 'u');
  const known = new Map<string, boolean>();
  return (char) => {
    const matches = known.get(char) ?? expression.test(char);
    known.set(char, matches);
    return matches;
  };
}

/** Searches a text as `RegExp.test` does. Throws BudgetExceeded. */
export function matchesPattern(steps: readonly Step[], text: string, budget: StepBudget): boolean {
  spend(budget, text.length / CHARS_PER_STEP);
  const chars = [...text];
  let active = new Set<number>();
  for (let at = 0; at <= chars.length; at++) {
    const queued = new Set<number>();
    for (const start of [...active, 0]) follow(start, at, queued);
    active = new Set();
    for (const index of queued) {
      const step = steps[index]!;
      if (step.kind === 'match') return true;
      if (step.kind === 'char' && at < chars.length && step.matches(chars[at]!)) active.add(index + 1);
    }
  }
  return false;

  function follow(start: number, at: number, queued: Set<number>): void {
    const open = [start];
    for (let index = open.pop(); index !== undefined; index = open.pop()) {
      if (queued.has(index)) continue;
      spend(budget, 1);
      queued.add(index);
      const step = steps[index]!;
      if (step.kind === 'split') open.push(index + step.to[0], index + step.to[1]);
      if (step.kind === 'assert' && step.holds(chars, at)) open.push(index + 1);
    }
  }
}
