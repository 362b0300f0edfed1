import { RAIL_KINDS } from '#rules/product-rails.ts';

/** The laws of the house, read off the source text of every file. */
export const sources = new Map(
  Object.entries(
    import.meta.glob<string>('../../{worker,durable-objects}/**/*.{ts,tsx,js}', { query: '?raw', import: 'default', eager: true }),
  ).map(([path, text]) => [path.slice(6), text]),
);
/** The tools of a developer and the client package: they have no ranks, and the same budgets. */
const tools = new Map(
  Object.entries(
    import.meta.glob<string>(['../../{local,sdk/src}/**/*.ts', '!**/*.d.ts'], { query: '?raw', import: 'default', eager: true }),
  ).map(([path, text]) => [path.slice(6), text]),
);
export const program = new Map([...sources, ...tools]);
export const readmes = import.meta.glob<string>('../../{worker,durable-objects}/**/README.md', {
  query: '?raw',
  import: 'default',
  eager: true,
});
/** Path and text of every test, this file apart: a glob does not find the file that it stands in. */
export const tests = Object.entries(import.meta.glob<string>('../**/*.ts', { query: '?raw', import: 'default', eager: true })).map(
  ([path, text]) => [path.replace(/^\.\//, '../contract/').replace('../', 'test/'), text] as const,
);

/** The rooms of the service from the bottom up. A file imports from lower rooms, or from its own; the first match decides. */
export const ROOMS = [
  /^worker\/core\/locales\.ts$/,
  // What server and browser share of the pages, then what runs in the browser alone.
  /^worker\/pages\/locales\//,
  /^worker\/pages\/parts\//,
  /^worker\/pages\/browser\//,
  /^worker\/pages\/checkout\/(?!page\.tsx$|subscribe\.tsx$|listing\.tsx$|print\/|client\/|machine\/)/,
  /^worker\/pages\/checkout\/machine\//,
  /^worker\/pages\/checkout\/client\//,
  /^worker\/pages\/receipt\/(?!page\.tsx$|papers\.tsx$|client\/)/,
  /^worker\/pages\/receipt\/client\//,
  /^worker\/pages\/subscribing\/(?!page\.tsx$|client\/)/,
  /^worker\/pages\/subscribing\/client\//,
  /^worker\/pages\/signing\/(?!page\.tsx$|client\/)/,
  /^worker\/pages\/signing\/client\//,
  /^worker\/pages\/account\/(?!pages\.tsx$|client\/)/,
  /^worker\/pages\/account\/client\//,
  /^worker\/core\//,
  // Receipts as papers: pure, and loaded when they are first needed.
  /^worker\/papers\/text\//,
  /^worker\/papers\//,
  /^worker\/rules\//,
  // Letters as they are read, loaded when one is sent.
  /^worker\/letters\//,
  /^worker\/solana\//,
  /^worker\/protocols\//,
  /^worker\/platform\/(?:variables\/)?[\w.-]+\.ts$/,
  /^worker\/platform\/db\/tables\//,
  /^worker\/platform\/db\/among\.ts$/,
  /^worker\/platform\/queues\//,
  /^worker\/platform\/db\//,
  /^worker\/platform\/providers\//,
  /^worker\/platform\/chain\//,
  /^worker\/platform\/http\//,
  /^durable-objects\//,
  /^worker\/features\/mail\//,
  /^worker\/features\/communities\//,
  /^worker\/features\/accounts\//,
  /^worker\/features\/products\//,
  /^worker\/features\/rails\//,
  /^worker\/features\/memberships\//,
  /^worker\/features\/authorizations\//,
  /^worker\/features\/receipts\//,
  /^worker\/features\/entitlements\//,
  /^worker\/features\/plans\//,
  /^worker\/features\/payments\//,
  /^worker\/features\/settlements\//,
  /^worker\/features\/subscriptions\//,
  /^worker\/features\/checkout\//,
  /^worker\/features\/pay-per-request\//,
  /^worker\/features\/facilitator\//,
  /^worker\/features\/metered\//,
  /^worker\/features\/placements\//,
  /^worker\/features\/webhooks\//,
  /^worker\/features\/mail-delivery\//,
  /^worker\/features\/support\//,
  /^worker\/features\/analytics\//,
  /^worker\/features\/readiness\//,
  /^worker\/features\/agent-setup\//,
  /^worker\/features\/billing\//,
  /^worker\/features\/audit\//,
  /^worker\/features\/finality\//,
  /^worker\/features\/retention\//,
  /^worker\/features\/seals\//,
  /^worker\/features\/sandbox\//,
  /^worker\/features\/operations\//,
  /^worker\/features\/routers\.ts$/,
  // What every page is made of, then the pages, then their addresses.
  /^worker\/pages\/(?!routes\.tsx$)[\w-]+\.tsx?$/,
  /^worker\/pages\/subscribing\//,
  /^worker\/pages\/signing\//,
  /^worker\/pages\/checkout\//,
  /^worker\/pages\/receipt\//,
  /^worker\/pages\/account\//,
  /^worker\/pages\/routes\.tsx$/,
  /^worker\/followers\.ts$/,
  /^worker\/jobs\.ts$/,
  /^worker\/sweeps\.ts$/,
  /^worker\/published\//,
  /^worker\/serve\.ts$/,
  /^worker\/front\.ts$/,
  /^worker\/app\.ts$/,
  /^worker\/index\.ts$/,
];

/** What runs in a person’s browser, where clock and network are the browser’s. */
export const BROWSER_FILES = /^worker\/pages\/(?:browser|(?:checkout|subscribing|signing|receipt|account)\/client)\//;
/** Where a rail is known by name. */
export const RAIL_FILES = [/^worker\/rules\/rails\.ts$/, /^worker\/features\/rails\//];
/** A rail's id, kind or asset compared with another, or its kind read. */
export const RAIL_COMPARED = new RegExp(
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

export const rankOf = (path: string): number => {
  const room = ROOMS.findIndex((pattern) => pattern.test(path));
  return room < 0 ? Number.NaN : room;
};
export const stepOf = (path: string): number => STEPS.find(([pattern]) => pattern.test(path))?.[1] ?? 1;
export const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'));
export const isFeature = (path: string): boolean =>
  /^worker\/(?:features\/[\w-]+\/|pages\/(?:[^/]+|(?:checkout|receipt)\/(?:page|listing)\.tsx)$)/.test(path);

function resolve(from: string, specifier: string): string {
  const parts = folderOf(from).split('/');
  for (const part of specifier.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}
/** Specifiers of our own modules. Texts as JSON import nothing. */
const IS_OWN_CODE = /^[.#](?!.*\.json$)/;
export const specifiersOf = (text: string): string[] =>
  [...text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)['"]([^'"]+)['"]/g)].map(([, specifier]) => specifier!);
const targetOf = (path: string, specifier: string): string =>
  specifier.startsWith('#') ? specifier.replace('#', 'worker/') : resolve(path, specifier);
export const importsOf = (path: string, text: string): string[] =>
  specifiersOf(text)
    .filter((specifier) => IS_OWN_CODE.test(specifier))
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
export const edges = [...sources].flatMap(([path, text]) =>
  [...new Set(specifiersOf(text))]
    .filter((specifier) => IS_OWN_CODE.test(specifier) && !specifier.includes('/node_modules/'))
    .map((specifier) => {
      const target = targetOf(path, specifier);
      return { path, target, edge: `${path} -> ${target}`, names: namesOf(text, specifier) };
    }),
);

export const filesIn = (pattern: RegExp): string[] => [...sources].filter(([, text]) => pattern.test(text)).map(([path]) => path);
/** Files whose text matches, without comments. */
export const filesWith = (pattern: RegExp): string[] =>
  [...sources].filter(([, text]) => pattern.test(text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, ''))).map(([path]) => path);
export const outside = (files: string[], ...allowed: RegExp[]): string[] =>
  files.filter((path) => !allowed.some((pattern) => pattern.test(path)));
