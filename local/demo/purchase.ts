import type { KeyPairSigner } from '@solana/kit';
import { check } from './narrator.ts';
import type { DemoContext, Money, Shop } from './shop.ts';
import { type Bill, deriveTokenAccount, preview, sign } from './wallet.ts';

export interface Payment {
  now: string;
  payment_id: string;
  status: string;
  version: number;
  tx_signature?: string;
  confirmed_at?: string;
  poll_after_ms: number | null;
}

export interface Session extends Bill {
  payment_id: string;
  price: Money;
  transaction: string;
  poll_after_ms: number;
}

interface Confirmation {
  payment: Payment;
  membership_id?: string;
  receipt_id?: string;
  already_confirmed: boolean;
}

export interface Sale {
  buyer: KeyPairSigner;
  session: Session;
  signature: string;
  membershipId: string;
  receiptId: string;
}

const RACERS = 8;
const ROUNDS_MAX = 40;
const BUYER_UNITS = 25_000_000n;
const DAY_MS = 86_400_000;

/** Formats base units without floats, even for display. */
export function inUsdc(units: bigint): string {
  const fraction = String(units % 1_000_000n)
    .padStart(6, '0')
    .replace(/0+$/, '');
  return `${units / 1_000_000n}${fraction && `.${fraction}`} USDC`;
}

export async function openSession({ api, chain }: DemoContext, { product }: Shop): Promise<{ buyer: KeyPairSigner; session: Session }> {
  const buyer = await chain.newBuyer(BUYER_UNITS);
  const path = `/v1/products/p/${product.slug}/connect`;
  return { buyer, session: await api.must<Session>('POST', path, { body: { wallet_address: buyer.address } }) };
}

/** Main flow: from a wallet with USDC to a membership. */
export async function buy(demo: DemoContext, shop: Shop): Promise<Sale> {
  const { api, chain, narrator } = demo;
  narrator.step('Grace comes with a wallet and asks to buy');
  const { buyer, session } = await openSession(demo, shop);
  const before = await chain.balanceOf(shop.payoutWallet, session.mint);
  narrator.fact('her wallet', `${buyer.address}, ${inUsdc(BUYER_UNITS)}`);
  narrator.fact('payment', session.payment_id);
  narrator.fact('to pay', `${session.price.amount} ${session.price.asset} with memo ${session.memo}`);

  narrator.step('Her wallet reads the transaction before it signs');
  const shown = preview(session.transaction);
  const destination = await deriveTokenAccount(session.recipient, session.mint);
  check(shown.units === BigInt(session.price.base_units), `The transaction moves ${shown.units} base units, not the price`);
  check(shown.destination === destination, `The transaction pays ${shown.destination}, not the merchant's ${destination}`);
  check(shown.memo === session.memo && shown.feePayer === buyer.address, 'The transaction is not the one the session promised');
  narrator.proven(`It moves ${inUsdc(shown.units)} to the merchant's own token account ${destination}, and nothing else.`);

  const signature = await sendSigned(demo, session, await sign(buyer, session.transaction));
  const { membership_id, receipt_id, payment } = await race(demo, session, signature);
  check(
    membership_id !== undefined && receipt_id !== undefined,
    `The confirmed payment has no membership or no receipt: ${JSON.stringify(payment)}`,
  );

  narrator.step('The money is where it belongs');
  const after = await chain.balanceOf(shop.payoutWallet, session.mint);
  check(after - before === BigInt(session.price.base_units), `The merchant's balance went from ${before} to ${after} base units`);
  narrator.proven(`On chain, Ada's wallet went from ${inUsdc(before)} to ${inUsdc(after)}: exactly the price, straight from Grace.`);
  await showMembership(api, demo, shop, buyer.address, membership_id, payment);
  return { buyer, session, signature, membershipId: membership_id, receiptId: receipt_id };
}

async function sendSigned({ api, narrator }: DemoContext, session: Session, transaction: string): Promise<string> {
  narrator.step('She signs, and it goes out through the service');
  const path = `/v1/payments/${session.payment_id}/transaction`;
  const sent = await api.must<{ payment: Payment; tx_signature: string }>('POST', path, { body: { transaction } });
  narrator.fact('signature', sent.tx_signature);
  narrator.fact('status', sent.payment.status);
  return sent.tx_signature;
}

/** Confirms from eight concurrent calls. All must get the same answer, and only one may have executed. */
async function race({ api, narrator }: DemoContext, session: Session, signature: string): Promise<Confirmation> {
  narrator.step(`${RACERS} requests race to confirm it`);
  const body = { payment_id: session.payment_id, tx_signature: signature };
  for (let round = 1; round <= ROUNDS_MAX; round++) {
    const answers = await Promise.all(Array.from({ length: RACERS }, () => api.must<Confirmation>('POST', '/v1/pay/confirm', { body })));
    const confirmed = answers.filter(({ payment }) => payment.status === 'CONFIRMED');
    const [first] = confirmed;
    if (first) {
      // The chain may confirm between two calls. Earlier ones report pending and ask again.
      const latest = await Promise.all(
        answers.map((answer) => (confirmed.includes(answer) ? answer : api.must<Confirmation>('POST', '/v1/pay/confirm', { body }))),
      );
      const outcomes = new Set(
        latest.map(({ payment, membership_id, receipt_id }) => JSON.stringify([payment, membership_id, receipt_id])),
      );
      const winners = latest.filter(({ already_confirmed }) => !already_confirmed).length;
      check(outcomes.size === 1, `The racers got different answers: ${[...outcomes].join(' / ')}`);
      check(winners <= 1, `${winners} racers each say that they confirmed it`);
      const who = winners === 1 ? 'One of them did it' : 'The service itself was quicker';
      narrator.proven(`${who}; all ${RACERS} got the same answer: CONFIRMED, one membership, one receipt.`);
      return first;
    }
    const wait = answers[0]?.payment.poll_after_ms ?? session.poll_after_ms;
    narrator.say(`Not confirmed by the chain yet (${answers[0]?.payment.status}); asking again in ${wait} ms, as the answer says.`);
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
  throw new Error(`The payment was not confirmed after ${ROUNDS_MAX} rounds`);
}

interface Membership {
  membership_id: string;
  status: string;
  paid_through: string;
  customer: { wallet_address?: string };
}

async function showMembership(
  api: DemoContext['api'],
  { narrator }: DemoContext,
  shop: Shop,
  wallet: string,
  membershipId: string,
  payment: Payment,
): Promise<void> {
  narrator.step('Grace is a member');
  const query = new URLSearchParams({ wallet_address: wallet, product_id: shop.product.product_id });
  const membership = await api.must<Membership>('GET', `/v1/memberships/lookup?${query}`, { credential: shop.key });
  check(membership.membership_id === membershipId, `The lookup found ${membership.membership_id}, not ${membershipId}`);
  check(membership.status === 'active', `The membership is ${membership.status}`);
  const days = (Date.parse(membership.paid_through) - Date.parse(payment.confirmed_at ?? '')) / DAY_MS;
  // A failed race would have credited some of the thirty days twice.
  check(Math.abs(days - 30) < 0.01, `The membership lasts ${days} days`);
  const { total } = await api.must<{ total: number }>('GET', '/v1/memberships', { credential: shop.key });
  check(total === 1, `There are ${total} memberships`);
  narrator.fact('membership', `${membership.membership_id}, ${membership.status} until ${membership.paid_through}`);
  narrator.proven('Thirty days once, not eight times.');
}
