import { type Config, type Ctx, hasX402 } from '../context.ts';
import { keyRing, type SigningKey } from '../core/crypto.ts';
import { base58 } from '../core/encoding.ts';
import { assert } from '../core/errors.ts';
import { MINUTE } from '../core/time.ts';

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

/** Fees of some hundred thousand payments are left at the threshold; below a hundredth of it nobody is asked to pay any more. */
type Funds = 'enough' | 'low' | 'empty' | 'unknown';

const LOOKED_FOR_MS = MINUTE;
const looks = new Map<string, { at: number; funds: Funds }>();

/** What the current fee payer has left. Asked of the node at most once a minute: every agent's denial wants to know. */
export async function feePayerFunds(ctx: Ctx): Promise<Funds> {
  const address = feePayersOf(ctx.config).current;
  const place = `${ctx.config.RPC_URL} ${address}`;
  const known = looks.get(place);
  if (known && ctx.now - known.at < LOOKED_FOR_MS) return known.funds;
  const answer = await ctx.chain.balanceOf(address);
  const { FEE_PAYER_LOW_LAMPORTS: low } = ctx.config;
  const funds =
    answer.kind === 'unavailable' ? 'unknown' : answer.lamports >= low ? 'enough' : answer.lamports * 100 >= low ? 'low' : 'empty';
  if (funds !== 'unknown') looks.set(place, { at: ctx.now, funds });
  return funds;
}

/** The balance alarm: a fee payer that runs dry stops every sale to agents, so it is said in the log every minute until it is filled. */
export async function sweepFeePayer(ctx: Ctx): Promise<number> {
  if (!hasX402(ctx.config)) return 0;
  const funds = await feePayerFunds(ctx);
  if (funds === 'enough') return 0;
  ctx.note(`fee payer ${feePayersOf(ctx.config).current}: balance ${funds}; send it SOL`);
  return 1;
}
