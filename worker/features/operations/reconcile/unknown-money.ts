import { base58 } from '#core/encoding.ts';
import { type Asset, formatAmount } from '#core/money.ts';
import { isoOrNull, SECOND } from '#core/time.ts';
import { channelOperatorsOf, feePayersOf, pullersOf } from '#platform/chain/fee-payer.ts';
import { type Config, type Ctx, hasChannels, hasSubscriptions, hasX402 } from '#platform/context.ts';
import { findAnywhere, shardsOf } from '#platform/db/directory.ts';
import { mintOf } from '#solana/assets.ts';
import { findChannelProgram } from '#solana/programs/payment-channels/channel.ts';
import type { ListedSignature } from '#solana/signature-list.ts';
import { type ChainTransaction, type TokenTransfer, transfersOf } from '#solana/transaction.ts';
import { findChannel, findPaidAt, listKnown } from './store.ts';

const PAGE_SIZE = 100;
/** A node shows so many transactions in one call. */
const GROUP_MAX = 20;
/** Where a token account names its owner. */
const OWNER = { from: 32, to: 64 };

/** The keys of ours that payments name: checkouts by their reference, what agents pay, what renews itself and channels by who sends it. */
export const keysOnChain = ({ config }: Ctx): string[] => [
  config.SERVICE_REFERENCE,
  ...(hasX402(config) ? feePayersOf(config).addresses : []),
  ...(hasSubscriptions(config) ? pullersOf(config).addresses : []),
  ...operatorsOf(config),
];
const operatorsOf = (config: Config): readonly string[] => (hasChannels(config) ? channelOperatorsOf(config).addresses : []);

/** Money on the chain that names this service, and that no row of any database tells of. */
export interface UnknownMoney {
  tx_signature: string;
  at: string | null;
  memo: string | null;
  payer: string;
  asset: Asset;
  amount: string;
  recipient: string;
  /** Whose product is paid at that wallet. */
  account_id: string | null;
}

/** One page of what names a key since then, newest first: what of it is unknown, and where to read on; null where all was read. */
export async function findUnknown(
  ctx: Ctx,
  key: string,
  since: number,
  before: string | null,
): Promise<{ looked: number; unknown: UnknownMoney[]; next: string | null } | null> {
  const page = await ctx.chain.listSignatures(key, { before, until: null, limit: PAGE_SIZE });
  if (page.kind !== 'page') return null;
  const recent = page.items.filter(({ blockTime }) => typeof blockTime !== 'number' || blockTime * SECOND >= since);
  const listed = recent.map((item) => ({ signature: item.signature, nonce: nonceOf(item) }));
  const known = await Promise.all(shardsOf(ctx).map(({ db }) => listKnown(db, listed)));
  const strangers = listed.map(({ signature }) => signature).filter((signature) => !known.some((one) => one.has(signature)));
  const unknown: UnknownMoney[] = [];
  const tell = operatorsOf(ctx.config).includes(key) ? describeChannels : describe;
  for (let i = 0; i < strangers.length; i += GROUP_MAX) {
    const answer = await ctx.chain.findTransactions(strangers.slice(i, i + GROUP_MAX));
    if (answer.kind === 'unavailable') return null;
    for (const sighting of answer.sightings)
      if (sighting.kind === 'found' && !sighting.transaction.failed) unknown.push(...(await tell(ctx, sighting.transaction)));
  }
  const isOver = page.items.length === 0 || recent.length < page.items.length;
  return { looked: recent.length, unknown, next: isOver ? null : page.items.at(-1)!.signature };
}

/** The node prints memos as `[length] text`, several joined by `; `. */
const nonceOf = ({ memo }: ListedSignature): string | null =>
  /(?:^|; )\[\d+\] svc(?:-refund)?:(\w{1,44})(?=$|; )/.exec(memo ?? '')?.[1] ?? null;

async function describe(ctx: Ctx, transaction: ChainTransaction): Promise<UnknownMoney[]> {
  const moves = (['USDC', 'SOL'] as const).flatMap((asset) =>
    transfersOf(transaction, mintOf(ctx.config.network, asset)).map((transfer) => ({ asset, transfer })),
  );
  return Promise.all(
    moves.map(async ({ asset, transfer }) => {
      const recipient = await walletOf(ctx, asset, transfer);
      return {
        tx_signature: transaction.signature,
        at: isoOrNull(transaction.blockTimeSeconds === null ? null : transaction.blockTimeSeconds * SECOND),
        memo: transaction.memos[0] ?? null,
        payer: transfer.authority,
        asset,
        amount: formatAmount({ asset, units: transfer.units }),
        recipient,
        account_id: (await findAnywhere(ctx, ({ db }) => findPaidAt(db, recipient))) ?? null,
      };
    }),
  );
}

/**
 * Of what our key does for channels: what a channel paid its merchant, and what was locked up in one that stands and that no session knows. Not
 * what its payer got back.
 */
async function describeChannels(ctx: Ctx, transaction: ChainTransaction): Promise<UnknownMoney[]> {
  const told: UnknownMoney[] = [];
  for (const money of (await describe(ctx, transaction)).filter(({ asset }) => asset === 'USDC')) {
    const payer = transaction.channels.get(money.payer);
    const isKnown = payer === undefined && (await findAnywhere(ctx, ({ db }) => findChannel(db, money.recipient))) !== undefined;
    if (payer === undefined ? !isKnown && (await isStanding(ctx, money.recipient)) : money.recipient !== payer) told.push(money);
  }
  return told;
}

async function isStanding(ctx: Ctx, address: string): Promise<boolean> {
  const read = await ctx.chain.readAccounts([address]);
  const owner = read.kind === 'accounts' ? read.accounts[0]?.owner : undefined;
  return owner !== undefined && findChannelProgram(owner) !== null;
}

/** Whose token account was paid; the account itself where the node does not say. */
async function walletOf(ctx: Ctx, asset: Asset, { destination }: TokenTransfer): Promise<string> {
  if (asset === 'SOL') return destination;
  const read = await ctx.chain.readAccounts([destination]);
  const account = read.kind === 'accounts' ? read.accounts[0] : null;
  return account ? base58.encode(account.data.slice(OWNER.from, OWNER.to)) : destination;
}
