import type { Address } from '@solana/kit';
import { getAddMemoInstruction } from '@solana-program/memo';
import { base58 } from '#core/encoding.ts';
import { MEMO_PROGRAM, TOKEN_PROGRAM } from '../../assets.ts';
import { type Lifetime, withReferences } from '../../checkout-transaction.ts';
import { type Operator, signed } from '../own-transaction.ts';
import { collectInstruction } from './instructions.ts';
import type { CollectionRoute } from './standing.ts';

/** One collection of a subscription, and by what its payment is found in the transaction. */
interface Collection {
  route: Omit<CollectionRoute, 'puller'>;
  amount: bigint;
  memo: string;
  /** Read-only keys: the payment's own, the service's. */
  references: readonly string[];
}

/**
 * Moves the price of a period from the buyer to the merchant. The key that signs pays the network and can send the money nowhere else:
 * the plan names who is paid, and the program moves it by the buyer's own approval. Signed; the wire form.
 */
export function buildCollection({ route, amount, memo, references }: Collection, lifetime: Lifetime, puller: Operator): Uint8Array {
  const { receiver, mint } = route;
  const by = { puller: base58.encode(puller.publicKey) as Address, receiver, amount, mint, tokenProgram: TOKEN_PROGRAM as Address };
  const instructions = [
    getAddMemoInstruction({ memo }, { programAddress: MEMO_PROGRAM as Address }),
    withReferences(collectInstruction(route, by), references),
  ];
  return signed(instructions, lifetime, puller);
}
