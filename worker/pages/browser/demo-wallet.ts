/**
 * Local development only: a wallet with play money of the local chain, so that a payment or a sign-in can be clicked
 * through with nothing installed. It is a script of its own, laid out and named only where the worker runs with DEMO_WALLET, and refuses any node
 * that is not on this machine.
 * @module
 */

import { ed25519 } from '@noble/curves/ed25519.js';
import type { Dictionary } from '../locales/en.ts';
import { sayIn } from '../parts/text.ts';
import type { WalletTerms } from '../parts/wallet-choice.ts';
import { toBase58 } from './bytes.ts';
import { keptIn, readFacts, registerOwnWallet } from './own-wallet.ts';
import { newRejection, openWalletDialog } from './wallet-dialog.ts';
import { OWN_WALLET_NAMES } from './wallets.ts';

/** Where it pays, on a buyer's page, it knows the words of buyers; pages of merchants ask it for signatures of texts alone. */
type Facts = WalletTerms & { text: Dictionary };

const SIGNATURE_BYTES = 64;
const ICON =
  'data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAyOCAyOCI+PHJlY3Qgd2lkdGg9IjI4IiBoZWlnaHQ9IjI4IiByeD0iOCIgZmlsbD0iI2I0NTMwOSIvPjx0ZXh0IHg9IjE0IiB5PSIyMCIgZm9udC1mYW1pbHk9InNhbnMtc2VyaWYiIGZvbnQtc2l6ZT0iMTYiIGZvbnQtd2VpZ2h0PSI3MDAiIGZpbGw9IiNmZmYiIHRleHQtYW5jaG9yPSJtaWRkbGUiPkQ8L3RleHQ+PC9zdmc+';

const readSeed = (): Uint8Array => {
  const make = () => JSON.stringify([...crypto.getRandomValues(new Uint8Array(32))]);
  return Uint8Array.from(JSON.parse(keptIn('svc:demo-wallet', make)) as number[]);
};

async function fundAccount(rpcUrl: string, address: string): Promise<void> {
  for (const [method, amount] of [
    ['local_fundSol', '1000000000'],
    ['local_fundUsdc', '1000000000'],
  ]) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [address, amount] });
    await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  }
}

/** The first signer of the wire form is the payer: one length byte, signatures, then the message that is signed. */
function signTransaction(transaction: Uint8Array, seed: Uint8Array): Uint8Array {
  const count = transaction[0]!;
  const message = transaction.subarray(1 + count * SIGNATURE_BYTES);
  const signed = transaction.slice();
  signed.set(ed25519.sign(message, seed), 1);
  return signed;
}

/** Asks as a wallet does; one that has too little money says so before it signs, in the words of the network. */
const askBuyer = (text: Dictionary): Promise<void> =>
  new Promise((resolve, reject) => {
    const say = sayIn(text);
    const buttons = [
      ['approve', say('twApprove')],
      ['decline', say('twDecline')],
      ['tooLittle', say('dwTooLittle')],
    ] as const;
    openWalletDialog({ title: OWN_WALLET_NAMES.demo, ask: say('dwAsk'), buttons, onEscape: 'decline' }, async (deed) => {
      if (deed === 'approve') resolve();
      else reject(deed === 'decline' ? newRejection() : new Error('Transaction simulation failed: custom program error: 0x1'));
      return null;
    });
  });

function registerDemoWallet({ text }: Facts, rpcUrl: string): void {
  const seed = readSeed();
  const publicKey = ed25519.getPublicKey(seed);
  const address = toBase58(publicKey);
  registerOwnWallet({
    name: OWN_WALLET_NAMES.demo,
    icon: ICON,
    feature: 'solana:signTransaction',
    connect: async () => {
      await fundAccount(rpcUrl, address);
      return { address, publicKey };
    },
    act: async (transaction) => {
      await askBuyer(text);
      return { signedTransaction: signTransaction(transaction, seed) };
    },
    signText: (text) => ed25519.sign(text, seed),
  });
}

const facts = readFacts<Facts>();
const ownWallet = facts?.ownWallet;
if (facts && ownWallet?.kind === 'demo' && ['127.0.0.1', 'localhost'].includes(new URL(ownWallet.rpcUrl).hostname))
  registerDemoWallet(facts, ownWallet.rpcUrl);
