/**
 * Local development only: a wallet with play money of the local chain, so that a payment or a sign-in can be clicked
 * through with nothing installed. It is a script of its own, laid out and named only where the worker runs with DEMO_WALLET, and refuses any node
 * that is not on this machine.
 * @module
 */

import { ed25519 } from '@noble/curves/ed25519.js';
import type { Dictionary } from '../../locales/dictionaries.ts';
import { fromBase64, toBase58 } from '../../parts/bytes.ts';
import { formatMoney, formatPeriod, type Say, sayIn } from '../../parts/text.ts';
import type { WalletTerms } from '../../parts/wallet-choice.ts';
import { OWN_WALLET_NAMES } from '../wallets.ts';
import { keptIn, readFacts, registerOwnWallet } from './own-wallet.ts';
import { decimalOf, readTransfers, type TransferAsked } from './read-transfers.ts';
import { newRejection, openWalletDialog } from './wallet-dialog.ts';

/** Where it pays, on a buyer's page, it knows the words of buyers; pages of merchants ask it for signatures of texts alone. */
type Facts = WalletTerms & { text: Dictionary };

const SIGNATURE_BYTES = 64;
const HOURS_A_DAY = 24n;
const ICON =
  'data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHZpZXdCb3g9IjAgMCAyOCAyOCI+PHJlY3Qgd2lkdGg9IjI4IiBoZWlnaHQ9IjI4IiByeD0iOCIgZmlsbD0iI2I0NTMwOSIvPjx0ZXh0IHg9IjE0IiB5PSIyMCIgZm9udC1mYW1pbHk9InNhbnMtc2VyaWYiIGZvbnQtc2l6ZT0iMTYiIGZvbnQtd2VpZ2h0PSI3MDAiIGZpbGw9IiNmZmYiIHRleHQtYW5jaG9yPSJtaWRkbGUiPkQ8L3RleHQ+PC9zdmc+';

const readSeed = (): Uint8Array => {
  const make = () => JSON.stringify([...crypto.getRandomValues(new Uint8Array(32))]);
  return Uint8Array.from(JSON.parse(keptIn('svc:demo-wallet', make)) as number[]);
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

/** Test USDC on devnet, which the local chain presents itself as. */
const USDC_MINT = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';
/** Where the owner stands in a token account. */
const OWNER_AT = 32;

/** Whose wallet is paid, which of a token account only the chain can tell; the account itself where it is not open yet. */
async function payeeOf(rpcUrl: string, { mint, owner, destination }: TransferAsked): Promise<string> {
  if (mint === null || owner !== null) return owner ?? destination;
  const { value } = await askNode<{ value: { data: [string, string] } | null }>(rpcUrl, 'getAccountInfo', [
    destination,
    { encoding: 'base64' },
  ]);
  return value ? toBase58(fromBase64(value.data[0]).slice(OWNER_AT, OWNER_AT + 32)) : destination;
}

/** How much goes to whom, read from the very bytes that are to be signed, as a wallet does: never from what the page says of them. */
async function listTransfers(say: Say, rpcUrl: string, transaction: Uint8Array): Promise<(readonly [string, string])[]> {
  const locale = document.documentElement.lang;
  const rows = readTransfers(transaction).map(async (transfer) => {
    const amount = decimalOf(transfer.units, transfer.decimals);
    const asset = transfer.mint === null ? 'SOL' : transfer.mint === USDC_MINT ? 'USDC' : transfer.mint;
    const period = transfer.periodHours === null ? '' : ` / ${formatPeriod(locale, Number(transfer.periodHours / HOURS_A_DAY), 'day')}`;
    return [
      [say('amount'), formatMoney(locale, { asset, amount }) + period],
      [say('address'), await payeeOf(rpcUrl, transfer)],
    ] as const;
  });
  return (await Promise.all(rows)).flat();
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
