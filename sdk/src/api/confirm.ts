import { SvcError } from '../errors/svc-error.ts';
import type { ConfirmResponse, CurrentPayment } from '../generated/types.ts';
import type { Answer } from './call.ts';
import { withResponse } from './transport.ts';

/**
 * Reads the payment before a confirmation is sent again: it may have had its effect although its answer was lost, and a payment
 * that has ended is never confirmed twice. Returns undefined for one that is still open.
 */
export async function readBeforeRepeat(
  txSignature: string,
  failure: SvcError,
  readPayment: () => Promise<Answer<CurrentPayment>>,
): Promise<Answer<ConfirmResponse> | undefined> {
  const payment = await readPayment().catch((error: unknown) => {
    throw error instanceof SvcError ? failure : error;
  });
  if (payment.status === 'CONFIRMED' && payment.tx_signature === txSignature) return toConfirmation(payment);
  if (payment.status === 'CONFIRMED' || payment.status === 'FAILED') throw endedOtherwise(payment);
  return undefined;
}

function toConfirmation(payment: Answer<CurrentPayment>): Answer<ConfirmResponse> {
  const { membership_id, receipt_id, replayed, response } = payment;
  const confirmation: ConfirmResponse = {
    now: payment.now,
    payment,
    ...(membership_id === undefined ? {} : { membership_id }),
    ...(receipt_id === undefined ? {} : { receipt_id }),
    already_confirmed: true,
  };
  return withResponse(confirmation, replayed, response);
}

/** Returns the error that the service would have given to the omitted confirm. */
function endedOtherwise(payment: Answer<CurrentPayment>): SvcError {
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
