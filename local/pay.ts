/**
 * `npm run pay -- <checkout page or route that answers 402>`: pays like a buyer or agent with test money of the local chain, from a new
 * wallet or from that of a keypair file, which it makes. Requires `npm run dev` on this machine.
 * @module
 */

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm';
import { Api } from './cli/api.ts';
import { readKeyFile, writeKeyFile } from './cli/key-file.ts';
import { Refusal } from './cli/options.ts';
import { sign, WalletChain } from './demo/wallet.ts';

const USAGE = `npm run pay -- <address of a checkout page, or of a route that agents pay for> [--rpc http://127.0.0.1:8899] [--wallet <file>]
       with --wallet <file>       pays from this keypair file, made if it is missing
       with --wallet <file> alone puts play money into it`;
const PLAY_MONEY_UNITS = 1_000_000_000_000n;
const PATIENCE_MS = 30_000;
const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';

interface Session {
  payment_id: string;
  transaction: string;
  price: { amount: string; asset: string };
}
interface Payment {
  payment_id: string;
  status: string;
  receipt_id?: string;
}

interface Order {
  /** Null: only the wallet is made and funded. */
  address: URL | null;
  chainUrl: string;
  walletFile: string | undefined;
}

function readFlags(args: string[]) {
  try {
    return parseArgs({ args, allowPositionals: true, options: { rpc: { type: 'string' }, wallet: { type: 'string' } } });
  } catch (error) {
    throw new Refusal(`${error instanceof Error ? error.message : String(error)}\nUsage: ${USAGE}`);
  }
}

function readOrder(args: string[]): Order {
  const { values, positionals } = readFlags(args);
  const address = positionals.length === 1 && URL.canParse(positionals[0]!) ? new URL(positionals[0]!) : null;
  const chain = new URL(values.rpc ?? `http://127.0.0.1:${process.env.CHAIN_PORT || 8899}`);
  if (positionals.length > 1) throw new Refusal(`Expected one URL, not ${positionals.length}. --rpc names the node.\nUsage: ${USAGE}`);
  if (!address && (positionals.length === 1 || !values.wallet)) throw new Refusal(`The URL is missing.\nUsage: ${USAGE}`);
  // The transaction of the page is signed unread.
  if (values.wallet && address && !['127.0.0.1', 'localhost'].includes(address.hostname))
    throw new Refusal('A wallet file pays only on this machine: the page must be on 127.0.0.1 or localhost.');
  if (chain.hostname !== '127.0.0.1') throw new Refusal('Play money exists only on a local chain.');
  return { address, chainUrl: chain.origin, walletFile: values.wallet };
}

async function openWallet({ chainUrl, walletFile }: Order): Promise<KeyPairSigner> {
  const open = (path: string) => (existsSync(path) ? readKeyFile(path) : writeKeyFile(path));
  const wallet = await (walletFile ? open(resolve(walletFile)) : generateKeyPairSigner());
  await new WalletChain(chainUrl).fund(wallet.address, PLAY_MONEY_UNITS);
  return wallet;
}

const isCheckout = ({ pathname }: URL): boolean => /^\/p\/[a-z0-9-]+$/.test(pathname);

async function payForCall(agent: KeyPairSigner, route: URL, chainUrl: string): Promise<void> {
  const client = new x402Client().register(DEVNET, new ExactSvmScheme(agent, { rpcUrl: chainUrl }));
  const bare = await fetch(route);
  await bare.body?.cancel();
  console.log(`${bare.status} without a payment`);
  if (bare.status !== 402) throw new Refusal('The URL is neither a checkout page nor a paid route.');
  const answer = await wrapFetchWithPayment(fetch, client)(route);
  console.log(`${answer.status} with a payment from ${agent.address}: ${await answer.text()}`);
  if (!answer.ok) process.exitCode = 1;
}

/** Presses start at the local Telegram, as its page does for the first buyer. Returns null if the platform is not on this machine. */
async function proveAccount(api: Api, page: URL, provider: string): Promise<string | null> {
  if (provider !== 'telegram') return null;
  const proof = await api.must<{ identity_session_id: string; deep_link: string }>('POST', `/v1/products${page.pathname}/identity`);
  const body = new URLSearchParams({ act: 'start', link: proof.deep_link, user: '4711', username: 'grace' });
  const { ok } = await fetch(`${page.origin}/dev/telegram`, { method: 'POST', body });
  if (ok) console.log('The Telegram user 4711 (grace) presses start');
  return ok ? proof.identity_session_id : null;
}

async function startPayment(api: Api, buyer: KeyPairSigner, page: URL): Promise<Session> {
  const connect = <T>(terms: object = {}) =>
    api.must<T>('POST', `/v1/products${page.pathname}/connect`, { body: { asset: 'USDC', wallet_address: buyer.address, ...terms } });
  const begun = await connect<Session | { identity: { provider: string } }>();
  if (!('identity' in begun)) return begun;
  const { provider } = begun.identity;
  const identity = await proveAccount(api, page, provider);
  if (identity === null)
    throw new Refusal(`The page first asks the buyer for an account at ${provider}. Open it in a browser: ${page.href}`);
  return connect<Session>({ identity_session_id: identity });
}

async function pay(buyer: KeyPairSigner, page: URL): Promise<void> {
  const api = new Api(page.origin);
  const session = await startPayment(api, buyer, page);
  const { amount, asset } = session.price;
  console.log(`${buyer.address} pays ${amount} ${asset}`);
  const transaction = await sign(buyer, session.transaction);
  await api.must('POST', `/v1/payments/${session.payment_id}/transaction`, { body: { transaction } });
  for (const deadline = Date.now() + PATIENCE_MS; Date.now() < deadline; await sleep(500)) {
    const { status, receipt_id } = await api.must<Payment>('GET', `/v1/payments/${session.payment_id}`);
    if (status === 'PENDING_SIGNATURE' || status === 'PENDING_CONFIRMATION') continue;
    console.log(`${status}: ${page.origin}/v1/payments/${session.payment_id}`);
    if (receipt_id) console.log(`Receipt: ${page.origin}/r/${receipt_id}`);
    if (status !== 'CONFIRMED') process.exitCode = 1;
    return;
  }
  throw new Error(`${session.payment_id} was not confirmed in time.`);
}

async function main(): Promise<void> {
  const order = readOrder(process.argv.slice(2));
  const { address, chainUrl, walletFile } = order;
  const wallet = await openWallet(order);
  if (address === null) return console.log(`${wallet.address} has play money: ${resolve(walletFile!)}`);
  await (isCheckout(address) ? pay(wallet, address) : payForCall(wallet, address, chainUrl));
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
});
