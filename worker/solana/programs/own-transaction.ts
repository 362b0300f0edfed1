import {
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  type Instruction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { getSetComputeUnitLimitInstruction } from '@solana-program/compute-budget';
import { base58 } from '#core/encoding.ts';
import type { Lifetime } from '../checkout-transaction.ts';

export interface Operator {
  publicKey: Uint8Array;
  sign(message: Uint8Array): Uint8Array;
}

const COMPUTE_UNITS = 300_000;

export function signed(instructions: Instruction[], lifetime: Lifetime, operator: Operator): Uint8Array {
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (draft) => setTransactionMessageFeePayer(base58.encode(operator.publicKey) as Address, draft),
    (draft) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: lifetime.blockhash as Blockhash, lastValidBlockHeight: lifetime.lastValidBlockHeight },
        draft,
      ),
    (draft) => appendTransactionMessageInstructions([getSetComputeUnitLimitInstruction({ units: COMPUTE_UNITS }), ...instructions], draft),
  );
  const bytes = Uint8Array.from(compileTransaction(message).messageBytes);
  return Uint8Array.of(1, ...operator.sign(bytes), ...bytes);
}
