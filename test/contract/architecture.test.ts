import { describe, expect, it } from 'vitest';
import { RAIL_IDS, RAIL_KINDS } from '#rules/product-rails.ts';

/** The laws of the house, read off the source text of every file. */
const sources = new Map(
  Object.entries(
    import.meta.glob<string>('../../{worker,durable-objects}/**/*.{ts,tsx,js}', { query: '?raw', import: 'default', eager: true }),
  ).map(([path, text]) => [path.slice(6), text]),
);
const readmes = import.meta.glob<string>('../../{worker,durable-objects}/**/README.md', { query: '?raw', import: 'default', eager: true });
const tests = Object.entries(import.meta.glob<string>('../**/*.ts', { query: '?raw', import: 'default', eager: true }));

/** The rooms of the service from the bottom up. A file imports from lower rooms, or from its own; the first match decides. */
const ROOMS = [
  // What server and browser share of the pages, then what runs in the browser alone.
  /^worker\/pages\/locales\//,
  /^worker\/pages\/parts\//,
  /^worker\/pages\/checkout\/(?!page\.tsx$|offer\.tsx$|client\/|machine\/)/,
  /^worker\/pages\/checkout\/machine\//,
  /^worker\/pages\/checkout\/client\//,
  /^worker\/pages\/receipt\/client\.ts$/,
  /^worker\/core\//,
  /^worker\/rules\//,
  /^worker\/solana\//,
  /^worker\/protocols\//,
  /^worker\/platform\/[\w.-]+\.ts$/,
  /^worker\/platform\/db\/tables\//,
  /^worker\/platform\/queues\//,
  /^worker\/platform\/db\//,
  /^worker\/platform\/providers\//,
  /^worker\/platform\/chain\//,
  /^worker\/platform\/http\//,
  /^durable-objects\//,
  /^worker\/features\/accounts\//,
  /^worker\/features\/products\//,
  /^worker\/features\/rails\//,
  /^worker\/features\/memberships\//,
  /^worker\/features\/receipts\//,
  /^worker\/features\/entitlements\//,
  /^worker\/features\/plans\//,
  /^worker\/features\/payments\//,
  /^worker\/features\/checkout\//,
  /^worker\/features\/settlements\//,
  /^worker\/features\/pay-per-request\//,
  /^worker\/features\/facilitator\//,
  /^worker\/features\/webhooks\//,
  /^worker\/features\/readiness\//,
  /^worker\/features\/agent-setup\//,
  /^worker\/features\/billing\//,
  /^worker\/features\/audit\//,
  /^worker\/features\/finality\//,
  /^worker\/features\/retention\//,
  /^worker\/features\/seals\//,
  /^worker\/features\/routers\.ts$/,
  // What every page is made of, then the pages, then their addresses.
  /^worker\/pages\/(?!routes\.tsx$)[\w-]+\.tsx?$/,
  /^worker\/pages\/checkout\//,
  /^worker\/pages\/receipt\//,
  /^worker\/pages\/routes\.tsx$/,
  /^worker\/followers\.ts$/,
  /^worker\/jobs\.ts$/,
  /^worker\/sweeps\.ts$/,
  /^worker\/published\//,
  /^worker\/app\.ts$/,
  /^worker\/index\.ts$/,
];

/** What runs in a buyer’s browser, where clock and network are the browser’s. */
const BUYERS_BROWSER = /^worker\/pages\/(?:checkout|receipt)\/client(?:\/|\.ts$)/;
/** Where a rail is known by name. */
const RAIL_FILES = [/^worker\/rules\/rails\.ts$/, /^worker\/features\/rails\//];
/** A rail's id, kind or asset compared with another, or its kind read. */
const RAIL_COMPARED = new RegExp(
  [
    String.raw`[!=]==\s*(?:X402_RAIL\b|'(?:${RAIL_KINDS.join('|')})'|RAILS\[[^\]]*\]\.asset\b)`,
    String.raw`RAILS\[[^\]]*\]\.(?:kind|asset\s*[!=]==)`,
    String.raw`\bkind\b[^;\n]*\} = RAILS\[`,
  ].join('|'),
);

/** Inside a feature: routes -> verb or resource -> store. */
const STEPS: [RegExp, number][] = [
  [/\/(?:[\w-]+\.)?routes\.tsx?$/, 2],
  [/\/(?:[\w-]+\.)?store\.ts$/, 0],
];

/** Of how many files a folder may consist: registries of one kind may be longer. */
const FILES_MAX = 12;
const LONG_FOLDERS: Record<string, number> = { 'worker/platform/db/tables': 24, 'worker/pages/checkout/client': 24 };

const rankOf = (path: string): number => {
  const room = ROOMS.findIndex((pattern) => pattern.test(path));
  return room < 0 ? Number.NaN : room;
};
const stepOf = (path: string): number => STEPS.find(([pattern]) => pattern.test(path))?.[1] ?? 1;
const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));
const isFeature = (path: string): boolean =>
  /^worker\/(?:features\/[\w-]+\/|pages\/(?:[^/]+|(?:checkout|receipt)\/(?:page|offer)\.tsx)$)/.test(path);

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
const targetOf = (path: string, specifier: string): string =>
  specifier.startsWith('#') ? specifier.replace('#', 'worker/') : resolve(path, specifier);
const importsOf = (path: string, text: string): string[] =>
  specifiersOf(text)
    .filter((specifier) => /^[.#]/.test(specifier))
    .map((specifier) => targetOf(path, specifier))
    .filter((target) => !target.startsWith('node_modules/'));
/** What a file names of another; types apart, which enter nothing. */
const namesOf = (text: string, specifier: string): string[] =>
  [...text.matchAll(/\b(?:import|export) (type )?\{([^}]*)\} from '([^']+)'/g)].flatMap(([, type, names, from]) =>
    type || from !== specifier
      ? []
      : names!
          .split(',')
          .map((name) => name.trim())
          .filter((name) => name && !name.startsWith('type ')),
  );
const edges = [...sources].flatMap(([path, text]) =>
  [...new Set(specifiersOf(text))]
    .filter((specifier) => /^[.#]/.test(specifier) && !specifier.includes('/node_modules/'))
    .map((specifier) => {
      const target = targetOf(path, specifier);
      return { path, target, edge: `${path} -> ${target}`, names: namesOf(text, specifier) };
    }),
);

const filesIn = (pattern: RegExp): string[] => [...sources].filter(([, text]) => pattern.test(text)).map(([path]) => path);
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

  it('goes down, or stays in the own room', () => {
    expect(edges.filter(({ path, target }) => rankOf(target) > rankOf(path)).map(({ edge }) => edge)).toEqual([]);
  });

  it('goes from routes to verbs to stores inside a feature, never back', () => {
    const inside = edges.filter(({ path, target }) => isFeature(path) && rankOf(path) === rankOf(target));
    expect(inside.length).toBeGreaterThan(20);
    expect(inside.filter(({ path, target }) => stepOf(target) > stepOf(path)).map(({ edge }) => edge)).toEqual([]);
  });

  it('enters another feature through its verbs and resources; of its store it only reads, and its routes stay closed', () => {
    const across = edges.filter(({ path, target }) => isFeature(path) && isFeature(target) && rankOf(path) !== rankOf(target));
    const isClosed = ({ target, names }: (typeof edges)[number]) =>
      stepOf(target) === 2 || (stepOf(target) === 0 && !names.every((name) => /^(?:find|get|list|load|is|has)[A-Z]/.test(name)));
    expect(across.length).toBeGreaterThan(0);
    expect(across.filter((one) => isClosed(one) && one.path !== 'worker/features/routers.ts').map(({ edge }) => edge)).toEqual([]);
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
    expect(edges.filter(({ path, target }) => path.startsWith('durable-objects/') && target.startsWith('worker/platform/db/'))).toEqual([]);
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
  const drizzle = [
    /^worker\/platform\/db\//,
    /\/(?:[\w-]+\.)?store\.ts$/,
    /^worker\/platform\/context\.ts$/,
    /^worker\/published\/health\.ts$/,
  ];

  it.each([
    ['SQL is written in stores and platform/db/', () => importing(/^drizzle-orm/), drizzle],
    [
      'tables are named in stores and platform/db/; the types of their rows everywhere',
      () => filesWith(/^import (?!type )(?!\{(?: type \w+,?)+ \})[^;]*platform\/db\/tables\//m),
      drizzle.slice(0, 2),
    ],
    ['tables are made in platform/db/tables/', () => filesWith(/\bsqliteTable\(/), [/^worker\/platform\/db\/tables\//]],
    ['only objects touch object storage', () => filesWith(/\bctx\.storage\b|\bstate\.storage\b/), [/^durable-objects\//]],
    [
      'the clock is read once per request or job, and in objects',
      () => filesWith(/\bDate\.now\b|\bnew Date\(\)/),
      [/^worker\/(?:app|index|jobs|sweeps|platform\/(?:context|log)|published\/health)\.ts$/, /^durable-objects\//, BUYERS_BROWSER],
    ],
    ['only the log prints', () => filesWith(/\bconsole\./), [/^worker\/platform\/log\.ts$/]],
    [
      'only the chain client, the providers, the sender of webhooks and the buyer’s browser call the network',
      () => filesWith(/(?<![.\w])fetch\(/),
      [
        /^worker\/solana\/node\.ts$/,
        /^worker\/platform\/providers\//,
        /^worker\/features\/webhooks\/deliveries\/post\.ts$/,
        BUYERS_BROWSER,
      ],
    ],
    ['ids come from core/ids', () => filesWith(/\brandomUUID\b/), []],
    [
      'randomness is cryptographic, but for the jitter of retries',
      () => filesWith(/\bMath\.random\b/),
      [/^worker\/features\/webhooks\/deliveries\/(?:attempt|post)\.ts$/],
    ],
    ['an amount is never a float', () => filesWith(/\bparseFloat\b|\bNumber\([^)]*(?:amount|units|price|fee)/i), []],
    [
      'credentials are read by accounts/auth/, and seen to exist by one guard',
      () => filesWith(/header\('(?:X-Svc-Key|Authorization)'\)/),
      [/^worker\/features\/accounts\/auth\/authenticate\.ts$/, /^worker\/platform\/http\/callers\.ts$/],
    ],
    [
      'errors take their shape in platform/http/on-error',
      () => filesWith(/c\.json\(\s*\{\s*detail\b(?=[\s\S]{0,200}\b[45]\d\d\b)/),
      [/^worker\/platform\/http\/on-error\.ts$/],
    ],
    [
      'ApiError is not thrown by pure rules other than the state machines',
      () => filesWith(/throw new ApiError/),
      [/^worker\/(?:core\/errors|rules\/states|app)\.ts$/, /^worker\/(?:platform|features|pages)\//],
    ],
    ['a rail is named in its row and in features/rails/ alone', () => filesWith(new RegExp(`\\b(?:${RAIL_IDS.join('|')})\\b`)), RAIL_FILES],
    [
      'nothing else asks which rail it has, but what its row says',
      () => filesWith(RAIL_COMPARED),
      [...RAIL_FILES, /^worker\/rules\/product-rails\.ts$/],
    ],
    ['environment variables are read through the checked configuration', () => filesWith(/\bprocess\.env\b/), []],
    ['no type is escaped', () => filesWith(/\bas any\b|:\s*any\b|@ts-(?:ignore|expect-error|nocheck)/), []],
  ])('%s', (_law, files, allowed) => {
    expect(outside(files(), ...allowed)).toEqual([]);
  });

  it('knows what it looks for: the patterns find the places where each thing is allowed', () => {
    expect(importing(/^drizzle-orm/).length).toBeGreaterThan(5);
    expect(filesWith(/\bDate\.now\b/)).toContain('worker/platform/context.ts');
    expect(filesWith(/\bconsole\./)).toEqual(['worker/platform/log.ts']);
    expect(outside(filesWith(/(?<![.\w])fetch\(/), BUYERS_BROWSER)).toEqual([
      'worker/features/webhooks/deliveries/post.ts',
      'worker/platform/providers/local-clock.ts',
      'worker/platform/providers/price.ts',
      'worker/solana/node.ts',
    ]);
    expect(filesWith(/throw new ApiError/)).toContain('worker/rules/states.ts');
    for (const one of [
      "kind === 'x402'",
      'RAILS[railId].kind',
      "RAILS[a].asset !== 'SOL'",
      'const { asset, kind } = RAILS[b]',
      'id === X402_RAIL',
    ])
      expect(one).toMatch(RAIL_COMPARED);
  });
});

describe('names and budgets', () => {
  const lines = (text: string): number => text.trimEnd().split('\n').length;
  const budgetOf = (path: string): number => (isFeature(path) && stepOf(path) !== 2 ? 200 : 250);

  it('has no file named for being a leftover', () => {
    expect([...sources.keys()].filter((path) => /util|helper|common|misc|manager|V\d+\b/i.test(path))).toEqual([]);
    expect([...sources.keys()].filter((path) => !/^[a-z0-9./-]+$/.test(path))).toEqual([]);
  });

  it('keeps folders within their budget, and features within three levels', () => {
    const folders = Map.groupBy(sources.keys(), folderOf);
    const full = [...folders].filter(([folder, files]) => files.length > (LONG_FOLDERS[folder] ?? FILES_MAX));
    expect(full.map(([folder, files]) => `${folder}: ${files.length}`)).toEqual([]);
    expect([...folders.keys()].filter((folder) => /^worker\/features(?:\/[^/]+){3}/.test(folder))).toEqual([]);
  });

  it('keeps worker/ itself for entry files', () => {
    const entries = [...sources.keys()].filter((path) => folderOf(path) === 'worker');
    expect(entries).toEqual(['app', 'followers', 'index', 'jobs', 'sweeps'].map((name) => `worker/${name}.ts`));
  });

  it('cites only what is here: a heading of a README beside the code', () => {
    const slugOf = (heading: string): string =>
      heading
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .trim()
        .replaceAll(' ', '-');
    const headings = new Set(
      Object.entries(readmes).flatMap(([path, text]) =>
        [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => `${path.slice(6)}#${slugOf(heading!)}`),
      ),
    );
    const cited = [...sources].flatMap(([path, text]) =>
      [...text.matchAll(/[\w./-]+README\.md#[\w-]+/g)].map(([citation]) => ({ path, citation })),
    );
    expect(cited.length).toBeGreaterThan(5);
    expect(cited.filter(({ citation }) => !headings.has(citation))).toEqual([]);
    const elsewhere = filesIn(/\((?:contract|protocols|reliability|architecture) (?:section|trap|D?\d)/);
    expect(elsewhere).toEqual([]);
  });

  it('keeps files within their budget, tests too', () => {
    const long = [...sources].filter(([path, text]) => lines(text) > budgetOf(path)).map(([path, text]) => `${path}: ${lines(text)}`);
    const longTests = tests.filter(([, text]) => lines(text) > 300).map(([path, text]) => `test/${path.slice(3)}: ${lines(text)}`);
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
