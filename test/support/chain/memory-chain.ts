import { getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/kit';
import { base58 } from '#core/encoding.ts';
import type { Chain } from '#solana/chain.ts';
import { BLOCKHASH_LIFE, type Confirmed, type Finality, lastHeightFrom } from '#solana/finality.ts';
import type { Sighting } from '#solana/node-answers.ts';
import {
  type ChainTransaction,
  type Instruction,
  parseLamportTransfer,
  parseMemo,
  parseTokenTransfer,
  type TokenTransfer,
} from '#solana/transaction.ts';

const present = <T>(value: T | null): value is T => value !== null;

/** Chain in a map: every sent transaction lands, every payer has the money, and every token account exists. No node is involved. */
export class MemoryChain implements Chain {
  readonly cachePrefix = `memory:${crypto.randomUUID()}`;
  readonly transactions = new Map<string, ChainTransaction>();
  readonly #blockhash = base58.encode(crypto.getRandomValues(new Uint8Array(32)));
  #slot = 1000;

  within = (): Chain => this;
  isHealthy = async () => true;
  isAbsentEverywhere = async () => true;
  areUnknownEverywhere = async (signatures: readonly string[]) => signatures.map((signature) => !this.transactions.has(signature));
  findTransaction = async (signature: string): Promise<Sighting> => this.#sighting(signature);
  findTransactions = async (signatures: readonly string[]) => ({
    kind: 'sightings' as const,
    finalHeight: this.#slot,
    sightings: signatures.map((signature) => this.#sighting(signature)),
  });
  knows = async (signatures: readonly string[]) => ({
    kind: 'known' as const,
    finalHeight: this.#slot,
    isKnown: signatures.map((signature) => this.transactions.has(signature)),
  });
  prepare = async (tokenAccounts: readonly string[]) => ({
    kind: 'ready' as const,
    lifetime: { blockhash: this.#blockhash, lastValidBlockHeight: BigInt(this.#slot + BLOCKHASH_LIFE) },
    exists: tokenAccounts.map(() => true),
  });
  accountOf = async () => ({ kind: 'found' as const, account: null });
  readAccounts = async (addresses: readonly string[]) => ({
    kind: 'accounts' as const,
    slot: this.#slot,
    accounts: addresses.map(() => null),
  });
  balanceOf = async () => ({ kind: 'balance' as const, lamports: 10 ** 9 });
  simulate = async () => ({ kind: 'passed' as const, lastValidBlockHeight: lastHeightFrom(this.#slot) });

  listSignatures = async (address: string, { limit }: { limit: number }) => {
    const mentioning = [...this.transactions.values()].filter(({ lamportDeltas }) => lamportDeltas.has(address)).reverse();
    const items = mentioning.slice(0, limit).map(({ signature, memos, blockTimeSeconds }) => ({
      signature,
      memo: memos.map((memo) => `[${memo.length}] ${memo}`).join('; ') || null,
      blockTime: blockTimeSeconds,
    }));
    return { kind: 'page' as const, items, nodeSeconds: Math.floor(Date.now() / 1000), knowsUntil: true };
  };

  finalityOf = async (transactions: readonly Confirmed[]) => {
    const toFinality = ({ txSignature }: Confirmed): Finality => {
      const landed = this.transactions.get(txSignature);
      return landed ? { kind: 'finalized', slot: landed.slot } : { kind: 'absent' };
    };
    return { kind: 'finality' as const, finality: transactions.map(toFinality) };
  };

  sendTransaction = async (wire: Uint8Array) => {
    const { messageBytes, signatures } = getTransactionDecoder().decode(wire);
    const message = getCompiledTransactionMessageDecoder().decode(messageBytes);
    if (message.version !== 0) throw new Error('only what the service builds is sent here');
    const keys = message.staticAccounts as readonly string[];
    const instructions = message.instructions.map(
      (ix): Instruction => ({
        programId: keys[ix.programAddressIndex]!,
        accounts: (ix.accountIndices ?? []).map((index) => keys[index]!),
        data: Uint8Array.from(ix.data ?? []),
      }),
    );
    const signature = base58.encode(Uint8Array.from(Object.values(signatures)[0]!));
    this.#slot++;
    this.transactions.set(signature, {
      signature,
      slot: this.#slot,
      blockTimeSeconds: Math.floor(Date.now() / 1000),
      failed: false,
      feePayer: keys[0]!,
      memos: instructions.map(parseMemo).filter(present),
      ...movements(instructions, keys),
      events: [],
      channels: new Map(),
    });
    return { kind: 'sent' as const };
  };

  #sighting(signature: string): Sighting {
    const transaction = this.transactions.get(signature);
    return transaction ? { kind: 'found', transaction } : { kind: 'not_found' };
  }
}

function movements(
  instructions: Instruction[],
  keys: readonly string[],
): Pick<ChainTransaction, 'transfers' | 'lamportTransfers' | 'tokenDeltas' | 'lamportDeltas'> {
  const transfers = instructions.map(parseTokenTransfer).filter(present);
  const lamportTransfers = instructions.map(parseLamportTransfer).filter(present);
  const tokenDeltas: ChainTransaction['tokenDeltas'] = new Map();
  const lamportDeltas = new Map(keys.map((key) => [key, 0n]));
  const each = (moved: TokenTransfer[], add: (account: string, delta: bigint, one: TokenTransfer) => void) => {
    for (const one of moved) {
      add(one.source, -one.units, one);
      add(one.destination, one.units, one);
    }
  };
  each(transfers, (account, delta, { mint }) =>
    tokenDeltas.set(account, { mint: mint ?? '', delta: (tokenDeltas.get(account)?.delta ?? 0n) + delta }),
  );
  each(lamportTransfers, (account, delta) => lamportDeltas.set(account, (lamportDeltas.get(account) ?? 0n) + delta));
  return { transfers, lamportTransfers, tokenDeltas, lamportDeltas };
}
