import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ASSETS, formatAmount } from '../worker/core/money.ts';
import { plain } from '../worker/pages/parts/text.ts';
import { setUpBilling } from './admin/billing-setup.ts';
import { followMove, type MoveReport } from './admin/move-partition.ts';
import { type RebuiltNamesPage, rebuildAllNames } from './admin/rebuild-names.ts';
import { type ReconciledPage, reconcileAll } from './admin/reconcile.ts';
import { runDatabases } from './admin/run-databases.ts';

/** `npm run admin`: calls restricted to the operator of the service. */
const USAGE = `npm run admin -- suspend|resume|staff|unstaff <email or user id>
       npm run admin -- set-email <email or user id> <new email> --reason <text>   for an owner who lost the address
       npm run admin -- reset-factors <email or user id> --reason <text>   removes passkeys, app and codes after 72 hours
       npm run admin -- off|on rail:<rail_id>|product:<product_id>|mail
       npm run admin -- unbounce <email>                        enables emails to a suspended address
       npm run admin -- emails complaint <email or user id> <address that complained> --reason <text>   the third in 30 days pauses
       npm run admin -- emails resume <email or user id> --reason <text>   receipts and proofs of the account are emailed again
       npm run admin -- accounts [<email or user id>]         the newest fifty, or one
       npm run admin -- payment <payment_id or transaction>    of any merchant
       npm run admin -- recheck <payment_id> <transaction>     checks the chain again, as the buyer's page would
       npm run admin -- log [<user id>]                         acts of operators and staff, or all entries of an account
       npm run admin -- totals                                 accounts by status, and totals of live sales
       npm run admin -- dead-letters [all | <id> …]            lists permanently failed messages, or sends them again
       npm run admin -- reconcile <time, such as 2026-11-22T10:00:00Z>   after a restore to that time: aligns objects, copies and chain
       npm run admin -- names rebuild                           writes the names of all databases to DIRECTORY
       npm run admin -- partitions                             lists the partitions, their databases and moves
       npm run admin -- partitions move <00c> --to <DB_2>       moves a partition to another database, and prints each step
       npm run admin -- partitions cancel <00c>                 cancels a move that is not published
       npm run admin -- partitions close|open <DB_2>            refuses the writes of a database that is restored, or accepts them
       npm run admin -- databases [list]                       room, lag, partitions and migrations of each database
       npm run admin -- databases migrate                       applies the migrations to DIRECTORY, then to each database
       npm run admin -- databases add --region <apac>           creates, binds and migrates another database
       npm run admin -- billing:setup --url <BASE_URL>, with PROCESSOR_API_KEY in the environment
       with [--url http://127.0.0.1:8787] [--state .local] [--reason <text>, for the audit log]`;

interface Call {
  method: 'GET' | 'POST';
  path: string;
  body?: object;
  said?: (answer: never) => string;
}

/** Maps arguments to a call. Returns null if they do not fit the action. */
type Action = (actionArgs: string[]) => Call | null;

const ofAccount =
  (action: string): Action =>
  ([account, ...rest]) =>
    account === undefined || rest.length > 0
      ? null
      : {
          method: 'POST',
          path: '/v1/operator/accounts',
          body: { account, action },
          said: ({ user_id, status, is_staff }: { user_id: string; status: string; is_staff: boolean }) =>
            `${user_id} is ${status}${is_staff ? ', staff' : ''}`,
        };

/** Acts that need a reason in the log. */
const NEEDS_REASON = ['set-email', 'reset-factors', 'emails'];

const turned =
  (to: string): Action =>
  ([subject, ...rest]) =>
    subject === undefined || rest.length > 0
      ? null
      : {
          method: 'POST',
          path: '/v1/operator/switches',
          body: { subject, to },
          said: ({ switched_off: off }: { switched_off: string[] }) => (off.length > 0 ? `off: ${off.join(', ')}` : 'everything is on'),
        };

function lines({ items }: { items: object[] }): string {
  if (items.length === 0) return 'none';
  const rows = [Object.keys(items[0]!), ...items.map((item) => Object.values(item).map((value) => String(value ?? '') || '-'))];
  const widths = rows[0]!.map((_name, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

interface LogEntry {
  at: string;
  actor: { kind: string; id?: string; name?: string };
  action: string;
  subject: { type: string; id: string };
  account_id: string;
  outcome: string;
  reason?: string;
}

const logText = ({ items }: { items: LogEntry[] }): string =>
  lines({
    items: items.map(({ at, actor, action, subject, account_id, outcome, reason }) => ({
      ...{ at, actor: [actor.kind, actor.name ?? actor.id ?? ''].join(' ').trim(), action },
      ...{ subject: `${subject.type} ${subject.id}`, account_id, outcome, reason: reason ?? '' },
    })),
  });

const TOTALS_TEXT =
  'Live sales. sessions, confirmed, failed and expired count hosted checkouts; usdc_count and sol_count count all payments in that asset.';

function totalsText({ accounts, live }: { accounts: Record<string, number>; live: Record<string, string> }): string {
  const figure = ([name, value]: [string, string]): string => {
    const asset = ASSETS.find((one) => name.startsWith(`${one.toLowerCase()}_`) && !name.endsWith('_count'));
    return `${name}  ${asset === undefined ? value : `${formatAmount({ asset, units: BigInt(value) })} ${asset}`}`;
  };
  const states = Object.entries(accounts).map(([status, count]) => `accounts ${status}  ${count}`);
  return [...states, TOTALS_TEXT, ...Object.entries(live).map(figure)].join('\n');
}

const ACTIONS: Record<string, Action> = {
  suspend: ofAccount('suspend'),
  resume: ofAccount('resume'),
  staff: ofAccount('staff'),
  unstaff: ofAccount('unstaff'),
  'set-email': ([account, email, ...rest]) =>
    email === undefined || rest.length > 0
      ? null
      : {
          method: 'POST',
          path: '/v1/operator/accounts/email',
          body: { account, email },
          said: ({ user_id, email: set }: { user_id: string; email: string }) =>
            `${user_id} has ${set}, all sessions ended, a link was emailed`,
        },
  'reset-factors': ([account, ...rest]) =>
    account === undefined || rest.length > 0
      ? null
      : {
          method: 'POST',
          path: '/v1/operator/accounts/reset-factors',
          body: { account },
          said: ({ user_id, ends_at }: { user_id: string; ends_at: string }) =>
            `the factors of ${user_id} end at ${ends_at}, unless the owner objects`,
        },
  off: turned('off'),
  on: turned('on'),
  unbounce: ([address, ...rest]) =>
    address === undefined || rest.length > 0
      ? null
      : {
          method: 'POST',
          path: '/v1/operator/bounces',
          body: { address },
          said: ({ lifted }: { lifted: boolean }) => (lifted ? `emails to ${address} are enabled again` : `${address} was not suspended`),
        },
  emails: ([verb, account, address, ...rest]) => {
    const isComplaint = verb === 'complaint' && address !== undefined && rest.length === 0;
    const isResume = verb === 'resume' && account !== undefined && address === undefined;
    if (!isComplaint && !isResume) return null;
    return {
      method: 'POST',
      path: `/v1/operator/accounts/${isResume ? 'resume-emails' : 'complaint'}`,
      body: isResume ? { account } : { account, address },
      said: ({ user_id, complaints, emails_paused: isPaused }: { user_id: string; complaints: number; emails_paused: boolean }) =>
        `emails of ${user_id} are ${isPaused ? 'paused' : 'sent'}, complaints of 30 days: ${complaints}`,
    };
  },
  accounts: ([account]) => ({
    method: 'POST',
    path: '/v1/operator/accounts/search',
    body: account === undefined ? {} : { account },
    said: lines,
  }),
  payment: ([named]) => (named === undefined ? null : { method: 'GET', path: `/v1/operator/payments/${encodeURIComponent(named)}` }),
  recheck: ([payment_id, tx_signature]) =>
    tx_signature === undefined ? null : { method: 'POST', path: '/v1/pay/confirm', body: { payment_id, tx_signature } },
  log: ([account, ...rest]) =>
    rest.length > 0
      ? null
      : { method: 'GET', path: `/v1/operator/audit-log${account ? `?account=${encodeURIComponent(account)}` : ''}`, said: logText },
  totals: () => ({ method: 'GET', path: '/v1/operator/totals', said: totalsText }),
  'dead-letters': (ids) =>
    ids.length === 0
      ? { method: 'GET', path: '/v1/operator/dead-letters', said: lines }
      : { method: 'POST', path: '/v1/operator/dead-letters', body: { ids: ids[0] === 'all' ? 'all' : ids }, said: lines },
};

function readMoment([action, moment]: string[]): string | null {
  if (action !== 'reconcile') return null;
  if (moment === undefined || Number.isNaN(Date.parse(moment)))
    throw new Error(`"reconcile" needs the time of the restore, such as 2026-11-22T10:00:00Z.\nUsage: ${USAGE}`);
  return new Date(moment).toISOString();
}

/** Calls of `partitions`. A move is asked until it is done. */
function readPartitions([action, verb = 'list', name, ...rest]: string[], to: string | undefined): Call | { move: Call } | null {
  if (action !== 'partitions' || rest.length > 0) return null;
  const path = `/v1/operator/partitions/${verb}`;
  if (verb === 'list' && name === undefined) return { method: 'GET', path: '/v1/operator/partitions', said: lines };
  if (name === undefined) return null;
  if (verb === 'move' && to !== undefined) return { move: { method: 'POST', path, body: { partition: name, to } } };
  if (verb === 'cancel') return { move: { method: 'POST', path, body: { partition: name } } };
  if (verb !== 'close' && verb !== 'open') return null;
  const said = ({ database, partitions }: { database: string; partitions: string[] }) =>
    `${database} (${partitions.join(' ')}) ${verb === 'close' ? 'refuses writes until it is opened' : 'accepts writes'}`;
  return { method: 'POST', path, body: { database: name }, said };
}

/** `databases list` asks the service. `databases migrate` and `add` run wrangler. */
const readDatabases = ([action, verb = 'list', ...rest]: string[]): Call | null =>
  action === 'databases' && verb === 'list' && rest.length === 0 ? { method: 'GET', path: '/v1/operator/databases', said: lines } : null;

interface Order {
  call: Call | { since: string } | { move: Call } | 'rebuildNames';
  url: string;
  stateDir: string;
  /** Reason that the audit log shows. */
  reason: string | undefined;
}

function refusalOf(action: string): string {
  if (Object.hasOwn(ACTIONS, action)) return `"${action}" needs other arguments.`;
  const names = [...Object.keys(ACTIONS), 'reconcile', 'names rebuild', 'databases', 'partitions', 'billing:setup'].join(', ');
  return `${action === '' ? 'Name an action' : `"${action}" is not an action`}. The actions are ${names}.`;
}

function readOrder(args: string[]): Order {
  const options = { url: { type: 'string' }, state: { type: 'string' }, to: { type: 'string' }, reason: { type: 'string' } } as const;
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options });
  const [action = '', ...actionArgs] = positionals;
  const since = readMoment(positionals);
  const call =
    since !== null
      ? { since }
      : positionals.join(' ') === 'names rebuild'
        ? 'rebuildNames'
        : Object.hasOwn(ACTIONS, action)
          ? ACTIONS[action]!(actionArgs)
          : (readDatabases(positionals) ?? readPartitions(positionals, values.to));
  if (!call) throw new Error(`${refusalOf(action)}\nUsage: ${USAGE}`);
  if (NEEDS_REASON.includes(action) && !values.reason) throw new Error(`"${action}" needs --reason <text>.\nUsage: ${USAGE}`);
  const stateDir = resolve(values.state ?? (process.env.STATE_DIR || '.local'));
  return { call, url: values.url ?? 'http://127.0.0.1:8787', stateDir, reason: values.reason };
}

/** Reads the secret from the environment or the local state directory. Never from the command line, which every local user can read. */
function readSecret(stateDir: string): string {
  if (process.env.OPERATOR_SECRET) return process.env.OPERATOR_SECRET;
  const path = join(stateDir, 'secrets.json');
  const secrets = existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { operatorSecret?: string }) : {};
  if (secrets.operatorSecret) return secrets.operatorSecret;
  throw new Error(`Set OPERATOR_SECRET to the value of the service; ${path} contains none.`);
}

async function main(): Promise<void> {
  const [first, ...rest] = process.argv.slice(2);
  if (first === 'billing:setup') return setUpBilling(rest, process.env);
  if (first === 'databases' && (rest[0] === 'migrate' || rest[0] === 'add')) return runDatabases(rest);
  const { call, url, stateDir, reason } = readOrder(process.argv.slice(2));
  const secret: Shown = { secret: readSecret(stateDir), reason };
  if (call === 'rebuildNames') {
    const requestPage = (body: object) => ask<RebuiltNamesPage>(url, secret, { method: 'POST', path: '/v1/operator/names/rebuild', body });
    if (!(await rebuildAllNames(requestPage))) process.exitCode = 1;
    return;
  }
  if ('move' in call) {
    const { move } = call;
    await followMove(() => ask<MoveReport>(url, secret, move));
    return;
  }
  if ('since' in call) {
    const requestPage = (body: object) => ask<ReconciledPage>(url, secret, { method: 'POST', path: '/v1/operator/reconcile', body });
    if (!(await reconcileAll(requestPage, call.since))) process.exitCode = 1;
    return;
  }
  const answer = await ask<never>(url, secret, call);
  console.log(call.said ? call.said(answer) : JSON.stringify(answer, null, 2));
}

/**
 * Removes control characters from strings and field names. Merchants and buyers choose names and metadata, and could otherwise send escape
 * sequences to the operator's terminal.
 */
function printable(_name: string, value: unknown): unknown {
  if (typeof value === 'string') return plain(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, held]) => [plain(name), held]));
}

interface Shown {
  secret: string;
  reason: string | undefined;
}

/** Requires HTTPS or a local host: the operator secret must not cross the network in clear text. */
function requirePrivate(url: URL): void {
  const isLoopback = ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback)) return;
  throw new Error(`${url.origin} is not private. Set an https URL with --url. Nothing was sent.`);
}

async function ask<T>(base: string, { secret, reason }: Shown, { method, path, body }: Call): Promise<T> {
  const url = new URL(path, base);
  requirePrivate(url);
  const response = await fetch(url, {
    method,
    // A redirect would send the secret to its target.
    redirect: 'manual',
    headers: {
      'Content-Type': 'application/json',
      'X-Svc-Operator-Secret': secret,
      ...(reason === undefined ? {} : { 'X-Svc-Operator-Reason': encodeURIComponent(reason) }),
    },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (response.status >= 300 && response.status < 400)
    throw new Error(
      `${url.origin} redirects to ${plain(response.headers.get('location') ?? '')}. If it is your service, set it with --url.`,
    );
  const answer = JSON.parse(await response.text(), printable) as { code?: string; detail?: unknown };
  if (response.status === 404) throw new Error('The object does not exist, or the OPERATOR_SECRET is wrong.');
  if (!response.ok) throw new Error(`${response.status} ${answer.code}: ${JSON.stringify(answer.detail)}`);
  return answer as T;
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
