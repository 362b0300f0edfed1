import {
  type Address,
  appendTransactionMessageInstruction,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  generateKeyPairSigner,
  getBase64Encoder,
  getTransactionEncoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base58 } from '#core/encoding.ts';
import { NATIVE_MINT } from '#solana/assets.ts';
import { associatedTokenAccount, buildCheckoutTransaction, type CheckoutTerms } from '#solana/checkout-transaction.ts';
import { subscribeInstruction } from '#solana/programs/subscriptions/instructions.ts';
import { decimalOf, readTransfers } from '../../worker/pages/browser/own-wallet/read-transfers.ts';
import { readTransaction } from '../../worker/pages/parts/transaction.ts';
import { USDC } from '../support/chain/chain.ts';

const key = (fill: number) => base58.encode(new Uint8Array(32).fill(fill));
const LIFETIME = { blockhash: key(9), lastValidBlockHeight: 1_000n };

async function buildTransaction(terms: Partial<CheckoutTerms>): Promise<Uint8Array> {
  const buyer = (await generateKeyPairSigner()).address;
  const common = { memo: 'svc:nonce', mint: USDC, decimals: 6, references: [key(11), key(12)], fee: null };
  const wire = await buildCheckoutTransaction({ ...common, ...terms } as CheckoutTerms, buyer, LIFETIME);
  return Uint8Array.from(getBase64Encoder().encode(wire));
}

describe('readTransfers of the demo wallet', () => {
  it('a token transfer is listed with its amount, recipient and opened account', async () => {
    const [merchant, service] = [(await generateKeyPairSigner()).address, (await generateKeyPairSigner()).address];
    const leg = async (wallet: string, units: bigint, ataExists: boolean) => ({
      wallet,
      ata: await associatedTokenAccount(wallet, USDC),
      units,
      ataExists,
    });
    const terms = { merchant: await leg(merchant, 12_500_000n, false), fee: await leg(service, 1n, true) };
    const read = readTransfers(await buildTransaction(terms));
    expect(read.toSorted((a, b) => Number(b.units - a.units))).toEqual([
      { mint: USDC, decimals: 6, units: 12_500_000n, destination: terms.merchant.ata, owner: merchant, periodHours: null },
      { mint: USDC, decimals: 6, units: 1n, destination: terms.fee.ata, owner: null, periodHours: null },
    ]);
  });

  it('a SOL transfer is listed with lamports and recipient', async () => {
    const wallet = (await generateKeyPairSigner()).address;
    const merchant = { wallet, ata: wallet, units: 18_446_744_073_709_551_615n, ataExists: true };
    expect(readTransfers(await buildTransaction({ mint: NATIVE_MINT, decimals: 9, merchant }))).toEqual([
      { mint: null, decimals: 9, units: merchant.units, destination: wallet, owner: null, periodHours: null },
    ]);
  });

  it('a subscription is listed with amount, period and recipient', async () => {
    const [owner, subscriber] = [(await generateKeyPairSigner()).address, (await generateKeyPairSigner()).address];
    const asked = { owner, planId: 7n, bump: 255, mint: USDC as Address, amount: 5_000_000n, periodHours: 720n, createdAt: 1n };
    const instruction = subscribeInstruction({ subscriber, asked, initId: 3n });
    const lifetime = { blockhash: LIFETIME.blockhash as Blockhash, lastValidBlockHeight: 1_000n };
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (m) => setTransactionMessageFeePayer(subscriber, m),
      (m) => setTransactionMessageLifetimeUsingBlockhash(lifetime, m),
      (m) => appendTransactionMessageInstruction(instruction, m),
    );
    const wire = Uint8Array.from(getTransactionEncoder().encode(compileTransaction(message)));
    expect(readTransfers(wire)).toEqual([{ mint: USDC, decimals: 6, units: 5_000_000n, destination: owner, owner, periodHours: 720n }]);
  });

  it('a truncated transaction is refused at any length', async () => {
    const wallet = (await generateKeyPairSigner()).address;
    const complete = await buildTransaction({
      mint: NATIVE_MINT,
      decimals: 9,
      merchant: { wallet, ata: wallet, units: 1n, ataExists: true },
    });
    // The last byte counts the lookup tables. There are none, so a cut there is not noticed.
    fc.assert(
      fc.property(fc.integer({ min: 0, max: complete.length - 2 }), (length) => {
        expect(() => readTransfers(complete.slice(0, length))).toThrow();
      }),
    );
  });

  it('a transaction with lookup tables, trailing bytes or an unknown version is refused', async () => {
    const wallet = (await generateKeyPairSigner()).address;
    const complete = await buildTransaction({
      mint: NATIVE_MINT,
      decimals: 9,
      merchant: { wallet, ata: wallet, units: 1n, ataExists: true },
    });
    const withTable = Uint8Array.from([...complete.slice(0, -1), 1, ...new Uint8Array(34)]);
    expect(() => readTransaction(withTable)).toThrow('lookup table');
    expect(() => readTransaction(Uint8Array.from([...complete, 0]))).toThrow('after its end');
    const version = 1 + 64 * complete[0]!;
    expect(() => readTransaction(complete.with(version, 0x81))).toThrow('version');
  });

  it('amounts are written as exact decimals', () => {
    expect([decimalOf(500_000n, 6), decimalOf(1n, 9), decimalOf(5n, 0), decimalOf(0n, 6), decimalOf(20_000_000n, 6)]).toEqual([
      '0.5',
      '0.000000001',
      '5',
      '0',
      '20',
    ]);
  });
});
