/**
 * Local development only: a wallet with funds of the local chain, so that payments and sign-ins work without an installed wallet. Its
 * script is served only if DEMO_WALLET is set, and it refuses any RPC node that is not on this machine.
 * @module
 */

import { ed25519 } from '@noble/curves/ed25519.js';
import type { Dictionary } from '../../locales/dictionaries.ts';
import { fromBase64, toBase58 } from '../../parts/bytes.ts';
import { formatMoney, formatPeriod, type Say, sayIn } from '../../parts/text.ts';
import type { WalletTerms } from '../../parts/wallet-choice.ts';
import { OWN_WALLET_NAMES } from '../wallets/wallets.ts';
import { loadOrStore, readFacts, registerOwnWallet } from './own-wallet.ts';
import { decimalOf, readTransfers, type TransferAsked } from './read-transfers.ts';
import { newRejection, openWalletDialog } from './wallet-dialog.ts';

type Facts = WalletTerms & { text: Dictionary };

const SIGNATURE_BYTES = 64;
const HOURS_A_DAY = 24n;
const ICON =
  'data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAyOCAyOCI+PHJlY3Qgd2lkdGg9IjI4IiBoZWlnaHQ9IjI4IiByeD0iOCIgZmlsbD0iI2I0NTMwOSIvPjx0ZXh0IHg9IjE0IiB5PSIyMCIgZm9udC1mYW1pbHk9InNhbnMtc2VyaWYiIGZvbnQtc2l6ZT0iMTYiIGZvbnQtd2VpZ2h0PSI3MDAiIGZpbGw9IiNmZmYiIHRleHQtYW5jaG9yPSJtaWRkbGUiPkQ8L3RleHQ+PC9zdmc+';

const readSeed = (): Uint8Array => {
  const make = () => JSON.stringify([...crypto.getRandomValues(new Uint8Array(32))]);
  return Uint8Array.from(JSON.parse(loadOrStore('svc:demo-wallet', make)) as number[]);
};

async function askNode<T>(rpcUrl: string, method: string, params: unknown[]): Promise<T> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  return ((await response.json()) as { result: T }).result;
}

async function fundAccount(rpcUrl: string, address: string): Promise<void> {
  await askNode(rpcUrl, 'local_fundSol', [address, '1000000000']);
  await askNode(rpcUrl, 'local_fundUsdc', [address, '1000000000']);
}

/** Test USDC on devnet, the network that the local chain reports. */
const USDC_MINT = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
const OWNER_AT = 32;

/** Returns the owner of a token account, or the account itself if it is not open yet. */
async function readPayee(rpcUrl: string, { mint, owner, destination }: TransferAsked): Promise<string> {
  if (mint === null || owner !== null) return owner ?? destination;
  const { value } = await askNode<{ value: { data: [string, string] } | null }>(rpcUrl, 'getAccountInfo', [
    destination,
    { encoding: 'base64' },
  ]);
  return value ? toBase58(fromBase64(value.data[0]).slice(OWNER_AT, OWNER_AT + 32)) : destination;
}

/** Lists amounts and payees from the transaction's bytes, as a wallet does, and never from the page's claims. */
async function listTransfers(say: Say, rpcUrl: string, transaction: Uint8Array): Promise<(readonly [string, string])[]> {
  const locale = document.documentElement.lang;
  const rows = readTransfers(transaction).map(async (transfer) => {
    const amount = decimalOf(transfer.units, transfer.decimals);
    const asset = transfer.mint === null ? 'SOL' : transfer.mint === USDC_MINT ? 'USDC' : transfer.mint;
    const period = transfer.periodHours === null ? '' : ` / ${formatPeriod(locale, Number(transfer.periodHours / HOURS_A_DAY), 'day')}`;
    return [
      [say('amount'), formatMoney(locale, { asset, amount }) + period],
      [say('address'), await readPayee(rpcUrl, transfer)],
    ] as const;
  });
  return (await Promise.all(rows)).flat();
}

/** Wire form: one length byte, signatures, message. The first signer is the payer. */
function signTransaction(transaction: Uint8Array, seed: Uint8Array): Uint8Array {
  const count = transaction[0]!;
  const message = transaction.subarray(1 + count * SIGNATURE_BYTES);
  const signed = transaction.slice();
  signed.set(ed25519.sign(message, seed), 1);
  return signed;
}

/** Asks the buyer as a wallet does. With too little money, fails with the network's simulation error before signing. */
async function askBuyer(text: Dictionary, rpcUrl: string, transaction: Uint8Array): Promise<void> {
  const say = sayIn(text);
  const rows = await listTransfers(say, rpcUrl, transaction);
  return new Promise((resolve, reject) => {
    const buttons = [
      ['approve', say('twApprove')],
      ['decline', say('twDecline')],
      ['tooLittle', say('dwTooLittle')],
    ] as const;
    openWalletDialog({ title: OWN_WALLET_NAMES.demo, ask: say('dwAsk'), rows, buttons, onEscape: 'decline' }, async (deed) => {
      if (deed === 'approve') resolve();
      else reject(deed === 'decline' ? newRejection() : new Error('Transaction simulation failed: custom program error: 0x1'));
      return null;
    });
  });
}

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
      await askBuyer(text, rpcUrl, transaction);
      return { signedTransaction: signTransaction(transaction, seed) };
    },
    signText: (text) => ed25519.sign(text, seed),
  });
}

const facts = readFacts<Facts>();
const ownWallet = facts?.ownWallet;
if (facts && ownWallet?.kind === 'demo' && ['127.0.0.1', 'localhost'].includes(new URL(ownWallet.rpcUrl).hostname))
  registerDemoWallet(facts, ownWallet.rpcUrl);
