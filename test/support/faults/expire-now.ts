import type { PaymentId } from '#core/ids.ts';
import { expirePayment } from '#features/payments/watch/expire.ts';
import { newCtx } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import { asService } from '../runner/limits.ts';
import type { World } from '../world.ts';

export const expireNow = (w: World, paymentId: string) =>
  asService(() => {
    const home = homeOf(newCtx(w.env, { requestId: 'req_expire_now', defer: () => {} }), paymentId);
    return expirePayment(home, paymentId as PaymentId, 'session_expired');
  });
