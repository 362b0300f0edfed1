/**
 * Local development only: a wallet with play money of the local chain, so that a payment can be clicked through with nothing
 * installed. It is a script of its own, laid out and named only where the worker runs with DEMO_WALLET, and refuses any node
 * that is not on this machine.
 * @module
 */

import { ed25519 } from '@noble/curves/ed25519.js';
import type { Wallet, WalletAccount } from '@wallet-standard/base';
import { registerWallet } from '@wallet-standard/wallet';
import type { PageFacts } from '../facts.ts';
import { toBase58 } from './bytes.ts';
import { DEMO_WALLET_NAME } from './wallets.ts';

const KEY = 'svc:demo-wallet';
const SIGNATURE_BYTES = 64;
const ICON =
  'data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAyOCAyOCI+PHJlY3Qgd2lkdGg9IjI4IiBoZWlnaHQ9IjI4IiByeD0iOCIgZmlsbD0iI2I0NTMwOSIvPjx0ZXh0IHg9IjE0IiB5PSIyMCIgZm9udC1mYW1pbHk9InNhbnMtc2VyaWYiIGZvbnQtc2l6ZT0iMTYiIGZvbnQtd2VpZ2h0PSI3MDAiIGZpbGw9IiNmZmYiIHRleHQtYW5jaG9yPSJtaWRkbGUiPkQ8L3RleHQ+PC9zdmc+';

function readSeed(): Uint8Array {
  const kept = localStorage.getItem(KEY);
  if (kept) return Uint8Array.from(JSON.parse(kept) as number[]);
  const seed = crypto.getRandomValues(new Uint8Array(32));
  localStorage.setItem(KEY, JSON.stringify([...seed]));
  return seed;
}

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

function newDemoWallet(rpcUrl: string): Wallet {
  const seed = readSeed();
  const publicKey = ed25519.getPublicKey(seed);
  const chains = ['solana:devnet'] as const;
  const account: WalletAccount = { address: toBase58(publicKey), publicKey, chains, features: ['solana:signTransaction'] };
  let accounts: readonly WalletAccount[] = [];
  const features = {
    'standard:connect': {
      version: '1.0.0',
      connect: async () => {
        await fundAccount(rpcUrl, account.address);
        accounts = [account];
        return { accounts };
      },
    },
    'standard:events': { version: '1.0.0', on: () => () => {} },
    'solana:signTransaction': {
      version: '1.0.0',
      supportedTransactionVersions: ['legacy', 0],
      signTransaction: async (...inputs: { transaction: Uint8Array }[]) =>
        inputs.map(({ transaction }) => ({ signedTransaction: signTransaction(transaction, seed) })),
    },
  };
  return {
    version: '1.0.0',
    name: DEMO_WALLET_NAME,
    icon: ICON,
    chains,
    features: features as unknown as Wallet['features'],
    get accounts() {
      return accounts;
    },
  };
}

const text = document.getElementById('facts')?.textContent;
const { demoRpcUrl } = text ? (JSON.parse(text) as PageFacts) : { demoRpcUrl: null };
if (demoRpcUrl && ['127.0.0.1', 'localhost'].includes(new URL(demoRpcUrl).hostname)) registerWallet(newDemoWallet(demoRpcUrl));
