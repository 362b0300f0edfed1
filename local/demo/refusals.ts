import type { ApiFailure } from '../cli/api.ts';
import { check } from './narrator.ts';
import { inUsdc, openSession, type Payment, type Sale, type Session } from './purchase.ts';
import type { DemoContext, Shop } from './shop.ts';

/** Attacks that must fail without any change: another buyer's transaction, and an underpayment. */
export async function tryToCheat(demo: DemoContext, shop: Shop, sale: Sale): Promise<void> {
  const { chain, narrator } = demo;
  const paid = await readPayment(demo, sale.session);
  const { buyer: mallory, session } = await openSession(demo, shop);

  narrator.step("Mallory tries to pay with Grace's transaction");
  narrator.fact('payment', session.payment_id);
  await expectRefusal(demo, session, sale.signature);

  narrator.step('Then he pays, but one cent too little');
  const units = BigInt(session.price.base_units) - 10_000n;
  const signature = await chain.pay(mallory, session, units);
  await chain.waitUntilConfirmed(signature);
  narrator.fact('on chain', `${inUsdc(units)} with the right memo, ${signature}`);
  await expectRefusal(demo, session, signature);

  narrator.step('Nothing of this touched what was sold');
  const after = await readPayment(demo, sale.session);
  check(JSON.stringify({ ...after, now: paid.now }) === JSON.stringify(paid), `Grace's payment changed: ${JSON.stringify(after)}`);
  const { total } = await demo.api.must<{ total: number }>('GET', '/v1/memberships', { credential: shop.key });
  check(total === 1, `There are ${total} memberships`);
  narrator.proven(`Grace's payment is ${after.status}, still version ${after.version}; there is one membership, hers.`);
}

async function expectRefusal({ api, narrator }: DemoContext, session: Session, signature: string): Promise<void> {
  const body = { payment_id: session.payment_id, tx_signature: signature };
  const { status, body: failure } = await api.call<ApiFailure>('POST', '/v1/pay/confirm', { body });
  const isRefused = status === 422 && failure.code === 'payment_mismatch';
  check(isRefused, `Expected 422 payment_mismatch, got ${status}: ${JSON.stringify(failure)}`);
  const { status: state } = await readPayment({ api }, session);
  check(state === 'PENDING_SIGNATURE', `The refused payment is ${state}`);
  narrator.proven(`Refused: ${status} ${failure.code} (${failure.meta.reason}). His session is as it was, ${state}.`);
}

const readPayment = ({ api }: Pick<DemoContext, 'api'>, { payment_id }: Session): Promise<Payment> =>
  api.must<Payment>('GET', `/v1/payments/${payment_id}`);
