import {
  address,
  appendTransactionMessageInstructions,
  compileTransaction,
  createTransactionMessage,
  decompileTransactionMessage,
  getBase64EncodedWireTransaction,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type KeyPairSigner,
  partiallySignTransaction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { getSetComputeUnitLimitInstruction, getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget';
import { base64, utf8 } from '#core/encoding.ts';

export const CAPS = { maxComputeUnits: 400_000, maxComputeUnitPrice: 5_000_000, maxPriorityFeeLamports: 20_000 };

/** Signs the transaction of a PAYMENT-SIGNATURE again with another compute budget. */
export async function priced(payment: string, signer: KeyPairSigner, budget: { units: number; microLamports: bigint }): Promise<string> {
  const payload = JSON.parse(new TextDecoder().decode(base64.decode(payment)));
  const { messageBytes } = getTransactionDecoder().decode(base64.decode(payload.payload.transaction));
  const message = decompileTransactionMessage(getCompiledTransactionMessageDecoder().decode(messageBytes));
  if (!('blockhash' in message.lifetimeConstraint)) throw new Error('the public client writes a blockhash');
  const { lifetimeConstraint } = message;
  const compiled = compileTransaction(
    pipe(
      createTransactionMessage({ version: 0 }),
      (m) => setTransactionMessageFeePayer(address(message.feePayer.address), m),
      (m) => setTransactionMessageLifetimeUsingBlockhash(lifetimeConstraint, m),
      (m) =>
        appendTransactionMessageInstructions(
          [
            getSetComputeUnitLimitInstruction({ units: budget.units }),
            getSetComputeUnitPriceInstruction({ microLamports: budget.microLamports }),
            ...message.instructions.slice(2),
          ],
          m,
        ),
    ),
  );
  const transaction = getBase64EncodedWireTransaction(await partiallySignTransaction([signer.keyPair], compiled));
  return base64.encode(utf8(JSON.stringify({ ...payload, payload: { transaction } })));
}
