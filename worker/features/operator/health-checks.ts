import { MINUTE } from '#core/time.ts';
import { hasCustomersInWork, listCardTrouble } from '#features/billing/processor/store.ts';
import { isAlarming, listKeysInUse, readNamedKeys, readPayerFunds } from '#platform/chain/fee-payer.ts';
import { readLamportsSpent } from '#platform/chain/fee-payer-readings.store.ts';
import { KEY_VARIABLES, type KeyVariable, listMissingKeys } from '#platform/chain/named-keys.ts';
import { type Ctx, nodesOf, type Shard } from '#platform/context.ts';
import { directoryOf } from '#platform/db/directory.ts';
import { fullness, ofAll, readVitalSigns, type VitalSigns, waitingMs } from '#platform/db/due/vital-signs.ts';
import { readEach } from '#platform/db/each-database.ts';
import { hasDirectory } from '#platform/db/names/names.ts';
import { areNamesComplete } from '#platform/db/names/write-names.ts';
import type { CardTrouble } from '#platform/db/tables/office/billing.ts';
import { dueWorkOf } from './due-work.store.ts';
import { listMoves } from './partitions/store.ts';

interface Trouble {
  name: string;
  finding: string;
  /** Duration before the alarm is sent, because many problems pass. */
  patienceMs: number;
}

const SWEEP_STUCK_MS = 10 * MINUTE;
const SWEEP_FAILURES = 5;
const AWAY_MS = 2 * MINUTE;
/** About a minute of the cluster. */
const SLOTS_BEHIND = 150;
const NODE_PATIENCE_MS = 3_000;

export async function findTrouble(ctx: Ctx): Promise<Trouble[]> {
  return (
    await Promise.all([checkFees(ctx), checkKeys(ctx), checkCards(ctx), checkNodes(ctx), checkWork(ctx), checkNames(ctx), checkMoves(ctx)])
  ).flat();
}

/** A move goes on only while the operator's command asks. */
const MOVE_STUCK_MS = 10 * MINUTE;

async function checkMoves(ctx: Ctx): Promise<Trouble[]> {
  if (ctx.directory === null) return [];
  const known = await listMoves(directoryOf(ctx).db).catch(() => []);
  const open = known.filter(({ state, changedAt }) => state !== 'done' && changedAt < ctx.wallNow - MOVE_STUCK_MS);
  const [first] = open;
  if (!first) return [];
  const { partition, state, toDatabase: to } = first;
  const command = state === 'closed' ? `open ${to}` : `move ${partition} --to ${to}, or partitions cancel ${partition}`;
  const finding = `Partition ${partition} is ${state} for ten minutes, so sweeps rest. Complete it: npm run admin -- partitions ${command}`;
  return [{ name: 'partition_moves', finding, patienceMs: 0 }];
}

const KEYS: Record<KeyVariable, { name: string; named: string; work: string }> = {
  FEE_PAYER_KEYS: { name: 'fee_payer', named: 'fee payer', work: 'payments under way' },
  CHANNEL_KEYS: { name: 'operator', named: 'operator of channels', work: 'open payment channels' },
  SUBSCRIPTION_KEYS: { name: 'puller', named: 'puller', work: 'running subscriptions' },
};

async function checkKeys(ctx: Ctx): Promise<Trouble[]> {
  const named = await readNamedKeys(ctx);
  const missing = listMissingKeys(ctx.config, named);
  const inUse = await Promise.all(
    listKeysInUse(ctx.config, named).map(async (key) => ({ ...key, funds: await readPayerFunds(ctx, key.address) })),
  );
  const low = inUse.filter(({ funds }) => funds === 'low' || funds === 'empty');
  return KEY_VARIABLES.flatMap((variable) => {
    const { name, named: title, work } = KEYS[variable];
    const lacking = missing.filter((key) => key.variable === variable).map(({ address }) => address);
    const poor = low.filter((key) => key.variable === variable);
    const lacks = `${variable} lacks the key of ${lacking.join(', ')}, which ${work} name. They wait until the key is restored.`;
    const sendSol = poor.map(({ address, funds }) => `The ${title} ${address} is ${funds}: send it SOL.`).join(' ');
    return [
      ...(lacking.length > 0 ? [{ name: `${name}_missing`, finding: lacks, patienceMs: 0 }] : []),
      ...(poor.length > 0 ? [{ name: `${name}_low`, finding: sendSol, patienceMs: 0 }] : []),
    ];
  });
}

const CARD_FINDINGS: Record<CardTrouble, (facts: { customers: number; customerId: string }) => string> = {
  price_unknown: ({ customers, customerId }) =>
    `${customers} customers of the payment processor have a subscription at a price without a plan, for example ${customerId}. Add the price to the PROCESSOR_PRICE_… of its plan.`,
  subscribed_twice: ({ customers, customerId }) =>
    `${customers} customers of the payment processor have more than one subscription and are charged for each, for example ${customerId}. Cancel and refund one at the processor.`,
};

async function checkCards(ctx: Ctx): Promise<Trouble[]> {
  const [{ found: rows }, { found: inWork }] = await Promise.all([
    readEach(ctx, ({ db }) => listCardTrouble(db)),
    readEach(ctx, async ({ db }) => ctx.config.PROCESSOR_API_KEY === undefined && hasCustomersInWork(db)),
  ]);
  const found = rows.flat();
  const names = [...new Set(found.map(({ trouble }) => trouble))];
  const finding = 'PROCESSOR_API_KEY is missing, but customers of the payment processor have plans or wait for deletion. Set it.';
  return [
    ...names.map((name) => {
      const same = found.filter(({ trouble }) => trouble === name);
      const customers = same.reduce((sum, one) => sum + one.customers, 0);
      return { name: `card_${name}`, finding: CARD_FINDINGS[name]({ customers, customerId: same[0]!.customerId }), patienceMs: 0 };
    }),
    ...(inWork.includes(true) ? [{ name: 'processor_missing', finding, patienceMs: 0 }] : []),
  ];
}

async function checkFees(ctx: Ctx): Promise<Trouble[]> {
  const spent = await readLamportsSpent(ctx.databases[0].db, ctx.wallNow);
  if (!isAlarming(ctx.config, spent)) return [];
  return [{ name: 'fee_payer_spending', finding: `The fee payers spent ${spent} lamports within an hour.`, patienceMs: 0 }];
}

/** Names each node by number, because its address often contains a key. */
async function checkNodes(ctx: Ctx): Promise<Trouble[]> {
  const nodes = nodesOf(ctx.config, ctx.leftMs);
  const slots = await Promise.all(
    nodes.map(async (node) => {
      const answers = await node.call([{ method: 'getSlot', params: [{ commitment: 'confirmed' }] }], NODE_PATIENCE_MS);
      const [first] = 'kind' in answers ? [] : answers;
      return first && 'result' in first && typeof first.result === 'number' ? first.result : null;
    }),
  );
  const newest = Math.max(...slots.map((slot) => slot ?? 0));
  return slots.flatMap((slot, index) => {
    const name = `node_${index + 1}`;
    if (slot === null) return [{ name, finding: `Node ${index + 1} of RPC_URLS does not respond.`, patienceMs: 5 * MINUTE }];
    const behind = newest - slot;
    return behind > SLOTS_BEHIND
      ? [{ name, finding: `Node ${index + 1} of RPC_URLS is ${behind} slots behind another one.`, patienceMs: 5 * MINUTE }]
      : [];
  });
}

/** Oldest first. The operator can raise the limit only of what the log names: the nodes, the processor's or the mail provider's rate. */
function listBehind(sweeps: VitalSigns['sweeps']): Trouble[] {
  const behind = sweeps.filter(({ behindMs }) => behindMs > 0).sort((a, b) => b.behindMs - a.behindMs);
  if (behind.length === 0) return [];
  const named = behind.map(({ name, behindMs }) => `${name}, oldest due ${Math.floor(behindMs / MINUTE)} min`).join('; ');
  const advice =
    'After an outage wait while svc_sweep_behind_seconds falls. If it grows, act by the notes of the sweep in the log: a node that refuses calls needs a larger plan or another URL in RPC_URLS. Without a note the database is at its limit: bind another one for new accounts.';
  return [{ name: 'sweep_behind', finding: `Sweeps are behind: ${named}. ${advice}`, patienceMs: 0 }];
}

async function checkWork(ctx: Ctx): Promise<Trouble[]> {
  const read = async (shard: Shard) => ({ database: shard.database, signs: await readVitalSigns(shard, dueWorkOf(shard)) });
  const { found, away } = await readEach(ctx, read);
  const signs = ofAll(found.map((one) => one.signs));
  const stuck = signs.sweeps.filter(({ dueAt, failures }) => dueAt < ctx.wallNow - SWEEP_STUCK_MS || failures >= SWEEP_FAILURES);
  const { failed } = signs.parked;
  const late = waitingMs(ctx, signs.waiting).filter(({ isLate }) => isLate);
  return [
    ...(failed > 0
      ? [{ name: 'dead_letters', finding: `${failed} queue messages failed permanently: npm run admin -- dead-letters`, patienceMs: 0 }]
      : []),
    ...(stuck.length > 0
      ? [
          {
            name: 'sweep_stuck',
            finding: `Sweeps do not finish: ${stuck.map(({ name }) => name).join(', ')}. The log has the reason.`,
            patienceMs: 0,
          },
        ]
      : []),
    ...listBehind(signs.sweeps),
    ...late.map(({ name, ms }) => ({
      name: `late_${name}`,
      finding: `Work of the class ${name} has been due for ${Math.floor(ms / MINUTE)} minutes: svc_oldest_seconds{queue="${name}"}.`,
      patienceMs: 0,
    })),
    ...away.map((database) => ({
      name: `database_away_${database}`,
      finding: `${database} does not respond, or lacks migrations: npx wrangler d1 migrations apply ${database} --remote. Calls of its accounts return 503.`,
      patienceMs: AWAY_MS,
    })),
    ...listFull(
      ctx,
      found.map(({ database, signs }) => ({ database, ...fullness(signs.databaseBytes) })),
    ),
  ];
}

function listFull({ config, databases, regions }: Ctx, sizes: ({ database: string } & ReturnType<typeof fullness>)[]): Trouble[] {
  const full = sizes.filter(({ isWarning }) => isWarning);
  const nameOf = (database: string) => (databases.length === 1 ? 'The database' : database);
  const open = config.OPEN_DATABASES ?? databases.map(({ name }) => name);
  const isNoneOpen = databases.length > 1 && open.every((name) => full.some(({ database }) => database === name));
  const isOpen = (name: string) => open.includes(name) && !full.some(({ database }) => database === name);
  const shut = isNoneOpen
    ? []
    : [...new Set(regions.values())].filter((region) => ![...regions].some(([name, at]) => at === region && isOpen(name)));
  const finding = 'All databases that take new accounts are 70 % full or more. Bind another one and name it in OPEN_DATABASES.';
  return [
    ...full.map(({ database, used }) => ({
      name: databases.length === 1 ? 'database_full' : `database_full_${database}`,
      finding: `${nameOf(database)} is ${Math.round(used * 100)} % full.`,
      patienceMs: 0,
    })),
    ...shut.map((region) => ({
      name: `no_open_database_${region}`,
      finding: `No database of ${region} takes new accounts, or those that do are 70 % full: npm run admin -- databases add --region ${region}`,
      patienceMs: 0,
    })),
    ...(isNoneOpen ? [{ name: 'no_open_database', finding, patienceMs: 0 }] : []),
  ];
}

async function checkNames(ctx: Ctx): Promise<Trouble[]> {
  if (!hasDirectory(ctx) || (await areNamesComplete(ctx).catch(() => true))) return [];
  const finding =
    'The directory lacks names of accounts: npm run admin -- names rebuild. With several databases all calls return 503 until then.';
  return [{ name: 'names_missing', finding, patienceMs: 0 }];
}
