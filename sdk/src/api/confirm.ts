import { SvcError } from './errors.ts';
import { type Answer, sleep, waitBeforeRetryMs } from './transport.ts';
import type { Confirmation, ConfirmRequest, CurrentPayment, Payment } from './types.ts';

/**
 * Confirms, and after a failure without a verdict reads the payment before it confirms again: a confirm may have had its
 * effect although its answer was lost, and a payment that has ended is never confirmed twice.
 */
export async function confirmPayment(
  { tx_signature }: ConfirmRequest,
  send: () => Promise<Answer<Confirmation>>,
  readPayment: () => Promise<Answer<CurrentPayment>>,
  maxRetries: number,
): Promise<Answer<Confirmation>> {
  for (let n = 0; ; n++) {
    try {
      return await send();
    } catch (thrown) {
      const failure = thrown as SvcError;
      const waitMs = failure.retryable && n < maxRetries ? waitBeforeRetryMs(failure, n) : null;
      if (waitMs === null) throw failure;
      await sleep(waitMs);
      const payment = await readPayment().catch(() => {
        throw failure;
      });
      if (payment.status === 'CONFIRMED' && payment.tx_signature === tx_signature) return toConfirmation(payment);
      if (payment.status === 'CONFIRMED' || payment.status === 'FAILED') throw endedOtherwise(payment);
    }
  }
}

function toConfirmation(payment: Answer<CurrentPayment>): Answer<Confirmation> {
  const { membership_id, receipt_id, replayed, response } = payment;
  const confirmation: Confirmation = {
    now: payment.now,
    payment,
    ...(membership_id === undefined ? {} : { membership_id }),
    ...(receipt_id === undefined ? {} : { receipt_id }),
    already_confirmed: true,
  };
  return Object.defineProperties(confirmation, { replayed: { value: replayed }, response: { value: response } }) as Answer<Confirmation>;
}

/** Returns the error that the service would have given to the omitted confirm. */
function endedOtherwise(payment: Answer<Payment>): SvcError {
  const { requestId } = payment.response;
  if (payment.status === 'CONFIRMED') {
    return new SvcError('payment_transaction_conflict', 'Another transaction has already paid this payment. Read the payment.', {
      status: 409,
      requestId,
    });
  }
  if (payment.failure_code === 'session_expired') {
    const message = 'The checkout session has expired. Start a new one, and do not sign the old transaction.';
    return new SvcError('session_expired', message, { status: 410, requestId });
  }
  const meta = { failure_code: payment.failure_code };
  return new SvcError('payment_failed', 'The payment did not complete. Start a new one.', { status: 409, requestId, meta });
}
