import { keyRing, type SigningKey } from '#core/crypto.ts';
import { base58 } from '#core/encoding.ts';
import { assert } from '#core/errors.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import { type Config, type Ctx, hasX402 } from '#platform/context.ts';
import { readLamportsSpent, saveLook } from './fee-payer-looks.store.ts';

/** The keys that pay the network for agents. They hold a little SOL and nothing else: no token account, no share of any sale. */
export interface FeePayers {
  /** Of new challenges. */
  current: string;
  /** All we sign for, so that a challenge outlives a rotation. */
  addresses: readonly string[];
  signerOf(address: string): SigningKey;
}

export function feePayersOf({ FEE_PAYER_KEYS: secret }: Config): FeePayers {
  assert(secret !== undefined, 'x402 is configured');
  const byAddress = new Map(keyRing(secret).map((key) => [base58.encode(key.publicKey), key]));
  const addresses = [...byAddress.keys()];
  return {
    current: addresses[0]!,
    addresses,
    signerOf: (address) => {
      const key = byAddress.get(address);
      assert(key !== undefined, 'a fee payer signs for itself alone');
      return key;
    },
  };
}

/** Fees of some thousand payments are left at the threshold; below a hundredth of it no buyer is asked to pay any more. */
type Funds = 'enough' | 'low' | 'empty' | 'unknown';

const LOOKED_FOR_MS = MINUTE;
/** A node that hangs is not asked for a while, and a request waits only this long for it: a denial is not worth more. */
const AWAY_FOR_MS = 5 * SECOND;
const ASK_MS = 1500;
const looks = new Map<string, { until: number; funds: Funds }>();

/** What the current fee payer has left. Asked of the node at most once a minute: every agent's denial wants to know. */
export const feePayerFunds = async (ctx: Ctx): Promise<Funds> => (await lookAtFunds(ctx)).funds;

interface FundsLook {
  funds: Funds;
  /** Only of a look that was just made. */
  lamports?: number;
}

async function lookAtFunds(ctx: Ctx): Promise<FundsLook> {
  const address = feePayersOf(ctx.config).current;
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
  if (!hasX402(ctx.config)) return 0;
  const address = feePayersOf(ctx.config).current;
  const { funds, lamports } = await lookAtFunds(ctx);
  if (lamports !== undefined) await saveLook(ctx.databases[0].db, address, lamports, ctx.wallNow);
  const spent = await readLamportsSpent(ctx.databases[0].db, ctx.wallNow);
  const isTooMuch = isAlarming(ctx.config, spent);
  if (isTooMuch) ctx.note(`fee payer ${address}: spent ${spent} lamports within an hour, above FEE_ALARM_LAMPORTS`);
  if (funds !== 'enough') ctx.note(`fee payer ${address}: balance ${funds}; send it SOL`);
  return funds === 'enough' && !isTooMuch ? 0 : 1;
}

/** True where that is more than may leave the fee payers within an hour. */
export const isAlarming = ({ FEE_ALARM_LAMPORTS: most }: Config, spent: number): boolean => most > 0 && spent > most;
