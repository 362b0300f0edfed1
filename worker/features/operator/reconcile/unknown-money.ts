import { base58 } from '#core/encoding.ts';
import { type Asset, formatAmount } from '#core/money.ts';
import { isoOrNull, SECOND } from '#core/time.ts';
import { channelOperatorsOf, feePayersOf, pullersOf } from '#platform/chain/fee-payer.ts';
import { type Config, type Ctx, hasChannels, hasSubscriptions, hasX402 } from '#platform/context.ts';
import { findAnywhere, shardsOf } from '#platform/db/each-database.ts';
import { mintOf } from '#solana/assets.ts';
import { findChannelProgram } from '#solana/programs/payment-channels/channel.ts';
import type { ListedSignature } from '#solana/signature-list.ts';
import { type ChainTransaction, type TokenTransfer, transfersOf } from '#solana/transaction.ts';
import { findChannel, findPaidAt, listKnown } from './store.ts';

const PAGE_SIZE = 100;
const GROUP_MAX = 20;
/** Byte range of the owner in a token account. */
const OWNER = { from: 32, to: 64 };

/** Service keys named in payments: the references of checkouts, and the sender of agent payments, collections and channels. */
export const keysOnChain = ({ config }: Ctx): string[] => [
  ...config.SERVICE_REFERENCE,
  ...(hasX402(config) ? feePayersOf(config).addresses : []),
  ...(hasSubscriptions(config) ? pullersOf(config).addresses : []),
  ...operatorsOf(config),
];
const operatorsOf = (config: Config): readonly string[] => (hasChannels(config) ? channelOperatorsOf(config).addresses : []);

export interface UnknownMoney {
  tx_signature: string;
  at: string | null;
  memo: string | null;
  payer: string;
  asset: Asset;
  amount: string;
  recipient: string;
  account_id: string | null;
}

/** Reads one page of transactions that name a key, newest first. Returns the unknown ones and the next cursor, or null at the end. */
export async function findUnknown(
  ctx: Ctx,
  key: string,
  since: number,
  before: string | null,
): Promise<{ compared: number; unknown: UnknownMoney[]; next: string | null } | null> {
  const page = await ctx.chain.listSignatures(key, { before, until: null, limit: PAGE_SIZE });
  if (page.kind !== 'page') return null;
  const recent = page.items.filter(({ blockTime }) => typeof blockTime !== 'number' || blockTime * SECOND >= since);
  const listed = recent.map((item) => ({ signature: item.signature, nonce: nonceOf(item) }));
  const known = await Promise.all(shardsOf(ctx).map(({ db }) => listKnown(db, listed)));
  const strangers = listed.map(({ signature }) => signature).filter((signature) => !known.some((one) => one.has(signature)));
  const unknown: UnknownMoney[] = [];
  const describeMoney = operatorsOf(ctx.config).includes(key) ? describeChannels : describe;
  for (let i = 0; i < strangers.length; i += GROUP_MAX) {
    const answer = await ctx.chain.findTransactions(strangers.slice(i, i + GROUP_MAX));
    if (answer.kind === 'unavailable') return null;
    for (const sighting of answer.sightings)
      if (sighting.kind === 'found' && !sighting.transaction.failed) unknown.push(...(await describeMoney(ctx, sighting.transaction)));
  }
  const isOver = page.items.length === 0 || recent.length < page.items.length;
  return { compared: recent.length, unknown, next: isOver ? null : page.items.at(-1)!.signature };
}

/** The node prints memos as `[length] text`, joined by semicolons. */
const nonceOf = ({ memo }: ListedSignature): string | null =>
  /(?:^|; )\[\d+\] svc(?:-refund)?:(\w{1,44})(?=$|; )/.exec(memo ?? '')?.[1] ?? null;

async function describe(ctx: Ctx, transaction: ChainTransaction): Promise<UnknownMoney[]> {
  const moves = (['USDC', 'SOL'] as const).flatMap((asset) =>
    transfersOf(transaction, mintOf(ctx.config.network, asset)).map((transfer) => ({ asset, transfer })),
  );
  return Promise.all(
    moves.map(async ({ asset, transfer }) => {
      const recipient = await findWallet(ctx, asset, transfer);
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
 * Describes channel transactions: payouts to a merchant, and deposits locked in an open channel without a session. Omits refunds to the
 * payer.
 */
async function describeChannels(ctx: Ctx, transaction: ChainTransaction): Promise<UnknownMoney[]> {
  const described: UnknownMoney[] = [];
  for (const money of (await describe(ctx, transaction)).filter(({ asset }) => asset === 'USDC')) {
    const payer = transaction.channels.get(money.payer);
    const isKnown = payer === undefined && (await findAnywhere(ctx, ({ db }) => findChannel(db, money.recipient))) !== undefined;
    if (payer === undefined ? !isKnown && (await isOpenChannel(ctx, money.recipient)) : money.recipient !== payer) described.push(money);
  }
  return described;
}

async function isOpenChannel(ctx: Ctx, address: string): Promise<boolean> {
  const read = await ctx.chain.readAccounts([address]);
  const owner = read.kind === 'accounts' ? read.accounts[0]?.owner : undefined;
  return owner !== undefined && findChannelProgram(owner) !== null;
}

async function findWallet(ctx: Ctx, asset: Asset, { destination }: TokenTransfer): Promise<string> {
  if (asset === 'SOL') return destination;
  const read = await ctx.chain.readAccounts([destination]);
  const account = read.kind === 'accounts' ? read.accounts[0] : null;
  return account ? base58.encode(account.data.slice(OWNER.from, OWNER.to)) : destination;
}
