import type { SigningKey } from '#core/crypto.ts';
import { assert } from '#core/errors.ts';
import { Memory } from '#core/isolate/memory.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import type { Config, Ctx } from '#platform/context.ts';
import { readEach } from '#platform/db/each-database.ts';
import type { Swept } from '#platform/db/sweeps.ts';
import { listNamedKeys, readLamportsSpent, saveReading } from './fee-payer-readings.store.ts';
import { KEY_VARIABLES, type KeyVariable, listMissingKeys, type NamedKey, ringOf } from './named-keys.ts';

interface PayingKeys {
  current: string;
  /** All keys of the ring, so that pending work survives a rotation. */
  addresses: readonly string[];
}

/** Keys that pay network fees for agents. They hold a little SOL, no token account and no share of any sale. */
export function feePayersOf({ FEE_PAYER_KEYS: secret }: Config): PayingKeys {
  assert(secret !== undefined, 'x402 is configured');
  return payingKeysOf(secret);
}

/**
 * Keys that open payment channels with buyers and close them as payees. They hold a little SOL and an empty token account, because the
 * program's distribution requires one of each party. All settled money goes to the merchant.
 */
export function channelOperatorsOf({ CHANNEL_KEYS: secret }: Config): PayingKeys {
  assert(secret !== undefined, 'channels are configured');
  return payingKeysOf(secret);
}

/** Keys that collect native subscriptions. They hold a little SOL and nothing else: each plan names its merchant as the only payee. */
export function pullersOf({ SUBSCRIPTION_KEYS: secret }: Config): PayingKeys {
  assert(secret !== undefined, 'subscriptions are configured');
  return payingKeysOf(secret);
}

function payingKeysOf(secret: string): PayingKeys {
  const addresses = [...ringOf(secret).keys()];
  return { current: addresses[0]!, addresses };
}

export const heldKey = (config: Config, variable: KeyVariable, address: string): SigningKey | null =>
  ringOf(config[variable]).get(address) ?? null;

export const readNamedKeys = async (ctx: Ctx): Promise<NamedKey[]> => {
  const { found } = await readEach(ctx, ({ db }) => listNamedKeys(db));
  const named = new Map(found.flat().map((key) => [`${key.variable} ${key.address}`, key]));
  return [...named.values()];
};

export function listKeysInUse(config: Config, named: readonly NamedKey[]): NamedKey[] {
  const rings = KEY_VARIABLES.flatMap((variable) => {
    const [current] = ringOf(config[variable]).keys();
    return current === undefined ? [] : [{ variable, address: current }];
  });
  return [...rings, ...named.filter(({ address }) => !rings.some((ring) => ring.address === address))];
}

/** `low`: less than the fees of some thousand payments. `empty`: below a hundredth of that, new payments are refused. */
export type Funds = 'enough' | 'low' | 'empty' | 'unknown';

const FUNDS_CACHE_MS = MINUTE;
/** Timeout of the balance reading, and pause after a node hangs. A 402 answer is not worth a longer wait. */
const AWAY_FOR_MS = 5 * SECOND;
const ASK_MS = 1500;
const fundsCache = new Memory<string, { until: number; funds: Funds }>(100);

/** Balance of the current fee payer, cached for a minute because every 402 answer needs this balance. */
export const feePayerFunds = async (ctx: Ctx): Promise<Funds> => (await readFunds(ctx, feePayersOf(ctx.config).current)).funds;

export const operatorFunds = async (ctx: Ctx): Promise<Funds> => (await readFunds(ctx, channelOperatorsOf(ctx.config).current)).funds;

export const pullerFunds = async (ctx: Ctx): Promise<Funds> => (await readFunds(ctx, pullersOf(ctx.config).current)).funds;

export const readPayerFunds = async (ctx: Ctx, address: string): Promise<Funds> => (await readFunds(ctx, address)).funds;

interface FundsReading {
  funds: Funds;
  lamports?: number;
}

async function readFunds(ctx: Ctx, address: string): Promise<FundsReading> {
  const cacheKey = `${ctx.chain.cachePrefix} ${address}`;
  const known = fundsCache.get(cacheKey);
  if (known && ctx.wallNow < known.until) return { funds: known.funds };
  const answer = await ctx.chain.within(ASK_MS).balanceOf(address);
  if (answer.kind === 'unavailable') {
    ctx.note(`rpc: ${answer.reason}`);
    const funds = known?.funds ?? 'unknown';
    fundsCache.set(cacheKey, { until: ctx.wallNow + AWAY_FOR_MS, funds });
    return { funds };
  }
  const { FEE_PAYER_LOW_LAMPORTS: low } = ctx.config;
  const funds = answer.lamports >= low ? 'enough' : answer.lamports * 100 >= low ? 'low' : 'empty';
  fundsCache.set(cacheKey, { until: ctx.wallNow + FUNDS_CACHE_MS, funds });
  return { funds, lamports: answer.lamports };
}

/**
 * Raises alarms every minute: a low balance, a missing key that open rows name, and hourly spending above the configured limit. Reads every
 * key, of which there are few.
 */
export const sweepFeePayer = async (ctx: Ctx): Promise<Swept> => ({ taken: await checkFeePayers(ctx), end: 'empty' });

async function checkFeePayers(ctx: Ctx): Promise<number> {
  const { config } = ctx;
  const named = await readNamedKeys(ctx);
  const inUse = listKeysInUse(config, named);
  if (inUse.length === 0) return 0;
  let alarms = 0;
  for (const { address } of inUse) {
    const { funds, lamports } = await readFunds(ctx, address);
    if (lamports !== undefined) await saveReading(ctx.databases[0].db, address, lamports, ctx.wallNow);
    if (funds === 'enough') continue;
    ctx.note(`fee payer ${address}: balance ${funds}; send it SOL`);
    alarms = 1;
  }
  for (const { variable, address } of listMissingKeys(config, named)) {
    ctx.note(`config: ${variable} lacks the key of ${address}, which open rows name`);
    alarms = 1;
  }
  const spent = await readLamportsSpent(ctx.databases[0].db, ctx.wallNow);
  if (!isAlarming(config, spent)) return alarms;
  ctx.note(`fee payer ${inUse.map(({ address }) => address).join(', ')}: spent ${spent} lamports within an hour, above FEE_ALARM_LAMPORTS`);
  return 1;
}

export const isAlarming = ({ FEE_ALARM_LAMPORTS: most }: Config, spent: number): boolean => most > 0 && spent > most;
