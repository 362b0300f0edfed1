import { type Operation, openApi } from '../support/clients/call.ts';

/**
 * Every route of the service: the rows of the specification's tables, each completed by what they leave open, and the routes added
 * since. Nothing specified can be forgotten here: a row without a reading fails whatever imports this.
 */
const files = import.meta.glob<string>('./spec-*.md', { query: '?raw', import: 'default', eager: true });

/**
 * Who may call. none: anybody · merchant: key or token · person: token only · session: a token here or in the body · viewer: anybody, the owner sees more ·
 * key: a key alone · signature, connector_secret, setup_secret: a shared secret of another kind · activator: key, token or
 * setup secret · proof: the request itself proves its right.
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
  | 'activator'
  | 'proof';

export interface Route {
  method: string;
  path: string;
  auth: Auth;
  /** What a key must be allowed; null where no key is asked for. */
  permission: 'read' | 'execute' | null;
  /** Success status. */
  status: number;
  /** Of the answer to a success; null where it has no body. */
  contentType: string | null;
  /** Requires the Idempotency-Key header. */
  idempotent: boolean;
  /** False for pages and for the description itself, which are not operations of the document. */
  documented: boolean;
}

/** The rows of a markdown table whose header begins with these cells, under any heading. */
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

/** What the specification says of one route; undefined where it is silent. */
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
    // The table of keys has no column for it, and says it with the request.
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

/** What was asked for and what it is read as, in one; where both speak of the same they must agree. */
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

/** What is read into each specified route, by its name. */
export const readings = readingsUnder('Specified route');
const added = [...readingsUnder('Added route')].map(([name, reading]) => {
  const [method, path] = name.split(' ') as [string, string];
  return complete({ method, path, idempotent: false }, reading);
});

export const routes: Route[] = [...specified.map((row) => complete(row, readings.get(nameOf(row)))), ...added];

/** Routes of the table that do not exist yet. It only ever shrinks, and ends empty. */
export const notBuiltYet = new Set(rowsUnder('readings', 'Not built yet').map((row) => row['Not built yet']!));

export const builtRoutes: Route[] = routes.filter((route) => !notBuiltYet.has(nameOf(route)));

const NOBODYS: Record<string, string> = { delivery_id: '999999999' };

/** A path with its parameters filled in; a parameter nobody names gets an id that does not exist. */
export function fill(path: string, params: Record<string, string> = {}): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? NOBODYS[name] ?? '01900000-0000-7000-8000-000000000000'),
  );
}

/** The operations of the published document, by `METHOD path`. */
export const operations = new Map<string, Operation>(
  Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [`${method.toUpperCase()} ${path}`, operation]),
  ),
);
