import { describe, expect, it } from 'vitest';

/** The laws of the house, read off the source text of every file. */
const sources = new Map(
  Object.entries(
    import.meta.glob<string>('../{worker,durable-objects}/**/*.{ts,tsx}', { query: '?raw', import: 'default', eager: true }),
  ).map(([path, text]) => [path.slice(3), text]),
);
const tests = Object.entries(import.meta.glob<string>('./**/*.ts', { query: '?raw', import: 'default', eager: true }));

/** First match decides. A file imports strictly lower ranks, or its own folder. */
const RANKS: [RegExp, number][] = [
  [/^worker\/core\//, 0],
  // What server and browser share of the pages, then what runs in the browser alone.
  [/^worker\/pages\/locales\//, 0],
  [/^worker\/pages\/parts\//, 1],
  [/^worker\/pages\/checkout\/(?!(?:page|offer)\.tsx$)(?!client\/|machine\/)/, 2],
  [/^worker\/pages\/checkout\/machine\//, 3],
  [/^worker\/pages\/checkout\/client\//, 4],
  [/^worker\/pages\/receipt\/client\.ts$/, 5],
  [/^worker\/(?:states|events|plans|fees|admission|balance|entitlement-rpc|history|rails|version)\.ts$/, 1],
  [/^worker\/solana\/(?!rpc\.ts$)/, 1],
  [/^worker\/x402\//, 2],
  [/^worker\/solana\/rpc\.ts$/, 2],
  [/^worker\/providers\//, 2],
  [/^worker\/(?:variables|config)\.ts$/, 2],
  [/^worker\/(?:context|log|objects|send-jobs)\.ts$/, 3],
  [/^worker\/db\//, 4],
  [/^worker\/http\//, 5],
  [/^durable-objects\//, 5],
  [/^worker\/identity\//, 11],
  [/^worker\/products\//, 12],
  [/^worker\/memberships\//, 13],
  [/^worker\/receipts\//, 14],
  [/^worker\/entitlements\//, 15],
  [/^worker\/payments\//, 16],
  [/^worker\/webhooks\//, 17],
  [/^worker\/access\//, 18],
  [/^worker\/(?:audit|finality|retention)\//, 19],
  // What every page is made of, then the pages, then their addresses.
  [/^worker\/pages\/(?:document\.tsx|policy\.ts|assets\.ts)$/, 19.2],
  [/^worker\/pages\/(?:checkout|receipt)\//, 19.5],
  [/^worker\/pages\/routes\.tsx$/, 20],
  [
    /^worker\/(?:discovery|docs|docs-assets|event-catalog|event-examples|event-types\.routes|health|jobs|llms|metrics|security-schemes|sweeps)\.ts$/,
    21,
  ],
  [/^worker\/app\.ts$/, 30],
  [/^worker\/index\.ts$/, 40],
];
/** What runs in a buyer’s browser, where clock and network are the browser’s. */
const BUYERS_BROWSER = /^worker\/pages\/(?:checkout|receipt)\/client(?:\/|\.ts$)/;
const FEATURES = { from: 11, to: 20 };

/** Inside a folder: routes -> verb -> resource -> store. */
const STEPS: [RegExp, number][] = [
  [/\/(?:[\w-]+\.)?routes\.tsx?$/, 3],
  [/\/resource\.ts$/, 1],
  [/\/(?:[\w-]+\.)?store\.ts$/, 0],
];

const rankOf = (path: string): number => RANKS.find(([pattern]) => pattern.test(path))?.[1] ?? Number.NaN;
const stepOf = (path: string): number => STEPS.find(([pattern]) => pattern.test(path))?.[1] ?? 2;
const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));
const isFeature = (path: string): boolean => rankOf(path) >= FEATURES.from && rankOf(path) <= FEATURES.to;

function resolve(from: string, specifier: string): string {
  const parts = folderOf(from).split('/');
  for (const part of specifier.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}
const specifiersOf = (text: string): string[] =>
  [...text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)['"]([^'"]+)['"]/g)].map(([, specifier]) => specifier!);
const importsOf = (path: string, text: string): string[] =>
  specifiersOf(text)
    .filter((specifier) => specifier.startsWith('.'))
    .map((specifier) => resolve(path, specifier));
const edges = [...sources].flatMap(([path, text]) =>
  importsOf(path, text).map((target) => ({ path, target, edge: `${path} -> ${target}` })),
);

/** Files whose text matches, without comments. */
const filesWith = (pattern: RegExp): string[] =>
  [...sources].filter(([, text]) => pattern.test(text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, ''))).map(([path]) => path);
const outside = (files: string[], ...allowed: RegExp[]): string[] => files.filter((path) => !allowed.some((pattern) => pattern.test(path)));

describe('the direction of imports', () => {
  it('finds the source, and every file has a rank', () => {
    expect(sources.size).toBeGreaterThan(40);
    expect(edges.length).toBeGreaterThan(150);
    expect([...sources.keys()].filter((path) => Number.isNaN(rankOf(path)))).toEqual([]);
    expect(edges.filter(({ target }) => !sources.has(target)).map(({ edge }) => edge)).toEqual([]);
  });

  it('goes strictly down, or stays in the own folder', () => {
    const wrong = edges.filter(({ path, target }) => folderOf(path) !== folderOf(target) && rankOf(target) >= rankOf(path));
    expect(wrong.map(({ edge }) => edge)).toEqual([]);
    expect(edges.filter(({ path, target }) => folderOf(path) === folderOf(target) && rankOf(target) > rankOf(path))).toEqual([]);
  });

  it('goes from routes to verbs to stores inside a feature, never back', () => {
    const inside = edges.filter(({ path, target }) => isFeature(path) && folderOf(path) === folderOf(target));
    expect(inside.length).toBeGreaterThan(20);
    expect(inside.filter(({ path, target }) => stepOf(target) > stepOf(path)).map(({ edge }) => edge)).toEqual([]);
  });

  it('enters another feature only through its verbs and resources, never its routes or store', () => {
    const across = edges.filter(({ path, target }) => isFeature(path) && isFeature(target) && folderOf(path) !== folderOf(target));
    const forbidden = across.filter(({ target }) => stepOf(target) === 0 || stepOf(target) === 3).map(({ edge }) => edge);
    expect(across.length).toBeGreaterThan(0);
    expect(forbidden).toEqual([]);
  });

  it('has no cycle anywhere', () => {
    const state = new Map<string, 'open' | 'done'>();
    const cycles: string[] = [];
    const visit = (path: string, trail: string[]): void => {
      if (state.get(path) === 'done') return;
      if (state.get(path) === 'open') {
        cycles.push([...trail.slice(trail.indexOf(path)), path].join(' -> '));
        return;
      }
      state.set(path, 'open');
      for (const target of importsOf(path, sources.get(path) ?? '')) visit(target, [...trail, path]);
      state.set(path, 'done');
    };
    for (const path of sources.keys()) visit(path, []);
    expect(cycles).toEqual([]);
  });

  it('keeps the objects away from the database, and their classes visible to the composition root alone', () => {
    expect(edges.filter(({ path, target }) => path.startsWith('durable-objects/') && target.startsWith('worker/db/'))).toEqual([]);
    const users = edges.filter(({ path, target }) => target.startsWith('durable-objects/') && !path.startsWith('durable-objects/'));
    expect([...new Set(users.map(({ path }) => path))]).toEqual(['worker/index.ts']);
  });

  it('imports nothing from local/ or test/', () => {
    expect(edges.filter(({ target }) => !/^(?:worker|durable-objects)\//.test(target))).toEqual([]);
  });
});

describe('every matter has one owner', () => {
  const importing = (module: RegExp): string[] =>
    [...sources].filter(([, text]) => specifiersOf(text).some((specifier) => module.test(specifier))).map(([path]) => path);
  const drizzle = [/^worker\/db\//, /\/(?:[\w-]+\.)?store\.ts$/, /^worker\/context\.ts$/, /^worker\/health\.ts$/];

  it.each([
    ['SQL is written in stores and db/', () => importing(/^drizzle-orm/), drizzle],
    [
      'tables are named in stores and db/',
      () => importing(/db\/(?:identity|commerce|tx-claims|candidates|access|audits|handoff|messaging|operations|sessions|columns)\.ts$/),
      drizzle.slice(0, 2),
    ],
    ['tables are made in db/', () => filesWith(/\bsqliteTable\(/), [/^worker\/db\//]],
    ['only objects touch object storage', () => filesWith(/\bctx\.storage\b|\bstate\.storage\b/), [/^durable-objects\//]],
    [
      'the clock is read once per request or job, and in objects',
      () => filesWith(/\bDate\.now\b|\bnew Date\(\)/),
      [/^worker\/(?:context|app|index|jobs|sweeps|log|health)\.ts$/, /^durable-objects\//, BUYERS_BROWSER],
    ],
    ['only the log prints', () => filesWith(/\bconsole\./), [/^worker\/log\.ts$/]],
    [
      'only the chain client, the providers, the sender of webhooks and the buyer’s browser call the network',
      () => filesWith(/(?<![.\w])fetch\(/),
      [/^worker\/solana\/node\.ts$/, /^worker\/providers\//, /^worker\/webhooks\/(?:deliver|post)\.ts$/, BUYERS_BROWSER],
    ],
    ['ids come from core/ids', () => filesWith(/\brandomUUID\b/), []],
    [
      'randomness is cryptographic, but for the jitter of retries',
      () => filesWith(/\bMath\.random\b/),
      [/^worker\/webhooks\/(?:deliver|post)\.ts$/],
    ],
    ['an amount is never a float', () => filesWith(/\bparseFloat\b|\bNumber\([^)]*(?:amount|units|price|fee)/i), []],
    [
      'credentials are read by identity/, and seen to exist by one guard',
      () => filesWith(/header\('(?:X-Svc-Key|Authorization)'\)/),
      [/^worker\/identity\/authenticate\.ts$/, /^worker\/http\/guards\.ts$/],
    ],
    [
      'errors take their shape in http/errors',
      () => filesWith(/c\.json\(\s*\{\s*detail\b(?=[\s\S]{0,200}\b[45]\d\d\b)/),
      [/^worker\/http\/errors\.ts$/],
    ],
    [
      'ApiError is not thrown by pure rules other than the state machines',
      () => filesWith(/throw new ApiError/),
      [
        /^worker\/(?:core\/errors|states|app)\.ts$/,
        /^worker\/(?:db|http|identity|products|memberships|receipts|entitlements|payments|webhooks|access|pages)\//,
      ],
    ],
    ['environment variables are read through the checked configuration', () => filesWith(/\bprocess\.env\b/), []],
    ['no type is escaped', () => filesWith(/\bas any\b|:\s*any\b|@ts-(?:ignore|expect-error|nocheck)/), []],
  ])('%s', (_law, files, allowed) => {
    expect(outside(files(), ...allowed)).toEqual([]);
  });

  it('knows what it looks for: the patterns find the places where each thing is allowed', () => {
    expect(importing(/^drizzle-orm/).length).toBeGreaterThan(5);
    expect(filesWith(/\bDate\.now\b/)).toContain('worker/context.ts');
    expect(filesWith(/\bconsole\./)).toEqual(['worker/log.ts']);
    expect(outside(filesWith(/(?<![.\w])fetch\(/), BUYERS_BROWSER)).toEqual([
      'worker/providers/price.ts',
      'worker/solana/node.ts',
      'worker/webhooks/post.ts',
    ]);
    expect(filesWith(/throw new ApiError/)).toContain('worker/states.ts');
  });
});

describe('names and budgets', () => {
  const lines = (text: string): number => text.trimEnd().split('\n').length;
  const budgetOf = (path: string): number => (isFeature(path) && stepOf(path) !== 3 ? 200 : 250);

  it('has no file named for being a leftover', () => {
    expect([...sources.keys()].filter((path) => /util|helper|common|misc|manager|V\d+\b/i.test(path))).toEqual([]);
    expect([...sources.keys()].filter((path) => !/^[a-z0-9./-]+$/.test(path))).toEqual([]);
  });

  it('keeps files within their budget, tests too', () => {
    const long = [...sources].filter(([path, text]) => lines(text) > budgetOf(path)).map(([path, text]) => `${path}: ${lines(text)}`);
    const longTests = tests.filter(([, text]) => lines(text) > 300).map(([path, text]) => `test/${path.slice(2)}: ${lines(text)}`);
    expect([...long, ...longTests]).toEqual([]);
  });

  it('keeps functions within 60 lines', () => {
    const long: string[] = [];
    let seen = 0;
    for (const [path, text] of sources) {
      const rows = text.split('\n');
      for (const [start, row] of rows.entries()) {
        const opens =
          /^(\s*)(?!(?:if|for|while|switch|else|catch|try|class|interface)\b)(?:.*\bfunction\b.*|.*=> |(?:\w+ )*#?\w+\(.*\).*)\{$/.exec(
            row,
          );
        if (!opens) continue;
        // The formatter closes a block at the indent of the line that opened it.
        const end = rows.findIndex((line, index) => index > start && line.startsWith(`${opens[1]}}`));
        seen++;
        if (end - start + 1 > 60) long.push(`${path}:${start + 1}: ${end - start + 1} lines`);
      }
    }
    expect(seen).toBeGreaterThan(100);
    expect(long).toEqual([]);
  });
});
