import type { SigningKey } from '#core/crypto.ts';
import { assert } from '#core/errors.ts';
import { Memory } from '#core/isolate/memory.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import type { Config, Ctx } from '#platform/context.ts';
import { shardsOf } from '#platform/db/directory.ts';
import { listNamedKeys, readLamportsSpent, saveLook } from './fee-payer-looks.store.ts';
import { KEY_VARIABLES, type KeyVariable, listMissingKeys, type NamedKey, ringOf } from './named-keys.ts';

/** Keys that pay the network: each signs for itself alone. */
interface PayingKeys {
  /** Of new challenges. */
  current: string;
  /** All we sign for, so that what was begun with a key outlives a rotation. */
  addresses: readonly string[];
}

/** The keys that pay the network for agents. They hold a little SOL and nothing else: no token account, no share of any sale. */
export function feePayersOf({ FEE_PAYER_KEYS: secret }: Config): PayingKeys {
  assert(secret !== undefined, 'x402 is configured');
  return payingKeysOf(secret);
}

/**
 * The keys that open payment channels with their buyers and close them as their payees. They hold a little SOL, and an empty token
 * account, because a distribution looks for one of every party: all that is settled goes to the merchant.
 */
export function channelOperatorsOf({ CHANNEL_KEYS: secret }: Config): PayingKeys {
  assert(secret !== undefined, 'channels are configured');
  return payingKeysOf(secret);
}

/**
 * The keys that collect native subscriptions. They hold a little SOL and nothing else: each plan names its merchant as the only one who
 * is paid.
 */
export function pullersOf({ SUBSCRIPTION_KEYS: secret }: Config): PayingKeys {
  assert(secret !== undefined, 'subscriptions are configured');
  return payingKeysOf(secret);
}

function payingKeysOf(secret: string): PayingKeys {
  const addresses = [...ringOf(secret).keys()];
  return { current: addresses[0]!, addresses };
}

/** The key of an address that a row names; null where this deployment does not hold it. It signs for itself alone. */
export const heldKey = (config: Config, variable: KeyVariable, address: string): SigningKey | null =>
  ringOf(config[variable]).get(address) ?? null;

/** Addresses that open rows name, in all databases. */
export const readNamedKeys = async (ctx: Ctx): Promise<NamedKey[]> => {
  const each = await Promise.all(shardsOf(ctx).map(({ db }) => listNamedKeys(db)));
  const named = new Map(each.flat().map((key) => [`${key.variable} ${key.address}`, key]));
  return [...named.values()];
};

/** Every address that needs SOL: those that new work names, and those that open rows do. */
export function listKeysInUse(config: Config, named: readonly NamedKey[]): NamedKey[] {
  const rings = KEY_VARIABLES.flatMap((variable) => {
    const [current] = ringOf(config[variable]).keys();
    return current === undefined ? [] : [{ variable, address: current }];
  });
  return [...rings, ...named.filter(({ address }) => !rings.some((ring) => ring.address === address))];
}

/** Fees of some thousand payments are left at the threshold; below a hundredth of it no buyer is asked to pay any more. */
export type Funds = 'enough' | 'low' | 'empty' | 'unknown';

const LOOKED_FOR_MS = MINUTE;
/** A node that hangs is not asked for a while, and a request waits only this long for it: a denial is not worth more. */
const AWAY_FOR_MS = 5 * SECOND;
const ASK_MS = 1500;
const looks = new Memory<string, { until: number; funds: Funds }>(100);

/** What the current fee payer has left. Asked of the node at most once a minute: every agent's denial wants to know. */
export const feePayerFunds = async (ctx: Ctx): Promise<Funds> => (await lookAtFunds(ctx, feePayersOf(ctx.config).current)).funds;

/** The same of the key that new channels are opened with. */
export const operatorFunds = async (ctx: Ctx): Promise<Funds> => (await lookAtFunds(ctx, channelOperatorsOf(ctx.config).current)).funds;

/** The same of the key that collects subscriptions to new plans. */
export const pullerFunds = async (ctx: Ctx): Promise<Funds> => (await lookAtFunds(ctx, pullersOf(ctx.config).current)).funds;

/** The same of any address. */
export const fundsOf = async (ctx: Ctx, address: string): Promise<Funds> => (await lookAtFunds(ctx, address)).funds;

interface FundsLook {
  funds: Funds;
  /** Only of a look that was just made. */
  lamports?: number;
}

async function lookAtFunds(ctx: Ctx, address: string): Promise<FundsLook> {
  const place = `${ctx.chain.place} ${address}`;
  const known = looks.get(place);
  if (known && ctx.wallNow < known.until) return { funds: known.funds };
  const answer = await ctx.chain.within(ASK_MS).balanceOf(address);
  if (answer.kind === 'unavailable') {
    ctx.note(`rpc: ${answer.reason}`);
    const funds = known?.funds ?? 'unknown';
    looks.set(place, { until: ctx.wallNow + AWAY_FOR_MS, funds });
    return { funds };
  }
  const { FEE_PAYER_LOW_LAMPORTS: low } = ctx.config;
  const funds = answer.lamports >= low ? 'enough' : answer.lamports * 100 >= low ? 'low' : 'empty';
  looks.set(place, { until: ctx.wallNow + LOOKED_FOR_MS, funds });
  return { funds, lamports: answer.lamports };
}

/**
 * Logs alarms every minute: a key that runs dry stops what it pays for, a key that is missing what names it, and one that spends more in an
 * hour than was thought of pays for something that is not trade.
 */
export async function sweepFeePayer(ctx: Ctx): Promise<number> {
  const { config } = ctx;
  const named = await readNamedKeys(ctx);
  const inUse = listKeysInUse(config, named);
  if (inUse.length === 0) return 0;
  let alarms = 0;
  for (const { address } of inUse) {
    const { funds, lamports } = await lookAtFunds(ctx, address);
    if (lamports !== undefined) await saveLook(ctx.databases[0].db, address, lamports, ctx.wallNow);
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

/** True where that is more than may leave the fee payers within an hour. */
export const isAlarming = ({ FEE_ALARM_LAMPORTS: most }: Config, spent: number): boolean => most > 0 && spent > most;
