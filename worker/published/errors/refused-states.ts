/** Codes of a valid request that cannot be done now: state of the objects, money, and configuration of this deployment. */
export const REFUSED_STATES = {
  payment_required: {
    why: 'The resource has a price, and the request carried no payment. The `PAYMENT-REQUIRED` header holds the price, the network and the wallet in base64, and `meta.payment_required` the same as JSON.',
    next: 'Pay with an x402 client such as `@x402/fetch`, or with a wallet, then repeat the request with `PAYMENT-SIGNATURE`. Clients refuse more than $1 per payment by default.',
  },
  account_suspended: {
    why: 'The operator of this deployment has suspended the account. Payments in flight are still confirmed.',
    next: 'Contact the operator; the footer of every page here names them.',
  },
  account_deleted: {
    why: 'The account was deleted by its owner. This cannot be undone.',
    next: 'Register with another email address or wallet.',
  },
  entitlement_missing: {
    why: 'The customer has bought nothing yet, has consumed everything, or lost the access by a refund or revocation. Or its wallet signed in (`sign_in`), and the sign-in is refused: `meta.sign_in.reason` says why. The 403 is for your server: the response contains the challenge for your server’s own caller.',
    next: 'Answer your caller with status 402 and the `PAYMENT-REQUIRED` header of this response. If that header is missing, `meta.reason` is `setup_not_ready` and `meta.fix` is the call that your product still needs.',
  },
  subscription_expired: {
    why: 'The customer’s paid time has ended.',
    next: 'Answer your caller with status 402 and the `PAYMENT-REQUIRED` header of this response, or send the customer to the checkout page again. If the header is missing, `meta.fix` is the call that your product still needs.',
  },
  spend_limit_exceeded: {
    why: 'The agent’s setup limits the amount per payment and per day, and this payment exceeds a limit.',
    next: 'Send a manifest with higher `spend_limits`, if the agent’s operator agrees.',
  },
  email_registered: {
    why: 'An account has this email address, or had it before it was deleted. Addresses of deleted accounts are not reassigned.',
    next: 'If the account is yours and was not deleted, sign in at /login, where a forgotten password can be reset. Otherwise use another address.',
  },
  payment_transaction_conflict: {
    why: 'Another transaction has already confirmed this payment. The second one is recorded on the payment as `unmatched`, so nothing is lost.',
    next: 'Read GET /v1/payments/{payment_id}. The merchant can accept the second one as a new payment, or refund it.',
  },
  payment_failed: {
    why: 'The session ended without a payment: it expired, another one replaced it, or the transaction failed on the chain.',
    next: 'Start a new checkout. If you did pay, the payment is found and shown to the seller as `unmatched`: contact them with your transaction.',
  },
  ticket_closed: { why: 'Closed tickets accept no messages.', next: 'Open a new one, and name the old one in it.' },
  idempotency_in_progress: {
    why: 'The first request with this key is still being processed.',
    next: 'Wait a second and send the same request with the same key. You get the response of the first request.',
  },
  idempotency_conflict: {
    why: 'The key was used before with another body or path. A key belongs to one request. With `meta.reason` `payment_identifier`, another transaction was sent under the name that the client gave its payment.',
    next: 'Generate a new key for a new request. To repeat the old one, send exactly the same body. An agent sends its first payment again and signs no second one under the same identifier.',
  },
  idempotency_race: {
    why: 'Two requests with one key arrived at the same moment, and the response of the first cannot be read yet.',
    next: 'Wait a second and send the same request with the same key.',
  },
  setup_not_ready: {
    why: 'The product or the account lacks a requirement of this call: a payout wallet, a USDC account of that wallet, or the confirmation of live mode.',
    next: 'Call GET /v1/access/setup/readiness?product_id=…: each failing check has the call that resolves it. `meta.fix` of this response, if present, is that call. A transaction for your wallet is explained and signed at /sign.',
  },
  duplicate_settlement: {
    why: 'The same signed payment was used for another product or another customer. One payment counts once.',
    next: 'Check the earlier purchase first. If the money bought nothing that you need, request a new challenge and pay it.',
  },
  state_conflict: {
    why: 'The state of the object does not allow the call, or an operation in progress must end first; `meta.reason` has the reason.',
    next: 'Read the object again and decide. If `retryable` is true, wait for `Retry-After` and repeat.',
  },
  subscription_cancelled: { why: 'The subscription is already cancelled.', next: 'No action is required. To continue, subscribe again.' },
  subscription_requires_reapproval: {
    why: 'The wallet has revoked its approval, or the plan on the chain has changed.',
    next: 'Send the customer to the product’s page to approve the subscription again.',
  },
  session_expired: {
    why: 'A checkout session lasts a few minutes only, so that its price and its transaction remain valid.',
    next: 'Start a new checkout, and do not sign the old transaction. Payments that were made in time are found automatically.',
  },
  handoff_expired: {
    why: 'A hand-off link works once, for ten minutes.',
    next: 'Return to the shop and follow its link again.',
  },
  link_expired: {
    why: 'An emailed link works once and ends in time. This one was used, withdrawn or replaced by a newer one, or is too old.',
    next: 'Open the newest email, or ask for a new link.',
  },
  identity_expired: { why: 'An identity session lasts ten minutes.', next: 'Start a new one on the checkout page.' },
  channel_closed: { why: 'The metered session is closed.', next: 'Open a new session.' },
  payment_mismatch: {
    why: 'The transaction exists but does not pay this session: another amount, wallet, token or memo, or too late. `meta.reason` has the reason.',
    next: 'Check that you named the right transaction. Nothing is lost: money that arrived for this payment and does not match is recorded on it as `unmatched`.',
  },
  internal_error: {
    why: 'The service has a fault. Your request is not the cause.',
    next: 'Send the request again, with the same `Idempotency-Key` if it had one. If the error persists, send the `request_id` of the response to the operator.',
  },
  misconfigured: {
    why: 'A variable, a secret or a migration of this deployment is missing or wrong. Nothing was done.',
    next: 'Try again later. Operators: the log names the problem once, and `npm run check-config` finds it before a deployment.',
  },
  billing_not_configured: {
    why: 'This deployment has no payment processor for cards.',
    next: 'Buy the plan in USDC with POST /v1/access/x402/activate/{plan}, or contact the operator.',
  },
  oauth_not_configured: {
    why: 'This deployment has no OAuth client at Google or GitHub; `meta.missing` lists the missing variables.',
    next: 'Sign in by email or wallet.',
  },
  fee_wallet_missing: {
    why: 'The operator configured a fee on sales without a wallet that receives it.',
    next: 'Operators: set `FEE_WALLET`, or `FEE_BPS` to 0.',
  },
  mail_not_configured: {
    why: 'This deployment sends no emails; `meta.missing` lists the missing variables.',
    next: 'Operators: set `MAIL_PROVIDER` and `MAIL_FROM`. Everything else works without them.',
  },
  handoff_not_configured: {
    why: 'This deployment lacks a secret or connector for this feature; `meta.missing` lists the missing variables if they may be shown.',
    next: 'Operators: set the variables of the feature, as listed in docs/reference/configuration.md. Until then, send buyers to the plain checkout page.',
  },
  price_unavailable: {
    why: 'No source has a current and reliable price of SOL, and a stale price would cost you or the buyer money.',
    next: 'Retry in a minute, or pay in the price’s own asset.',
  },
  rpc_unavailable: {
    why: 'The Solana node does not respond, or not in time. Nothing was lost.',
    next: 'Send the request again. Payments that were made meanwhile are found when the node responds again.',
  },
  temporarily_unavailable: {
    why: 'The database or an object was busy or unavailable for a moment, or the request timed out. Nothing was partially done.',
    next: 'Wait for `Retry-After`, then send the request again, with the same `Idempotency-Key` if it had one.',
  },
} as const;
