import type { PaymentId } from '#core/ids.ts';
import { expirePayment } from '#features/payments/watch/expire.ts';
import { newCtx } from '#platform/context.ts';
import type { World } from '../world.ts';

export const expireNow = (w: World, paymentId: string) =>
  expirePayment(newCtx(w.env, { requestId: 'req_expire_now', defer: () => {} }), paymentId as PaymentId, 'session_expired');
