import type { Body, Host } from '../book/host.ts';
import type { Tenant } from './tenant.ts';

/** Lists that a stranger cannot change, apart from new payments of open sessions. */
const LISTS = [
  '/v1/payments',
  '/v1/receipts',
  '/v1/memberships',
  '/v1/access/entitlements',
  '/v1/products',
  '/v1/keys',
  '/v1/webhooks/endpoints',
  '/v1/access/rail-settings',
  '/v1/account/me',
];
/** Fields that follow the clock and the owner's own reads, not what a stranger does. */
const UNSTEADY = new Set([
  'last_used_at',
  'recent_activity',
  'usage_summary',
  'updated_at',
  'last_success_at',
  'finalized_at',
  'version',
  'checked_at',
  // Health of endpoints: deliveries of earlier events go on.
  'failure_streak',
  'failing_since',
  'disables_at',
  'last_failure_at',
]);
const PAGE = 100;

/** Books of a tenant as its owner reads them: one text for each row of each list, by its id. */
export class Books {
  readonly rows = new Map<string, string>();

  /** Returns the rows that are gone or differ. New ones are none of these. */
  compare(later: Books): string[] {
    return [...this.rows].flatMap(([name, text]) => {
      const now = later.rows.get(name);
      if (now === text) return [];
      return [now === undefined ? `${name} is gone` : `${name} was\n  ${text}\nand is\n  ${now}`];
    });
  }
}

export async function readBooks(host: Host, { shop }: Tenant): Promise<Books> {
  const books = new Books();
  for (const [mode, key] of [
    ['live', shop.liveKey],
    ['sandbox', shop.sandboxKey],
  ] as const) {
    for (const path of LISTS) {
      const rows = await readRows(host, path, path === '/v1/keys' || path === '/v1/account/me' ? shop.token : key);
      rows.forEach((row, index) => {
        books.rows.set(
          `${mode} ${path} ${idOf(row) ?? index}`,
          JSON.stringify(row, (name, value) => (UNSTEADY.has(name) ? undefined : value)),
        );
      });
    }
  }
  return books;
}

function idOf(row: Body): string | undefined {
  const [name] = Object.keys(row).filter((one) => /^(?:id|\w+_id)$/.test(one));
  return name === undefined ? undefined : row[name];
}

/** Rows of a list without pages, or of one object. */
const listOf = (body: Body): Body[] => (Array.isArray(body.items ?? body) ? (body.items ?? body) : [body]);

async function readRows(host: Host, path: string, key: string): Promise<Body[]> {
  const rows: Body[] = [];
  const credential: Record<string, string> = key.startsWith('svc_') ? { 'X-Svc-Key': key } : { Authorization: `Bearer ${key}` };
  for (let page = 1; ; page++) {
    const { status, body } = await host.call('GET', `${path}?per_page=${PAGE}&page=${page}`, { headers: credential });
    if (status === 422 && page === 1) return listOf((await host.call('GET', path, { headers: credential })).body);
    if (status !== 200) throw new Error(`the victim's own ${path} answers ${status}: ${JSON.stringify(body)}`);
    if (!Array.isArray(body.items)) return listOf(body);
    rows.push(...body.items);
    if (!body.has_more) return rows;
  }
}
