import type { ApiFailure } from '../cli/api.ts';
import { check } from './narrator.ts';
import { inUsdc, openSession, type Payment, type Sale, type Session } from './purchase.ts';
import type { Shop, Story } from './shop.ts';

/** What must not work: another buyer's transaction, and too little money. Neither may change anything. */
export async function tryToCheat(story: Story, shop: Shop, sale: Sale): Promise<void> {
  const { chain, narrator } = story;
  const paid = await readPayment(story, sale.session);
  const { buyer: mallory, session } = await openSession(story, shop);

  narrator.step("Mallory tries to pay with Grace's transaction");
  narrator.fact('payment', session.payment_id);
  await expectRefusal(story, session, sale.signature);

  narrator.step('Then he pays, but one cent too little');
  const units = BigInt(session.price.base_units) - 10_000n;
  const signature = await chain.pay(mallory, session, units);
  await chain.waitUntilConfirmed(signature);
  narrator.fact('on chain', `${inUsdc(units)} with the right memo, ${signature}`);
  await expectRefusal(story, session, signature);

  narrator.step('Nothing of this touched what was sold');
  const after = await readPayment(story, sale.session);
  check(JSON.stringify({ ...after, now: paid.now }) === JSON.stringify(paid), `Grace's payment changed: ${JSON.stringify(after)}`);
  const { total } = await story.api.must<{ total: number }>('GET', '/v1/memberships', { credential: shop.key });
  check(total === 1, `There are ${total} memberships`);
  narrator.proven(`Grace's payment is ${after.status}, still version ${after.version}; there is one membership, hers.`);
}

async function expectRefusal({ api, narrator }: Story, session: Session, signature: string): Promise<void> {
  const body = { payment_id: session.payment_id, tx_signature: signature };
  const { status, body: failure } = await api.call<ApiFailure>('POST', '/v1/pay/confirm', { body });
  const isRefused = status === 422 && failure.code === 'payment_mismatch';
  check(isRefused, `Expected 422 payment_mismatch, got ${status}: ${JSON.stringify(failure)}`);
  const { status: state } = await readPayment({ api }, session);
  check(state === 'PENDING_SIGNATURE', `The refused payment is ${state}`);
  narrator.proven(`Refused: ${status} ${failure.code} (${failure.meta.reason}). His session is as it was, ${state}.`);
}

const readPayment = ({ api }: Pick<Story, 'api'>, { payment_id }: Session): Promise<Payment> =>
  api.must<Payment>('GET', `/v1/payments/${payment_id}`);
