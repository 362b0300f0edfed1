import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { base58 } from '@scure/base';
import {
  type Address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getTransactionDecoder,
  type Instruction,
  pipe,
  type SignatureBytes,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  type Transaction,
} from '@solana/kit';

const PKCS8_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI_HEAD_BYTES = 12;

export interface Lifetime {
  blockhash: Blockhash;
  lastValidBlockHeight: bigint;
}

/** Wallet with a key from a seed. It signs synchronously. */
export class Wallet {
  readonly address: Address;
  readonly #key: KeyObject;

  constructor(seed: Uint8Array) {
    this.#key = createPrivateKey({ key: Buffer.concat([PKCS8_HEAD, seed]), format: 'der', type: 'pkcs8' });
    const spki = createPublicKey(this.#key).export({ format: 'der', type: 'spki' });
    this.address = base58.encode(spki.subarray(SPKI_HEAD_BYTES)) as Address;
  }

  signText(text: string): string {
    return this.signBytes(Buffer.from(text));
  }

  signBytes(bytes: Uint8Array): string {
    return base58.encode(sign(null, bytes, this.#key));
  }

  /** Signs the exact message of a transaction in base64. */
  signWire(wire: string): string {
    return this.#signTransaction(getTransactionDecoder().decode(getBase64Encoder().encode(wire)));
  }

  /** Compiles and signs instructions. Another fee payer has still to sign. */
  signInstructions(instructions: Instruction[], lifetime: Lifetime, feePayer: Address = this.address): string {
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (draft) => setTransactionMessageFeePayer(feePayer, draft),
      (draft) => setTransactionMessageLifetimeUsingBlockhash(lifetime, draft),
      (draft) => appendTransactionMessageInstructions(instructions, draft),
    );
    return this.#signTransaction(compileTransaction(message));
  }

  #signTransaction(transaction: Transaction): string {
    const signature = new Uint8Array(sign(null, Buffer.from(transaction.messageBytes), this.#key)) as SignatureBytes;
    return getBase64EncodedWireTransaction({ ...transaction, signatures: { ...transaction.signatures, [this.address]: signature } });
  }
}
