import type { PaymentId } from '#core/ids.ts';
import { expirePayment } from '#features/payments/watch/expire.ts';
import { shardOf } from '../runner/shards.ts';
import type { World } from '../world.ts';

export const expireNow = (w: World, paymentId: string) =>
  expirePayment(shardOf(w.env, paymentId), paymentId as PaymentId, 'session_expired');
