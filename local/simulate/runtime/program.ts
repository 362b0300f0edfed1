import { readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { compileFunction } from 'node:vm';
import { build, type Plugin } from 'esbuild';
import { ROOT, WORKER_BUILD } from '../../bundle.ts';

/** Exports that the runtime calls. The service is `worker/index.ts` with its imports, as it is deployed. */
const ENTRY = `
export { default as worker, Admission, Entitlement, MeteredSession } from './worker/index.ts';
export { chargeCall, withBudget } from './worker/core/isolate/budget.ts';
export { forgetAll } from './worker/core/isolate/memory.ts';
export { openApiDocument } from './worker/app.ts';
`;

const OBJECT_BASE = `export class DurableObject {
  constructor(ctx, env) {
    this.ctx = ctx;
    this.env = env;
  }
}`;

const workersModule: Plugin = {
  name: 'workers-module',
  setup: ({ onResolve, onLoad }) => {
    onResolve({ filter: /^cloudflare:workers$/ }, ({ path }) => ({ path, namespace: 'workers' }));
    onLoad({ filter: /./, namespace: 'workers' }, () => ({ contents: OBJECT_BASE }));
  },
};

/**
 * `is` of drizzle-orm with a memory of its answers by class: it walks the prototypes of each part of each query, a twelfth of a history. The
 * answer depends on the two classes alone.
 */
const QUICK_IS = `
const known = new Map();
function is(value, type) {
  if (!value || typeof value !== 'object') return false;
  const cls = value.constructor;
  if (typeof cls !== 'function' || cls.prototype !== Object.getPrototypeOf(value)) return walk(value, type);
  let answers = known.get(type);
  if (!answers) known.set(type, (answers = new Map()));
  let answer = answers.get(cls);
  if (answer === undefined) answers.set(cls, (answer = walk(value, type)));
  return answer;
}`;

const quickQueries: Plugin = {
  name: 'quick-queries',
  setup: ({ onLoad }) => {
    onLoad({ filter: /drizzle-orm\/entity\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8').replace('function is(', 'function walk(');
      return { contents: `${text}\n${QUICK_IS}` };
    });
  },
};

/** Globals of each isolate. It shares the others, which call nothing outside, with the process. */
export const OWN_GLOBALS = [
  'require',
  'globalThis',
  'self',
  'fetch',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'scheduler',
  'AbortSignal',
  'console',
  'isSecureContext',
] as const;

export type OwnGlobals = Record<(typeof OWN_GLOBALS)[number], unknown>;

/** A planted fault: a piece of the program's text, which must occur once, and its replacement. */
export interface Mutation {
  find: string;
  replace: string;
}

export type Program = (...globals: unknown[]) => Record<string, unknown>;

let source: Promise<string> | null = null;

/** Text of the program, bundled once. */
export const bundleProgram = (): Promise<string> => (source ??= bundle());

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    ...WORKER_BUILD,
    stdin: { contents: ENTRY, resolveDir: ROOT, loader: 'ts' },
    splitting: false,
    // Names stay readable: planted faults name a piece of this text, and errors a function.
    minify: false,
    sourcemap: false,
    format: 'iife',
    globalName: 'service',
    write: false,
    external: builtinModules.flatMap((name) => [name, `node:${name}`]),
    plugins: [workersModule, quickQueries, ...WORKER_BUILD.plugins],
  });
  return outputFiles[0]!.text;
}

/** Replaces pieces of the text. Throws if one of them does not occur once. */
export function mutate(text: string, mutations: readonly Mutation[]): string {
  let mutated = text;
  for (const { find, replace } of mutations) {
    const pieces = mutated.split(find);
    if (pieces.length !== 2) throw new Error(`planted fault: the text occurs ${pieces.length - 1} times, not once: ${find}`);
    mutated = pieces.join(replace);
  }
  return mutated;
}

/** The service as one function of its globals, compiled once for all isolates. */
export async function compileProgram(mutations: readonly Mutation[] = []): Promise<Program> {
  const text = mutate(await bundleProgram(), mutations);
  return compileFunction(`${text}\nreturn service;`, [...OWN_GLOBALS], { filename: 'service.js' }) as Program;
}
