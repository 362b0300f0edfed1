import { type Operation, openApi } from '../support/clients/call.ts';

/**
 * Every route of the service: the rows of the specified tables, completed by their readings, and the routes added since. A specified row
 * without a reading makes this module throw.
 */
const files = import.meta.glob<string>('./spec-*.md', { query: '?raw', import: 'default', eager: true });

/**
 * Callers of a route. none: public. merchant: key or token. person: token. session: token in header or body. buyer: token of a buyer. viewer: public, with more for
 * its merchant.
 */
export type Auth =
  | 'none'
  | 'merchant'
  | 'person'
  | 'session'
  | 'viewer'
  | 'key'
  | 'signature'
  | 'mail_signature'
  | 'connector_secret'
  | 'setup_secret'
  | 'buyer'
  | 'activator'
  | 'proof';

export interface Route {
  method: string;
  path: string;
  auth: Auth;
  permission: 'read' | 'execute' | null;
  status: number;
  contentType: string | null;
  idempotent: boolean;
  /** False for pages and for the OpenAPI document itself, which are no operations of the document. */
  documented: boolean;
}

/** Returns the rows of a markdown table with these header cells, under any heading. */
export function rowsUnder(file: 'tables' | 'readings', ...header: string[]): Record<string, string>[] {
  const rows: Record<string, string>[] = [];
  let names: string[] | null = null;
  for (const line of files[`./spec-${file}.md`]!.split('\n')) {
    const cells = line.startsWith('|')
      ? line
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim())
      : null;
    if (!cells) names = null;
    else if (names === null) names = cells;
    else if (!cells.every((cell) => /^-+$/.test(cell)) && header.every((name, i) => names![i] === name))
      rows.push(Object.fromEntries(cells.map((cell, i) => [names![i]!, cell])));
  }
  return rows;
}

interface Specified {
  method: string;
  path: string;
  auth?: Auth;
  status?: number;
  contentType?: string;
  idempotent: boolean;
}

const AUTHS: Record<string, Auth> = { yes: 'merchant', 'KEY or JWT': 'merchant', none: 'none', 'signature header': 'signature' };

export const specified: Specified[] = rowsUnder('tables', 'Method', 'Path').flatMap(({ Method, Path, Auth, Request = '', Response = '' }) =>
  Path!.split(',').map((path) => {
    const [, status] = /^(\d{3})\b/.exec(Response) ?? [];
    const [, contentType] = /\b((?:text|application)\/\w+)/.exec(Response) ?? [];
    // The table of keys has no column for the caller and states it in the request.
    const [, inRequest] = /(?:\(|; )(KEY or JWT|JWT)\)?$/.exec(Request) ?? [];
    const auth = AUTHS[Auth ?? ''] ?? (inRequest === 'JWT' ? 'person' : AUTHS[inRequest ?? '']);
    return {
      method: Method!,
      path: path.replace(/\(.*\)/, '').trim(),
      ...(auth ? { auth } : {}),
      ...(status ? { status: Number(status) } : {}),
      ...(contentType ? { contentType } : {}),
      idempotent: /^IDEM\b/.test(Request),
    };
  }),
);

export const nameOf = ({ method, path }: Pick<Route, 'method' | 'path'>): string => `${method} ${path}`;

interface Reading {
  auth: Auth;
  status?: number;
  contentType?: string;
  flags: string[];
}

const readingsUnder = (heading: string): Map<string, Reading> =>
  new Map(
    rowsUnder('readings', heading).map((row) => {
      const flags = row.Also!.split(' ');
      const contentType = flags.find((flag) => flag.includes('/'));
      const status = row.Success ? { status: Number(row.Success) } : {};
      return [row[heading]!, { auth: row['Who may call'] as Auth, ...status, ...(contentType ? { contentType } : {}), flags }];
    }),
  );

/** Merges the specified row with its reading. Throws if both define a property differently. */
function complete({ idempotent, ...row }: Specified, reading: Reading | undefined): Route {
  const name = nameOf(row);
  if (!reading) throw new Error(`nobody has said who may call ${name}`);
  if (row.auth && row.auth !== reading.auth) throw new Error(`${name} is for ${row.auth}, not ${reading.auth}`);
  if (row.status && reading.status) throw new Error(`the status of ${name} is specified`);
  const { auth, flags } = reading;
  const status = row.status ?? reading.status;
  if (!status) throw new Error(`nobody has said what ${name} answers`);
  const hasKey = ['merchant', 'key', 'activator'].includes(auth);
  return {
    method: row.method,
    path: row.path,
    auth,
    permission: hasKey ? (row.method === 'GET' ? 'read' : 'execute') : null,
    status,
    contentType: [204, 302].includes(status) ? null : (row.contentType ?? reading.contentType ?? 'application/json'),
    idempotent: idempotent || flags.includes('IDEM'),
    documented: !flags.includes('undocumented'),
  };
}

export const readings = readingsUnder('Specified route');
const added = [...readingsUnder('Added route')].map(([name, reading]) => {
  const [method, path] = name.split(' ') as [string, string];
  return complete({ method, path, idempotent: false }, reading);
});

export const routes: Route[] = [...specified.map((row) => complete(row, readings.get(nameOf(row)))), ...added];

/** Unbuilt routes of the table. The set only shrinks and ends empty. */
export const notBuiltYet = new Set(rowsUnder('readings', 'Not built yet').map((row) => row['Not built yet']!));

export const builtRoutes: Route[] = routes.filter((route) => !notBuiltYet.has(nameOf(route)));

const NOBODYS: Record<string, string> = { delivery_id: '999999999' };

/** Fills in the path parameters. A missing parameter gets an id that does not exist. */
export function fill(path: string, params: Record<string, string> = {}): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? NOBODYS[name] ?? '01900000-0000-7000-8000-000000000000'),
  );
}

export const operations = new Map<string, Operation>(
  Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [`${method.toUpperCase()} ${path}`, operation]),
  ),
);
