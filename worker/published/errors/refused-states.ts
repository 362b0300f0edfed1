/** Codes of a request that is as it has to be, and cannot be done now: the state of things, money, and what this deployment lacks. */
export const REFUSED_STATES = {
  payment_required: {
    why: 'What you asked for has a price, and the request carried no payment. The `PAYMENT-REQUIRED` header holds the price, the network and the wallet in base64, and `meta.payment_required` the same as JSON.',
    next: 'Let an x402 client make the payment, as `@x402/fetch` does, or a wallet; then repeat the request with `PAYMENT-SIGNATURE`. Clients refuse more than $1 for one payment unless you tell them otherwise.',
  },
  account_suspended: {
    why: 'The operator of this deployment has stopped the account. Payments that had begun are still confirmed.',
    next: 'Write to the operator; the foot of every page here names them.',
  },
  account_deleted: {
    why: 'The account was deleted by its owner. This cannot be undone.',
    next: 'Register with another e-mail or wallet.',
  },
  entitlement_missing: {
    why: 'The customer has bought nothing here yet, has used all of it, or it was taken back. The 403 is for your server: the answer holds the challenge that your server shows its own caller.',
    next: 'Answer your caller with status 402 and the `PAYMENT-REQUIRED` header of this answer. Where that header is missing, `meta.reason` is `setup_not_ready` and `meta.fix` says what your product still needs.',
  },
  subscription_expired: {
    why: 'The time this customer paid for is over.',
    next: 'Answer your caller with status 402 and the `PAYMENT-REQUIRED` header of this answer, or send the customer to the checkout page again. Where the header is missing, `meta.fix` says what your product still needs.',
  },
  spend_limit_exceeded: {
    why: 'An agent’s setup names the most it may spend for one payment or on one day, and this is more.',
    next: 'Send a manifest with higher `spend_limits`, if that is what its people want.',
  },
  email_registered: {
    why: 'An account has this e-mail, or had it before it was deleted. The address of a deleted account is not given out again.',
    next: 'If the account is yours and was not deleted, sign in at /login; a forgotten password is set anew there. Otherwise use another address.',
  },
  payment_transaction_conflict: {
    why: 'This payment was confirmed by another transaction before. The second one is noted on the payment as `unmatched`, so nothing is lost.',
    next: 'Look at GET /v1/payments/{payment_id}. The merchant may accept the second one as a new payment, or pay it back.',
  },
  payment_failed: {
    why: 'The session is over without a payment: its time ran out, another one took its place, or the transaction failed on chain.',
    next: 'Start a new checkout. If you did pay, the payment is found and shown to the seller as `unmatched`: write to them with your transaction.',
  },
  ticket_closed: { why: 'A closed ticket takes no more messages.', next: 'Open a new one, and name the old one in it.' },
  idempotency_in_progress: {
    why: 'The first request with this key is still being worked on.',
    next: 'Wait a second and send the same request with the same key. You get the first one’s answer.',
  },
  idempotency_conflict: {
    why: 'The key was used before with another body or path. A key stands for one request.',
    next: 'Make a new key for a new request. If you meant to repeat the old one, send exactly the same body.',
  },
  idempotency_race: {
    why: 'Two requests with one key came at the same moment, and the answer of the first cannot be read yet.',
    next: 'Wait a second and send the same request with the same key.',
  },
  setup_not_ready: {
    why: 'The product or the account lacks something that this call needs: a payout wallet, a USDC account of that wallet, or your word that it may sell live.',
    next: 'Ask GET /v1/access/setup/readiness?product_id=…: each failing check carries the call that mends it. `meta.fix` of this answer, where it is there, is that call. A transaction that your wallet has to sign is shown in words and signed at /sign.',
  },
  duplicate_settlement: {
    why: 'The same signed payment was used for another product or another customer. One payment pays one thing, once.',
    next: 'Ask for a new challenge and pay that.',
  },
  state_conflict: {
    why: 'The object is not in a state in which this can be done, or something is under way that has to end first; `meta.reason` says which.',
    next: 'Read the object again and decide anew. Where `retryable` is true, wait for `Retry-After` and repeat.',
  },
  subscription_cancelled: { why: 'The subscription was cancelled before.', next: 'Nothing has to be done. To go on, subscribe again.' },
  subscription_requires_reapproval: {
    why: 'The wallet no longer allows the subscription to collect, or its plan on the chain has changed.',
    next: 'Send the customer to the product’s page to approve it again.',
  },
  session_expired: {
    why: 'A checkout is open for a few minutes only, so that its price and its transaction stay true.',
    next: 'Start a new checkout, and do not sign what the old one prepared. What was paid in time is found by itself.',
  },
  handoff_expired: {
    why: 'A link that names its buyer works once and for ten minutes.',
    next: 'Go back to the shop and follow its link again.',
  },
  identity_expired: { why: 'Showing who you are is open for ten minutes.', next: 'Start it again on the checkout page.' },
  channel_closed: { why: 'The metered session is closed, and takes no more.', next: 'Open a new session.' },
  payment_mismatch: {
    why: 'The transaction is a real one, but it does not pay this: another amount, another wallet, another token, another memo, or too late. `meta.reason` says which.',
    next: 'Check that you named the right transaction. Nothing is lost: what came for this payment and does not fit is noted on it as `unmatched`.',
  },
  internal_error: {
    why: 'This is a fault of the service, not of your request.',
    next: 'Send the request again, with the same `Idempotency-Key` where it had one. If it stays, give the operator the `request_id` of the answer.',
  },
  misconfigured: {
    why: 'A variable, a secret or a migration of this deployment is missing or wrong. Nothing was done.',
    next: 'Try again later. Operators: the log says once which it is, and `npm run check-config` tells before you deploy.',
  },
  billing_not_configured: {
    why: 'This deployment has no payment processor for cards.',
    next: 'Buy the plan in USDC with POST /v1/access/x402/activate/{plan}, or ask the operator.',
  },
  oauth_not_configured: {
    why: 'This deployment has no client at Google or GitHub; `meta.missing` names what is missing.',
    next: 'Sign in by e-mail or wallet.',
  },
  fee_wallet_missing: {
    why: 'The operator asks for a share of each sale and has not said where it goes.',
    next: 'Operators: set `FEE_WALLET`, or `FEE_BPS` to 0.',
  },
  mail_not_configured: {
    why: 'This deployment sends no e-mails; `meta.missing` names what is missing.',
    next: 'Operators: set `MAIL_PROVIDER` and `MAIL_FROM`. Everything else works without.',
  },
  handoff_not_configured: {
    why: 'This deployment lacks the secret or the connector that this needs; `meta.missing` names it where it may be told.',
    next: 'Operators: set what the README’s table of variables names for it. Until then send buyers to the plain checkout page.',
  },
  price_unavailable: {
    why: 'No source shows a price of SOL that is fresh and sound, and a stale one would cost you or the buyer money.',
    next: 'Try again in a minute, or pay in the asset the price is in.',
  },
  rpc_unavailable: {
    why: 'The Solana node does not answer, or not in time. Nothing was lost.',
    next: 'Send the request again. What was paid meanwhile is found when the node is back.',
  },
  temporarily_unavailable: {
    why: 'The database or a counter was busy or out of reach for a moment, or the request ran out of time. Nothing was half done.',
    next: 'Wait for `Retry-After`, then send the request again, with the same `Idempotency-Key` where it had one.',
  },
} as const;
