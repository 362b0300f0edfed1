import { accountClaimedLetter } from './account/account-claimed.ts';
import { passwordChangedLetter } from './account/password-changed.ts';
import { payoutChangedLetter } from './account/payout-changed.ts';
import { planDueLetter } from './account/plan-due.ts';
import { planRenewsLetter } from './account/plan-renews.ts';
import { resetPasswordLetter } from './account/reset-password.ts';
import { securityAlertLetter } from './account/security-alert.ts';
import { verifyEmailLetter } from './account/verify-email.ts';
import type { Letter, LetterFacts, LetterName } from './letter.ts';
import { buyerReceiptLetter } from './sales/buyer-receipt.ts';
import { paymentRefundedLetter } from './sales/payment-refunded.ts';
import { paymentUnmatchedLetter } from './sales/payment-unmatched.ts';
import { receiptProofLetter } from './sales/receipt-proof.ts';
import { subscriptionCancelledLetter } from './subscriptions/cancelled.ts';
import { subscriptionPastDueLetter } from './subscriptions/past-due.ts';
import { subscriptionReapproveLetter } from './subscriptions/reapprove.ts';
import { subscriptionRenewsLetter } from './subscriptions/renews.ts';
import { subscriptionStoppedLetter } from './subscriptions/stopped.ts';
import { ticketAnsweredLetter } from './support/ticket-answered.ts';
import { ticketAskedLetter } from './support/ticket-asked.ts';
import { ticketClosedLetter } from './support/ticket-closed.ts';
import { ticketResolvedLetter } from './support/ticket-resolved.ts';
import { endpointDisabledLetter } from './webhooks/endpoint-disabled.ts';
import { endpointFailingLetter } from './webhooks/endpoint-failing.ts';

/** Every letter there is, one row each. */
export const LETTERS: { readonly [N in LetterName]: Letter<LetterFacts[N]> } = {
  verify_email: verifyEmailLetter,
  reset_password: resetPasswordLetter,
  password_changed: passwordChangedLetter,
  account_claimed: accountClaimedLetter,
  payout_changed: payoutChangedLetter,
  security_alert: securityAlertLetter,
  plan_due: planDueLetter,
  plan_renews: planRenewsLetter,
  endpoint_failing: endpointFailingLetter,
  endpoint_disabled: endpointDisabledLetter,
  payment_unmatched: paymentUnmatchedLetter,
  payment_refunded: paymentRefundedLetter,
  buyer_receipt: buyerReceiptLetter,
  receipt_proof: receiptProofLetter,
  subscription_renews: subscriptionRenewsLetter,
  subscription_past_due: subscriptionPastDueLetter,
  subscription_reapprove: subscriptionReapproveLetter,
  subscription_cancelled: subscriptionCancelledLetter,
  subscription_stopped: subscriptionStoppedLetter,
  ticket_asked: ticketAskedLetter,
  ticket_answered: ticketAnsweredLetter,
  ticket_resolved: ticketResolvedLetter,
  ticket_closed: ticketClosedLetter,
};
