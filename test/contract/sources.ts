import { RAIL_KINDS } from '#rules/product-rails.ts';

export const sources = new Map(
  Object.entries(
    import.meta.glob<string>('../../{worker,durable-objects}/**/*.{ts,tsx,js}', { query: '?raw', import: 'default', eager: true }),
  ).map(([path, text]) => [path.slice(6), text]),
);
/** Developer tools, the client package and the examples. They have no ranks and the same budgets. */
const tools = new Map(
  Object.entries(
    import.meta.glob<string>(
      ['../../{local,sdk/src,examples}/**/*.{ts,tsx}', '!**/*.d.ts', '!../../sdk/src/generated/**', '!../../local/*/dist/**'],
      {
        query: '?raw',
        import: 'default',
        eager: true,
      },
    ),
  ).map(([path, text]) => [path.slice(6), text]),
);
export const program = new Map([...sources, ...tools]);
export const readmes = import.meta.glob<string>('../../{worker,durable-objects}/**/README.md', {
  query: '?raw',
  import: 'default',
  eager: true,
});
/** Path and text of every test except this file, because a glob does not include the importing file. */
export const tests = Object.entries(import.meta.glob<string>('../**/*.ts', { query: '?raw', import: 'default', eager: true })).map(
  ([path, text]) => [path.replace(/^\.\//, '../contract/').replace('../', 'test/'), text] as const,
);

/** Layers of the service from the bottom up. A file imports from lower layers or from its own, and the first match decides. */
export const ROOMS = [
  /^worker\/core\/locales\.ts$/,
  // Page code shared by server and browser, then browser code.
  /^worker\/pages\/locales\//,
  /^worker\/pages\/parts\//,
  /^worker\/pages\/browser\//,
  /^worker\/pages\/checkout\/(?!page\.tsx$|subscribe\.tsx$|listing\.tsx$|print\/|client\/|machine\/)/,
  /^worker\/pages\/checkout\/machine\//,
  /^worker\/pages\/checkout\/client\//,
  /^worker\/pages\/receipt\/(?!page\.tsx$|documents\.tsx$|client\/)/,
  /^worker\/pages\/receipt\/client\//,
  /^worker\/pages\/subscribing\/(?!page\.tsx$|client\/)/,
  /^worker\/pages\/subscribing\/client\//,
  /^worker\/pages\/signing\/(?!page\.tsx$|client\/)/,
  /^worker\/pages\/signing\/client\//,
  /^worker\/pages\/account\/(?!pages\.tsx$|client\/)/,
  /^worker\/pages\/account\/client\//,
  /^worker\/pages\/dashboard\/client\//,
  /^worker\/pages\/me\/client\//,
  /^worker\/core\//,
  // PDF receipts: pure functions, loaded on first use.
  /^worker\/pdf\/text\//,
  /^worker\/pdf\//,
  /^worker\/rules\//,
  // Email templates, loaded when one is sent.
  /^worker\/emails\//,
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
  /^worker\/features\/email\//,
  /^worker\/features\/connected-chats\//,
  /^worker\/features\/accounts\//,
  /^worker\/features\/buyer-sign-in\//,
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
  /^worker\/features\/catalogue\//,
  /^worker\/features\/facilitator\//,
  /^worker\/features\/metered\//,
  /^worker\/features\/membership-delivery\//,
  /^worker\/features\/webhooks\//,
  /^worker\/features\/email-delivery\//,
  /^worker\/features\/support\//,
  /^worker\/features\/customers\//,
  /^worker\/features\/buyers\//,
  /^worker\/features\/search\//,
  /^worker\/features\/analytics\//,
  /^worker\/features\/readiness\//,
  /^worker\/features\/agent-setup\//,
  /^worker\/features\/billing\//,
  /^worker\/features\/audit\//,
  /^worker\/features\/audit-log\//,
  /^worker\/features\/finality\//,
  /^worker\/features\/retention\//,
  /^worker\/features\/privacy\//,
  /^worker\/features\/key-rotation\//,
  /^worker\/features\/sandbox\//,
  /^worker\/features\/operator\//,
  /^worker\/features\/routers\.ts$/,
  /^worker\/pages\/(?!routes\.tsx$)[\w-]+\.tsx?$/,
  /^worker\/pages\/subscribing\//,
  /^worker\/pages\/signing\//,
  /^worker\/pages\/checkout\//,
  /^worker\/pages\/receipt\//,
  /^worker\/pages\/account\//,
  /^worker\/pages\/dashboard\/frame\//,
  /^worker\/pages\/me\//,
  /^worker\/pages\/dashboard\/screens\//,
  /^worker\/pages\/dashboard\//,
  /^worker\/pages\/routes\.tsx$/,
  /^worker\/event-handlers\.ts$/,
  /^worker\/jobs\.ts$/,
  /^worker\/sweeps\.ts$/,
  /^worker\/published\//,
  /^worker\/middleware\.ts$/,
  /^worker\/critical-routes\.ts$/,
  /^worker\/app\.ts$/,
  /^worker\/index\.ts$/,
];

/** Browser code, which uses the browser's clock and network. */
export const BROWSER_FILES = /^worker\/pages\/(?:browser|(?:checkout|subscribing|signing|receipt|account)\/client)\//;
/** Files that may name a specific rail. */
export const RAIL_FILES = [/^worker\/rules\/rails\.ts$/, /^worker\/features\/rails\//];
/** Matches a comparison of a rail's id, kind or asset, and a read of its kind. */
export const RAIL_COMPARED = new RegExp(
  [
    String.raw`[!=]==\s*(?:X402_RAIL\b|'(?:${RAIL_KINDS.join('|')})'|RAILS\[[^\]]*\]\.asset\b)`,
    String.raw`RAILS\[[^\]]*\]\.(?:kind|asset\s*[!=]==)`,
    String.raw`\bkind\b[^;\n]*\} = RAILS\[`,
  ].join('|'),
);

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
/** Specifiers of own modules. Texts as JSON import nothing. */
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
export const filesWith = (pattern: RegExp): string[] =>
  [...sources].filter(([, text]) => pattern.test(text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, ''))).map(([path]) => path);
export const outside = (files: string[], ...allowed: RegExp[]): string[] =>
  files.filter((path) => !allowed.some((pattern) => pattern.test(path)));
