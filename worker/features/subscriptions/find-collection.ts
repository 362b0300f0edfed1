import type { Address } from '@solana/kit';
import type { Ctx } from '#platform/context.ts';
import { type CollectedPeriod, collectionsIn } from '#solana/programs/subscriptions/collected.ts';
import type { ListedSignature } from '#solana/signature-list.ts';
import type { ChainTransaction } from '#solana/transaction.ts';

/**
 * The transaction a period was collected by. `none`: all that names the subscription since the period began was read. `unknown`: a node
 * did not answer, or strangers name the subscription so often that not all was read; it may be asked again.
 */
type FoundCollection =
  | { kind: 'found'; transaction: ChainTransaction; collected: CollectedPeriod }
  | { kind: 'none' }
  | { kind: 'unknown' };

interface Effort {
  /** Signatures that a node lists at once. */
  pageSize: number;
  /** Transactions read in all: anyone can name a subscription in theirs. */
  readMax: number;
}

const USUAL: Effort = { pageSize: 100, readMax: 400 };
/** Transactions that one call asks for. */
const ASKED_AT_ONCE = 20;

/**
 * Finds what collected a period of a subscription, whichever key signed it: the plan's owner may collect without us, and that transfer is then the
 * period's payment. Reads back from the newest transaction that names the subscription to the beginning of the period.
 */
export async function findCollection(
  ctx: Ctx,
  subscription: Address,
  periodStartTs: bigint,
  { pageSize, readMax }: Effort = USUAL,
): Promise<FoundCollection> {
  let before: string | null = null;
  for (let read = 0; read < readMax; ) {
    const listed = await ctx.chain.listSignatures(subscription, { before, until: null, limit: pageSize });
    if (listed.kind !== 'page') return { kind: 'unknown' };
    const within = listed.items.filter(({ blockTime }) => blockTime == null || BigInt(blockTime) >= periodStartTs);
    const found = await readEach(ctx, within, subscription, periodStartTs);
    if (found.kind !== 'none') return found;
    read += within.length;
    // The list ends with an empty page; one that reaches behind the period's beginning has shown all of it.
    if (listed.items.length === 0 || within.length < listed.items.length) return { kind: 'none' };
    before = listed.items.at(-1)!.signature;
  }
  return { kind: 'unknown' };
}

/** The newest of these that collected the period. */
async function readEach(ctx: Ctx, items: ListedSignature[], subscription: Address, periodStartTs: bigint): Promise<FoundCollection> {
  for (let from = 0; from < items.length; from += ASKED_AT_ONCE) {
    const signatures = items.slice(from, from + ASKED_AT_ONCE).map(({ signature }) => signature);
    const answer = await ctx.chain.findTransactions(signatures);
    if (answer.kind === 'unavailable') return { kind: 'unknown' };
    for (const sighting of answer.sightings) {
      // Listed, and not shown: another node of the same address may be behind.
      if (sighting.kind !== 'found') return { kind: 'unknown' };
      const { transaction } = sighting;
      const collected = collectionsIn(transaction, subscription).find((period) => period.periodStartTs === periodStartTs);
      if (collected) return { kind: 'found', transaction, collected };
    }
  }
  return { kind: 'none' };
}
