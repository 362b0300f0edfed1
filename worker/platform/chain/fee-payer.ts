import { keyRing, type SigningKey } from '#core/crypto.ts';
import { base58 } from '#core/encoding.ts';
import { assert } from '#core/errors.ts';
import { Memory } from '#core/isolate/memory.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import { type Config, type Ctx, hasChannels, hasSubscriptions, hasX402 } from '#platform/context.ts';
import { readLamportsSpent, saveLook } from './fee-payer-looks.store.ts';

/** Keys that pay the network: each signs for itself alone. */
export interface PayingKeys {
  /** Of new challenges. */
  current: string;
  /** All we sign for, so that what was begun with a key outlives a rotation. */
  addresses: readonly string[];
  signerOf(address: string): SigningKey;
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
  const byAddress = new Map(keyRing(secret).map((key) => [base58.encode(key.publicKey), key]));
  const addresses = [...byAddress.keys()];
  return {
    current: addresses[0]!,
    addresses,
    signerOf: (address) => {
      const key = byAddress.get(address);
      assert(key !== undefined, 'a key signs for itself alone');
      return key;
    },
  };
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
 * Logs two alarms every minute: a fee payer that runs dry stops every sale to agents, and one that spends more in an hour than was
 * thought of pays for something that is not trade.
 */
export async function sweepFeePayer(ctx: Ctx): Promise<number> {
  const { config } = ctx;
  const addresses = [
    ...(hasX402(config) ? [feePayersOf(config).current] : []),
    ...(hasChannels(config) ? [channelOperatorsOf(config).current] : []),
    ...(hasSubscriptions(config) ? pullersOf(config).addresses : []),
  ];
  if (addresses.length === 0) return 0;
  let alarms = 0;
  for (const address of addresses) {
    const { funds, lamports } = await lookAtFunds(ctx, address);
    if (lamports !== undefined) await saveLook(ctx.databases[0].db, address, lamports, ctx.wallNow);
    if (funds === 'enough') continue;
    ctx.note(`fee payer ${address}: balance ${funds}; send it SOL`);
    alarms = 1;
  }
  const spent = await readLamportsSpent(ctx.databases[0].db, ctx.wallNow);
  if (!isAlarming(config, spent)) return alarms;
  ctx.note(`fee payer ${addresses.join(', ')}: spent ${spent} lamports within an hour, above FEE_ALARM_LAMPORTS`);
  return 1;
}

/** True where that is more than may leave the fee payers within an hour. */
export const isAlarming = ({ FEE_ALARM_LAMPORTS: most }: Config, spent: number): boolean => most > 0 && spent > most;
