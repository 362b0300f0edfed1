/**
 * `npm run pay -- <checkout page or route that answers 402>`: pays like a buyer or agent from a new wallet with test money of the local
 * chain. Requires `npm run dev` on this machine.
 * @module
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm';
import { Api } from './cli/api.ts';
import { Refusal } from './cli/options.ts';
import { sign, WalletChain } from './demo/wallet.ts';

const USAGE = 'npm run pay -- <address of a checkout page, or of a route that agents pay for> [--rpc http://127.0.0.1:8899]';
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

function readOrder(args: string[]): { address: URL; chainUrl: string } {
  const { values, positionals } = parseArgs({ args, allowPositionals: true, options: { rpc: { type: 'string' } } });
  const address = positionals.length === 1 && URL.canParse(positionals[0]!) ? new URL(positionals[0]!) : null;
  const chain = new URL(values.rpc ?? `http://127.0.0.1:${process.env.CHAIN_PORT || 8899}`);
  if (positionals.length > 1) throw new Refusal(`Expected one URL, not ${positionals.length}. --rpc names the node.\nUsage: ${USAGE}`);
  if (!address) throw new Refusal(`The URL is missing.\nUsage: ${USAGE}`);
  if (chain.hostname !== '127.0.0.1') throw new Refusal('Play money exists only on a local chain.');
  return { address, chainUrl: chain.origin };
}

const isCheckout = ({ pathname }: URL): boolean => /^\/p\/[a-z0-9-]+$/.test(pathname);

async function payForCall(route: URL, chainUrl: string): Promise<void> {
  const agent = await new WalletChain(chainUrl).newBuyer(PLAY_MONEY_UNITS);
  const client = new x402Client().register(DEVNET, new ExactSvmScheme(agent, { rpcUrl: chainUrl }));
  const bare = await fetch(route);
  await bare.body?.cancel();
  console.log(`${bare.status} without a payment`);
  if (bare.status !== 402) throw new Refusal('The URL is neither a checkout page nor a paid route.');
  const answer = await wrapFetchWithPayment(fetch, client)(route);
  console.log(`${answer.status} with a payment from ${agent.address}: ${await answer.text()}`);
  if (!answer.ok) process.exitCode = 1;
}

async function pay(page: URL, chainUrl: string): Promise<void> {
  const api = new Api(page.origin);
  const buyer = await new WalletChain(chainUrl).newBuyer(PLAY_MONEY_UNITS);
  const body = { asset: 'USDC', wallet_address: buyer.address };
  const session = await api.must<Session | { identity: { provider: string } }>('POST', `/v1/products${page.pathname}/connect`, { body });
  if ('identity' in session)
    throw new Refusal(`The page first asks the buyer for an account at ${session.identity.provider}. Open it in a browser: ${page.href}`);
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

try {
  const { address, chainUrl } = readOrder(process.argv.slice(2));
  await (isCheckout(address) ? pay : payForCall)(address, chainUrl);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
